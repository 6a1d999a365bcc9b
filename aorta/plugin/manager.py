"""pluggy's manager, taught to read ``@collector`` and ``@provider``."""

import types
from typing import Any

import pluggy

from aorta.plugin import hooks
from aorta.plugin.declare import COLLECT_HOOK, PROJECT, PROVIDE_HOOK, SPEC_ATTRIBUTE, Spec


class Manager(pluggy.PluginManager):
    """Holds the plugins of one registry; a function counts only in the module that defines it."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(hooks)

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Return the options of a hook implementation, None for a function borrowed from a sibling."""
        function = getattr(plugin, name, None)
        if isinstance(plugin, types.ModuleType):
            if getattr(function, SPEC_ATTRIBUTE, None) is None:
                return None
            if getattr(function, "__module__", None) != plugin.__name__:
                return None
        return super().parse_hookimpl_opts(plugin, name)

    def specs_of(self, plugin: Any) -> list[Spec]:
        """Return what a registered plugin declares, in the order of its source."""
        found = [
            implementation.function
            for hook in (COLLECT_HOOK, PROVIDE_HOOK)
            for implementation in getattr(self.hook, hook).get_hookimpls()
            if implementation.plugin is plugin
        ]
        specs: list[Spec] = [getattr(function, SPEC_ATTRIBUTE) for function in found]
        return sorted(specs, key=lambda spec: spec.function.__code__.co_firstlineno)
