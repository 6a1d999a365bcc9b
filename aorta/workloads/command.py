"""``command``: the workload that is a command line, which a sweep executes by itself."""

from aorta.model.frozen import frozen
from aorta.workloads.protocol import PROCESS, Workload, WorkloadResult


@frozen
class CommandConfig:
    """The command line is the recipe's ``command``; nothing else is configured."""


class Command(Workload):
    """Run the command line after ``--`` in every trial, and judge it by its exit and its output."""

    config_type = CommandConfig
    trial_isolation_default = PROCESS
    trial_isolation_required = True
    trial_isolation_supported = frozenset({PROCESS})

    def run(self) -> WorkloadResult:
        """Refuse: each trial is a process of the sweep's, which has no object for it."""
        raise NotImplementedError("a command is executed by the sweep, not as a Python object")
