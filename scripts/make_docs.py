"""Write docs/collectors.md from the declarations of the built-in collectors."""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collectors")]

from aorta.model.sections import ORDER  # noqa: E402
from aorta.model.shape import Shape, fields_of  # noqa: E402
from aorta.model.vocabulary import PARTIAL_KINDS, REASON_MEANINGS, Detail  # noqa: E402
from aorta.plugin.declare import CollectorSpec, ProviderSpec  # noqa: E402
from aorta.plugin.discovery import discover  # noqa: E402

TARGET = ROOT / "docs" / "collectors.md"

INTRODUCTION = """\
# Collectors

This page is written by `python scripts/make_docs.py` from the declarations in the code; edit those.
`aorta env collectors` shows the same for the plugins of your installation, outside ones included.

*Provenance* is the class of evidence that a value rests on. *Scope* says how long it may be reused:
`process` never, `namespace` on the same boot, mount namespace and variables, `boot` until the next boot.
*Detail* `full` is collected with `--extended` only. *Deadline* is in seconds (`--timeout SECTION=S`).
A value is null when it was not seen; `collection.reasons` says why.
"""

PROVIDERS = """\
A provider makes a value that several collectors need and that is no key of the document. Its record stands under
`collection.providers`.
"""


def text() -> str:
    """Return the page."""
    registry = discover(outside=False)
    parts = [
        INTRODUCTION,
        "## Sections",
        "\n".join(_overview(registry.collectors)),
        *(_section(spec) for spec in registry.collectors.values()),
        "## Providers",
        PROVIDERS,
        "\n".join(_providers(registry.providers)),
        "## Kinds of reasons",
        "A reason says why a value is missing. The kinds marked *partial* make the snapshot partial.",
        "\n".join(_reasons()),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _overview(collectors: dict[str, CollectorSpec]) -> Iterator[str]:
    yield "| section | provenance | scope | detail | needs | deadline | summary |"
    yield "|---|---|---|---|---|---|---|"
    for name, spec in collectors.items():
        yield _row(
            f"[`{name}`](#{name})",
            _words(kind.value for kind in spec.provenance),
            spec.scope.value,
            spec.detail.value,
            _words(needed.__name__ for needed in spec.needs),
            f"{spec.timeout_s:g}",
            spec.summary,
        )
    for name in ORDER:
        if name not in collectors:
            yield _row(f"`{name}`", "", "", "", "", "", "No collector in this version; its keys are null.")


def _section(spec: CollectorSpec) -> str:
    rows = [*_own(spec), *(_field(path, shape, spec) for path, shape in fields_of(spec.model))]
    table = ["| field | type | provenance | what it is |", "|---|---|---|---|", *rows]
    return f"### {spec.section}\n\n{spec.summary}\n\n" + "\n".join(table)


def _own(spec: CollectorSpec) -> Iterator[str]:
    if spec.shape.kind != "object" or spec.shape.fact is not None:
        yield _field("(the section itself)", spec.shape, spec)


def _field(path: str, shape: Shape, spec: CollectorSpec) -> str:
    fact = shape.fact
    provenance = (fact.provenance if fact is not None else ()) or spec.provenance
    return _row(f"`{path}`", _type(shape), _words(kind.value for kind in provenance), " ".join(_said(shape)))


def _said(shape: Shape) -> Iterator[str]:
    if shape.fact is None:
        return
    yield shape.fact.doc
    if shape.fact.caveat:
        yield f"*Caveat: {shape.fact.caveat}*"
    if shape.kind == "enum":
        yield f"One of {_words(shape.values)}."
    if shape.fact.detail is Detail.FULL:
        yield "Only with `--extended`."
    if shape.fact.always:
        yield "Never null when the section is ok."
    if shape.fact.volatile:
        yield "Changes by itself: left out of comparisons."


def _type(shape: Shape) -> str:
    if shape.kind == "scalar" and shape.cls is not None:
        return shape.cls.__name__
    if shape.kind in ("list", "map") and shape.item is not None:
        return f"{shape.kind} of {_type(shape.item)}"
    return {"enum": "word", "any": "JSON"}.get(shape.kind, shape.kind)


def _providers(providers: dict[str, ProviderSpec]) -> Iterator[str]:
    yield "| provider | needs | deadline | summary |"
    yield "|---|---|---|---|"
    for name, spec in providers.items():
        needs = _words(needed.__name__ for needed in spec.needs)
        yield _row(f"`{name}`", needs, f"{spec.timeout_s:g}", spec.summary)


def _reasons() -> Iterator[str]:
    yield "| kind | partial | meaning |"
    yield "|---|---|---|"
    for kind, meaning in REASON_MEANINGS.items():
        yield _row(f"`{kind.value}`", "partial" if kind in PARTIAL_KINDS else "", meaning)


def _words(words: object) -> str:
    return ", ".join(f"`{word}`" for word in words)  # type: ignore[attr-defined]


def _row(*cells: str) -> str:
    safe = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(safe)} |"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(TARGET.relative_to(ROOT))
