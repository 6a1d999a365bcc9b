"""HIP compile statements of a ``build.ninja`` of any size, in constant memory.

Most of such a file is of no concern, so statements are found by the name of their rule, and only these
are taken apart: a few hundred megabytes go by at the speed of a search.
"""

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

#: The most bytes of one statement; those of torch have some ten thousand.
STATEMENT_LIMIT = 8 << 20

_RULE = b"HIP_COMPILER"
#: What FindHIP leaves of each source; it makes no compile statements.
_LEGACY = b".hip.o.cmake"
_NEWLINE = b"\n"


class Statement(NamedTuple):
    """One compile statement: the name of its rule, its DEFINES and FLAGS as the shell is given them."""

    rule: str
    defines: str
    flags: str


class BuildFile:
    """Takes a build file piece by piece.

    ``seen`` tells whether there was any build statement, ``legacy`` whether sources are compiled by
    scripts of FindHIP.
    """

    def __init__(self) -> None:
        self.seen = False
        self.legacy = False
        self._rest = b""

    def feed(self, piece: bytes, *, last: bool = False) -> Iterator[Statement]:
        """Yield the statements that are whole with this piece.

        Raises ValueError for what no build file holds: NUL bytes, a statement without end.
        """
        if b"\0" in piece:
            raise ValueError("it holds NUL bytes")
        data = self._rest + piece
        self.seen = self.seen or data.startswith(b"build ") or b"\nbuild " in data
        self.legacy = self.legacy or _LEGACY in data
        place = 0
        while True:
            hit = data.find(_RULE, place)
            start = _line_start(data, len(data) if hit < 0 else hit, place)
            end = -1 if hit < 0 else _end(data, start, last=last)
            if end < 0:
                break
            if data.startswith(b"build ", start) and (found := parse_statement(data[start:end])) is not None:
                yield found
            place = end
        self._rest = b"" if last else data[start:]
        if len(self._rest) > STATEMENT_LIMIT:
            raise ValueError(f"a statement of more than {STATEMENT_LIMIT >> 20} MiB")


def _escaped(data: bytes, at: int) -> bool:
    """Tell whether an odd number of ``$`` stands before a place."""
    begin = at
    while begin > 0 and data[begin - 1] == ord("$"):
        begin -= 1
    return (at - begin) % 2 == 1


def _continued(data: bytes, newline: int) -> bool:
    """Tell whether the line that ends there goes on in the next one."""
    return _escaped(data, newline - 1 if data[newline - 1 : newline] == b"\r" else newline)


def _line_start(data: bytes, at: int, floor: int) -> int:
    """Return where the logical line begins that ``at`` lies in; ``floor`` is the beginning of one."""
    start = max(data.rfind(_NEWLINE, floor, at) + 1, floor)
    whole = start
    while whole > floor and _continued(data, whole - 1):
        whole = max(data.rfind(_NEWLINE, floor, whole - 1) + 1, floor)
    # A comment does not go on, whatever it ends with.
    while whole < start and _is_comment(data, whole):
        whole = data.index(_NEWLINE, whole) + 1
    return whole


def _is_comment(data: bytes, start: int) -> bool:
    return data[start : start + 64].lstrip(b" ").startswith(b"#")


def _line_end(data: bytes, start: int) -> int:
    """Return where the next logical line begins, -1 where this one does not end."""
    if _is_comment(data, start):
        return data.find(_NEWLINE, start) + 1 or -1
    at = data.find(_NEWLINE, start)
    while at >= 0 and _continued(data, at):
        at = data.find(_NEWLINE, at + 1)
    return at + 1 or -1


def _end(data: bytes, start: int, *, last: bool) -> int:
    """Return where what follows a statement and its indented lines begins, -1 where that is not there yet."""
    end = _line_end(data, start)
    if data.startswith(b"build ", start):
        while 0 <= end < len(data) and data[end : end + 1] in (b" ", b"#"):
            end = _line_end(data, end)
    return len(data) if last and end < 0 else -1 if end == len(data) and not last else end


@functools.cache
def _patterns() -> tuple["re.Pattern[bytes]", "re.Pattern[bytes]"]:
    return (
        # It begins with a character that is rare, which makes the search a quick one.
        re.compile(rb"(\$+)\r?\n *"),
        re.compile(rb" +(DEFINES|FLAGS) *= *(.*)"),
    )


def parse_statement(text: bytes) -> Statement | None:
    """Return what a build statement with its indented lines says, None where it compiles no HIP source."""
    _, binding = _patterns()
    first, *lines = _lines(text) or [b""]
    rule, *_ = first[_colon(first) + 1 :].split(None, 1) or (b"",)
    if not rule.startswith(_RULE):
        return None
    found = {match[1]: match[2] for line in lines if (match := binding.fullmatch(line)) is not None}
    return Statement(
        rule=_text(rule[:300]),
        defines=_plain(found.get(b"DEFINES", b"")),
        flags=_plain(found.get(b"FLAGS", b"")),
    )


def _lines(text: bytes) -> list[bytes]:
    """Return the logical lines, without comments."""
    fold, _ = _patterns()
    lines, start = list[bytes](), 0
    while start < len(text):
        end = _line_end(text, start)
        line = text[start : end if end > 0 else len(text)]
        if not _is_comment(line, 0):
            lines.append((fold.sub(_folded, line) if b"$" in line else line).rstrip(b"\r\n"))
        start += len(line)
    return lines


def _folded(match: "re.Match[bytes]") -> bytes:
    return match[1][:-1] if len(match[1]) % 2 else match[0]


def _colon(line: bytes) -> int:
    """Return where the names of what is built end, the length of the line where they do not."""
    at = line.find(b":")
    while at >= 0 and _escaped(line, at):
        at = line.find(b":", at + 1)
    return at if at >= 0 else len(line)


def _plain(value: bytes) -> str:
    """Return a value as ninja hands it on: ``$$``, ``$:`` and ``$`` before a blank stand for what follows."""
    return _text(re.sub(rb"\$([$: ])", rb"\1", value) if b"$" in value else value)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


@functools.cache
def _word_patterns() -> tuple["re.Pattern[str]", "re.Pattern[str]"]:
    double, single = r""""[^"\\]*(?:\\.[^"\\]*)*\"""", "'[^']*'"
    return (
        re.compile(rf"""(?:[^\s"'\\]+|\\(?:.|\Z)|{double}|{single})+""", re.DOTALL),
        re.compile(rf"\\(.|\Z)|({double})|({single})", re.DOTALL),
    )


def parse_words(text: str) -> list[str]:
    """Return the words of a command line as the shell makes them.

    Where a quote has no end, which no shell takes, quotes are characters like any other: nothing is
    hidden by them.
    """
    if not any(mark in text for mark in "\"'\\"):
        return text.split()
    words, quoted = _word_patterns()
    found = words.findall(text)
    if words.sub("", text).strip():
        return [re.sub(r"\\(.)", r"\1", word) for word in text.split()]
    return [quoted.sub(_unquoted, word) for word in found]


def _unquoted(match: "re.Match[str]") -> str:
    if match[1] is not None:
        return match[1]
    return re.sub(r'\\([$`"\\])', r"\1", match[2][1:-1]) if match[2] else match[3][1:-1]
