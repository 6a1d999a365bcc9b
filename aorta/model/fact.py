"""``Fact``: what is declared of one field, beside its type."""

import attrs

from aorta.model.vocabulary import Detail, Provenance


def _kinds(given: Provenance | tuple[Provenance, ...]) -> tuple[Provenance, ...]:
    kinds = (given,) if isinstance(given, Provenance) else tuple(given)
    for kind in kinds:
        if not isinstance(kind, Provenance):
            raise TypeError(f"{kind!r} is no Provenance")
    return kinds


@attrs.frozen
class Fact:
    """The declaration of one field, put into ``Annotated[TYPE, Fact(...)]``.

    ``doc`` says what the value is and in which unit. ``caveat`` says what it does not prove.
    ``provenance``, one or several, is given where it differs from the section's. ``detail=FULL`` makes
    the value null in a compact snapshot, ``always`` promises a value whenever the section is ok,
    ``volatile`` keeps it out of digests and comparisons. ``keys`` names the members that a mapping has
    even when nothing was seen.
    """

    doc: str
    caveat: str = attrs.field(default="", kw_only=True)
    provenance: tuple[Provenance, ...] = attrs.field(default=(), kw_only=True, converter=_kinds)
    detail: Detail = attrs.field(default=Detail.COMPACT, kw_only=True)
    always: bool = attrs.field(default=False, kw_only=True)
    volatile: bool = attrs.field(default=False, kw_only=True)
    keys: tuple[str, ...] = attrs.field(default=(), kw_only=True)
