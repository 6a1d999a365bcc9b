"""``@frozen``: the frozen, keyword-only attrs class that everything here is made of.

A capture imports about two hundred of these classes, and writing out the methods of each was a quarter of
its start. So a class stays as it is declared, with one initialiser, equality, hash and text for all, and
becomes the attrs class in full, in its place, when something asks for its attrs fields: ``attrs.fields``,
``attrs.has``, cattrs. Collectors may use ``attrs.frozen(kw_only=True)`` just as well.
"""

import threading
import typing
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import attrs

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_options: Any) -> Any:
        """Do nothing at run time; Python 3.10 has none."""
        return lambda function: function


T = TypeVar("T")

_FIELD: type[Any] = type(attrs.field())
_DECLARED, _REQUIRED, _USES = "__declared_members__", "__required_members__", "__uses__"
#: Instances after which a class is made in full.
MANY = 50
_building = threading.RLock()


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(attrs.field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a frozen, keyword-only attrs class."""
    own = {name: vars(cls).get(name, attrs.NOTHING) for name in cls.__annotations__}
    made: Any = cls
    declared = {**getattr(cls, _DECLARED, {}), **own}
    setattr(made, _DECLARED, declared)
    setattr(made, _REQUIRED, [name for name, default in declared.items() if default is attrs.NOTHING])
    made.__eq__ = _equal
    made.__hash__ = _hash
    if "__repr__" not in vars(cls):
        made.__repr__ = _text
    if hasattr(cls, "__attrs_post_init__") or any(
        isinstance(default, _FIELD) or typing.get_origin(kind) is typing.ClassVar
        for default, kind in zip(own.values(), cls.__annotations__.values(), strict=True)
    ):
        return _built(made)
    setattr(made, _USES, [0])
    made.__attrs_attrs__ = _Unbuilt(made)
    made.__init__ = _set_members
    made.__setattr__ = made.__delattr__ = _refuse
    return cls


class _Unbuilt:
    """Stands for the attrs fields of a class that nobody has asked for yet."""

    def __init__(self, cls: type[Any]) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        with _building:
            if vars(self._cls)["__attrs_attrs__"] is self:
                _built(self._cls)
        return owner.__attrs_attrs__


def _built(cls: type[T]) -> type[T]:
    # Nothing is detected: the initialiser that stands there is the one to be replaced.
    made: type[T] = attrs.frozen(
        kw_only=True, eq=False, repr=False, slots=False, auto_detect=False, field_transformer=_called_as_named
    )(cls)
    return made


def _called_as_named(_cls: type[Any], fields: list[Any]) -> list[Any]:
    """Let each field be given under its own name; attrs would drop the ``_`` that some keys begin with."""
    return [field.evolve(alias=field.name) for field in fields]


def _set_members(self: Any, **values: Any) -> None:
    """Set every member from its value or its default."""
    uses = getattr(type(self), _USES)
    uses[0] += 1
    if uses[0] == MANY:
        # An initialiser of its own is dear to make and faster from then on.
        attrs.fields(type(self))
    declared = getattr(type(self), _DECLARED)
    members = self.__dict__
    members.update(declared)
    members.update(values)
    if len(members) != len(declared):
        unknown = next(name for name in values if name not in declared)
        raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {unknown!r}")
    missing = [name for name in getattr(type(self), _REQUIRED) if name not in values]
    if missing:
        raise TypeError(f"{type(self).__name__}.__init__() misses {', '.join(missing)}")


def _refuse(_self: Any, _name: str, *_value: Any) -> NoReturn:
    raise attrs.exceptions.FrozenInstanceError


def members_of(cls: type[Any]) -> list[tuple[str, Any, Any]] | None:
    """Return name, declared type and default of each field of an attrs class; None for any other class.

    A field without a default has ``attrs.NOTHING``, one with a factory that factory.
    """
    declared: dict[str, Any] | None = getattr(cls, _DECLARED, None)
    if isinstance(vars(cls).get("__attrs_attrs__"), _Unbuilt) and declared is not None:
        kinds: dict[str, Any] = {}
        for each in reversed(cls.__mro__):
            kinds.update(vars(each).get("__annotations__") or {} if each is not cls else each.__annotations__)
        return [(name, kinds[name], default) for name, default in declared.items()]
    if not attrs.has(cls):
        return None
    return [(field.name, field.type, field.default) for field in attrs.fields(cls)]


def is_model(kind: object) -> bool:
    """Tell whether something is an attrs class."""
    return isinstance(kind, type) and (hasattr(kind, _DECLARED) or attrs.has(kind))


def evolve(instance: T, **changes: Any) -> T:
    """Return a copy of a value with some fields changed."""
    if not hasattr(type(instance), _DECLARED):
        return attrs.evolve(instance, **changes)  # type: ignore[misc]
    made: T = type(instance)(**{**dict(_items(instance)), **changes})
    return made


def _items(instance: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(instance, name)) for name in getattr(type(instance), _DECLARED)]


def _equal(self: Any, other: object) -> Any:
    return _items(self) == _items(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), *(value for _, value in _items(self))))


def _text(self: Any) -> str:
    hidden = {field.name for field in attrs.fields(type(self)) if not field.repr}
    shown = (f"{name}={value!r}" for name, value in _items(self) if name not in hidden)
    return f"{type(self).__name__}({', '.join(shown)})"
