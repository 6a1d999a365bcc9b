"""Showing a comparison: as JSON, with rich on a terminal, as plain lines elsewhere."""

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aorta.cli.diff_cells import HEADINGS, LISTS, Cells, cells, pair
from aorta.cli.plain import Document, clean
from aorta.compare import Comparison, Row, folded
from aorta.compare.walk import ONE_SIDED
from aorta.instrumentation.process import Stdout
from aorta.model.text import count_of

#: The most characters of a value: in lines, and on a narrow terminal.
FULL, NARROW = 400, 56
#: The widest column that others stand behind in one line; what is longer moves its own line alone.
ALIGNED = 72
#: Marks a row whose sides are views of two processes.
MARK = "~"
VIEWS = "proves nothing about the job: one side is the workload's view, the other is not"

Blocks = Sequence[tuple[str, list[Cells]]]


class Read(NamedTuple):
    """A document that is compared: the file, what stands in it, and what is to be said of reading it."""

    file: str
    document: Mapping[str, Any]
    version: str
    note: str


def as_json(sides: Sequence[Read], found: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON values; its keys are always the same."""
    differ = found.views.differ
    return {
        "a": _head(sides[0]),
        "b": _head(sides[1]),
        "triage": [
            {"path": row.path, "a": row.a, "b": row.b, "verdict": row.verdict, "why": row.why or None}
            for row in found.triage
        ],
        "differences": [_row(row, differ=differ) for row in found.differences],
        "informational": [_row(row, differ=differ) for row in found.informational],
        "unknown": [{**_row(row, differ=differ), "side": row.side} for row in found.unknown],
        "views": {
            "a": found.views.a,
            "b": found.views.b,
            "differ": differ,
            "note": VIEWS if differ else None,
        },
    }


def _head(side: Read) -> dict[str, Any]:
    known = Document(side.document)
    return {
        "file": side.file,
        "schema_version": side.version,
        "captured_at": known.text("captured_at") or None,
        "node": known.text("launcher.node") or None,
        "rank": known.text("launcher.rank") or None,
        "detail": known.text("collection.detail") or None,
        "host_kind": known.text("collection.host_kind") or None,
        "tool": " ".join(filter(None, (known.text("collection.tool.version"), _revision(known)))) or None,
        "note": side.note or None,
    }


def _revision(known: Document) -> str:
    return known.text("collection.tool.revision")[:12]


def _row(row: Row, *, differ: bool) -> dict[str, Any]:
    return {
        "path": row.path,
        "section": row.section,
        "weight": row.weight,
        "a": row.a,
        "b": row.b,
        "why_a": row.why_a or None,
        "why_b": row.why_b or None,
        "note": row.note or None,
        "members": list(row.members),
        "provenance": list(row.provenance),
        "other_view": differ,
    }


def show(sides: Sequence[Read], found: Comparison, out: Stdout, *, everything: bool) -> None:
    """Print a comparison as a table: fitted to a terminal, elsewhere in lines of any width."""
    heads = [f"{name}  {_titled(side)}" for name, side in zip("AB", sides, strict=True)]
    if found.views.differ:
        heads.append(f"{MARK}  {found.views.a} and {found.views.b}: a difference {VIEWS}")
    if out.isatty():
        _rich(heads, found, out, everything=everything)
        return
    blocks = list(_blocks(found, FULL, everything=everything))
    lines = [*heads, *itertools.chain.from_iterable(_plain(*block) for block in blocks)]
    out.write("\n".join([*lines, "", *_feet(found, blocks, everything=everything)]) + "\n")


def _titled(side: Read) -> str:
    head = _head(side)
    told = [f"schema {side.version}"]
    told += [f"{name} {head[name]}" for name in ("node", "rank") if head[name]]
    told += [str(head[name]) for name in ("captured_at", "detail") if head[name]]
    told += [f"aorta {head['tool']}"] if head["tool"] else []
    told += ["a replay"] if head["host_kind"] == "replay" else []
    note = f" ({side.note})" if side.note else ""
    return clean(f"{os.path.basename(side.file) or side.file}: {', '.join(told)}{note}")


def _feet(found: Comparison, blocks: Blocks, *, everything: bool) -> list[str]:
    """Return what stands below the table: what its marks mean, and how much there is."""
    more = "" if everything or not found.unknown else " (--all lists them)"
    total = (
        f"{count_of(len(found.differences), 'difference')}, {len(found.informational):,} informational,"
        f" {len(found.unknown):,} unknown on one side{more}"
    )
    marked = any(row.note.startswith(LISTS) for _, rows in blocks for row in rows)
    return [f"{LISTS}  {ONE_SIDED}", total] if marked else [total]


def _blocks(found: Comparison, width: int, *, everything: bool) -> Iterator[tuple[str, list[Cells]]]:
    """Yield headings, each with its rows, the first of which names the columns."""
    looked = {row.path for row in found.triage}
    mark = f"{MARK} " if found.views.differ else ""

    def made(row: Row, also: Sequence[str] = ()) -> Cells:
        return cells(row, width, mark=mark, also=also, lists=row.note == ONE_SIDED)

    yield (
        "triage",
        [
            HEADINGS._replace(evidence="verdict"),
            *(
                Cells(row.path, *pair(row.a, row.b, width), row.verdict, clean(row.why))
                for row in found.triage
            ),
        ],
    )
    rows = folded([row for row in found.differences if row.path not in looked])
    for weight, of_group in itertools.groupby(rows, key=lambda one: one[0].weight):
        yield weight, [HEADINGS, *(made(*one) for one in of_group)]
    if found.informational:
        yield "informational", [HEADINGS, *map(made, found.informational)]
    if everything and found.unknown:
        yield "unknown on one side", [HEADINGS, *map(made, found.unknown)]


def _plain(heading: str, rows: Sequence[Cells]) -> list[str]:
    widths = [min(max(len(row[column]) for row in rows), ALIGNED) for column in range(4)]
    lines = []
    for row in rows:
        padded = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        lines.append(f"  {'  '.join(padded)}  {row.note}".rstrip())
    return ["", heading, *lines]


def _rich(heads: Sequence[str], found: Comparison, out: Stdout, *, everything: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=out.stream, highlight=False)
    blocks = list(_blocks(found, max(NARROW, console.width // 3), everything=everything))
    for head in heads:
        console.print(Text(head, style="bold"))
    for heading, (titles, *rows) in blocks:
        table = Table(title=heading, title_justify="left", title_style="bold cyan", box=None, padding=(0, 1))
        for name in titles:
            table.add_column(name, overflow="fold")
        for row in rows:
            # Text, since what a machine says may look like markup.
            table.add_row(*map(Text, row))
        console.print()
        console.print(table)
    console.print()
    for foot in _feet(found, blocks, everything=everything):
        console.print(Text(foot, style="bold"))
    out.write("")
