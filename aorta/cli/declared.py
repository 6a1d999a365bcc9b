"""What the declarations of the sections say, for the comparison, which knows plain documents alone."""

from aorta.compare import Knowledge
from aorta.model.sections import ORDER
from aorta.model.shape import fields_of, shape_of
from aorta.plugin.registry import Registry


def knowledge(registry: Registry) -> Knowledge:
    """Return what a registry's declarations say of every field."""
    volatile, maps, evidence = set(), set(), {}
    for section, spec in registry.collectors.items():
        evidence[section] = tuple(str(each) for each in spec.provenance)
        for path, shape in (("", shape_of(spec.model)), *fields_of(spec.model)):
            field = ".".join(name for name in (section, *path.replace("[]", "").split(".")) if name)
            if shape.kind == "map":
                maps.add(field)
            if shape.fact is not None and shape.fact.volatile:
                volatile.add(field)
            if shape.fact is not None and shape.fact.provenance:
                evidence[field] = tuple(str(each) for each in shape.fact.provenance)
    order = (*ORDER, *(name for name in registry.collectors if name not in ORDER))
    return Knowledge(volatile=frozenset(volatile), maps=frozenset(maps), provenance=evidence, order=order)
