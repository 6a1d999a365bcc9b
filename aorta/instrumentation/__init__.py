"""Capturing a snapshot from a program: ``capture``, ``capture_to``, ``collect_env``."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from aorta.instrumentation.environment import capture, capture_to, collect_env

__all__ = ["capture", "capture_to", "collect_env"]


def __getattr__(name: str) -> "Any":
    if name in __all__:
        from aorta.instrumentation import environment

        return getattr(environment, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
