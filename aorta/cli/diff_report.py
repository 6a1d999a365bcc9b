"""Showing a comparison: as JSON, with rich on a terminal, as plain lines elsewhere."""

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aorta.cli.plain import Document, clean
from aorta.compare import Comparison, Row
from aorta.instrumentation.process import Stdout
from aorta.model.text import count_of

#: The most characters of one cell.
WIDTH = 56
#: The most characters that two values keep of what they begin with alike.
LEAD = 12
#: Marks a row whose sides are views of two processes.
MARK = "~"
#: The most members that are named.
NAMED = 3
_DIGEST = re.compile(r"\b([a-z0-9-]+:[0-9a-f]{16})[0-9a-f]{16,}")
VIEWS = "proves nothing about the job: one side is the workload's view, the other is not"


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
    """Print a comparison as a table."""
    blocks = list(_blocks(found, everything=everything))
    heads = [f"{name}  {_titled(side)}" for name, side in zip("AB", sides, strict=True)]
    if found.views.differ:
        heads.append(f"{MARK}  {found.views.a} and {found.views.b}: a difference {VIEWS}")
    total = _total(found, everything=everything)
    if out.isatty():
        _rich(heads, blocks, total, out)
    else:
        lines = [*heads, *itertools.chain.from_iterable(_plain(*block) for block in blocks), "", total]
        out.write("\n".join(lines) + "\n")


def _titled(side: Read) -> str:
    head = _head(side)
    told = [f"schema {side.version}"]
    told += [f"{name} {head[name]}" for name in ("node", "rank") if head[name]]
    told += [str(head[name]) for name in ("captured_at", "detail") if head[name]]
    told += [f"aorta {head['tool']}"] if head["tool"] else []
    told += ["a replay"] if head["host_kind"] == "replay" else []
    note = f" ({side.note})" if side.note else ""
    return clean(f"{os.path.basename(side.file) or side.file}: {', '.join(told)}{note}")


def _total(found: Comparison, *, everything: bool) -> str:
    more = "" if everything or not found.unknown else " (--all lists them)"
    return (
        f"{count_of(len(found.differences), 'difference')}, {len(found.informational):,} informational,"
        f" {len(found.unknown):,} unknown on one side{more}"
    )


Cells = tuple[str, str, str, str]


def _blocks(found: Comparison, *, everything: bool) -> Iterator[tuple[str, list[Cells]]]:
    """Yield headings, each with its rows of cells: path, A, B and what is to be said."""
    looked = {row.path for row in found.triage}
    mark = f"{MARK} " if found.views.differ else ""
    yield (
        "triage",
        [
            (row.path, *_pair(row.a, row.b), f"{row.verdict}{f': {clean(row.why)}' if row.why else ''}")
            for row in found.triage
        ],
    )
    for weight, rows in itertools.groupby(found.differences, key=lambda row: row.weight):
        shown = [_cells(row, mark) for row in rows if row.path not in looked]
        if shown:
            yield weight, shown
    if found.informational:
        yield "informational", [_cells(row, mark) for row in found.informational]
    if everything and found.unknown:
        yield "unknown on one side", [_cells(row, mark) for row in found.unknown]


def _cells(row: Row, mark: str) -> Cells:
    a, b = _pair(row.a, row.b)
    if row.a is None:
        a = _nothing(row, row.why_a, unknown=row.side in ("a", "both"))
    if row.b is None:
        b = _nothing(row, row.why_b, unknown=row.side in ("b", "both"))
    told = ", ".join(row.provenance)
    named = _members(row.members) if not row.note else ""
    said = "; ".join(filter(None, (told, row.note, named)))
    return f"{mark}{clean(row.path)}", a, b, clean(said)


def _members(labels: Sequence[str]) -> str:
    if len(labels) > NAMED:
        return f"{len(labels):,} members"
    return ", ".join(label.partition("=")[2] or label for label in labels)


def _nothing(row: Row, why: str, *, unknown: bool) -> str:
    if row.note and not why and not unknown:
        return "-"
    if unknown:
        return _short(f"? {why}") if why else "?"
    if row.section == "env_vars" and not why:
        return "not set"
    return _short(f"({why})") if why else "none"


def _pair(a: Any, b: Any) -> tuple[str, str]:
    """Return two values as texts; of two long ones what they differ in."""
    one, other = (_DIGEST.sub(r"\1…", _text(value)) for value in (a, b))
    if one == other:
        one, other = _text(a), _text(b)
    if max(len(one), len(other)) > WIDTH:
        pairs = enumerate(zip(one, other, strict=False))
        alike = next((place for place, (left, right) in pairs if left != right), 0)
        if alike > LEAD:
            one, other = (f"…{text[alike - LEAD // 2 :]}" for text in (one, other))
    return _short(one), _short(other)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_text(member) for member in value[:20]) if value else "[]"
    if isinstance(value, dict):
        told = [(name, member) for name, member in value.items() if member is not None]
        return ", ".join(f"{name} {_text(member)}" for name, member in told[:20])
    return clean(str(value)[: 40 * WIDTH]) if value != "" else '""'


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _plain(heading: str, rows: Sequence[Cells]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = []
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        lines.append(f"  {'  '.join(cells)}  {row[3]}".rstrip())
    return ["", heading, *lines]


def _rich(heads: Sequence[str], blocks: Sequence[tuple[str, list[Cells]]], total: str, out: Stdout) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=out.stream, highlight=False)
    for head in heads:
        console.print(Text(head, style="bold"))
    for heading, rows in blocks:
        table = Table(title=heading, title_justify="left", title_style="bold cyan", box=None, padding=(0, 1))
        table.add_column("", overflow="fold")
        for name in ("A", "B", ""):
            table.add_column(name, overflow="fold")
        for row in rows:
            # Text, since what a machine says may look like markup.
            table.add_row(*(Text(cell) for cell in row))
        console.print()
        console.print(table)
    console.print()
    console.print(Text(total, style="bold"))
    out.write("")
