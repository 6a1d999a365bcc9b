"""``Draft``: an old document on its way to this version."""

from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.fieldpath import Step, shown_step
from aorta.model.reason import Reason
from aorta.model.upgrade.blanks import nothing
from aorta.model.upgrade.keys import NULLABLE, SINCE, Version
from aorta.model.vocabulary import ReasonKind


@attrs.define(kw_only=True)
class Draft:
    """The sections as far as they are upgraded, what is said of them, and what was set aside by its path."""

    version: Version
    sections: dict[str, Any]
    reasons: list[Reason] = attrs.field(factory=list)
    aside: dict[str, Any] = attrs.field(factory=dict)

    @property
    def named(self) -> str:
        """Return the version that wrote the document, as text."""
        return f"{self.version[0]}.{self.version[1]}"

    def note(self, kind: ReasonKind, section: str, field: str, detail: str) -> None:
        """Say why a place holds nothing, or not what it held."""
        self.reasons.append(Reason(section=section, kind=kind, field=field, detail=detail))

    def object(self, *names: str) -> dict[str, Any]:
        """Return the object at a place, an empty one (of nothing) where there is none."""
        value: Any = self.sections
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}

    def younger(self, path: str) -> bool:
        """Tell whether the version that wrote the document did not have a place yet."""
        return SINCE.get(path, (0, 0)) > self.version


def set_aside(draft: Draft, keys: Mapping[str, Any]) -> None:
    """Move what the document's version did not have out of the way.

    A name that a later version gives a meaning to would be misread; and what an old document holds in a
    block that is younger than itself was put there by a later reader, not seen on the machine.
    """
    draft.sections = _known(draft, draft.sections, keys, "")


def _known(draft: Draft, value: Any, keys: Any, path: str) -> Any:
    if isinstance(keys, Mapping) and isinstance(value, dict):
        result = {}
        for name, member in value.items():
            below = path + shown_step(Step("name", name), first=not path)
            if name == NULLABLE or name not in keys or draft.younger(below):
                draft.aside[below] = member
            else:
                result[name] = _known(draft, member, keys[name], below)
        return result
    if isinstance(keys, list) and keys and isinstance(value, list):
        return [_known(draft, member, keys[0], f"{path}[{n}]") for n, member in enumerate(value)]
    return value


def fill(draft: Draft, blanks: Mapping[str, Any], keys: Mapping[str, Any]) -> None:
    """Give every place of this version that the document lacks its null shape, and say so."""
    draft.sections = _Filling(draft).object(draft.sections, blanks, keys, "")


@attrs.define
class _Filling:
    """One pass over a document; a place is told once, however many members of a list lack it."""

    draft: Draft
    told: set[str] = attrs.field(factory=set)

    def object(
        self, value: dict[str, Any], blanks: Mapping[str, Any], keys: Any, path: str
    ) -> dict[str, Any]:
        result = {}
        for name in [name for name in blanks if name != NULLABLE]:
            blank = blanks[name]
            place = f"{path}.{name}" if path else name
            known = isinstance(keys, Mapping) and name in keys
            lost = value.get(name) is None and nothing(blank) is not None and not path
            if name not in value or lost:
                self.tell(place, known=known)
                result[name] = nothing(blank)
            else:
                result[name] = self.member(value[name], blank, keys[name] if known else None, place)
        return {**result, **{name: member for name, member in value.items() if name not in blanks}}

    def member(self, value: Any, blank: Any, keys: Any, place: str) -> Any:
        if isinstance(blank, dict):
            return nothing(blank) if value is None else self.objects(value, blank, keys, place)
        if isinstance(blank, list) and isinstance(value, list):
            below = keys[0] if isinstance(keys, list) and keys else None
            return [self.objects(member, blank[0], below, f"{place}[]") for member in value]
        return value

    def objects(self, value: Any, blank: Any, keys: Any, place: str) -> Any:
        return self.object(value, blank, keys, place) if isinstance(value, dict) else value

    def tell(self, place: str, *, known: bool) -> None:
        if place in self.told:
            return
        self.told.add(place)
        since, named = SINCE.get(place, self.draft.version) if known else (2, 0), self.draft.named
        text = f"the document, of schema {named}, does not hold it"
        section, _, field = place.partition(".")
        if since > self.draft.version and section != "env_vars":
            text = f"recorded since schema {since[0]}.{since[1]}; the document is of {named}"
        self.draft.note(ReasonKind.NOT_RECORDED, section, field, text)
