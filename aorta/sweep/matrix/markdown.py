"""matrix.md: the matrix for people, raw or rendered, from the document alone."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aorta.model.text import count_of, printable
from aorta.sweep.matrix import notes
from aorta.sweep.matrix.kinds import told
from aorta.sweep.matrix.logs import log_of
from aorta.sweep.matrix.ranks import by_rank, ranks_line
from aorta.sweep.matrix.table import Cell, Column, columns, milliseconds

#: The widest that a column is padded to, in characters.
PADDED = 44
#: The most characters of a text in a line.
LONG = 300

#: What may be markup: underscores but for those within a word, an ampersand that begins an entity; at the
#: begin of a text what begins a list or a heading, at its end what ends a heading.
_SPECIAL = re.compile(
    r"[\\|`*<>\[\]~]|(?<!\w)_+|_+(?!\w)|&(?=#?\w+;)"
    r"|^ *(?:[+-](?= |$)|-(?=[- ]*$)|\d{1,9}[.)](?= |$)|#)|(?<= )#(?=#* *$)"
)
_ENCODED = re.compile(r"[^A-Za-z0-9/_.~-]")


class _Part(NamedTuple):
    """What the page has of one cell, with the documents that it was made of."""

    cell: Cell
    base: Cell | None
    row: tuple[str, ...]
    variables: str
    notes: tuple[str, ...]
    pointer: str | None


class Page:
    """Writes the page, again and again: what is the same document as before is not made again."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = {}
        self._columns: list[Column] = []

    def text(self, head: Mapping[str, Any], cells: Sequence[Cell]) -> str:
        """Return the page of a run."""
        base = next((cell for cell in cells if cell["name"] == head["baseline_cell"]), None)
        self._columns = self._columns or columns(cells)
        parts = [self._part(cell, base) for cell in cells]
        blocks = [f"# Sweep matrix: {escaped(head['workload'])}"]
        blocks += [f"> **{escaped(text)}**" for text in notes.callouts(head, cells)]
        blocks.append("\n".join(f"* {line}" for line in _facts(head, base, cells)))
        blocks.append(_table(self._columns, [part.row for part in parts]))
        variables = [part.variables for part in parts]
        if any(cell["env_overlay"] for cell in cells):
            blocks.append("\n".join(["## Variables", "", *variables]))
        further = [note for part in parts for note in part.notes]
        further += [f"Warning: {text}" for text in head["warnings"]]
        remarks = [f"* {escaped(note)}" for note in (*notes.of_all(head, cells), *further)]
        if remarks:
            blocks.append("\n".join(["## Notes", "", *remarks]))
        pointers = [part.pointer for part in parts if part.pointer]
        if pointers:
            blocks.append("\n".join(["## Where to look", "", *pointers]))
        return "\n\n".join(blocks) + "\n"

    def _part(self, cell: Cell, base: Cell | None) -> _Part:
        known = self._parts.get(cell["name"])
        if known is not None and known.cell is cell and known.base is base:
            return known
        row = tuple(escaped(column.text(cell)) for column in self._columns)
        part = _Part(cell, base, row, _variables(cell), tuple(notes.of_cell(cell, base)), _pointer(cell))
        self._parts[cell["name"]] = part
        return part


def _facts(head: Mapping[str, Any], base: Cell | None, cells: Sequence[Cell]) -> Iterator[str]:
    if head["ticket"]:
        yield f"Ticket: {escaped(head['ticket'])}"
    source = head["recipe_source"]
    if source["path"] or source["sha256"]:
        digest = f" (sha256 {escaped(source['sha256'][:10])})" if source["sha256"] else ""
        yield f"Recipe: {escaped(source['path'] or 'given by options')}{digest}"
    if head["command"]:
        yield f"Command: {escaped(shlex.join(head['command']))}"
    steps, warmup = _steps(head, cells), head["warmup_steps"]
    stop = head["stop_after"]
    yield (
        f"Trials: {'up to ' if stop else ''}{head['trials_per_cell']} a cell"
        + (f", {count_of(steps, 'step')} each" if steps else "")
        + (f", of which {warmup} for warming up" if 0 < warmup < steps else "")
        + (f"; a cell ends after {stop['events']} with {stop['event_verdict']}" if stop else "")
    )
    mean = base["mean_step_time_ms"] if base is not None else None
    yield f"Baseline: {escaped(head['baseline_cell'] or 'none')}" + (
        f" ({milliseconds(mean)} a step)" if mean else ""
    )
    tool = head["runtime_provenance"]
    made_by = " ".join(filter(None, ("aorta", tool["package_version"], (tool["git_sha"] or "")[:12])))
    where = f" on {escaped(head['node'])}" if head["node"] else ""
    again = f", gone on with {escaped(', '.join(head['resumed_at']))}" if head["resumed_at"] else ""
    ranks = ranks_line(head)
    if ranks is not None:
        yield f"Ranks: {escaped(ranks)}"
    run = f"{escaped(head['run_id'])}, {escaped(head['run_timestamp'])}"
    yield f"Run: {run}{where}{again}, {escaped(made_by)}"


