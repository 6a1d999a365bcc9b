"""Processes that an interpreter has for itself, and not for the trial in which they were first needed.

Elsewhere they end with it. In one that goes on, those that its modules hold on to must not be ended behind
their backs: some are kept, and what can be begun anew is ended by its own module.
"""

import contextlib
import sys

#: The objects of modules that know such a process, and the name of its number there.
_KEPT = (
    ("multiprocessing.resource_tracker", "_resource_tracker", "_pid"),
    ("multiprocessing.forkserver", "_forkserver", "_forkserver_pid"),
)


def kept() -> list[int]:
    """Return the numbers of processes that stay."""
    found = (
        getattr(getattr(sys.modules.get(module), name, None), number, None) for module, name, number in _KEPT
    )
    return [pid for pid in found if isinstance(pid, int)]


def end_pools() -> None:
    """End processes that are begun anew when they are needed: those by which torch compiles."""
    with contextlib.suppress(Exception):
        sys.modules["torch._inductor.async_compile"].shutdown_compile_workers()
