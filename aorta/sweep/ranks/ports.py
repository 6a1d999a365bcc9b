"""``TrialPorts``: a port for each trial, held on rank 0's host until its processes have ended."""

import contextlib
from collections.abc import Iterator, Mapping

from aorta.launch.identity import Identity
from aorta.launch.ports import MEETING, PORT_BASE, PORTS, base_of, bound, told_base
from aorta.launch.tasks import LaunchError


class TrialPorts:
    """Gives out ports: those of the job in their order, no one twice.

    Without a base of the job's, and after the last port of one that nobody told, it is any free one.
    """

    def __init__(self, environ: Mapping[str, str], identity: Identity) -> None:
        self._address = str(identity.address)
        self._told = told_base(environ)
        base = base_of(environ, identity)
        # The last ones are where the ranks met.
        self._left = range(0) if base is None else range(base, base + PORTS - MEETING)

    @contextlib.contextmanager
    def held(self) -> Iterator[int]:
        """Hold a port. Raises LaunchError when all that the user gave have been used, or are taken."""
        holder = bound(self._left, self._address)
        if holder is None and self._told is None:
            self._left = range(0)
            holder = bound([0], self._address)
        if holder is None:
            raise LaunchError(
                f"no port is left for a trial: of the {PORTS} from {PORT_BASE}={self._told} on each is used"
                " once; set it to others, or have fewer trials"
            )
        try:
            port = int(holder.getsockname()[1])
            if self._left:
                self._left = range(port + 1, self._left.stop)
            yield port
        finally:
            holder.close()
