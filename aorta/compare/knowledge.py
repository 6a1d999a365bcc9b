"""``Knowledge``: what the declarations of the sections say of their fields."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aorta.compare.tables import GROUPED, GROUPS, IDENTITY, KEYS, OTHER, TELLING


@dataclass(frozen=True)
class Knowledge:
    """What the declarations say, by path: names joined by dots, no indices, ``[]`` for any key of a map.

    ``volatile`` fields change by themselves, ``extended`` ones are null in a compact document. ``maps`` have
    free keys, of which a missing one is not set. ``provenance`` is the class of evidence of a field, and of
    what is declared nowhere below it. ``order`` is the order of the sections.
    """

    volatile: frozenset[str] = frozenset()
    extended: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset({"env_vars"})
    provenance: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @property
    def quiet(self) -> frozenset[str]:
        """Return all paths that are left out."""
        return self.volatile | IDENTITY | TELLING

    def evidence(self, path: str) -> tuple[str, ...]:
        """Return the provenance of a path: its own, else that of what it lies in."""
        return next((self.provenance[each] for each in upwards(path) if each in self.provenance), ())

    def keys_of(self, path: str) -> tuple[str, ...]:
        """Return the fields that the members of a list are known by; of an unknown list their name."""
        return KEYS.get(path, ("name",))

    def rank(self, section: str) -> tuple[int, int, str]:
        """Return where the rows of a section stand: by group, then in the order of the document."""
        place = self.order.index(section) if section in self.order else len(self.order)
        return group_number(section), place, section


def upwards(path: str) -> Iterator[str]:
    """Yield a path and all that it lies in."""
    while path:
        yield path
        path = path.removesuffix("[]") if path.endswith("[]") else path.rpartition(".")[0]


def group_number(section: str) -> int:
    """Return the number of a section's group, from 0."""
    for number, (_, sections) in enumerate(GROUPS):
        if section in sections:
            return number
    return len(GROUPS)


def group_of(section: str, path: str = "") -> str:
    """Return the name of a section's group, or that of a field which stands in another one."""
    return GROUPED.get(path) or [*(name for name, _ in GROUPS), OTHER][group_number(section)]
