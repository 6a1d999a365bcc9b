"""Outside plugins: named as an argument, in ``AORTA_PLUGINS``, by an entry point, or given as objects.

A module is imported in another process first, since an import may hang or end its process; each that
does costs itself and leaves a record.
"""

import importlib
import os
import sys
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import attrs

from aorta.plugin.declare import (
    HOOK_ATTRIBUTE,
    HOOKS,
    HOOKS_ATTRIBUTE,
    SPEC_ATTRIBUTE,
    THIS,
    RegistrationError,
)
from aorta.plugin.entry_points import declared
from aorta.plugin.importing import imported
from aorta.plugin.registry import Candidate, told

GROUP = "aorta.collectors"

#: The most seconds that importing plugins may take.
LIMIT_S = 10.0


@attrs.frozen(kw_only=True)
class Named:
    """A plugin that was named: what it is called, its module, and what imports it."""

    name: str
    source: str
    module: str
    load: Callable[[], Any]
    version: str | None = None
    distribution: str | None = None


def outside(
    plugins: Sequence[Any],
    names: Sequence[str],
    blocked: Collection[str],
    left_out: str,
    limit_s: float,
    *,
    points: bool,
) -> Iterator[Candidate]:
    """Yield the candidates of all outside sources, arguments first; what is ``blocked`` is not imported."""
    given = [_by_name(plugin, "argument") if isinstance(plugin, str) else plugin for plugin in plugins]
    found: list[Any] = [
        *given,
        *(_by_name(name, "environment") for name in names),
        *(_entry_points() if points else ()),
    ]
    wanted = [one for one in found if isinstance(one, Named) and not _is_blocked(one, blocked)]
    lost = _rehearsed([one.module for one in wanted], limit_s)
    for one in found:
        if isinstance(one, Candidate):
            yield one
        elif not isinstance(one, Named):
            yield _object(one)
        elif _is_blocked(one, blocked):
            yield _candidate(one, status="blocked", detail=left_out)
        elif one.module in lost:
            yield _candidate(one, status="failed", detail=lost[one.module])
        else:
            yield _loaded(one)


def _rehearsed(modules: list[str], limit_s: float) -> dict[str, str]:
    if not modules:
        return {}
    from aorta.plugin.rehearsal import rehearse

    return rehearse(modules, limit_s)


def _by_name(name: str, source: str) -> Named:
    return Named(name=name, source=source, module=name, load=lambda: importlib.import_module(name))


def _entry_points() -> Iterator[Named | Candidate]:
    try:
        points = declared(GROUP)
    except Exception as error:
        yield Candidate(name=GROUP, source="entry_point", status="failed", detail=told(error))
        return
    for point in points:
        module = point.value.partition(":")[0].strip()
        try:
            known = (point.dist.version, point.dist.name) if point.dist is not None else (None, None)
        except Exception:
            # Metadata without a version: the plugin itself may be sound.
            known = None, None
        yield Named(
            name=point.name,
            source="entry_point",
            module=module,
            load=point.load,
            version=known[0],
            distribution=known[1],
        )


def _is_blocked(one: Named, blocked: Collection[str]) -> bool:
    # A section's name leaves out the section, which its module declares.
    return bool({one.name, one.module, one.distribution} & set(blocked))


def _candidate(one: Named, **more: Any) -> Candidate:
    known: dict[str, Any] = {"source": one.source, "module": one.module, "version": one.version}
    known["distribution"] = one.distribution
    return Candidate(name=one.name, named=True, **known, **more)


def _loaded(one: Named) -> Candidate:
    try:
        loaded, changed = imported(one.load)
        return _candidate(one, plugin=_holder(loaded), detail=changed)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return _candidate(one, status="failed", detail=f"{told(error)}{_raised_at(error)}{_age(error)}")


def _raised_at(error: BaseException) -> str:
    """Return where an import raised, in the file that is not one of a library's."""
    trace, places = error.__traceback__, []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((_LIBRARY, _OURS, "<")):
            places.append(f" at {file}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places[-1] if places and not isinstance(error, RegistrationError) else ""


def _age(error: BaseException) -> str:
    """Return the hint that a plugin may be made for another version of the hooks, where it reads like it."""
    name = getattr(error, "name", None) if isinstance(error, ImportError) else None
    unknown = isinstance(error, TypeError) and "unexpected keyword argument" in str(error)
    return f"; {THIS}" if unknown or str(name).partition(".")[0] == "aorta" else ""


_LIBRARY, _OURS = os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(__file__))


def _object(plugin: Any) -> Candidate:
    """Return the candidate of an object: a module, a single decorated function, or any other holder."""
    if _is_single(plugin):
        name = f"{plugin.__module__}.{plugin.__name__}"
        return Candidate(name=name, source="argument", plugin=_holder(plugin), module=plugin.__module__)
    name = getattr(plugin, "__name__", None) or type(plugin).__name__
    module = name if isinstance(plugin, types.ModuleType) else getattr(plugin, "__module__", None)
    return Candidate(name=name, source="argument", plugin=plugin, module=module)


class _Holder:
    """The holder of one decorated function: pluggy takes objects with functions, not functions."""

    def __init__(self, function: Any) -> None:
        setattr(self, function.__name__, function)
        module = sys.modules.get(function.__module__)
        setattr(self, HOOKS_ATTRIBUTE, getattr(module, HOOKS_ATTRIBUTE, HOOKS))


def _holder(plugin: Any) -> Any:
    """Return what holds a plugin's functions."""
    return _Holder(plugin) if _is_single(plugin) else plugin


def _is_single(plugin: Any) -> bool:
    return hasattr(plugin, SPEC_ATTRIBUTE) or hasattr(plugin, HOOK_ATTRIBUTE)
