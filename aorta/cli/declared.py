"""What the declarations of the sections say, for the comparison, which knows plain documents alone."""

from collections.abc import Iterator

from aorta.compare import Knowledge
from aorta.model.sections import ORDER
from aorta.model.shape import Shape, rests_on
from aorta.model.vocabulary import Detail, Provenance
from aorta.plugin.registry import Registry

Kinds = tuple[Provenance, ...]


def knowledge(registry: Registry) -> Knowledge:
    """Return what a registry's declarations say of every field."""
    volatile, extended, maps = set[str](), set[str](), set[str]()
    evidence: dict[str, tuple[str, ...]] = {}
    for section, spec in registry.collectors.items():
        for field, shape, kinds in fields(section, spec.shape, spec.provenance):
            evidence[field] = tuple(str(each) for each in kinds)
            if shape.kind == "map":
                maps.add(field)
            if shape.fact is not None and shape.fact.volatile:
                volatile.add(field)
            if shape.fact is not None and shape.fact.detail is Detail.FULL:
                extended.add(field)
    order = (*ORDER, *(name for name in registry.collectors if name not in ORDER))
    return Knowledge(
        volatile=frozenset(volatile),
        extended=frozenset(extended),
        maps=frozenset(maps),
        provenance=evidence,
        order=order,
    )


def fields(path: str, shape: Shape, above: Kinds) -> Iterator[tuple[str, Shape, Kinds]]:
    """Yield every field of a declared type by its path, as the comparison names it, and what it rests on.

    ``above`` is what the whole rests on.
    """
    kinds = rests_on(shape, above)
    yield path, shape, kinds
    for name, member in shape.fields:
        yield from fields(f"{path}.{name}", member, kinds)
    if shape.item is not None:
        yield from fields(f"{path}[]" if shape.kind == "map" else path, shape.item, kinds)
