"""What outside plugins add beside sections: asked of each by itself, and a broken one costs its own."""

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from aorta.collect.apart import LostError, evaluate_apart, is_importable
from aorta.collect.request import Request
from aorta.host.protocol import Host
from aorta.model.frozen import evolve
from aorta.model.redact import redact
from aorta.plugin.declare import LIBRARIES_HOOK, NAMES_HOOK
from aorta.plugin.registry import Registry

#: The provider whose deadline follows the caller's, and by how much it is longer.
QUERY, MARGIN_S = "BuckGraph", 10.0

#: Seconds that one hook may take.
LIMIT_S = 5.0

#: The most names that one plugin may add.
MOST = 1000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\*?")


def extended(request: Request, registry: Registry, host: Host) -> Request:
    """Return a request with what plugins add to it, less the time that this took."""
    begun = time.monotonic()
    extensions = Extensions(registry, host)
    timeouts = dict(request.timeouts)
    libraries: dict[str, str] = {}
    if request.buck_target is not None:
        libraries = extensions.libraries()
        if QUERY in registry.providers:
            timeouts.setdefault(QUERY, request.buck_timeout + MARGIN_S)
    names = extensions.env_names()
    return evolve(
        request,
        buck_libraries={**libraries, **request.buck_libraries},
        env_names=names,
        timeouts=timeouts,
        complaints=(*request.complaints, *extensions.complaints),
        spent_s=request.spent_s + time.monotonic() - begun,
    )


class Extensions:
    """Asks the hooks of a registry; ``complaints`` says what was wrong with some."""

    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host
        self.complaints: list[str] = []

    def libraries(self) -> dict[str, str]:
        """Return further libraries of Buck graphs, name to pattern."""
        from aorta.buck.libraries import check_libraries

        found: dict[str, str] = {}
        for plugin, given in self._given(LIBRARIES_HOOK):
            try:
                if not isinstance(given, Mapping):
                    raise TypeError(f"{type(given).__name__} is no mapping of names to patterns")
                found.update(check_libraries(given))
            except (TypeError, ValueError) as error:
                self._complain(plugin, LIBRARIES_HOOK, error)
        return found

    def env_names(self) -> tuple[str, ...]:
        """Return further names of environment variables."""
        found: dict[str, None] = {}
        for plugin, given in self._given(NAMES_HOOK):
            try:
                found.update(dict.fromkeys(_names(given)))
            except (TypeError, ValueError) as error:
                self._complain(plugin, NAMES_HOOK, error)
        return tuple(found)

    def _given(self, hook: str) -> Iterator[tuple[str, Any]]:
        for plugin, function in self._registry.hooks.get(hook, ()):
            apart = plugin in self._registry.named and self._host.workers() is not None
            try:
                if apart and is_importable(function.__module__):
                    yield plugin, evaluate_apart(function, self._host, LIMIT_S)
                else:
                    yield plugin, function()
            except LostError as error:
                self._complain(plugin, hook, error)
            except Exception as error:
                self._complain(plugin, hook, error)

    def _complain(self, plugin: str, hook: str, error: Exception) -> None:
        name = "" if isinstance(error, LostError) else f"{type(error).__name__}: "
        said = redact(f"{name}{error}".partition("\n")[0][:300])
        self.complaints.append(f"what the plugin {plugin} adds by {hook} is left out: {said}")


def _names(given: Any) -> list[str]:
    if isinstance(given, (str, bytes)) or not isinstance(given, (list, tuple, set, frozenset)):
        raise TypeError(f"{type(given).__name__} is no list of names")
    if len(given) > MOST:
        raise ValueError(f"{len(given)} names, {MOST} at most")
    for name in given:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{str(name)[:60]!r} is no name of a variable")
    return list(given)
