"""What a caller wants to know of Buck, checked before anything runs."""

from collections.abc import Mapping
from typing import Any

from aorta.buck.options import context_of
from aorta.collect.request import Request
from aorta.model.frozen import evolve
from aorta.model.redact import redact
from aorta.plugin.declare import LIBRARIES_HOOK
from aorta.plugin.registry import Registry

#: The name of the provider whose deadline follows the caller's.
QUERY, MARGIN_S = "BuckGraph", 10.0


def buck_wishes(
    registry: Registry, target: str | None, context: Any, timeout: float, libraries: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return the members of a request that concern Buck. Raises BuckError, a ValueError."""
    wishes: dict[str, Any] = {"buck_context": context_of(context), "buck_timeout": seconds(timeout)}
    if target is None:
        return {**wishes, "complaints": ()}
    # Captures that ask Buck nothing, nearly all, do without.
    from aorta.buck.labels import check_target
    from aorta.buck.libraries import check_libraries

    own = check_libraries(libraries or {})
    more, complaints = _of_plugins(registry)
    return {
        **wishes,
        "buck_target": check_target(target),
        "buck_libraries": {**more, **own},
        "complaints": complaints,
    }


def seconds(timeout: Any) -> float:
    """Return the limit of a query. Raises ValueError for what is none."""
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < 1e6:
        raise ValueError(f"buck_timeout is {timeout!r}: a number of seconds above 0")
    return float(timeout)


def with_buck(request: Request, registry: Registry, wishes: Mapping[str, Any]) -> Request:
    """Return a request with its members that concern Buck, and the time that the query may take."""
    complaints = (*request.complaints, *wishes["complaints"])
    timeouts = dict(request.timeouts)
    if wishes.get("buck_target") is not None and QUERY in registry.providers:
        timeouts.setdefault(QUERY, wishes["buck_timeout"] + MARGIN_S)
    return evolve(request, **{**wishes, "complaints": complaints, "timeouts": timeouts})


def _of_plugins(registry: Registry) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the patterns of all plugins, and what is wrong with some; each costs itself."""
    from aorta.buck.libraries import check_libraries

    patterns: dict[str, str] = {}
    complaints = []
    for plugin, function in registry.hooks.get(LIBRARIES_HOOK, ()):
        try:
            given = function()
            if not isinstance(given, Mapping):
                raise TypeError(f"returned {type(given).__name__}, no mapping of names to patterns")
            patterns.update(check_libraries(given))
        except Exception as error:
            said = redact(f"{type(error).__name__}: {error}"[:300])
            complaints.append(f"the libraries of the plugin {plugin} are left out: {said}")
    return patterns, tuple(complaints)
