"""Where plugins come from: the built-in tuple, an argument, ``AORTA_PLUGINS``, entry points.

Each source is isolated: a module that will not import, an entry point that will not load, costs
itself and leaves a record. (A Buck ``.par`` or a zip has no distribution metadata: there the second
and third source serve.)
"""

import importlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from aorta.model.frozen import evolve
from aorta.plugin import sources
from aorta.plugin.manager import specs_of
from aorta.plugin.registry import Candidate, Registry

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
GROUP = sources.GROUP
LEFT_OUT = f"left out by {VARIABLE}"


def discover(
    plugins: Sequence[Any] = (),
    *,
    variable: str | None = None,
    outside: bool = True,
    limit_s: float = sources.LIMIT_S,
) -> Registry:
    """Return the registry of all plugins.

    ``plugins`` are modules, names of modules, objects or single decorated functions. ``variable``
    is the text of ``AORTA_PLUGINS`` (the process's own by default): module names, and ``no:NAME``
    for a section or plugin to leave out. ``outside=False`` takes the built-in ones and ``plugins``
    alone. Importing modules that are not loaded yet may take ``limit_s`` seconds.
    """
    from aorta.model.sections import ORDER

    text = os.environ.get(VARIABLE, "") if variable is None else variable
    words = [word.strip() for word in text.split(",") if word.strip()] if outside else []
    blocked = {word[3:].strip() for word in words if word.startswith("no:")}
    names = [word for word in words if not word.startswith("no:")]
    begun = time.monotonic()
    candidates = [
        *_builtin(),
        *sources.outside(plugins, names, blocked, LEFT_OUT, min(limit_s, sources.LIMIT_S), points=outside),
    ]
    registry = Registry(_without(blocked, _once(candidates)), order=ORDER)
    known = {name for candidate in candidates for name in (*_names(candidate), *_sections(candidate.plugin))}
    registry.idle = tuple(sorted(blocked - known))
    registry.took_s = time.monotonic() - begun
    return registry


def _builtin() -> Iterator[Candidate]:
    for name in BUILTIN:
        yield Candidate(name=name, source="builtin", plugin=importlib.import_module(name), module=name)


def _once(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Leave out a plugin that an earlier source gave already; keep names apart."""
    seen: dict[int, Candidate] = {}
    taken: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.plugin is not None:
            known = seen.setdefault(id(candidate.plugin), candidate)
            if known is not candidate:
                declared = [(each.source, each.distribution, each.version) for each in (known, candidate)]
                if {known.source, candidate.source} == {"entry_point"} and declared[0] != declared[1]:
                    which = f"{_described(known)} and {_described(candidate)} declare one module"
                    detail = f"{which}, {candidate.module}; which of them it is of cannot be told"
                    yield evolve(candidate, plugin=None, status="failed", detail=detail)
                continue
        other = taken.setdefault(candidate.name, candidate)
        if other is not candidate:
            detail = f"another plugin is called {candidate.name} already: {_described(other)}"
            yield evolve(candidate, plugin=None, status="failed", detail=detail)
            continue
        yield candidate


def _described(candidate: Candidate) -> str:
    """Return what tells a plugin from one of the same name."""
    version = f" {candidate.version}" if candidate.version else ""
    module = f", module {candidate.module}" if candidate.module not in (None, candidate.name) else ""
    return f"{candidate.distribution or candidate.name}{version} ({candidate.source}{module})"


def _without(blocked: set[str], candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Mark what is to be left out: a plugin as a whole, or some sections of it.

    A section that is left out keeps its declaration, so that its keys stay in the document.
    """
    for candidate in candidates:
        if candidate.plugin is None or not blocked:
            yield candidate
            continue
        if blocked & _names(candidate):
            plugin = candidate.plugin if candidate.source == "builtin" else None
            yield evolve(candidate, plugin=plugin, status="blocked", detail=LEFT_OUT)
            continue
        sections = frozenset(blocked & _sections(candidate.plugin))
        yield evolve(candidate, without=sections, detail=LEFT_OUT if sections else "")


def _names(candidate: Candidate) -> set[str]:
    """Return the names by which a plugin as a whole may be left out."""
    given = (candidate.name, candidate.name.rpartition(".")[2], candidate.module, candidate.distribution)
    return {name for name in given if name}


def _sections(plugin: Any) -> set[str]:
    try:
        return {str(spec.name) for spec in specs_of(plugin)}
    except Exception:
        return set()
