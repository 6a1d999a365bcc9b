"""``TrialPorts``: a port for each trial, held on rank 0's host until its processes have ended."""

import contextlib
from collections.abc import Iterator

from aorta.launch.ports import MEETING, PORT_BASE, PORTS, bound
from aorta.launch.tasks import LaunchError


class TrialPorts:
    """Gives out ports: those from ``base`` on in their order, no one twice; without a base any free one."""

    def __init__(self, base: int | None, address: str) -> None:
        self._address = address
        self._base = base
        # The last ones are where the ranks met.
        self._next = None if base is None else base
        self._end = None if base is None else base + PORTS - MEETING

    @contextlib.contextmanager
    def held(self) -> Iterator[int]:
        """Hold a port. Raises LaunchError when all of the job's have been used, or are taken."""
        ports = [0] if self._next is None or self._end is None else range(self._next, self._end)
        holder = bound(ports, self._address)
        if holder is None:
            raise LaunchError(
                f"no port is left for a trial: of the {PORTS} from {PORT_BASE}={self._base} on each is used"
                " once; set it to others, or have fewer trials"
            )
        try:
            port = int(holder.getsockname()[1])
            if self._next is not None:
                self._next = port + 1
            yield port
        finally:
            holder.close()
