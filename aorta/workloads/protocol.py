"""``Workload``: the protocol of what a sweep runs.

    class Warm(Workload):
        config_type = WarmConfig

        def run(self):
            return WorkloadResult(passed=heat(self.config.degrees) < 90)

Declared as an entry point of the group ``aorta.workloads``, whose name is the workload's.
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import attrs

from aorta.model.frozen import frozen

SINGLE_PROCESS, DISTRIBUTED = LAUNCH_MODES = ("single_process", "distributed")
IN_PROCESS, PROCESS = ISOLATIONS = ("in_process", "process")
GLOBAL, RANK_LOCAL = RESULT_SCOPES = ("global", "rank_local")


@frozen
class AgentStore:
    """The store of torchrun's agent: where it is served, and the prefix of all keys of one trial."""

    host: str
    port: int
    prefix: str


@frozen
class TrialInfo:
    """The trial that a workload runs in: which, how many steps, and where its files may go.

    ``store`` is the HOST:PORT at which rank 0 may serve a store of the trial's, null where there is one rank;
    nobody else has the port. ``agent_store`` is there under torchrun, whose agent serves it already.
    ``image`` and ``variables`` (null is unset) are the environment's and the cell's, for a workload that
    starts containers by itself.
    """

    cell: str = ""
    trial: int = 0
    steps: int = 1
    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    artifact_dir: str | None = None
    store: str | None = None
    agent_store: AgentStore | None = None
    image: str | None = None
    variables: Mapping[str, str | None] = attrs.field(factory=dict)


@frozen
class WorkloadResult:
    """What a workload found.

    ``passed`` is the verdict. ``step_times_ms`` are milliseconds, one a step in order; ``elapsed_sec`` the
    seconds of the work itself. ``failure_details`` are mappings of JSON values; ``hint`` in one of them is
    shown in reports. ``main_work_started`` is null where the workload does not say. ``metrics`` are JSON
    values.
    """

    passed: bool
    failure_count: int = 0
    first_failure_iteration: int | None = None
    failure_details: tuple[Mapping[str, Any], ...] = ()
    total_iterations: int = 0
    step_times_ms: tuple[float, ...] = ()
    elapsed_sec: float = 0.0
    metrics: Mapping[str, Any] = attrs.field(factory=dict)
    main_work_started: bool | None = None
    executed_iterations: int | None = None
    configured_iterations: int | None = None


class Workload:
    """One trial's work; a new instance for each. ``setup`` and ``cleanup`` may do nothing.

    ``config`` is an instance of ``config_type``, an attrs class whose fields are the keys of
    ``workload_config``; without a ``config_type`` it is a dict. A field or key ``steps`` holds the trial's.
    A failure of the subject is a result that did not pass. What is raised is an error of the trial, but an
    AssertionError of ``run``, or one whose text names a fault of the GPU, is a failure too. What an attribute
    ``device`` holds after ``setup``, the record tells as the device that the rank was bound to.
    """

    #: ``distributed`` workloads run in all ranks of a job, of which there must be ``min_world_size``.
    launch_mode: ClassVar[str] = SINGLE_PROCESS
    min_world_size: ClassVar[int] = 1
    #: ``process``: each trial in a fresh interpreter, which has the cell's variables from its start.
    trial_isolation_default: ClassVar[str] = IN_PROCESS
    trial_isolation_required: ClassVar[bool] = False
    trial_isolation_supported: ClassVar[Collection[str]] = (IN_PROCESS,)
    #: ``rank_local``: each rank has a result of its own, and all of them are counted.
    distributed_result_scope: ClassVar[str] = GLOBAL
    #: It starts the container of an environment by itself.
    launches_container: ClassVar[bool] = False
    #: Modules that must be there, looked for before anything is run and not imported then.
    requires: ClassVar[Collection[str]] = ()
    config_type: ClassVar[type[Any] | None] = None

    def __init__(self, config: Any) -> None:
        self.config = config
        self.trial = TrialInfo()

    def setup(self) -> None:
        """Get ready; what is raised here is no finding about the subject."""

    def run(self) -> WorkloadResult:
        """Do the work and return what was found."""
        raise NotImplementedError(f"{type(self).__name__} has no run()")

    def cleanup(self) -> None:
        """Give back what ``setup`` took; runs whatever happened."""
