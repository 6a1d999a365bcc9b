"""``Row``: one thing that two documents say differently, and ``Place``: where it stands."""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

#: What a row is of: differences count, informational ones do not, of unknown ones one side says nothing.
DIFFERENCE, INFORMATIONAL, UNKNOWN = "difference", "informational", "unknown"

_PLAIN = re.compile(r"[^.\[\]\"'=]+")


class _Missing:
    """Stands for a member that is not there."""

    def __repr__(self) -> str:
        return "missing"


MISSING: Any = _Missing()


@dataclass(frozen=True)
class Row:
    """One thing that two documents say differently.

    ``path`` is the field's, with the key of a member where a list has one, and ``[*]`` where several members
    differ alike (``members`` names them). ``weight`` is the group of its section. ``a`` and ``b`` are the
    values, of lists without a key what only that side has; ``why_a`` and ``why_b`` say why one is null.
    ``note`` is a sentence on the difference, ``side`` says who does not know (a, b or both).
    """

    path: str
    section: str
    kind: str
    weight: str
    a: Any = None
    b: Any = None
    why_a: str = ""
    why_b: str = ""
    note: str = ""
    provenance: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    side: str = ""


class Place(NamedTuple):
    """A place in a document.

    ``path`` is for the reader, ``field`` as reasons name it (no indices), ``pattern`` as tables and
    declarations name it (``[]`` for any key of a map).
    """

    section: str
    path: str
    field: str
    pattern: str
    depth: int = 0
    in_map: bool = False

    def child(self, name: str, *, is_map: bool = False) -> "Place":
        """Return the place of a member of an object, or of a map."""
        shown = f".{name}" if _PLAIN.fullmatch(name) else f"[{json.dumps(name)}]"
        return Place(
            section=self.section,
            path=f"{self.path}{shown}",
            field=f"{self.field}.{name}" if self.field else name,
            pattern=f"{self.pattern}[]" if is_map else f"{self.pattern}.{name}",
            depth=self.depth + 1,
            in_map=is_map,
        )

    def member(self, label: str) -> "Place":
        """Return the place of a member of a list."""
        return self._replace(path=f"{self.path}[{label}]", depth=self.depth + 1, in_map=False)
