"""From a typed value to a JSON value, checked on the way.

Nothing that a collector returns is trusted: a value of another type, NaN, a lone surrogate, a number
or text beyond all measure, a loop. Each becomes null (or is escaped) with a problem that names its path.
"""

import enum
import math
from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.redact import redact, redact_value
from aorta.model.shape import Shape, empty
from aorta.model.vocabulary import Detail, ReasonKind

TEXT_LIMIT = 1 << 20
NUMBER_LIMIT = 1 << 64
DEPTH_LIMIT = 40

#: The most values that one section may hold; beyond it members become null. A value that holds
#: itself twice would otherwise double at each level.
SIZE_LIMIT = 1_000_000

KEY_LIMIT = 1 << 10

#: The most problems that are told one by one.
PROBLEM_LIMIT = 20


@attrs.frozen
class Problem:
    """Something that could not be written as declared."""

    kind: ReasonKind
    path: str
    text: str


class Dumper:
    """Turns values of a declared shape into JSON values; ``problems`` collects what did not fit.

    With ``redacting`` what looks like a credential is replaced in every text, and ``redacted`` names
    where: a tool may print anything. ``characters`` are the most that all texts together may have.
    """

    def __init__(
        self, detail: Detail = Detail.FULL, *, redacting: bool = False, characters: float = math.inf
    ) -> None:
        self.detail = detail
        self.redacted: list[str] = []
        self._redacting = redacting
        self._problems: list[Problem] = []
        self._left = SIZE_LIMIT
        self._characters = self._room = characters
        self._untold, self._untold_kind = 0, ReasonKind.FAILED

    @property
    def problems(self) -> list[Problem]:
        """Return what did not fit, the first ones by themselves and the number of all others."""
        if not self._untold:
            return list(self._problems)
        more = f"and {self._untold} more values that do not fit"
        return [*self._problems, Problem(self._untold_kind, "", more)]

    def dump(self, value: Any, shape: Shape, path: str = "") -> Any:
        """Return the JSON value; what does not fit its shape is null and a problem."""
        if shape.fact is not None and shape.fact.detail is Detail.FULL and self.detail is Detail.COMPACT:
            return None
        if value is None:
            return None if shape.nullable and not path else empty(shape)
        return getattr(self, f"_{shape.kind}")(value, shape, path)

    def _wrong(self, value: Any, wanted: str, path: str, shape: Shape) -> Any:
        self._tell(ReasonKind.FAILED, path, f"expected {wanted}, got {type(value).__name__}")
        return empty(shape)

    def _tell(self, kind: ReasonKind, path: str, text: str) -> Any:
        """Note a problem and return what stands for the value, null."""
        if len(self._problems) < PROBLEM_LIMIT:
            self._problems.append(Problem(kind, path, text))
        else:
            self._untold += 1
            self._untold_kind = kind
        return None

    def _scalar(self, value: Any, shape: Shape, path: str) -> Any:
        wanted = shape.cls
        if wanted is float and type(value) is int and abs(value) < NUMBER_LIMIT:
            return float(value)
        if type(value) is int and wanted in (int, float):
            return self._checked(value, path)
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
            name = self._key(key, path)
            if name is not None:
                below = _below(path, name)
                result[name] = self._member(self._shown(name, member, below), shape.item, below)
        return result

    def _member(self, value: Any, shape: Shape, path: str) -> Any:
        return None if value is None and shape.nullable else self.dump(value, shape, path)

    def _object(self, value: Any, shape: Shape, path: str) -> Any:
        if shape.cls is None or not isinstance(value, shape.cls):
            return self._wrong(value, shape.cls.__name__ if shape.cls else "?", path, shape)
        return {
            name: self.dump(getattr(value, name), member, _below(path, name)) for name, member in shape.fields
        }

    def _any(self, value: Any, shape: Shape, path: str) -> Any:  # noqa: ARG002 - one of the kinds
        return self._json(value, path, depth=0)

    def _json(self, value: Any, path: str, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            return self._unparsed(path, f"more than {SIZE_LIMIT} values")
        if depth > DEPTH_LIMIT:
            return self._unparsed(path, f"nested deeper than {DEPTH_LIMIT}")
        if isinstance(value, Mapping):
            return self._json_object(value, path, depth)
        if isinstance(value, (list, tuple)):
            return [self._json(member, f"{path}[{n}]", depth + 1) for n, member in enumerate(value)]
        if value is None or type(value) in (bool, int, float) or isinstance(value, str):
            return self._checked(value, path)
        return self._tell(ReasonKind.FAILED, path, f"{type(value).__name__} is not JSON")

    def _json_object(self, value: Mapping[Any, Any], path: str, depth: int) -> dict[str, Any]:
        result = {}
        for key, member in value.items():
            if not isinstance(key, str):
                self._tell(ReasonKind.FAILED, path, f"expected str as a key, got {type(key).__name__}")
                continue
            name = self._key(key, path)
            if name is not None:
                below = _below(path, name)
                result[name] = self._json(self._shown(name, member, below), below, depth + 1)
        return result

    def _key(self, key: str, path: str) -> str | None:
        """Return a key as it is written, None (and a problem) where it is too long."""
        if len(key) > KEY_LIMIT:
            self._tell(ReasonKind.UNPARSED, path, f"a key of {len(key)} characters, more than {KEY_LIMIT}")
            return None
        return self._text(key, path)

    def _unparsed(self, path: str, text: str) -> Any:
        return self._tell(ReasonKind.UNPARSED, path, text)

    def _checked(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return self._text(str.__str__(value), path)
        if isinstance(value, float) and not math.isfinite(value):
            return self._unparsed(path, f"{value} is not a JSON number")
        if type(value) is int and abs(value) >= NUMBER_LIMIT:
            return self._unparsed(path, "a number of more than 64 bits")
        return value

    def _text(self, value: str, path: str) -> str | None:
        if len(value) > TEXT_LIMIT:
            self._tell(
                ReasonKind.UNPARSED, path, f"a text of {len(value)} characters, the most is {TEXT_LIMIT}"
            )
            return None
        self._room -= len(value)
        if self._room < 0:
            self._tell(ReasonKind.UNPARSED, path, f"more than {self._characters} characters in all")
            return None
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self._unparsed(path, "bytes that are not UTF-8 are written as \\xNN")
            raw = value.encode("utf-8", "surrogateescape" if _escaped(value) else "backslashreplace")
            value = raw.decode("utf-8", "backslashreplace")
        return self._redact(value, redact(value), path) if self._redacting else value

    def _shown(self, name: str, value: Any, path: str) -> Any:
        """Return a member as it may be written: the name of a key can tell that its value is a secret."""
        if not self._redacting or not isinstance(value, str) or len(value) > TEXT_LIMIT:
            return value
        return self._redact(value, redact_value(name, value), path)

    def _redact(self, value: str, shown: str, path: str) -> str:
        if shown != value and path not in self.redacted:
            self.redacted.append(path)
        return shown


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _escaped(value: str) -> bool:
    """Tell whether every surrogate stands for a byte that was not UTF-8."""
    return all(not "\ud800" <= char <= "\udfff" or "\udc80" <= char <= "\udcff" for char in value)
