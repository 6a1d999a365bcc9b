"""Two documents side by side: ``Walk`` goes through one section after the other and collects rows."""

import json
from typing import Any

from aorta.compare import lists
from aorta.compare.knowledge import Knowledge, group_of, upwards
from aorta.compare.merging import merged
from aorta.compare.row import DIFFERENCE, INFORMATIONAL, MISSING, UNKNOWN, Place, Row
from aorta.compare.side import NOTHING, Null, Side
from aorta.compare.tables import (
    ALTERNATIVES,
    BY_PLACE,
    CHANGED,
    CONFIGURED,
    MEASURED,
    ORDERED,
    PATH_VARIABLES,
    PLACE,
    REDACTED,
    REPEATING,
    REVISIONS,
    SAID,
    UNKNOWN_WORDS,
)
from aorta.compare.values import abbreviated, bare, bounded, canonical, methods, near, same, spelled_alike

_STANDS_FOR = {one: other for pair in ALTERNATIVES for one, other in (pair, pair[::-1])}
_SEEN = Null(known=True)
#: Said of what two lists do not share.
ONE_SIDED = "of the lists only what the other side does not have"
_UNASKED = "not_requested"
_PREDICTED = "one side is a prediction, which does not know what is opened by name at run time"


class Walk:
    """Goes through two documents; ``rows`` are what was found."""

    def __init__(self, a: Side, b: Side, knowledge: Knowledge) -> None:
        self.a, self.b = a, b
        self.rows: list[Row] = []
        self._maps = knowledge.maps
        self._knowledge = knowledge
        self._quiet = knowledge.quiet

    def section(self, name: str) -> None:
        """Compare one section."""
        outside = self.a.is_extension(name) or self.b.is_extension(name)
        place = Place(name, f"extensions[{json.dumps(name)}].data" if outside else name, "", name)
        start = len(self.rows)
        try:
            self._values(place, self.a.value(name), self.b.value(name))
        except RecursionError:
            del self.rows[start:]
            self._add(place, UNKNOWN, note="nested too deeply to be compared", side="both")

    def _values(self, place: Place, a: Any, b: Any) -> None:
        if place.pattern in self._quiet:
            return
        a_null, b_null = (value is None or value is MISSING for value in (a, b))
        if a_null and b_null:
            self._nothing(place)
        elif a_null:
            null = self._null(self.a, place, a)
            self._against_nothing(place, b, "a", null)
        elif b_null:
            null = self._null(self.b, place, b)
            self._against_nothing(place, a, "b", null)
        elif isinstance(a, dict) and isinstance(b, dict):
            self._objects(place, a, b)
        elif isinstance(a, list) and isinstance(b, list):
            self._lists(place, a, b)
        else:
            self._leaves(place, a, b)

    def _null(self, side: Side, place: Place, value: Any) -> Null:
        if place.pattern in self._knowledge.extended and side.compact:
            return side.told(place) or Null(known=False, why="only an extended snapshot has it")
        return side.null(place, missing=value is MISSING)

    def _nothing(self, place: Place) -> None:
        """Compare two nulls: that the one is not there and the other unknown is worth a row."""
        ask = Side.told if place.field else Side.null
        a, b = ask(self.a, place), ask(self.b, place)
        if a is not None and b is not None and a.known != b.known:
            self._add(place, UNKNOWN, None, None, a, b, side="b" if a.known else "a")

    def _against_nothing(self, place: Place, value: Any, side: str, null: Null) -> None:
        """Compare a value with a null on the side that is named."""
        if place.pattern in self._quiet or _says_nothing(value, place, known=null.known):
            return
        if null.known and not null.why and isinstance(value, dict):
            for name, member in value.items():
                self._against_nothing(self._below(place, name), member, side, null)
        elif side == "a":
            self._add(place, DIFFERENCE if null.known else UNKNOWN, None, value, null, _SEEN, side="a")
        else:
            self._add(place, DIFFERENCE if null.known else UNKNOWN, value, None, _SEEN, null, side="b")

    def _below(self, place: Place, name: str) -> Place:
        return place.child(name, is_map=place.pattern in self._maps)

    def _objects(self, place: Place, a: dict[str, Any], b: dict[str, Any]) -> None:
        unasked = [side.get("status") == _UNASKED for side in (a, b)]
        if not place.field and any(unasked):
            # What its other fields say is that nothing was asked.
            if not all(unasked):
                null = Null(known=False, why="not asked for")
                self._against_nothing(place, b if unasked[0] else a, "a" if unasked[0] else "b", null)
            return
        a_bare, b_bare = bare(a), bare(b)
        if a_bare and b_bare:
            self._nothing(place)
            return
        if a_bare or b_bare:
            side = self.a if a_bare else self.b
            if side.told(place) is not None or not (place.pattern in self._maps or side.told_below(place)):
                null = side.null(place)
                null = null if null.why else null._replace(why=NOTHING)
                self._against_nothing(place, b if a_bare else a, "a" if a_bare else "b", null)
                return
        if a.get("present") is not b.get("present") and _flags(a, b, "present"):
            # Of what is not there at all nothing else is said.
            self._leaves(self._below(place, "present"), a["present"], b["present"])
            return
        for name in dict.fromkeys((*a, *b)):
            below = self._below(place, name)
            one, other = a.get(name, MISSING), b.get(name, MISSING)
            if name in _STANDS_FOR and self._other_method(below, a, b, name):
                continue
            self._values(below, one, other)

    def _other_method(self, place: Place, a: dict[str, Any], b: dict[str, Any], name: str) -> bool:
        """Tell whether two digests were made by different methods, of which one was noted beside."""
        beside = _STANDS_FOR[name]
        for one, other, side in ((a, b, "a"), (b, a, "b")):
            if one.get(name) is None and one.get(beside) is not None and other.get(name) is not None:
                why = Null(known=False, why=f"digested by another method: {beside}")
                self._against_nothing(place, other[name], side, why)
                return True
        return False

    def _leaves(self, place: Place, a: Any, b: Any) -> None:
        configured = place.section in CONFIGURED
        if same(a, b, configured=configured):
            return
        told = [_unsaid(value, place) for value in (a, b)]
        if all(told):
            return
        if any(told):
            self._add(
                place, UNKNOWN, a, b, side="a" if told[0] else "b", note="one side says that it does not know"
            )
            return
        made = methods(a, b)
        if made is not None:
            note = f"made by different methods: {made[0]}, {made[1]}"
            self._add(place, UNKNOWN, a, b, side="both", note=note)
        elif self.a.old != self.b.old and _within(place.pattern, CHANGED):
            self._add(place, UNKNOWN, a, b, side="both", note="1.x and 2.0 do not mean the same by it")
        else:
            kind, note = _weighed(place, a, b)
            self._add(place, kind, a, b, note=note)

    def _lists(self, place: Place, a: list[Any], b: list[Any]) -> None:
        configured = place.section in CONFIGURED
        keys = self._knowledge.keys_of(place.pattern)
        if place.pattern in REPEATING:
            a, b = self._once(place, a), self._once(place, b)
        if configured and place.pattern not in ORDERED:
            # One target may stand there in several configurations.
            a, b = (sorted(each, key=lambda one: canonical(one, configured=True)) for each in (a, b))
        names = [lists.labels(members, keys, place.pattern, configured=configured) for members in (a, b)]
        if names[0] is not None and names[1] is not None:
            self._members(place, dict(zip(names[0], a, strict=True)), dict(zip(names[1], b, strict=True)))
            return
        only = lists.left_over(a, b, configured=configured)
        if only[0] or only[1]:
            self._one_sided(place, *only)
        elif place.pattern in ORDERED and canonical(a, configured=configured) != canonical(
            b, configured=configured
        ):
            self._add(place, DIFFERENCE, a, b, note="in another order")

    def _one_sided(self, place: Place, a: list[Any], b: list[Any]) -> None:
        """Note what only one of two lists holds; it is unknown where the other may be incomplete."""
        gaps = [side.incomplete(place) for side in (self.a, self.b)]
        if self.a.old != self.b.old and _within(place.pattern, CHANGED):
            self._add(place, UNKNOWN, a, b, side="both", note="1.x and 2.0 do not mean the same by it")
        elif (a and gaps[1]) or (b and gaps[0]):
            nulls = [Null(known=not gap, why=gap) for gap in gaps]
            self._add(place, UNKNOWN, a, b, *nulls, side=_whose(bool(b and gaps[0]), bool(a and gaps[1])))
        else:
            self._add(place, DIFFERENCE, a, b, note=ONE_SIDED)

    def _members(self, place: Place, a: dict[str, Any], b: dict[str, Any]) -> None:
        if place.pattern in BY_PLACE and a.keys() != b.keys() and len(a) == len(b):
            a, b = ({str(number): each for number, each in enumerate(side.values())} for side in (a, b))
        start = len(self.rows)
        owners: list[str] = []
        gaps = self._gaps(place, a, b)
        for name in sorted({*a, *b}, key=lists.by_number):
            one, other = a.get(name, MISSING), b.get(name, MISSING)
            if one is MISSING or other is MISSING:
                value, side = (other, "a") if one is MISSING else (one, "b")
                null = Null(known=not gaps[side], why=gaps[side] or "not there")
                self._against_nothing(place.member(name), self._heard(place, value), side, null)
            elif one != other:
                self._values(place.member(name), one, other)
            owners += [name] * (len(self.rows) - start - len(owners))
        if owners:
            found = list(zip(owners, self.rows[start:], strict=True))
            self.rows[start:] = merged(found, place, len({*a, *b}))

    def _gaps(self, place: Place, a: dict[str, Any], b: dict[str, Any]) -> dict[str, str]:
        """Return why either side may lack members that exist; empty texts where it does not."""
        if place.pattern == "loaded_libraries" and _basis(a) != _basis(b):
            return dict.fromkeys("ab", _PREDICTED)
        return {"a": self.a.incomplete(place), "b": self.b.incomplete(place)}

    def _once(self, place: Place, members: list[Any]) -> list[Any]:
        heard = [self._heard(place, member) for member in members]
        return list({canonical(member): member for member in heard}.values())

    def _heard(self, place: Place, value: Any) -> Any:
        """Return a member without what is left out of comparisons."""
        if not isinstance(value, dict):
            return value
        return {
            name: member
            for name, member in value.items()
            if f"{place.pattern}.{name}" not in self._quiet and not bare(member)
        }

    def _add(
        self,
        place: Place,
        kind: str,
        a: Any = None,
        b: Any = None,
        null_a: Null = _SEEN,
        null_b: Null = _SEEN,
        *,
        note: str = "",
        side: str = "",
    ) -> None:
        self.rows.append(
            Row(
                path=place.path,
                section=place.section,
                kind=kind,
                weight=group_of(place.section, place.pattern),
                a=bounded(a),
                b=bounded(b),
                why_a=null_a.why,
                why_b=null_b.why,
                note=note,
                provenance=self._knowledge.evidence(place.pattern)
                or self.a.evidence(place.section)
                or self.b.evidence(place.section),
                side=side if kind == UNKNOWN else "",
            )
        )


