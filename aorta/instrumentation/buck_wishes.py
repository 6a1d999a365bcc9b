"""What a caller wants to know of Buck, checked before anything runs."""

from collections.abc import Mapping
from typing import Any

from aorta.buck.options import context_of


def buck_wishes(
    target: str | None, context: Any, timeout: float, libraries: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return the members of a request that concern Buck. Raises BuckError, a ValueError."""
    wishes: dict[str, Any] = {"buck_context": context_of(context), "buck_timeout": seconds(timeout)}
    if target is None:
        return wishes
    # Captures that ask Buck nothing, nearly all, do without.
    from aorta.buck.labels import check_target
    from aorta.buck.libraries import check_libraries

    return {
        **wishes,
        "buck_target": check_target(target),
        "buck_libraries": check_libraries(libraries or {}),
    }


def seconds(timeout: Any) -> float:
    """Return the limit of a query. Raises ValueError for what is none."""
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < 1e6:
        raise ValueError(f"buck_timeout is {timeout!r}: a number of seconds above 0")
    return float(timeout)
