"""The tables of docs/env-probe-container-execution-context.md that follow from the declarations."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from aorta.model.shape import Shape, fields_of, rests_on
from aorta.model.vocabulary import Provenance
from aorta.plugin.declare import CollectorSpec
from scripts.markdown import row, words

TARGET = Path(__file__).resolve().parents[1] / "docs" / "env-probe-container-execution-context.md"

#: What a class of evidence rests on; what such a value is about in the client's file, and in the workload's.
CLASSES = {
    Provenance.PROCESS: (
        "What the process itself shows: variables, interpreter, mounts, mapped files",
        "The shell that ran aorta; nothing of the job",
        "The job's process",
    ),
    Provenance.FILESYSTEM: (
        "Files, as this process reaches them through its mounts",
        "What the client has installed",
        "What the process could load; `loaded_libraries` says what it has",
    ),
    Provenance.HOST_KERNEL: (
        "The running kernel and its drivers; no container changes them",
        "The client host's kernel",
        "The kernel of the machine that ran the process",
    ),
    Provenance.HOST_DEVICE: (
        "Devices, as kernel and tools tell; a container may hide some",
        "The client host's devices",
        "The devices that the process could see",
    ),
    Provenance.CLIENT_HOST: (
        "The machine and the checkout from which Buck is used",
        "Where the build was asked for",
        "Nothing: it is not asked there",
    ),
    Provenance.CONFIGURED_GRAPH: (
        "What Buck configured for the target: declared, not executed",
        "What the target depends on in this context",
        "Nothing: it is not asked there",
    ),
    Provenance.CALLER_ASSERTED: (
        "The word of whoever started the capture; never checked",
        "Their word",
        "Their word",
    ),
    Provenance.EXTERNALLY_ASSERTED: (
        "The word of somebody outside, added later; no built-in section uses it",
        "Their word",
        "Their word",
    ),
}

#: The sections that the page is about: shown with all their fields.
SUBJECT = (
    "runtime_context",
    "container_detected",
    "isolation",
    "execution_context",
    "probe_namespace",
    "docker",
)

Specs = Mapping[str, CollectorSpec]


def page(text: str, specs: Specs) -> str:
    """Return the page with its generated tables made anew."""
    for name, make in TABLES.items():
        begin, end = f"<!-- generated: {name} -->\n", f"<!-- end: {name} -->"
        if (text.count(begin), text.count(end)) != (1, 1):
            raise ValueError(f"{TARGET.name}: no single place for the table {name}")
        table = "\n".join(make(specs))
        before, after = text.partition(begin)[0], text.partition(end)[2]
        text = f"{before}{begin}\n{table}\n\n{end}{after}"
    return text


def _classes(specs: Specs) -> Iterator[str]:  # noqa: ARG001
    yield "| evidence | what it rests on | in the client file | in the workload file |"
    yield "|---|---|---|---|"
    for kind, told in CLASSES.items():
        yield row(f"`{kind.value}`", *told)


def _subject(specs: Specs) -> Iterator[str]:
    yield "| field | evidence | what it is | what it does not prove |"
    yield "|---|---|---|---|"
    for name in SUBJECT:
        for path, shape, kinds in facts_of(specs[name]):
            if shape.fact is not None:
                yield row(f"`{path}`", words(kinds), shape.fact.doc, shape.fact.caveat)


def _sections(specs: Specs) -> Iterator[str]:
    yield "| section | evidence |"
    yield "|---|---|"
    for name, spec in specs.items():
        yield row(f"[`{name}`](collectors.md#{name})", words(spec.provenance))


def _exceptions(specs: Specs) -> Iterator[str]:
    yield "| field | evidence | what it does not prove |"
    yield "|---|---|---|"
    for name in (name for name in specs if name not in SUBJECT):
        for path, shape, kinds in facts_of(specs[name]):
            fact = shape.fact
            if fact is not None and (fact.provenance not in ((), specs[name].provenance) or fact.caveat):
                yield row(f"`{path}`", words(kinds), fact.caveat)


def facts_of(spec: CollectorSpec) -> Iterator[tuple[str, Shape, tuple[Provenance, ...]]]:
    """Yield a section and every field below it: its path, its shape, and what it rests on.

    See ``rests_on``.
    """
    known = {spec.section: rests_on(spec.shape, spec.provenance)}
    yield spec.section, spec.shape, known[spec.section]
    for below, shape in fields_of(spec.model):
        path = f"{spec.section}{'' if below.startswith('[]') else '.'}{below}"
        above = path.rpartition(".")[0].rstrip("[]")
        known[path] = rests_on(shape, known[above])
        yield path, shape, known[path]


TABLES: Mapping[str, Callable[[Specs], Iterator[str]]] = {
    "classes": _classes,
    "subject": _subject,
    "sections": _sections,
    "exceptions": _exceptions,
}
