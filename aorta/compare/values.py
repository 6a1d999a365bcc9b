"""When two values are the same, whatever their spelling."""

import json
import re
from collections.abc import Iterable
from typing import Any

from aorta.model.identity import method_of, same_revision

#: What follows a label in a configured target: the hash changes with the daemon, the platform does not.
_CONFIGURATION = re.compile(r"#[0-9a-f]{16}(?![0-9a-f])")
#: The most members and levels of a value that is shown.
MEMBERS, LEVELS = 100, 20
#: How far measured sizes of equal machines lie apart.
NEAR = 0.01


def unconfigured(text: str) -> str:
    """Return a label without hashes of Buck configurations."""
    return _CONFIGURATION.sub("", text)


def same(one: Any, other: Any, *, configured: bool = False) -> bool:
    """Tell whether two scalars are the same value: 1 is 1.0, and true is no number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, str) and isinstance(other, str):
        return one == other or (configured and unconfigured(one) == unconfigured(other))
    if isinstance(one, (list, dict)) or isinstance(other, (list, dict)):
        return False
    return bool(one == other)


def methods(one: Any, other: Any) -> tuple[str, str] | None:
    """Return how two digests were made, where that differs."""
    if not (isinstance(one, str) and isinstance(other, str)):
        return None
    first, second = method_of(one), method_of(other)
    return (first, second) if first and second and first != second else None


def abbreviated(one: Any, other: Any) -> bool:
    """Tell whether two texts are one revision at two lengths; one of a changed tree is another one."""
    if not (isinstance(one, str) and isinstance(other, str)) or one.endswith("+") != other.endswith("+"):
        return False
    return same_revision(one, other) is True


def near(one: Any, other: Any) -> bool:
    """Tell whether two measured sizes are as good as equal."""
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (one, other)):
        return False
    try:
        return bool(abs(one - other) <= NEAR * max(abs(one), abs(other)))
    except OverflowError:
        return False


def spelled_alike(one: Any, other: Any, *, several: bool) -> bool:
    """Tell whether two texts name the same paths: slashes at the end or twice, and repetitions, aside."""
    if not (isinstance(one, str) and isinstance(other, str)):
        return False
    if several:
        return list(_entries(one)) == list(_entries(other))
    return one[:1] == other[:1] == "/" and _path(one) == _path(other)


def _entries(text: str) -> Iterable[str]:
    return dict.fromkeys(_path(entry) for entry in text.split(":"))


def _path(text: str) -> str:
    return re.sub(r"/{2,}", "/", text).rstrip("/") or text[:1]


def canonical(value: Any, *, configured: bool = False) -> str:
    """Return a text that is equal for equal values. Raises RecursionError for what is nested too deeply."""
    return json.dumps(_plain(value, configured), sort_keys=True)


def _plain(value: Any, configured: bool) -> Any:
    if isinstance(value, dict):
        return {name: _plain(member, configured) for name, member in value.items()}
    if isinstance(value, list):
        return [_plain(member, configured) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return unconfigured(value) if configured and isinstance(value, str) else value


def bare(value: Any) -> bool:
    """Tell whether nothing is said below a value: nulls alone, or nothing at all."""
    if isinstance(value, dict):
        return all(bare(member) for member in value.values())
    return value is None


def bounded(value: Any, level: int = 0) -> Any:
    """Return a value without what lies too deep, and of a long list its beginning."""
    if not isinstance(value, (dict, list)):
        return value
    if level == LEVELS:
        return "…"
    if isinstance(value, dict):
        return {name: bounded(member, level + 1) for name, member in value.items()}
    shown = [bounded(member, level + 1) for member in value[:MEMBERS]]
    more = len(value) - MEMBERS
    return [*shown, f"and {more:,} more"] if more > 0 else shown
