"""What the caller asked for and claimed."""

from collections.abc import Mapping

import attrs

from aorta.buck.options import BuckContext
from aorta.host.protocol import CHILD, IMPORT, LOADED
from aorta.model.frozen import frozen
from aorta.model.vocabulary import BUCK_TIMEOUT_S, Detail
from aorta.model.vocabulary import EXPECTABLE as EXPECTABLE
from aorta.model.vocabulary import INVOCATIONS as INVOCATIONS


@frozen
class Request:
    """One capture's wishes.

    ``probe_invocation`` is claimed by the caller, never detected. ``expect`` names parts of the
    machine whose absence is a failure (gpu, torch, rdma). ``sudo`` allows privileged commands.
    ``sections`` are the only ones to run, ``without`` the ones to leave out. ``timeouts`` are
    deadlines by section in seconds. ``spent_s`` of the deadline are gone before the capture begins.
    ``digests`` is full, identity or none, null for what suits each directory. ``cache`` lets
    digests be remembered, ``verify_digests`` hashes what is remembered too.
    ``import_strategy`` is child (torch is asked in a process of its own) or in_process; ``import_torch``
    lets it be imported into this one; ``python`` is the program of another interpreter to ask.
    ``env_names`` are further variables to show, those that end in * by their beginning.
    ``plugins_apart`` runs the collectors of outside plugins in processes of their own.
    ``buck_target`` is the Buck target to ask about, built under ``buck_context``, within ``buck_timeout``
    seconds; ``buck_libraries`` are further patterns of libraries by name.
    ``env`` replaces the process's environment. ``complaints`` are wishes that could not be read.
    """

    detail: Detail = Detail.COMPACT
    probe_invocation: str | None = None
    expect: frozenset[str] = frozenset()
    sudo: bool = False
    sections: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    timeouts: Mapping[str, float] = attrs.field(factory=dict)
    deadline_s: float = 60.0
    spent_s: float = 0.0
    complaints: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    digests: str | None = None
    cache: bool = True
    verify_digests: bool = False
    plugins_apart: bool = False
    buck_target: str | None = None
    buck_context: BuckContext = attrs.field(factory=BuckContext)
    buck_timeout: float = BUCK_TIMEOUT_S
    buck_libraries: Mapping[str, str] = attrs.field(factory=dict)
    env_names: tuple[str, ...] = ()
    import_strategy: str = "in_process"
    import_torch: bool = True
    python: str | None = None

    @property
    def torch_how(self) -> str:
        """Return how torch is asked."""
        if not self.import_torch:
            return LOADED
        return CHILD if self.import_strategy == CHILD else IMPORT
