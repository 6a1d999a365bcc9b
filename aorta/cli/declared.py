"""What the declarations of the sections say, for the comparison, which knows plain documents alone."""

from collections.abc import Iterator

from aorta.compare import Knowledge
from aorta.model.sections import ORDER
from aorta.model.shape import Shape, shape_of
from aorta.model.vocabulary import Detail
from aorta.plugin.registry import Registry


def knowledge(registry: Registry) -> Knowledge:
    """Return what a registry's declarations say of every field."""
    volatile, extended, maps = set[str](), set[str](), set[str]()
    evidence: dict[str, tuple[str, ...]] = {}
    for section, spec in registry.collectors.items():
        evidence[section] = tuple(str(each) for each in spec.provenance)
        for field, shape in fields(section, shape_of(spec.model)):
            if shape.kind == "map":
                maps.add(field)
            if shape.fact is not None and shape.fact.volatile:
                volatile.add(field)
            if shape.fact is not None and shape.fact.detail is Detail.FULL:
                extended.add(field)
            if shape.fact is not None and shape.fact.provenance:
                evidence[field] = tuple(str(each) for each in shape.fact.provenance)
    order = (*ORDER, *(name for name in registry.collectors if name not in ORDER))
    return Knowledge(
        volatile=frozenset(volatile),
        extended=frozenset(extended),
        maps=frozenset(maps),
        provenance=evidence,
        order=order,
    )


def fields(path: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield every field below a declared type by its path, as the comparison names it."""
    yield path, shape
    for name, member in shape.fields:
        yield from fields(f"{path}.{name}", member)
    if shape.item is not None:
        yield from fields(f"{path}[]" if shape.kind == "map" else path, shape.item)