def _steps(head: Mapping[str, Any], cells: Sequence[Cell]) -> int:
    """Return the steps of a trial; 0 where nobody knows. Of a command they are what its trials showed."""
    if not head["command"]:
        return int(head["steps_per_trial"])
    return max((cell["executed_iter_max"] or 0 for cell in cells), default=0)


def _variables(cell: Cell) -> str:
    """Return what a cell changes of the variables; secrets are redacted in the document."""
    changes = [
        f"{name} is taken away" if value is None else f"{name}={shlex.quote(value)}"
        for name, value in sorted(cell["env_overlay"].items())
    ]
    return f"* **{escaped(cell['name'])}**: {', '.join(map(escaped, changes)) or 'none is changed'}"


def _table(shown: Sequence[Column], rows: Sequence[Sequence[str]]) -> str:
    kept = [
        index
        for index, column in enumerate(shown)
        if not column.is_optional or any(row[index] for row in rows)
    ]
    lines = [[shown[index].heading for index in kept], *([row[index] for index in kept] for row in rows)]
    widths = [min(PADDED, max(3, *map(len, column))) for column in zip(*lines, strict=True)]
    made = [
        f"| {' | '.join(text.ljust(width) for text, width in zip(line, widths, strict=True))} |"
        for line in lines
    ]
    made.insert(1, f"| {' | '.join('-' * width for width in widths)} |")
    return "\n".join(made)


def _pointer(cell: Cell) -> str | None:
    """Return where to look for what happened in a cell; null where all passed."""
    counts = [
        f"{cell[f'{key}_count']} {word}"
        for key, word in (("failed", "failed"), ("error", "without a verdict"))
        if cell[f"{key}_count"]
    ]
    if not counts:
        return None
    lines = [f"* **{escaped(cell['name'])}**: {', '.join(counts)} of {cell['done_count']}"]
    for kinds, word in (("failure_kinds", "failures"), ("error_kinds", "errors")):
        if len(cell[kinds]) > 1:
            lines.append(f"  * {word} by kind: {escaped(told(cell[kinds]))}")
    ranks = by_rank(cell)
    if ranks is not None:
        lines.append(f"  * {escaped(ranks)}")
    for key, word in (("first_failure", "failure"), ("first_error", "error")):
        if cell[key]:
            why = f": {escaped(cell[key]['reason'])}" if cell[key]["reason"] else ""
            path = log_of(cell[key])
            log = f" (log: {_link(path)})" if path else ""
            lines.append(f"  * first {word}, {_link(cell[key]['path'])}{log}{why}")
    lines += [
        f"  * hint in {count_of(hint['trials'], 'trial')}: {escaped(hint['hint'])}"
        for hint in cell["failure_hints"]
    ]
    return "\n".join(lines)


def _link(path: str) -> str:
    target = _ENCODED.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass")), path
    )
    return f"[{escaped(path)}]({target})"


def escaped(text: str) -> str:
    """Return a text that is itself in a page: in one line, nothing of it taken for markup."""
    shown = printable(text)
    shown = shown if len(shown) <= LONG else f"{shown[:LONG]}…"
    return _SPECIAL.sub(_plain, shown)


def _plain(found: re.Match[str]) -> str:
    text = found[0]
    return r"\_" * len(text) if text[0] == "_" else f"{text[:-1]}\\{text[-1]}"
