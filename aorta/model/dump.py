"""From a typed value to a JSON value, checked on the way.

Nothing that a collector returns is trusted: a value of another type, NaN, a lone surrogate, a number
or text beyond all measure, a loop. Each becomes null (or is escaped) with a problem that names its path.
"""

import enum
import math
from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.shape import Shape, empty
from aorta.model.vocabulary import Detail, ReasonKind

TEXT_LIMIT = 1 << 20
NUMBER_LIMIT = 1 << 64
DEPTH_LIMIT = 40


@attrs.frozen
class Problem:
    """Something that could not be written as declared."""

    kind: ReasonKind
    path: str
    text: str


class Dumper:
    """Turns values of a declared shape into JSON values; ``problems`` collects what did not fit."""

    def __init__(self, detail: Detail = Detail.FULL) -> None:
        self.detail = detail
        self.problems: list[Problem] = []

    def dump(self, value: Any, shape: Shape, path: str = "") -> Any:
        """Return the JSON value; what does not fit its shape is null and a problem."""
        if shape.fact is not None and shape.fact.detail is Detail.FULL and self.detail is Detail.COMPACT:
            return None
        if value is None:
            return None if shape.nullable and not path else empty(shape)
        return getattr(self, f"_{shape.kind}")(value, shape, path)

    def _wrong(self, value: Any, wanted: str, path: str, shape: Shape) -> Any:
        self.problems.append(
            Problem(ReasonKind.FAILED, path, f"expected {wanted}, got {type(value).__name__}")
        )
        return empty(shape)

    def _scalar(self, value: Any, shape: Shape, path: str) -> Any:
        wanted = shape.cls
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted and not (wanted is str and isinstance(value, str)):
            return self._wrong(value, wanted.__name__ if wanted else "?", path, shape)
        return self._checked(value, path)

    def _enum(self, value: Any, shape: Shape, path: str) -> Any:
        word = value.value if isinstance(value, enum.Enum) else value
        if word not in shape.values:
            return self._wrong(value, " | ".join(map(str, shape.values)), path, shape)
        return word

    def _list(self, value: Any, shape: Shape, path: str) -> Any:
        if not isinstance(value, (list, tuple)) or shape.item is None:
            return self._wrong(value, "list", path, shape)
        item = shape.item
        return [self._member(member, item, f"{path}[{number}]") for number, member in enumerate(value)]

    def _map(self, value: Any, shape: Shape, path: str) -> Any:
        if not isinstance(value, Mapping) or shape.item is None:
            return self._wrong(value, "mapping", path, shape)
        result = empty(shape) or {}
        for key, member in value.items():
            if not isinstance(key, str):
                self._wrong(key, "str as a key", path, shape)
                continue
            name = self._checked(key, path)
            result[name] = self._member(member, shape.item, f"{path}.{name}" if path else name)
        return result

    def _member(self, value: Any, shape: Shape, path: str) -> Any:
        return None if value is None and shape.nullable else self.dump(value, shape, path)

    def _object(self, value: Any, shape: Shape, path: str) -> Any:
        if shape.cls is None or not isinstance(value, shape.cls):
            return self._wrong(value, shape.cls.__name__ if shape.cls else "?", path, shape)
        return {
            name: self.dump(getattr(value, name), member, f"{path}.{name}" if path else name)
            for name, member in shape.fields
        }

    def _any(self, value: Any, shape: Shape, path: str) -> Any:
        return self._json(value, path, depth=0)

    def _json(self, value: Any, path: str, depth: int) -> Any:
        if depth > DEPTH_LIMIT:
            return self._unparsed(path, f"nested deeper than {DEPTH_LIMIT}")
        if isinstance(value, Mapping):
            return {
                self._checked(str(key), path): self._json(member, f"{path}.{key}", depth + 1)
                for key, member in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._json(member, f"{path}[{n}]", depth + 1) for n, member in enumerate(value)]
        if value is None or type(value) in (bool, int, float, str):
            return self._checked(value, path)
        self.problems.append(Problem(ReasonKind.FAILED, path, f"{type(value).__name__} is not JSON"))
        return None

    def _unparsed(self, path: str, text: str) -> None:
        self.problems.append(Problem(ReasonKind.UNPARSED, path, text))

    def _checked(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return self._text(str(value), path)
        if isinstance(value, float) and not math.isfinite(value):
            return self._unparsed(path, f"{value} is not a JSON number")
        if type(value) is int and abs(value) > NUMBER_LIMIT:
            return self._unparsed(path, "a number of more than 64 bits")
        return value

    def _text(self, value: str, path: str) -> str | None:
        if len(value) > TEXT_LIMIT:
            return self._unparsed(path, f"a text of {len(value)} characters, more than {TEXT_LIMIT}")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self._unparsed(path, "bytes that are not UTF-8 are written as \\xNN")
            raw = value.encode("utf-8", "surrogateescape" if _escaped(value) else "backslashreplace")
            return raw.decode("utf-8", "backslashreplace")
        return value


def _escaped(value: str) -> bool:
    """Tell whether every surrogate stands for a byte that was not UTF-8."""
    return all(not "\ud800" <= char <= "\udfff" or "\udc80" <= char <= "\udcff" for char in value)
