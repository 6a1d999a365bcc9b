"""From plain values to the recipe's classes, strictly: cattrs, with hooks that coerce nothing.

cattrs alone turns ``3`` into ``"3"`` and ``"a"`` into a list of letters. Here an integer is taken for a
float, and nothing else for anything else; every key is known, no member of a list is null, and all faults
are told at once.
"""

import functools
import math
import typing
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from aorta.model.frozen import is_model, members_of
from aorta.sweep.definitions.plain import part_meant
from aorta.sweep.recipe.checks import checks_of
from aorta.sweep.recipe.faults import WORDS, Fault, unknown
from aorta.sweep.recipe.model import Change, InlineEnvironment

if TYPE_CHECKING:
    import cattrs


class Faults(Exception):  # noqa: N818 - the words it is caught by
    """All that is wrong with one value; paths begin at it."""

    def __init__(self, faults: Iterable[Fault], sound: Mapping[Any, Any] | None = None) -> None:
        super().__init__()
        self.faults = tuple(faults)
        #: Of a mapping, the members that have no fault.
        self.sound = sound or {}


def structured(cls: type[Any], value: Mapping[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """Return the members of a class that a mapping gives and that are sound; the rest are faults."""
    made: dict[str, Any] = {}
    for name, declared, _ in fields_of(cls):
        if name in value:
            try:
                made[name] = _member(cls, name, value[name], declared)
            except Faults as error:
                faults += [fault.below(name) for fault in error.faults]
    return made


def fields_of(cls: type[Any]) -> list[tuple[str, Any, Any]]:
    """Return name, type and default of the members of a class."""
    return members_of(cls) or []


def _member(cls: type[Any], name: str, value: Any, declared: Any) -> Any:
    if name == "collect":
        value = _collected(value)
    elif name == "command" and isinstance(value, list):
        # What is no UTF-8 stands there as !!binary.
        value = [each.decode("utf-8", "surrogateescape") if type(each) is bytes else each for each in value]
    faults: list[Fault] = []
    try:
        made = _converter().structure(value, declared)
    except Faults as error:
        faults += error.faults
        made = error.sound or None
    if made is not None:
        faults += [Fault(path, text) for check in checks_of(cls, name) for path, text in check.test(made)]
    if faults:
        raise Faults(faults)
    return made


def _collected(value: Any) -> Any:
    """Return a list of collectors as the mapping that it is short for."""
    if not isinstance(value, (list, dict)):
        raise _mismatch("a list of names, or a mapping of names to options", value)
    if isinstance(value, dict):
        return value
    faults = [
        Fault((at,), wanted="a text", got=each) for at, each in enumerate(value) if type(each) is not str
    ]
    if faults:
        raise Faults(faults)
    doubles = [Fault((at,), "stands twice") for at, each in enumerate(value) if each in value[:at]]
    if doubles:
        raise Faults(doubles)
    return dict.fromkeys(value)


@functools.cache
def _converter() -> "cattrs.Converter":
    import cattrs

    converter = cattrs.Converter(detailed_validation=False)
    for scalar in (bool, int, float, str):
        converter.register_structure_hook(scalar, _scalar)
    converter.register_structure_hook_func(lambda kind: kind is Any, lambda value, _: _json(value))
    converter.register_structure_hook_func(_is_list, _list)
    converter.register_structure_hook_func(_is_map, _map)
    converter.register_structure_hook_func(is_model, _object)
    converter.register_structure_hook_func(lambda kind: kind == str | InlineEnvironment, _environment)
    return converter


def _is_list(kind: Any) -> bool:
    origin: Any = typing.get_origin(kind)
    return origin is tuple


def _is_map(kind: Any) -> bool:
    return isinstance(origin := typing.get_origin(kind), type) and issubclass(origin, Mapping)


def _object(value: Any, cls: type[Any]) -> Any:
    if not isinstance(value, dict):
        raise _mismatch("a mapping", value)
    if cls is Change:
        value = _change(value)
    names = [name for name, *_ in fields_of(cls)]
    faults = [Fault((name,), unknown(name, names), key=True) for name in value if name not in names]
    for name, _, default in fields_of(cls):
        if default is attrs.NOTHING and name not in value:
            faults.append(Fault((name,), "is missing"))
    made = structured(cls, value, faults)
    if faults:
        raise Faults(faults)
    return cls(**made)


def _change(value: dict[str, Any]) -> dict[str, Any]:
    """Return a change in full; a mapping of variables to values is short for ``set``."""
    names = {name for name, *_ in fields_of(Change)}
    if names.isdisjoint(value):
        faults = [
            Fault((name,), f"is none of set, unset, prepend: did you mean {near}?", key=True)
            for name, each in value.items()
            if (near := part_meant(name, each))
        ]
        if faults:
            raise Faults(faults)
    if names.isdisjoint(value) or all(type(each) is str for each in value.values()):
        return {"set": _member(Change, "set", value, Mapping[str, str])}
    return value


def _environment(value: Any, _: Any) -> Any:
    if isinstance(value, dict):
        return _object(value, InlineEnvironment)
    if type(value) is str:
        return value
    raise _mismatch("a name, or a mapping with docker and env", value)


def _scalar(value: Any, kind: type[Any]) -> Any:
    if type(value) is kind or (kind is float and type(value) is int):
        try:
            made = kind(value)
        except OverflowError:
            raise Faults([Fault((), "is too large")]) from None
        if kind is float and not math.isfinite(made):
            raise Faults([Fault((), "is not a finite number")])
        return made
    raise _mismatch(WORDS[kind], value)


def _list(value: Any, kind: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _mismatch("a list", value)
    item = typing.get_args(kind)[0]
    try:
        return tuple(_members(enumerate(value), item).values())
    except Faults as error:
        raise Faults(error.faults) from None


def _map(value: Any, kind: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _mismatch("a mapping", value)
    return _members(value.items(), typing.get_args(kind)[1])


def _members(pairs: Iterable[tuple[Any, Any]], item: Any) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    faults: list[Fault] = []
    for key, member in pairs:
        try:
            made[key] = _converter().structure(member, item)
        except Faults as error:
            faults += [fault.below(key) for fault in error.faults]
    if faults:
        raise Faults(faults, made)
    return made


def _json(value: Any) -> Any:
    """Return a value of a workload's config, which is JSON. Raises Faults for what is not."""
    if isinstance(value, list):
        return list(_members(enumerate(value), Any).values())
    if isinstance(value, dict):
        return _members(value.items(), Any)
    if value is None or type(value) in (bool, str):
        return value
    if type(value) in (int, float):
        return _scalar(value, type(value))
    raise _mismatch("a JSON value", value)


def _mismatch(wanted: str, got: Any) -> Faults:
    return Faults([Fault((), wanted=wanted, got=got)])
