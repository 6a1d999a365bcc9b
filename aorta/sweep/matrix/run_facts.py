"""What the matrix is told of a run beside its plan: ``RunFacts``, and ``State`` for how far it is."""

from collections.abc import Mapping

import attrs

from aorta.model.frozen import frozen

RUNNING, COMPLETE, INTERRUPTED, STOPPED = STATES = ("running", "complete", "interrupted", "stopped")


@frozen
class NodeFacts:
    """A node of a run: its name, the ranks on it, and the digest of its host's snapshot, null if not told."""

    node: str
    ranks: tuple[int, ...] = (0,)
    host_digest: str | None = None


@frozen
class RunFacts:
    """A run. Times are texts, in UTC; ``revision`` is aorta's, ``argv`` the command that started the run.

    ``fingerprint`` is the recipe's. ``node`` is the host that writes, ``cwd`` the working directory,
    relative to the run's, ``host_digest`` the digest of what of the host's snapshot does not rest on this
    process. ``resumed_at`` are the times at which the run was gone on with. ``nodes`` are all of them, that
    of rank 0 first; ``launcher`` is what started the ranks, ``starts`` the jobs that worked on it last, and
    how often each had begun again. ``folder`` is the run's directory: which of a rank's logs holds anything
    is looked up there, and not without it.
    """

    run_id: str
    started_at: str
    version: str | None = None
    revision: str | None = None
    fingerprint: str | None = None
    host_digest: str | None = None
    argv: tuple[str, ...] = ()
    node: str | None = None
    cwd: str | None = None
    warnings: tuple[str, ...] = ()
    resumed_at: tuple[str, ...] = ()
    launcher: str | None = None
    nodes: tuple[NodeFacts, ...] = ()
    starts: Mapping[str, int] = attrs.field(factory=dict)
    folder: str | None = None


@frozen
class State:
    """How far a run is: running, complete, interrupted, or stopped on purpose before all trials were done.

    ``why`` says what ended it (``SIGTERM``, ``fail_fast: a trial of none failed``). ``cell`` and ``trial``
    are in flight, or were. ``at`` is the time of writing. ``lost`` tells that a lost rank ended it.
    """

    word: str
    why: str | None = None
    cell: str | None = None
    trial: int | None = None
    at: str | None = None
    lost: bool = False
