"""Where plugins come from: the built-in tuple, an argument, ``AORTA_PLUGINS``, entry points.

Each source is isolated: a module that will not import, an entry point that will not load, costs
itself and leaves a record. (A Buck ``.par`` or a zip has no distribution metadata: there the second
and third source serve.)
"""

import importlib
import os
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from aorta.model.frozen import evolve
from aorta.plugin.declare import HOOK_ATTRIBUTE, SPEC_ATTRIBUTE
from aorta.plugin.entry_points import may_declare
from aorta.plugin.manager import specs_of
from aorta.plugin.registry import Candidate, Registry, told

#: The built-in collectors, each a module; nothing in aorta imports them by another way.
BUILTIN = (
    "aorta_collectors.providers.mounts",
    "aorta_collectors.providers.python_facts",
    "aorta_collectors.providers.torch_facts",
    "aorta_collectors.providers.mapped_libraries",
    "aorta_collectors.providers.torch_libraries",
    "aorta_collectors.providers.torch_symbols",
    "aorta_collectors.providers.isolation_evidence",
    "aorta_collectors.providers.rdma_devices",
    "aorta_collectors.providers.nic_inventory",
    "aorta_collectors.providers.rocm_roots",
    "aorta_collectors.providers.buck_checkout",
    "aorta_collectors.providers.buck_modes",
    "aorta_collectors.providers.buck_graph",
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
    "aorta_collectors.library_linkage",
    "aorta_collectors.amdgpu_driver",
    "aorta_collectors.hip",
    "aorta_collectors.gpu_arch",
    "aorta_collectors.gpus",
    "aorta_collectors.nics",
    "aorta_collectors.nic_devices",
    "aorta_collectors.hipblaslt",
    "aorta_collectors.rocblas",
    "aorta_collectors.composable_kernel",
    "aorta_collectors.tensile",
    "aorta_collectors.tensile_catalog",
    "aorta_collectors.miopen",
    "aorta_collectors.miopen_catalog",
    "aorta_collectors.rocfft_catalog",
    "aorta_collectors.rccl",
    "aorta_collectors.triton",
    "aorta_collectors.fbgemm",
    "aorta_collectors.torchrec",
    "aorta_collectors.aiter",
    "aorta_collectors.aotriton",
    "aorta_collectors.loaded_libraries",
    "aorta_collectors.build_system",
    "aorta_collectors.buck_invocation",
    "aorta_collectors.library_introspection",
    "aorta_collectors.library_introspection_alternates",
    "aorta_collectors.python_version",
    "aorta_collectors.pytorch_version",
    "aorta_collectors.pytorch_build",
    "aorta_collectors.pytorch_sdpa",
    "aorta_collectors.env_vars",
    "aorta_collectors.launcher",
    "aorta_collectors.system_health",
)

VARIABLE = "AORTA_PLUGINS"
GROUP = "aorta.collectors"
LEFT_OUT = f"left out by {VARIABLE}"


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
        candidates += [*_named(names, blocked), *_entry_points(blocked)]
    return Registry(_without(blocked, _once(candidates)), order=ORDER)


def _builtin() -> Iterator[Candidate]:
    for name in BUILTIN:
        yield Candidate(name=name, source="builtin", plugin=importlib.import_module(name), module=name)


def _arguments(plugins: Iterable[Any]) -> Iterator[Candidate]:
    for plugin in plugins:
        yield _import(plugin, "argument") if isinstance(plugin, str) else _given(plugin)


def _given(plugin: Any) -> Candidate:
    """Return the candidate of an object: a module, a single decorated function, or any other holder."""
    if _is_single(plugin):
        name = f"{plugin.__module__}.{plugin.__name__}"
        return Candidate(name=name, source="argument", plugin=_single(plugin), module=plugin.__module__)
    name = getattr(plugin, "__name__", None) or type(plugin).__name__
    module = name if isinstance(plugin, types.ModuleType) else getattr(plugin, "__module__", None)
    return Candidate(name=name, source="argument", plugin=plugin, module=module)


class _Single:
    """The holder of one decorated function: pluggy takes objects with functions, not functions."""

    def __init__(self, function: Any) -> None:
        setattr(self, function.__name__, function)


def _single(plugin: Any) -> Any:
    """Return what holds a plugin's functions."""
    return _Single(plugin) if _is_single(plugin) else plugin


def _is_single(plugin: Any) -> bool:
    return hasattr(plugin, SPEC_ATTRIBUTE) or hasattr(plugin, HOOK_ATTRIBUTE)


def _named(names: Iterable[str], blocked: set[str]) -> Iterator[Candidate]:
    for name in names:
        # What is left out by name is not even imported.
        yield _blocked(name, "environment", name) if name in blocked else _import(name, "environment")


def _blocked(name: str, source: str, module: str | None) -> Candidate:
    return Candidate(name=name, source=source, module=module, status="blocked", detail=LEFT_OUT)


def _import(name: str, source: str) -> Candidate:
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Candidate(name=name, source=source, module=name, status="failed", detail=told(error))
    return Candidate(name=name, source=source, plugin=module, module=name)


def _entry_points(blocked: set[str]) -> Iterator[Candidate]:
    if not may_declare(GROUP):
        return
    from importlib import metadata

    try:
        points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    except Exception as error:
        yield Candidate(name=GROUP, source="entry_point", status="failed", detail=told(error))
        return
    for point in points:
        module = point.value.partition(":")[0].strip()
        if {point.name, module} & blocked:
            yield _blocked(point.name, "entry_point", module)
            continue
        known: dict[str, Any] = {"name": point.name, "source": "entry_point", "module": module}
        try:
            version = point.dist.version if point.dist is not None else None
            yield Candidate(**known, version=version, plugin=_single(point.load()))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            yield Candidate(**known, status="failed", detail=told(error))


def _once(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Leave out a plugin that an earlier source gave already; keep names apart."""
    seen: set[int] = set()
    taken: set[str] = set()
    for candidate in candidates:
        if candidate.plugin is not None:
            if id(candidate.plugin) in seen:
                continue
            seen.add(id(candidate.plugin))
        if candidate.name in taken:
            detail = f"another plugin is called {candidate.name} already"
            yield evolve(candidate, plugin=None, status="failed", detail=detail)
            continue
        taken.add(candidate.name)
        yield candidate


def _without(blocked: set[str], candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Mark what is to be left out: a plugin as a whole, or some sections of it.

    A section that is left out keeps its declaration, so that its keys stay in the document.
    """
    for candidate in candidates:
        if candidate.plugin is None or not blocked:
            yield candidate
            continue
        names = {candidate.name, candidate.module, candidate.name.rpartition(".")[2]}
        if blocked & names:
            plugin = candidate.plugin if candidate.source == "builtin" else None
            yield evolve(candidate, plugin=plugin, status="blocked", detail=LEFT_OUT)
            continue
        sections = frozenset(blocked & _sections(candidate.plugin))
        yield evolve(candidate, without=sections, detail=LEFT_OUT if sections else "")


def _sections(plugin: Any) -> set[str]:
    try:
        return {str(spec.name) for spec in specs_of(plugin)}
    except Exception:
        return set()
