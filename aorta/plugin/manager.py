"""pluggy's manager, taught to read ``@collector`` and ``@provider``."""

import types
from typing import Any

import pluggy

from aorta.plugin import hooks
from aorta.plugin.declare import (
    HOOK_ATTRIBUTE,
    PROJECT,
    SPEC_ATTRIBUTE,
    CollectorSpec,
    ProviderSpec,
    Spec,
    code_of,
)


class Manager(pluggy.PluginManager):
    """Holds the plugins of one registry; a function counts only in the module that defines it."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(hooks)

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Return the options of a hook implementation, None for a function borrowed from a sibling."""
        if spec_of(plugin, name) is None and hook_of(plugin, name) is None:
            return None
        return super().parse_hookimpl_opts(plugin, name)


def spec_of(plugin: Any, name: str) -> Spec | None:
    """Return what a member of a plugin declares itself; members may be anything, so none is trusted."""
    function = getattr(plugin, name, None)
    spec = getattr(function, "__dict__", {}).get(SPEC_ATTRIBUTE)
    if not isinstance(spec, (CollectorSpec, ProviderSpec)):
        return None
    borrowed = isinstance(plugin, types.ModuleType) and spec.function.__module__ != plugin.__name__
    return None if borrowed else spec


def hook_of(plugin: Any, name: str) -> str | None:
    """Return the hook beside collecting that a member of a plugin implements itself."""
    function = getattr(plugin, name, None)
    hook = getattr(function, "__dict__", {}).get(HOOK_ATTRIBUTE)
    if not isinstance(hook, str) or not callable(function):
        return None
    borrowed = isinstance(plugin, types.ModuleType) and function.__module__ != plugin.__name__
    return None if borrowed else hook


def hooks_of(plugin: Any) -> list[tuple[str, Any]]:
    """Return what else a plugin implements: the hook and the function."""
    found = ((hook_of(plugin, name), getattr(plugin, name, None)) for name in dir(plugin))
    return [(hook, function) for hook, function in found if hook is not None]


def specs_of(plugin: Any) -> list[Spec]:
    """Return what a plugin declares, in the order of its source."""
    found = (spec_of(plugin, name) for name in dir(plugin))
    specs = {id(spec): spec for spec in found if spec is not None}
    return sorted(specs.values(), key=_line)


def _line(spec: Spec) -> int:
    code = code_of(spec.function)
    return code.co_firstlineno if code is not None else 0
