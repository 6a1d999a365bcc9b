"""``@frozen``: the frozen, keyword-only attrs class that everything here is made of.

It is ``attrs.frozen(kw_only=True)`` with one equality, hash and text for all: a capture imports about a
hundred of these classes, and writing out three methods and slots for each would be a sixth of its time.
Collectors may use either.
"""

from typing import TYPE_CHECKING, Any, TypeVar

import attrs

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_options: Any) -> Any:
        """Do nothing at run time; Python 3.10 has none."""
        return lambda function: function


T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(attrs.field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a frozen, keyword-only attrs class."""
    made: type[Any] = attrs.frozen(kw_only=True, eq=False, repr=False, slots=False)(cls)
    made.__eq__ = _equal  # type: ignore[assignment]
    made.__hash__ = _hash  # type: ignore[assignment]
    if "__repr__" not in vars(made):
        made.__repr__ = _text  # type: ignore[assignment]
    return made


def evolve(instance: T, **changes: Any) -> T:
    """Return a copy of a value with some fields changed."""
    made: T = attrs.evolve(instance, **changes)  # type: ignore[misc]
    return made


def _fields(instance: Any) -> tuple[Any, ...]:
    return tuple(getattr(instance, field.name) for field in attrs.fields(type(instance)))


def _equal(self: Any, other: object) -> Any:
    return _fields(self) == _fields(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), _fields(self)))


def _text(self: Any) -> str:
    shown = (
        f"{field.name}={getattr(self, field.name)!r}" for field in attrs.fields(type(self)) if field.repr
    )
    return f"{type(self).__name__}({', '.join(shown)})"
