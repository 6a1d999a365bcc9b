"""Write docs/collectors.md, and tables of other pages, from the declarations of the built-in collectors."""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collectors")]

from aorta.model.sections import ORDER  # noqa: E402
from aorta.model.shape import Shape  # noqa: E402
from aorta.model.vocabulary import PARTIAL_KINDS, REASON_MEANINGS, Detail  # noqa: E402
from aorta.plugin.declare import CollectorSpec, ProviderSpec  # noqa: E402
from aorta.plugin.discovery import discover  # noqa: E402
from scripts import evidence, workload_keys  # noqa: E402
from scripts.markdown import row, words  # noqa: E402

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
        yield row(
            f"[`{name}`](#{name})",
            words(spec.provenance),
            spec.scope.value,
            spec.detail.value,
            words(needed.__name__ for needed in spec.needs),
            f"{spec.timeout_s:g}",
            spec.summary,
        )
    for name in ORDER:
        if name not in collectors:
            yield row(f"`{name}`", "", "", "", "", "", "No collector in this version; its keys are null.")


def _section(spec: CollectorSpec) -> str:
    rows = [
        row(_place(path, spec), _type(shape), words(kinds), " ".join(_said(shape)))
        for path, shape, kinds in evidence.facts_of(spec)
        if path != spec.section or spec.shape.kind != "object" or spec.shape.fact is not None
    ]
    table = ["| field | type | provenance | what it is |", "|---|---|---|---|", *rows]
    return f"### {spec.section}\n\n{spec.summary}\n\n" + "\n".join(table)


def _place(path: str, spec: CollectorSpec) -> str:
    below = path.removeprefix(spec.section).removeprefix(".")
    return f"`{below or '(the section itself)'}`"


def _said(shape: Shape) -> Iterator[str]:
    if shape.fact is None:
        return
    yield shape.fact.doc
    if shape.fact.caveat:
        yield f"*Caveat: {shape.fact.caveat}*"
    if shape.kind == "enum":
        yield f"One of {words(shape.values)}."
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
        needs = words(needed.__name__ for needed in spec.needs)
        yield row(f"`{name}`", needs, f"{spec.timeout_s:g}", spec.summary)


def _reasons() -> Iterator[str]:
    yield "| kind | partial | meaning |"
    yield "|---|---|---|"
    for kind, meaning in REASON_MEANINGS.items():
        yield row(f"`{kind.value}`", "partial" if kind in PARTIAL_KINDS else "", meaning)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(TARGET.relative_to(ROOT))
    page = evidence.page(evidence.TARGET.read_text(encoding="utf-8"), discover(outside=False).collectors)
    evidence.TARGET.write_text(page, encoding="utf-8")
    print(evidence.TARGET.relative_to(ROOT))
    page = workload_keys.page(workload_keys.TARGET.read_text(encoding="utf-8"))
    workload_keys.TARGET.write_text(page, encoding="utf-8")
    print(workload_keys.TARGET.relative_to(ROOT))
