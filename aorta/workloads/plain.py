"""Values of a workload as JSON values: what cannot be one is left out, and said, never written wrongly."""

import math
from collections.abc import Mapping
from typing import Any

#: How deep a value may be nested, and how many members a whole one may have.
DEPTH, MEMBERS = 8, 20_000

#: How many numbers are kept, of the times of steps; and of how many bits whole ones may be.
NUMBERS, BITS = 200_000, 64


class NotPlainError(ValueError):
    """A value that JSON does not have; the text says what it is."""


class Plain:
    """Makes JSON values, and notes what was left out."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._members = 0

    def mapping(self, value: Any, place: str) -> dict[str, Any]:
        """Return a mapping with those members that JSON can hold."""
        if not isinstance(value, Mapping):
            if value is not None:
                self.notes.append(f"{place} left out: {_kind(value)} is no mapping")
            return {}
        made: dict[str, Any] = {}
        for key, one in list(value.items()):
            try:
                made[_key(key)] = self._value(one, DEPTH)
            except NotPlainError as error:
                self.notes.append(f"{place}.{_told(key, 60)} left out: {error}")
            except Exception as error:
                told = f"{type(error).__name__}: {_told(error, 200)}"
                self.notes.append(f"{place}.{_told(key, 60)} left out: {told}"[:300])
        return made

    def numbers(self, values: Any, place: str) -> tuple[float, ...]:
        """Return the first finite numbers that are not negative; all are left out when one is not."""
        made = []
        try:
            for one in values or ():
                number = _scalar(one)
                if type(number) not in (int, float) or number < 0:
                    raise NotPlainError(f"{_told(one, 40)!r} is no time")
                made.append(float(number))
        except Exception as error:
            self.notes.append(f"{place} left out: {_told(error, 250)}")
            return ()
        if len(made) > NUMBERS:
            self.notes.append(f"{len(made) - NUMBERS} more {place} left out")
        return tuple(made[:NUMBERS])

    def count(self, value: Any, place: str) -> int | None:
        """Return a whole number from 0, or None."""
        if value is None:
            return None
        try:
            number = _scalar(value)
        except Exception:
            number = None
        if type(number) is int and number >= 0:
            return number
        self.notes.append(f"{place} left out: {_told(value, 40)!r} is no count")
        return None

    def _value(self, value: Any, depth: int) -> Any:
        self._members += 1
        if self._members > MEMBERS:
            raise NotPlainError(f"there are more than {MEMBERS} values")
        if depth == 0:
            raise NotPlainError(f"it is nested more than {DEPTH} deep")
        if isinstance(value, Mapping):
            return {_key(key): self._value(one, depth - 1) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(one, depth - 1) for one in value]
        return _scalar(value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise NotPlainError(f"its key {_told(key, 60)!r} is no text")
    return _text(key)


def _scalar(value: Any) -> Any:
    """Return a JSON scalar for a Python, numpy or torch one."""
    if value is not None and type(value) not in (bool, int, float, str):
        value = _unwrapped(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise NotPlainError(f"{value} is no JSON number")
    if isinstance(value, int) and value.bit_length() > BITS:
        raise NotPlainError(f"it is {_told(value, 40)}")
    return _text(value) if isinstance(value, str) else value


def _unwrapped(value: Any) -> Any:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    item = getattr(value, "item", None)
    if callable(item):
        value = item()
        if type(value) in (bool, int, float, str):
            return value
    raise NotPlainError(f"{_kind(value)} is no JSON value")


def _text(text: str) -> str:
    # A lone surrogate cannot be written as UTF-8.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _told(value: Any, limit: int) -> str:
    """Return the beginning of a value's text, also of one that has none."""
    if isinstance(value, int) and value.bit_length() > BITS:
        # Python writes no number of more than 4300 digits.
        return f"a number of {value.bit_length()} bits"
    try:
        return str(value)[:limit]
    except Exception:
        return _kind(value)


def _kind(value: Any) -> str:
    return f"an object of {type(value).__module__}.{type(value).__qualname__}"
