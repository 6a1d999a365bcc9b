"""YAML texts, composed from PyYAML's events; the C parser where it is there."""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from aorta.sweep.recipe.document import Composition, Place, Unreadable
from aorta.sweep.recipe.problems import Path, shown

_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_TAG}merge"
_TEXTS: Final = (f"{_TAG}str", f"{_TAG}value", "!")


class _Value(NamedTuple):
    """A value, how many values it is with all in it, and how deep it goes."""

    value: Any
    size: int = 1
    depth: int = 0


class _Events(Protocol):
    """What is used of PyYAML's loaders."""

    def get_event(self) -> Any:
        """Return the next event."""

    def resolve(self, kind: type[Any], value: str, implicit: tuple[bool, bool]) -> str:
        """Return the tag of a scalar that has none."""

    def dispose(self) -> None:
        """End."""


def composed(text: str) -> Composition:
    """Return the one document of a text. Raises Unreadable."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    made: _Events | None = None
    try:
        made = loader(text)
        return _Composer(made).document()
    except yaml.YAMLError as error:
        raise _unreadable(error, text) from None
    finally:
        if made is not None:
            made.dispose()


class _Composer:
    """One reading of one text."""

    def __init__(self, events: _Events) -> None:
        import yaml

        self._events = events
        self._yaml = yaml
        self._made = Composition()
        self._construct: Callable[[Any], Any] = yaml.constructor.SafeConstructor().construct_object
        #: What anchors stand for; None while it is being composed.
        self._anchors: dict[str, _Value | None] = {}

    def document(self) -> Composition:
        self._events.get_event()
        event = self._events.get_event()
        if isinstance(event, self._yaml.StreamEndEvent):
            raise Unreadable("the file is empty")
        self._made.value = self._node(self._events.get_event(), ()).value
        self._events.get_event()
        event = self._events.get_event()
        if not isinstance(event, self._yaml.StreamEndEvent):
            raise Unreadable("the file holds more than one document (a line of ---)", _place(event))
        return self._made

    def _node(self, event: Any, path: Path) -> _Value:
        if isinstance(event, self._yaml.AliasEvent):
            return self._alias(event, path)
        self._made.enter(path, _place(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if isinstance(event, self._yaml.ScalarEvent):
            made = _Value(self._scalar(event, path))
        elif isinstance(event, self._yaml.SequenceStartEvent):
            self._plain_tag(event, "seq")
            made = self._sequence(path)
        else:
            self._plain_tag(event, "map")
            made = self._mapping(path)
        if event.anchor is not None:
            self._anchors[event.anchor] = made
        return made

    def _alias(self, event: Any, path: Path) -> _Value:
        if event.anchor not in self._anchors:
            raise Unreadable(f"no anchor &{shown(event.anchor)} stands before its alias", _place(event))
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise Unreadable(f"the alias *{shown(event.anchor)} stands in its own value", _place(event))
        self._made.enter(path, _place(event), anchored.size, anchored.depth)
        return anchored

    def _sequence(self, path: Path) -> _Value:
        values: list[Any] = []
        size, depth = 1, 0
        while not isinstance(event := self._events.get_event(), self._yaml.SequenceEndEvent):
            made = self._node(event, (*path, len(values)))
            values.append(made.value)
            size, depth = size + made.size, max(depth, made.depth + 1)
        return _Value(values, size, depth)

    def _mapping(self, path: Path) -> _Value:
        values: dict[str, Any] = {}
        merged: list[Any] = []
        size, depth = 1, 0
        while not isinstance(event := self._events.get_event(), self._yaml.MappingEndEvent):
            name, merges = self._key(event, path)
            here = (*path, name)
            first = self._made.keys.get(here)
            self._made.keys[here] = _place(event)
            made = self._node(self._events.get_event(), here)
            size, depth = size + made.size, max(depth, made.depth + 1)
            if first is not None:
                self._made.faults.append((here, f"stands twice; it is in line {first[0]} too", True))
            elif merges:
                merged = self._sources(made.value, here)
            else:
                values[name] = made.value
        for each in merged:
            values = {**each, **values}
        return _Value(values, size, depth)

    def _key(self, event: Any, path: Path) -> tuple[str, bool]:
        """Return a key, and whether it merges."""
        if not isinstance(event, self._yaml.ScalarEvent):
            raise Unreadable("a key is a text, not a list, mapping or alias", _place(event))
        tag = self._tag(event)
        if tag not in (*_TEXTS, _MERGE):
            word = tag.removeprefix(_TAG)
            text = f"the key {shown(event.value)} is no text to YAML ({word}): write it in quotes"
            raise Unreadable(text, _place(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = _Value(event.value)
        return self._made.sound((*path, "?"), event.value), tag == _MERGE

    def _sources(self, value: Any, path: Path) -> list[Any]:
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(each, dict) for each in sources):
            self._made.faults.append((path, "merges mappings only", True))
            return []
        return sources

    def _scalar(self, event: Any, path: Path) -> Any:
        tag = self._tag(event)
        if tag in (*_TEXTS, _MERGE):
            return self._made.sound(path, event.value)
        if not event.style and event.tag is None:
            self._made.spelled[path] = event.value
        node = self._yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark, style=event.style)
        try:
            return self._construct(node)
        except (self._yaml.YAMLError, ValueError, OverflowError, ArithmeticError, LookupError):
            text = f"is no {shown(tag.removeprefix(_TAG))} that can be read: write it in quotes"
            self._made.faults.append((path, text, False))
            return "?"

    def _tag(self, event: Any) -> str:
        if event.tag is None or event.tag == "!":
            tag: str = self._events.resolve(self._yaml.ScalarNode, event.value, event.implicit)
            return f"{_TAG}str" if event.tag == "!" else tag
        tag = event.tag
        if tag.removeprefix(_TAG) not in ("str", "int", "float", "bool", "null", "binary"):
            raise Unreadable(
                f"the tag {_short(tag)} is not allowed: a recipe has plain values", _place(event)
            )
        return tag

    def _plain_tag(self, event: Any, word: str) -> None:
        if event.tag not in (None, "!", f"{_TAG}{word}"):
            text = f"the tag {_short(event.tag)} is not allowed: a recipe has plain values"
            raise Unreadable(text, _place(event))


def _place(event: Any) -> Place:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _short(tag: str) -> str:
    return shown(tag.replace(_TAG, "!!"))


def _unreadable(error: Any, text: str) -> Unreadable:
    """Return a fault of PyYAML's as one line of plain words."""
    if hasattr(error, "character"):
        return Unreadable(f"the file has a character that YAML does not allow, at position {error.position}")
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    told = re.sub(r"\s+", " ", " ".join(filter(None, (error.context, error.problem)))).strip()
    place = () if mark is None else (mark.line + 1, mark.column + 1)
    return Unreadable(
        f"the YAML cannot be read: {told or 'a syntax error'}{_way_out(told, text, place)}", place
    )


def _way_out(told: str, text: str, place: Place | tuple[()]) -> str:
    if "unknown escape" in told:
        return ": a text with \\ goes in single quotes, or is written with \\\\ in double ones"
    lines = text.splitlines()
    line = lines[place[0] - 1] if place and place[0] <= len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return ": a tab is no indentation in YAML: write spaces"
    return ""
