"""One side of a comparison: its document, and what a null in it means.

A null is *not there* where the document says so, the *plain answer* where it was looked at and there is no
reason for it (a variable that is not set), and *unknown* in every other case. Only the first two are known.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aorta.compare.row import MISSING, Place
from aorta.compare.tables import ENVELOPE
from aorta.model.text import explained

ABSENT = "absent"
#: Said of an object of which nothing is told.
NOTHING = "nothing is told of it"
#: Ends of a collector after which what it left null says something.
LOOKED = frozenset({"ok", "partial", "reused"})
#: Kinds of reasons of which none says that members of a list are missing.
WHOLE = frozenset({ABSENT, "no_tool", "unsupported", "not_requested"})
#: Packages of which 1.x says nothing where they are not installed.
PACKAGES = frozenset({"fbgemm", "aiter", "torchrec", "tensile"})


class Null(NamedTuple):
    """What a null means: it is ``known`` that nothing is there, or not; ``why`` says by what."""

    known: bool
    why: str = ""


class Side:
    """A document, and what its nulls mean. The document may be anything."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        collection = mapping(document.get("collection"))
        #: Whether it is of 1.x: there a null has no kind of reason, and may have none at all.
        self.old = collection.get("upgraded_from") is not None or str(
            document.get("schema_version")
        ).startswith("1.")
        #: Whether per-file lists and the like were not asked for.
        self.compact = collection.get("detail") != "full"
        self._records = mapping(collection.get("collectors"))
        self._reasons: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
        for reason in collection.get("reasons") or () if isinstance(collection.get("reasons"), list) else ():
            if isinstance(reason, Mapping):
                of_section = self._reasons.setdefault(str(reason.get("section")), {})
                of_section.setdefault(str(reason.get("field") or ""), []).append(reason)

    def sections(self) -> Iterator[str]:
        """Yield the names of the sections, those of plugins too."""
        yield from (name for name in self.document if name not in ENVELOPE)
        yield from mapping(self.document.get("extensions"))

    def is_extension(self, name: str) -> bool:
        """Tell whether a section stands under ``extensions``."""
        return name not in self.document and name in mapping(self.document.get("extensions"))

    def value(self, section: str) -> Any:
        """Return the value of a section, MISSING where there is none."""
        if section in self.document and section not in ENVELOPE:
            return self.document[section]
        held = mapping(self.document.get("extensions")).get(section, MISSING)
        if isinstance(held, Mapping) and "data" in held:
            return held["data"]
        return held

    def at(self, path: str) -> Any:
        """Return the value at a dotted path of names, None where there is none."""
        value: Any = self.document
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def evidence(self, section: str) -> tuple[str, ...]:
        """Return the provenance that the document itself gives for a section."""
        told = mapping(self._records.get(section)).get("provenance")
        return tuple(map(str, told)) if isinstance(told, list) else ()

    def null(self, place: Place, *, missing: bool = False) -> Null:
        """Return what a null, or a member that is missing, means at a place."""
        told = self.told(place)
        if told is not None:
            return told
        if missing and (self.old or not place.in_map):
            return Null(known=False, why="not in this document")
        if self.old:
            return self._old(place)
        if place.section not in self._records:
            return Null(known=False, why="the document has no record of this section")
        return self._beside(place) or Null(known=True)

    def told(self, place: Place) -> Null | None:
        """Return what the section's record and the reasons say of a null; None where they say nothing."""
        reasons = self._nearest(place)
        status = str(mapping(self._records.get(place.section)).get("status", "ok"))
        if status not in LOOKED:
            why = _words(reasons[0]) if reasons else f"the section was not collected: {status}"
            return Null(known=False, why=why)
        if place.path.startswith(f"{place.section}[") and not any(reason.get("field") for reason in reasons):
            # Of a list that was looked at, what nobody asked for is not what stands in it.
            reasons = [reason for reason in reasons if reason.get("kind") != "not_requested"]
        unknown = [reason for reason in reasons if reason.get("kind") != ABSENT]
        if reasons:
            return Null(known=not unknown, why=_words((unknown or reasons)[0]))
        return None

    def told_below(self, place: Place) -> bool:
        """Tell whether the members of an object have to be asked one by one why they are null."""
        if self.old:
            # What it documents as an absence it documents of single fields.
            return True
        start = f"{place.field}." if place.field else ""
        of_section = self._reasons.get(place.section, {})
        return any(field and field.startswith(start) for field in of_section)

    def incomplete(self, place: Place) -> str:
        """Return why members of a list may be missing though they exist, an empty text if not."""
        reasons = [reason for reason in self._nearest(place) if str(reason.get("kind")) not in WHOLE]
        return _words(reasons[0]) if reasons else ""

    def _nearest(self, place: Place) -> list[Mapping[str, Any]]:
        """Return the reasons of a field, else those of the nearest that it lies in."""
        of_section = self._reasons.get(place.section)
        if not of_section:
            return []
        field = place.field
        while field and field not in of_section:
            field = field.rpartition(".")[0]
        return of_section.get(field, [])

    def _beside(self, place: Place) -> Null | None:
        """Return that a null without a reason may rest on what a field beside it could not see."""
        of_section = self._reasons.get(place.section)
        if not of_section or place.in_map or not place.field:
            return None
        folder = place.field.rpartition(".")[0]
        for field, reasons in of_section.items():
            unknown = [reason for reason in reasons if reason.get("kind") != ABSENT]
            if field and field.rpartition(".")[0] == folder and unknown:
                return Null(known=False, why=f"as {field.rpartition('.')[2]}: {_words(unknown[0])}")
        return None

    def _old(self, place: Place) -> Null:
        """Return what a null without a reason means in 1.x: only what it documents as an absence is known."""
        section, field = place.section, place.field
        if section == "env_vars" and field:
            return Null(known=True)
        if section == "docker" and not field:
            bare_metal = (
                self.at("runtime_context.type") == "baremetal" and self.at("container_detected") is False
            )
            return Null(known=bare_metal, why="" if bare_metal else _OLD)
        if section == "nics" and self.at(f"nics.{field.partition('.')[0]}.present") is False:
            return Null(known=True, why="no such card")
        if section in ("amdgpu_driver", "therock") and self.at(f"{section}.status") == "absent":
            return Null(known=True, why="absent")
        if section in PACKAGES and field in ("package_version", "commit"):
            return Null(known=True, why="not installed, as 1.x says it")
        return Null(known=False, why=_OLD)


_OLD = "a null of 1.x without a word on it"


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _words(reason: Mapping[str, Any]) -> str:
    kind, detail, subject = (str(reason.get(name) or "") for name in ("kind", "detail", "subject"))
    words = explained(kind, detail, subject)
    return f"{kind}: {words}" if detail else words
