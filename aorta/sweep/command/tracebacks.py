"""Tracebacks of Python, followed to their last line, which says what was raised."""

from aorta.sweep.command.blocks import Block
from aorta.sweep.command.catalogue import fired
from aorta.sweep.command.patterns import TRACEBACK
from aorta.sweep.outcome import Finding

_IMPORT = (b"ImportError", b"ModuleNotFoundError")
#: What stands between two tracebacks of one error.
_CHAINED = (
    b"During handling of the above exception",
    b"The above exception was the direct cause",
)
#: Lines after which a traceback without an end is taken as it is, and the longest part of one that is kept.
_MOST_LINES = 500
_LINE_BYTES = 300


class Tracebacks:
    """Finds the first traceback that ends in an error of import, and the first that ends in another one."""

    def __init__(self, stream: str) -> None:
        self.found: dict[str, Finding] = {}
        self._stream = stream
        self._open: tuple[int, bytes] | None = None
        self._raised: bytes | None = None
        self._lines = 0
        self._text: list[bytes] = []

    def scan(self, block: Block) -> None:
        """Look through a block."""
        data, place, line = block.data, 0, block.line
        while place < len(data) and len(self.found) < 2:
            if self._open is None:
                hit = data.find(TRACEBACK, place)
                if hit < 0:
                    return
                line += data.count(b"\n", place, hit)
                place = data.rfind(b"\n", 0, hit) + 1
                self._begin(line, data[max(place, hit - 40) : hit])
            else:
                end = data.find(b"\n", place)
                end = len(data) if end < 0 else end
                self._follow(data[place : min(end, place + _LINE_BYTES)], line)
            end = data.find(b"\n", place)
            place = len(data) if end < 0 else end + 1
            line += 1

    def _begin(self, line: int, prefix: bytes) -> None:
        self._open, self._raised, self._lines = (line, prefix), None, 0
        self._text.append(TRACEBACK)

    def _follow(self, text: bytes, line: int) -> None:
        """Take the next line: a frame, the error, what chains another traceback, or something else."""
        begin, prefix = self._open or (line, b"")
        self._lines += 1
        if self._lines == 1 and text.startswith(b"  File "):
            # What stands before the first line is of a logger, which puts it there once.
            prefix = b""
            self._open = (begin, prefix)
        if self._lines > _MOST_LINES:
            self.finish()
        elif prefix.strip() and not text.startswith(prefix.rstrip()):
            # A line of another rank between.
            return
        else:
            own = text[len(prefix) :].rstrip() if prefix.strip() else text.rstrip()
            if TRACEBACK not in own:
                self._text.append(own)
            if TRACEBACK in own:
                # Another one, of the same error when the line before said so.
                if self._raised is not None and self._raised != b"":
                    self.finish()
                self._begin(line, prefix)
            elif not own:
                return
            elif self._raised is None:
                if not own.startswith((b" ", b"\t")):
                    self._raised = own
            elif own.startswith(_CHAINED):
                self._raised = b""
            elif self._raised:
                self.finish()

    def finish(self) -> None:
        """Decide about the traceback that is open, at the end of a log at the latest."""
        if self._open is None:
            return
        line, raised = self._open[0], self._raised or b""
        whole, self._text = b"\n".join(self._text).strip(), []
        self._open = None
        name = "import_error" if raised.split(b":")[0].rpartition(b".")[2] in _IMPORT else "python_traceback"
        id_ = f"tier4:{name}"
        text = (raised or TRACEBACK).decode("utf-8", "replace")
        where, traceback = f"{self._stream}:{line}", whole.decode("utf-8", "replace")
        self.found.setdefault(id_, fired(id_, text, where, traceback=traceback))
