"""JSON texts, strictly, with the place of every value; ``json`` alone tells neither places nor doubles."""

import bisect
import json
import re
from typing import Any, Final, NoReturn

from aorta.sweep.recipe.document import MAX_DEPTH, Composition, Place, Unreadable
from aorta.sweep.recipe.problems import Path

_SPACE: Final = re.compile(r"[ \t\r\n]*")


def composed(text: str) -> Composition:
    """Return the document of a text. Raises Unreadable."""
    try:
        return _Composer(text).document()
    except json.JSONDecodeError as error:
        raise Unreadable(f"the JSON cannot be read: {error.msg}", (error.lineno, error.colno)) from None


class _Composer:
    """One reading of one text; ``_at`` is the position in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._made = Composition()
        self._scalars = json.JSONDecoder(parse_constant=_refuse)

    def document(self) -> Composition:
        self._made.value = self._value(())
        self._skip()
        if self._at < len(self._text):
            raise json.JSONDecodeError("something stands after the value", self._text, self._at)
        return self._made

    def _value(self, path: Path) -> Any:
        if len(path) > MAX_DEPTH:
            raise Unreadable(f"the values are nested more than {MAX_DEPTH} deep", self._place(self._at))
        char = self._skip()
        self._made.enter(path, self._place(self._at))
        if char == "{":
            return self._object(path)
        if char == "[":
            return self._array(path)
        return self._scalar(path)

    def _scalar(self, path: Path) -> Any:
        try:
            value, self._at = self._scalars.raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            raise json.JSONDecodeError(str(error), self._text, self._at) from None
        return self._made.sound(path, value) if isinstance(value, str) else value

    def _array(self, path: Path) -> list[Any]:
        values: list[Any] = []
        self._at += 1
        if self._skip() == "]":
            self._at += 1
            return values
        while True:
            values.append(self._value((*path, len(values))))
            if self._next("]"):
                return values

    def _object(self, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        self._at += 1
        if self._skip() == "}":
            self._at += 1
            return values
        while True:
            if self._skip() != '"':
                raise json.JSONDecodeError("a key in double quotes should stand here", self._text, self._at)
            place = self._place(self._at)
            name = self._scalar((*path, "?"))
            here = (*path, name)
            if name in values:
                first, _ = self._made.keys[here]
                self._made.faults.append((here, f"stands twice; it is in line {first} too", True))
            self._made.keys[here] = place
            if self._skip() != ":":
                raise json.JSONDecodeError("a colon should stand here", self._text, self._at)
            self._at += 1
            values[name] = self._value(here)
            if self._next("}"):
                return values

    def _next(self, end: str) -> bool:
        """Go past a comma, or past the end, which is told."""
        char = self._skip()
        if char not in (",", end):
            raise json.JSONDecodeError(f"a comma or {end} should stand here", self._text, self._at)
        self._at += 1
        return char == end

    def _skip(self) -> str:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def _place(self, at: int) -> Place:
        line = bisect.bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
