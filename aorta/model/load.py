"""From JSON values to typed values, strictly: cattrs, with hooks that coerce nothing.

cattrs alone turns ``3`` into ``"3"`` and ``"gfx942"`` into a list of letters. Keys that are not declared
are passed over (the document keeps them). A member of a list or mapping that could not be written stands
there as null. A capture has nothing to load, so cattrs is imported by ``load`` alone.
"""

import functools
import types
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from aorta.model.shape import SCALARS, shape_of

if TYPE_CHECKING:
    import cattrs


_WORDS: tuple[Any, ...] = (typing.Literal,)
_LISTS: tuple[Any, ...] = (list, tuple, Sequence)
_MAPS: tuple[Any, ...] = (dict, Mapping)


def load(value: Any, declared: Any, name: str) -> tuple[Any, list[str]]:
    """Return the typed value and what is not as declared, each fault with its place.

    The value is None when there are faults. Raises RecursionError for a value nested too deeply.
    """
    import cattrs

    try:
        return _converter().structure(value, declared), []
    except (cattrs.BaseValidationError, TypeError, ValueError) as error:
        return None, cattrs.transform_error(error, path=name, format_exception=_told)


@functools.cache
def _converter() -> "cattrs.Converter":
    import cattrs

    converter = cattrs.Converter()
    for scalar in SCALARS:
        converter.register_structure_hook(scalar, _scalar)
    converter.register_structure_hook_func(lambda kind: typing.get_origin(kind) in _WORDS, _word)
    converter.register_structure_hook_func(_is_free, lambda value, _: value)
    converter.register_structure_hook_func(
        lambda kind: typing.get_origin(kind) in _LISTS,
        lambda value, kind: _list(converter, value, kind),
    )
    converter.register_structure_hook_func(
        lambda kind: typing.get_origin(kind) in _MAPS,
        lambda value, kind: _map(converter, value, kind),
    )
    converter.register_structure_hook_factory(attrs.has, lambda kind: _object(converter, kind))
    return converter


def _object(converter: "cattrs.Converter", kind: type[Any]) -> Any:
    from cattrs.gen import make_dict_structure_fn

    structure: Any = make_dict_structure_fn(kind, converter)

    def strictly(value: Any, declared: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object, got {_name(value)}")
        return structure(value, declared)

    return strictly


def _scalar(value: Any, kind: type[Any]) -> Any:
    if kind not in SCALARS:
        # cattrs takes the hook of ``str`` for an enum of words, which is one.
        return _word(value, kind)
    if type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return float(value)
    raise TypeError(f"expected {_JSON[kind]}, got {_name(value)}")


def _word(value: Any, kind: Any) -> Any:
    shape = shape_of(kind)
    if not isinstance(value, str) or value not in shape.values:
        raise ValueError(f"{repr(value)[:60]} is none of {', '.join(shape.values)}")
    return shape.cls(value) if shape.cls is not None else value


def _is_free(kind: Any) -> bool:
    """Tell whether any JSON value will do: ``Any``, or a union of scalars."""
    members = [member for member in typing.get_args(kind) if member is not type(None)]
    union = typing.get_origin(kind) in (typing.Union, types.UnionType) and len(members) > 1
    return kind is Any or kind is object or union


def _list(converter: "cattrs.Converter", value: Any, kind: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {_name(value)}")
    item = typing.get_args(kind)[0]
    return tuple(_members(converter, dict(enumerate(value)), item, kind).values())


def _map(converter: "cattrs.Converter", value: Any, kind: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {_name(value)}")
    return _members(converter, value, typing.get_args(kind)[1], kind)


def _members(converter: "cattrs.Converter", value: Mapping[Any, Any], item: Any, kind: Any) -> dict[Any, Any]:
    from cattrs.errors import IterableValidationError, IterableValidationNote

    made, errors = {}, []
    for key, member in value.items():
        try:
            made[key] = None if member is None else converter.structure(member, item)
        except Exception as error:
            note = IterableValidationNote(f"Structuring {kind} @ {key!r}", key, item)
            error.__notes__ = [*getattr(error, "__notes__", []), note]  # type: ignore[attr-defined]
            errors.append(error)
    if errors:
        raise IterableValidationError(f"While structuring {kind}", errors, kind)
    return made


_JSON = {
    type(None): "null",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def _name(value: Any) -> str:
    return _JSON.get(type(value), "something else")


def _told(error: BaseException, _kind: Any) -> str:
    return "is missing" if isinstance(error, KeyError) else str(error)
