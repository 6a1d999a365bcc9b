"""``workload_config``: from a recipe's mapping to the typed config of a workload, strictly."""

import enum
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from aorta.workloads.protocol import Workload

STEPS = "steps"


class ConfigError(ValueError):
    """A config that a workload does not take; ``problems`` are all that is wrong, each with its place."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Key(typing.NamedTuple):
    """One key of a config, for a list: its type in words, its default as JSON, and what it is."""

    key: str
    type: str
    default: Any
    doc: str
    required: bool


def make_config(cls: type[Workload], mapping: Mapping[str, Any], steps: int) -> Any:
    """Return the config for a workload: an instance of its ``config_type``, else a dict.

    ``steps`` is put in where there is a field of that name, and always in a dict. Raises ConfigError with
    every key that is not known, missing or not of its type, and with what the class itself refuses.
    """
    kind = cls.config_type
    if kind is None:
        return {**mapping, STEPS: steps}
    from aorta.model.load import load

    given = dict(mapping)
    if any(field.name == STEPS for field in attrs.fields(kind)) and STEPS not in given:
        given[STEPS] = steps
    unknown = list(_unknown(given, kind, "workload_config"))
    try:
        made, faults = load(_as_json(given), kind, "workload_config")
    except RecursionError:
        raise ConfigError(("workload_config is nested too deeply",)) from None
    if unknown or faults:
        raise ConfigError((*unknown, *(_sentence(fault, given) for fault in faults)))
    return made


def rebuilt(cls: type[Workload], mapping: Mapping[str, Any], steps: int) -> Any:
    """Return what ``make_config`` made of a mapping, without its checks: that needs no cattrs."""
    kind = cls.config_type
    if kind is None:
        return {**mapping, STEPS: steps}
    given = dict(mapping)
    if any(field.name == STEPS for field in attrs.fields(kind)):
        given.setdefault(STEPS, steps)
    return _rebuilt(given, kind)


def _rebuilt(value: Any, kind: Any) -> Any:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if value is None:
        return None
    if origin is typing.Annotated:
        return _rebuilt(value, inner[0])
    if origin in (typing.Union, types.UnionType):
        wanted = [one for one in inner if one is not type(None)]
        return _rebuilt(value, wanted[0]) if len(wanted) == 1 else value
    if origin in (list, tuple, Sequence):
        return tuple(_rebuilt(one, inner[0]) for one in value)
    if origin in (dict, Mapping):
        return {key: _rebuilt(one, inner[1]) for key, one in value.items()}
    if not isinstance(kind, type):
        return value
    if attrs.has(kind):
        hints = _hints(kind)
        names = {field.alias or field.name: field.name for field in attrs.fields(kind)}
        return kind(**{key: _rebuilt(one, hints.get(names[key], Any)) for key, one in value.items()})
    return kind(value) if kind is float or issubclass(kind, enum.Enum) else value


def config_schema(cls: type[Workload]) -> list[Key]:
    """Return the keys of a workload's config; none where it takes any."""
    if cls.config_type is None:
        return []
    return list(_keys(cls.config_type, ""))


def _keys(kind: type[Any], prefix: str) -> Iterator[Key]:
    """Yield the keys of a class; those of a class in it under its name and a dot."""
    hints = _hints(kind)
    for field in attrs.fields(kind):
        inner = hints.get(field.name, Any)
        if not field.init:
            continue
        if isinstance(inner, type) and attrs.has(inner) and field.default is not attrs.NOTHING:
            yield from _keys(inner, f"{prefix}{field.name}.")
            continue
        yield Key(
            f"{prefix}{field.name}",
            type_text(inner),
            _default(field.default),
            str(field.metadata.get("doc", "")),
            field.default is attrs.NOTHING,
        )


def check_below(key: str, value: int, end: int, what: str) -> None:
    """Refuse a number that counts from 0 up to ``end``, which it reaches. Raises ValueError."""
    if value >= end:
        raise ValueError(f"{key} is {value}, with {what}: at most {end - 1}")


def described(default: Any, doc: str) -> Any:
    """Return an attrs field with a default and the sentence that lists show for it."""
    return attrs.field(default=default, metadata={"doc": doc})


def type_text(kind: Any) -> str:
    """Return a declared type in words: ``int``, ``list of float``, ``gemm or transformer``."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return type_text(inner[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join("null" if one is type(None) else type_text(one) for one in inner)
    if origin is typing.Literal:
        return " or ".join(map(str, inner))
    if origin in (list, tuple, Sequence):
        return f"list of {type_text(inner[0])}" if inner else "list"
    if origin in (dict, Mapping):
        return f"map of {type_text(inner[1])}" if inner else "map"
    if isinstance(kind, type) and attrs.has(kind):
        keys = ", ".join(f"{name}: {type_text(one)}" for name, one in _hints(kind).items())
        return f"{{{keys}}}"
    return "any" if kind is Any else getattr(kind, "__name__", str(kind))


def _hints(kind: type[Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind)
    except Exception:
        # A name that stands under TYPE_CHECKING: what is declared is shown as it is.
        return {field.name: field.type for field in attrs.fields(kind)}


def _default(default: Any) -> Any:
    if default is attrs.NOTHING:
        return None
    if not isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return _jsonable(default)
    try:
        return None if default.takes_self else _jsonable(default.factory())
    except Exception:
        return None


def _jsonable(value: Any) -> Any:
    if attrs.has(type(value)):
        return {field.name: _jsonable(getattr(value, field.name)) for field in attrs.fields(type(value))}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_jsonable(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): _jsonable(one) for key, one in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _as_json(value: Any) -> Any:
    """Return the value with the plain containers that JSON has."""
    if isinstance(value, Mapping):
        return {key: _as_json(one) for key, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def _unknown(value: Any, kind: Any, place: str) -> Iterator[str]:
    """Yield the keys that a class does not have, in it and in the classes of its fields."""
    model = next(
        (one for one in (kind, *typing.get_args(kind)) if isinstance(one, type) and attrs.has(one)), None
    )
    if model is None:
        return
    if isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from _unknown(one, model, f"{place}[{number}]")
        return
    if not isinstance(value, Mapping):
        return
    if typing.get_origin(kind) in (dict, Mapping):
        for key, one in value.items():
            yield from _unknown(one, model, f"{place}.{key}")
        return
    hints = _hints(model)
    known = [field.alias or field.name for field in attrs.fields(model) if field.init]
    for key, one in value.items():
        if key in known:
            yield from _unknown(one, hints.get(key, Any), f"{place}.{key}")
        else:
            yield f"{place}: no key {key!r}{_meant(str(key), known)}"


def _meant(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f": did you mean {near[0]}?"
    return f"; there are {', '.join(known)}" if known else "; this workload has none"


def _sentence(fault: str, given: Any) -> str:
    """Return ``place: what`` for cattrs' ``what @ place``."""
    what, at, place = fault.rpartition(" @ ")
    if not at:
        return fault
    for key in place.split(".")[1:]:
        given = given.get(key) if isinstance(given, Mapping) else None
    power = re.fullmatch(r"([-+]?\d+)(\.\d*)?[eE]([-+]?)(\d+)", given) if isinstance(given, str) else None
    if power is not None:
        whole, part, sign, exponent = power.groups()
        what += f", which YAML makes of {given}: write {whole}{part or '.0'}e{sign or '+'}{exponent}"
    return f"{place}: {what}"
