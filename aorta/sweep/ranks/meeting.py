"""The ranks of a job find each other, and see that they are to run the same thing.

Rank 0 listens at a port that the others can know: the one that it tells them through the store of
torchrun's agent; else the launcher's own MASTER_PORT; else one of the first of the job's ports.
"""

import contextlib
import socket
import time
from collections.abc import Iterator, Mapping, Sequence

from aorta.host.slow import interpreter
from aorta.launch.identity import Identity
from aorta.launch.ports import MEETING, PORT_BASE, PORTS, base_of, bound
from aorta.launch.tasks import LaunchError
from aorta.sweep.errors import SweepError
from aorta.sweep.ranks import agent_store
from aorta.sweep.ranks.follower import Follower, LostLeaderError, greeted
from aorta.sweep.ranks.hello import Hello, disagreements, from_message
from aorta.sweep.ranks.leader import REFUSED, WELCOME, Leader

#: Seconds that ranks wait for each other at the beginning.
JOIN_S = 120.0
#: Seconds that a rank which cannot run waits for the others, to tell them.
REFUSING_S = 10.0
_PAUSE_S = 0.1


class RefusedError(SweepError):
    """The ranks cannot run together; ``problems`` are the same on all that hear of it."""


def lead(identity: Identity, environ: Mapping[str, str], own: Hello, join_s: float = JOIN_S) -> Leader:
    """Wait for all other ranks and return the connections to them. Raises RefusedError."""
    until = time.monotonic() + (REFUSING_S if own.problems else join_s)
    with _refusing():
        leader = Leader(_listening(identity, environ, own), own)
        try:
            if identity.agent_store:
                where = f"{identity.address} {leader.port}"
                agent_store.publish(interpreter() or "", identity, where, until, environ)
            problems = _gathered(leader, until)
        except BaseException:
            leader.close()
            raise
    if problems:
        leader.tell_all(REFUSED, lines=problems)
        leader.close()
        raise RefusedError(problems)
    return leader


def _gathered(leader: Leader, until: float) -> list[str]:
    """Return what keeps the ranks from running, once all are there."""
    came = leader.gather(until)
    if leader.wrong:
        return list(dict.fromkeys(leader.wrong))
    hellos = [leader.own, *(member.hello for member in leader.members.values())]
    problems = disagreements(hellos)
    if not came and not problems:
        missing = leader.missing()
        shown = f"rank{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing[:8]))}"
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        problems.append(
            f"{shown}{more} of {leader.own.size} did not come: rank 0 waited on {leader.own.host} at port"
            f" {leader.port}"
        )
    gone = [member for member in leader.members.values() if member.gone is not None]
    problems += [f"{member.hello.named} left before the run: {member.gone}" for member in gone]
    return problems


def follow(
    identity: Identity, environ: Mapping[str, str], own: Hello, join_s: float = JOIN_S
) -> tuple[Follower, Hello]:
    """Come to rank 0, wait until all ranks are there; return the connection and this rank's place.

    Raises RefusedError.
    """
    until = time.monotonic() + (REFUSING_S if own.problems else join_s)
    with _refusing():
        follower = _found(identity, environ, own, until)
    try:
        order = follower.order(until + join_s)
    except LostLeaderError as error:
        raise RefusedError([f"rank 0 left before the run: {error}"]) from None
    if order["kind"] != WELCOME:
        follower.close()
        raise RefusedError(order["lines"])
    return follower, from_message(order["place"])


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except LaunchError as error:
        raise RefusedError([str(error)]) from None


def _listening(identity: Identity, environ: Mapping[str, str], own: Hello) -> socket.socket:
    """Return the socket at which this rank 0 waits for the others. Raises LaunchError."""
    ports = _ports(identity, environ)
    address = identity.address or ""
    for port in ports:
        holder = bound([port], address)
        if holder is not None:
            return holder
        # It may be the port of another rank 0 of this job, which hears so that there are two.
        with contextlib.suppress(OSError):
            channel = greeted(address, port, own)
            if channel is not None:
                Follower(channel).order(time.monotonic() + REFUSING_S)
    if identity.port is not None and not identity.agent_store:
        raise LaunchError(
            f"port {identity.port} is in use on {own.host}: choose another MASTER_PORT for this job, or let"
            " torchrun choose one with --standalone"
        )
    raise LaunchError(f"ports {ports[0]} to {ports[-1]} are in use on {own.host}: set {PORT_BASE} to others")


def _ports(identity: Identity, environ: Mapping[str, str]) -> Sequence[int]:
    """Return the ports at which rank 0 may wait, in their order. Raises LaunchError where none is known."""
    base = base_of(environ, identity)
    if identity.agent_store:
        # The others are told, so it may be any.
        return [0] if base is None else range(base + PORTS - MEETING, base + PORTS)
    if identity.port is not None:
        return [identity.port]
    if base is None:
        raise LaunchError(
            f"nobody told where the ranks meet: set MASTER_PORT, or {PORT_BASE}, to the same on all of them"
        )
    return range(base + PORTS - MEETING, base + PORTS)


def _found(identity: Identity, environ: Mapping[str, str], own: Hello, until: float) -> Follower:
    """Return a connection to rank 0. Raises LaunchError."""
    why = "nobody listens there"
    for address, port in _places(identity, environ, until):
        try:
            channel = greeted(address, port, own)
        except OSError as error:
            why, channel = error.strerror or str(error), None
        if channel is not None:
            return Follower(channel)
        if time.monotonic() >= until:
            break
    raise LaunchError(
        f"rank {own.rank} on {own.host} found no rank 0 at {identity.address} ({why}): is it running, and is"
        " MASTER_ADDR a name or number that all hosts can reach?"
    )


def _places(identity: Identity, environ: Mapping[str, str], until: float) -> Iterator[tuple[str, int]]:
    """Yield where rank 0 may be, again and again."""
    if identity.agent_store:
        for line in agent_store.told(interpreter() or "", identity, until, environ):
            address, _, number = line.rpartition(" ")
            yield address, int(number)
        return
    ports = _ports(identity, environ)
    while True:
        for port in ports:
            yield identity.address or "", port
        time.sleep(_PAUSE_S)
