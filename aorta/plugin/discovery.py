"""Where plugins come from: the built-in tuple, an argument, ``AORTA_PLUGINS``, entry points.

Each source is isolated: a module that will not import, an entry point that will not load, costs
itself and leaves a record. (A Buck ``.par`` or a zip has no distribution metadata: there the second
and third source serve.)
"""

import importlib
import importlib.util
import os
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from aorta.plugin.declare import SPEC_ATTRIBUTE, RegistrationError
from aorta.plugin.registry import Candidate, Registry

#: The built-in collectors, each a module; nothing in aorta imports them by another way.
BUILTIN = (
    "aorta_collectors.providers.mounts",
    "aorta_collectors.providers.python_facts",
    "aorta_collectors.providers.isolation_evidence",
    "aorta_collectors.providers.rocm_roots",
    "aorta_collectors.providers.kfd_topology",
    "aorta_collectors.host",
    "aorta_collectors.runtime_context",
    "aorta_collectors.container_detected",
    "aorta_collectors.isolation",
    "aorta_collectors.execution_context",
    "aorta_collectors.probe_namespace",
    "aorta_collectors.docker",
    "aorta_collectors.rocm",
    "aorta_collectors.therock",
    "aorta_collectors.amdgpu_driver",
    "aorta_collectors.hip",
    "aorta_collectors.gpu_arch",
    "aorta_collectors.gpus",
    "aorta_collectors.rccl",
    "aorta_collectors.python_version",
    "aorta_collectors.env_vars",
    "aorta_collectors.launcher",
    "aorta_collectors.system_health",
)

VARIABLE = "AORTA_PLUGINS"
GROUP = "aorta.collectors"


def discover(plugins: Sequence[Any] = (), *, variable: str | None = None, outside: bool = True) -> Registry:
    """Return the registry of all plugins.

    ``plugins`` are modules, names of modules, objects or single decorated functions. ``variable``
    is the text of ``AORTA_PLUGINS`` (the process's own by default): module names, and ``no:NAME``
    for a section or plugin to leave out. ``outside=False`` takes the built-in ones alone.
    """
    from aorta.model.sections import ORDER

    text = os.environ.get(VARIABLE, "") if variable is None else variable
    words = [word.strip() for word in text.split(",") if word.strip()] if outside else []
    blocked = {word[3:].strip() for word in words if word.startswith("no:")}
    names = [word for word in words if not word.startswith("no:")]
    candidates = [*_builtin(), *_arguments(plugins)]
    if outside:
        candidates += [*_named(names), *_entry_points()]
    return Registry(_without(blocked, _once(candidates)), order=ORDER)


def _builtin() -> Iterator[Candidate]:
    for name in BUILTIN:
        if importlib.util.find_spec(name) is None:  # TEMPORARY while collectors land
            continue
        yield Candidate(name=name, source="builtin", plugin=importlib.import_module(name), module=name)


def _arguments(plugins: Iterable[Any]) -> Iterator[Candidate]:
    for plugin in plugins:
        if isinstance(plugin, str):
            yield _import(plugin, "argument")
            continue
        if hasattr(plugin, SPEC_ATTRIBUTE):
            single = types.SimpleNamespace(**{plugin.__name__: plugin})
            name = f"{plugin.__module__}.{plugin.__name__}"
            yield Candidate(name=name, source="argument", plugin=single, module=plugin.__module__)
            continue
        name = getattr(plugin, "__name__", None) or type(plugin).__name__
        module = name if isinstance(plugin, types.ModuleType) else getattr(plugin, "__module__", None)
        yield Candidate(name=name, source="argument", plugin=plugin, module=module)


def _named(names: Iterable[str]) -> Iterator[Candidate]:
    for name in names:
        yield _import(name, "environment")


def _import(name: str, source: str) -> Candidate:
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Candidate(name=name, source=source, module=name, status="failed", detail=_told(error))
    return Candidate(name=name, source=source, plugin=module, module=name)


def _entry_points() -> Iterator[Candidate]:
    from importlib import metadata

    try:
        points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    except Exception as error:
        yield Candidate(name=GROUP, source="entry_point", status="failed", detail=_told(error))
        return
    for point in points:
        version = point.dist.version if point.dist is not None else None
        known: dict[str, Any] = {"name": point.name, "source": "entry_point", "module": point.value}
        try:
            yield Candidate(**known, version=version, plugin=point.load())
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            yield Candidate(**known, version=version, status="failed", detail=_told(error))


def _once(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Leave out a plugin that an earlier source gave already; keep names apart."""
    seen: set[int] = set()
    taken: set[str] = set()
    for candidate in candidates:
        if candidate.plugin is not None and id(candidate.plugin) in seen:
            continue
        seen.add(id(candidate.plugin))
        if candidate.name in taken:
            detail = f"another plugin is called {candidate.name} already"
            yield attrs.evolve(candidate, plugin=None, status="failed", detail=detail)
            continue
        taken.add(candidate.name)
        yield candidate


def _without(blocked: set[str], candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Mark what is to be left out. A built-in keeps its declaration: its keys stay in the document."""
    for candidate in candidates:
        names = {candidate.name, candidate.module, candidate.name.rpartition(".")[2]}
        if candidate.plugin is None or not blocked & {*names, *_sections(candidate.plugin)}:
            yield candidate
            continue
        plugin = candidate.plugin if candidate.source == "builtin" else None
        yield attrs.evolve(candidate, plugin=plugin, status="blocked", detail=f"left out by {VARIABLE}")


def _sections(plugin: Any) -> set[str]:
    specs = (getattr(member, SPEC_ATTRIBUTE, None) for member in vars(plugin).values())
    return {spec.name for spec in specs if spec is not None}


def _told(error: BaseException) -> str:
    if isinstance(error, RegistrationError):
        return str(error)
    return f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]