def _whose(a: object, b: object) -> str:
    """Return which side does not know, by whether each does not."""
    return "both" if a and b else "a" if a else "b"


def _weighed(place: Place, a: Any, b: Any) -> tuple[str, str]:
    """Return whether two unequal values are a difference, and what is to be said of them."""
    if place.pattern in PLACE:
        return INFORMATIONAL, "where it sits in the machine"
    if place.pattern in SAID:
        return INFORMATIONAL, "another boot, container or mount namespace"
    if place.pattern in MEASURED and near(a, b):
        return INFORMATIONAL, "as good as equal"
    if place.pattern in REVISIONS and abbreviated(a, b):
        return INFORMATIONAL, "one revision, abbreviated on one side"
    if place.section == "env_vars":
        several = place.field in PATH_VARIABLES
        if spelled_alike(a, b, several=several):
            return INFORMATIONAL, "the same paths, spelled in another way"
        if several and spelled_alike(
            *(":".join(sorted(str(value).split(":"))) for value in (a, b)), several=True
        ):
            return DIFFERENCE, "in another order"
    return DIFFERENCE, ""


def _within(pattern: str, tables: frozenset[str]) -> bool:
    return any(path in tables for path in upwards(pattern))


def _flags(a: dict[str, Any], b: dict[str, Any], name: str) -> bool:
    return isinstance(a.get(name), bool) and isinstance(b.get(name), bool)


def _says_nothing(value: Any, place: Place, *, known: bool) -> bool:
    """Tell whether a value is no more than the null against it, which may be ``known`` to be the answer."""
    if value in ([], {}):
        return known
    if known and isinstance(value, dict):
        return all(member is False or _says_nothing(member, place, known=True) for member in value.values())
    return bare(value) or _unsaid(value, place)


def _unsaid(value: Any, place: Place) -> bool:
    """Tell whether a value says that it is not known; what a variable is set to is no such word."""
    return isinstance(value, str) and value in (REDACTED if place.in_map else UNKNOWN_WORDS)


def _basis(members: dict[str, Any]) -> set[str]:
    return {str(member.get("basis")) for member in members.values()}
