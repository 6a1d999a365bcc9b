"""Workloads of every kind that a plan treats differently."""

from aorta.model.frozen import frozen
from aorta.workloads import Workload, WorkloadResult


@frozen
class Heat:
    """How hot."""

    degrees: int = 20
    steps: int = 1

    def __attrs_post_init__(self):
        if self.degrees > 100:
            raise ValueError("degrees: no more than 100")


class Plain(Workload):
    """In this process alone."""

    config_type = Heat

    def run(self):
        return WorkloadResult(passed=True)


class Either(Plain):
    """In both ways."""

    trial_isolation_supported = frozenset({"in_process", "process"})


class Apart(Plain):
    """In a process of its own only."""

    trial_isolation_default = "process"
    trial_isolation_required = True
    trial_isolation_supported = frozenset({"process"})


class Containers(Either):
    """Starts containers."""

    launches_container = True


class Pair(Plain):
    """For two ranks or more."""

    launch_mode = "distributed"
    min_world_size = 2


class Loose(Plain):
    """Takes any config."""

    config_type = None


class Needy(Either):
    """Needs a module that is nowhere."""

    requires = ("json", "nowhere_module")
