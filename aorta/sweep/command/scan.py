"""Looks for the patterns of tier 4 in the blocks of a log."""

from aorta.sweep.command.blocks import Block
from aorta.sweep.command.catalogue import EFFECTS, TEXT_CHARACTERS, Enabled, fired
from aorta.sweep.command.patterns import Pattern, patterns
from aorta.sweep.command.tracebacks import Tracebacks
from aorta.sweep.outcome import Finding

#: How much of a long line around a needle is looked at.
_AROUND_BYTES = 2048
#: What is shown of a long line before the place that tells, in bytes.
_SHOWN_BEFORE = 80


class Scan:
    """What was found in one log, ``stream`` (stdout or stderr), so far: the first place of each detector."""

    def __init__(self, stream: str, enabled: Enabled) -> None:
        self._stream = stream
        self._tracebacks = Tracebacks(stream)
        self._traces = enabled("tier4:python_traceback") or enabled("tier4:import_error")
        self._enabled = enabled
        self._rest = (
            [pattern for pattern in patterns() if enabled(pattern.id)] if enabled.tier("tier4") else []
        )
        self._found: list[Finding] = []

    def scan(self, block: Block) -> None:
        """Look through the next block."""
        data = block.data
        folded: bytes | None = None
        gates: dict[bytes, bool] = {}
        for pattern in list(self._rest):
            gate = pattern.gate
            if gate is not None:
                if gate not in gates:
                    gates[gate] = gate in data
                if not gates[gate]:
                    continue
            if pattern.folded and folded is None:
                folded = data.lower()
            hit = _first_hit(pattern, data, folded if pattern.folded and folded is not None else data)
            if hit is not None:
                self._rest.remove(pattern)
                self._take(pattern, block, hit)
        if self._traces:
            self._tracebacks.scan(block)

    def _take(self, pattern: Pattern, block: Block, hit: int) -> None:
        begin, end = _line_around(block.data, hit, TEXT_CHARACTERS)
        if end - begin > TEXT_CHARACTERS:
            # Of a long line that part is shown which tells.
            begin = max(begin, hit - _SHOWN_BEFORE)
        text = block.data[begin:end].decode("utf-8", "replace").strip("\r\n \t")
        line = block.line + block.data.count(b"\n", 0, hit)
        self._found.append(fired(pattern.id, text, f"{self._stream}:{line}", effect=pattern.effect))

    def findings(self) -> list[Finding]:
        """Return what was found, once the whole log was looked through."""
        self._tracebacks.finish()
        found = self._tracebacks.found
        return [*self._found, *(one for id_, one in found.items() if self._enabled(id_))]


def _first_hit(pattern: Pattern, data: bytes, searched: bytes) -> int | None:
    """Return where the first line matches, in the order of the needles."""
    for match in pattern.finder.finditer(searched) if pattern.finder is not None else ():
        begin, end = _line_around(data, match.start(), _AROUND_BYTES)
        if pattern.holds(data[begin:end]):
            return match.start()
    for needle in pattern.needles:
        place = searched.find(needle)
        while place >= 0:
            begin, end = _line_around(data, place, _AROUND_BYTES)
            if pattern.holds(data[begin:end]):
                return place
            # The rest of the line was looked at.
            place = searched.find(needle, max(end, place + 1))
    return None


def _line_around(data: bytes, place: int, most: int) -> tuple[int, int]:
    begin = max(data.rfind(b"\n", max(place - most, 0), place) + 1, place - most, 0)
    end = data.find(b"\n", place, place + most)
    return begin, min(place + most, len(data)) if end < 0 else end


def strongest(findings: list[Finding]) -> list[Finding]:
    """Return one finding of each detector, the first of the strongest effect, in their order."""
    best: dict[str, Finding] = {}
    for one in findings:
        known = best.get(one.id)
        if known is None or EFFECTS.index(one.effect) < EFFECTS.index(known.effect):
            best[one.id] = one
    return list(best.values())
