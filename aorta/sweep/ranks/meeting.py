"""The ranks of a job find each other, and see that they are to run the same thing.

Rank 0 listens at a port that the others can know: the one that it tells them through the store of
torchrun's agent; else the launcher's own MASTER_PORT; else one of the last of the job's ports.
"""

import contextlib
import errno
import socket
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from aorta.host.slow import interpreter
from aorta.launch.identity import Identity
from aorta.launch.lookup import LOOKUP_S, addresses_of
from aorta.launch.ports import PORT_BASE, bound, listening, meeting_ports, trusts_agent
from aorta.launch.tasks import LaunchError
from aorta.sweep.errors import SweepError
from aorta.sweep.ranks import agent_store
from aorta.sweep.ranks.follower import Follower, LostLeaderError
from aorta.sweep.ranks.greeting import NoLeaderError, greeted
from aorta.sweep.ranks.hello import FEW, Hello, disagreements, from_message
from aorta.sweep.ranks.leader import Leader
from aorta.sweep.ranks.messages import REFUSED, WELCOME

#: Seconds that ranks which come late get to hear that the job cannot run.
LATE_S = 10.0
#: Seconds after which a port that something else has is given up: an earlier sweep of the job needs less to
#: leave it.
_TAKEN_S = 8.0
_PAUSE_S = 0.1


class RefusedError(SweepError):
    """The ranks cannot run together; ``problems`` are the same on all that hear of it."""


def lead(identity: Identity, environ: Mapping[str, str], own: Hello, join_s: float) -> Leader:
    """Wait ``join_s`` seconds for all other ranks; return the connections to them. Raises RefusedError."""
    until = time.monotonic() + join_s
    with _refusing(own):
        # Each trial's rank 0 will be looked up on this host too.
        addresses_of(str(identity.address), min(LOOKUP_S, join_s))
        leader = Leader(_listening(identity, environ, own, until), own)
        try:
            if trusts_agent(environ, identity):
                where = f"{identity.address} {leader.port}"
                agent_store.publish(interpreter(), identity, where, until, environ)
            problems = _gathered(leader, until, join_s)
        except BaseException:
            leader.close()
            raise
    if problems:
        leader.tell_all(REFUSED, lines=problems)
        leader.close()
        raise RefusedError(problems)
    return leader


def _gathered(leader: Leader, until: float, join_s: float) -> list[str]:
    """Return what keeps the ranks from running, once all are there."""
    came = leader.gather(until, LATE_S)
    hellos = [leader.own, *(member.hello for member in leader.members.values())]
    wrong = list(dict.fromkeys(leader.wrong))
    more = [f"and {len(wrong) - FEW} more like this"] if len(wrong) > FEW else []
    problems = [*wrong[:FEW], *more, *disagreements(hellos)]
    if not came and not problems:
        missing = leader.missing()
        shown = f"rank{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing[:8]))}"
        others = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        problems.append(
            f"{shown}{others} of {leader.own.size} did not come within {join_s:g} s (--join-timeout): rank 0"
            f" waited on {leader.own.host} at port {leader.port}"
        )
    gone = [member for member in leader.members.values() if member.gone is not None]
    problems += [f"{member.hello.named} left before the run: {member.gone}" for member in gone]
    return problems


def follow(
    identity: Identity, environ: Mapping[str, str], own: Hello, join_s: float
) -> tuple[Follower, Hello]:
    """Come to rank 0, wait until all ranks are there; return the connection and this rank's place.

    Rank 0 is looked for ``join_s`` seconds long, and waits as long for the others. Raises RefusedError.
    """
    with _refusing(own):
        follower = _found(identity, environ, own, join_s)
    try:
        # Rank 0 may have begun to wait later than this rank.
        order = follower.order(time.monotonic() + join_s + LATE_S)
        if order["kind"] != WELCOME:
            raise RefusedError(_lines(order))
        return follower, from_message(order["place"])
    except LostLeaderError as error:
        follower.close()
        raise RefusedError([*own.problems, f"rank 0 left before the run: {error}"]) from None
    except BaseException:
        follower.close()
        raise


def _lines(order: Mapping[str, Any]) -> list[str]:
    if order["kind"] == REFUSED and isinstance(order.get("lines"), list):
        return [str(line) for line in order["lines"]]
    return ["rank 0 ended before the run"]


@contextlib.contextmanager
def _refusing(own: Hello) -> Iterator[None]:
    """Tell what keeps ranks from meeting, after what keeps this one from running anyway."""
    try:
        yield
    except LaunchError as error:
        raise RefusedError(list(dict.fromkeys((*own.problems, str(error))))) from None


def _listening(identity: Identity, environ: Mapping[str, str], own: Hello, until: float) -> socket.socket:
    """Return the socket at which this rank 0 waits for the others. Raises LaunchError."""
    ports, address = meeting_ports(environ, identity), str(identity.address)
    if len(ports) == 1:
        try:
            return listening(ports[0], address)
        except OSError as error:
            _ask_other(ports[0], own, until)
            if error.errno == errno.EADDRINUSE:
                raise LaunchError(_taken(ports[0], address)) from None
            raise LaunchError(f"rank 0 cannot listen at port {ports[0]}: {error.strerror}") from None
    for port in ports:
        holder = bound([port], address)
        if holder is not None:
            return holder
        _ask_other(port, own, until)
    # Many short sweeps one after another: the kernel remembers their connections. Only now, since a port
    # that is shared like that may be one which another job holds for a trial.
    for port in ports:
        with contextlib.suppress(OSError):
            return listening(port, address)
    raise LaunchError(f"ports {ports[0]} to {ports[-1]} are in use on {own.host}: set {PORT_BASE} to others")


def _ask_other(port: int, own: Hello, until: float) -> None:
    """See whether another rank 0 of this job has a port here. Raises RefusedError when it has."""
    with contextlib.suppress(NoLeaderError, LostLeaderError):
        other = Follower(greeted("127.0.0.1", port, own))
        with contextlib.closing(other):
            raise RefusedError(_lines(other.order(until + LATE_S)))


def _taken(port: int, address: str) -> str:
    return (
        f"port {port} of {address} is in use by something else: choose another MASTER_PORT for this job,"
        " or let torchrun choose one with --standalone"
    )


def _found(identity: Identity, environ: Mapping[str, str], own: Hello, join_s: float) -> Follower:
    """Return a connection to rank 0. Raises LaunchError."""
    until = time.monotonic() + join_s
    address, ports = str(identity.address), meeting_ports(environ, identity)
    only = ports[0] if len(ports) == 1 and ports[0] else None
    taken_at: float | None = None
    why = "nobody told"
    with contextlib.closing(_places(identity, environ, ports, until)) as places:
        for place in places:
            try:
                return Follower(greeted(*place, own))
            except NoLeaderError as error:
                why, now = str(error), time.monotonic()
                taken_at = (taken_at or now) if error.taken else None
            if only and taken_at and now >= taken_at + _TAKEN_S:
                raise LaunchError(_taken(only, address))
            if now >= until:
                break
            time.sleep(_PAUSE_S if len(ports) == 1 or place[1] == ports[-1] else 0.0)
    raise LaunchError(
        f"{own.named} found no rank 0 at {address}, {_shown(ports)}, within {join_s:g} s ({why}): does aorta"
        " run as rank 0 of this job, and is MASTER_ADDR a name or number that all hosts can reach?"
    )


def _shown(ports: Sequence[int]) -> str:
    if not ports[0]:
        return "the port that it told"
    return f"port {ports[0]}" if len(ports) == 1 else f"ports {ports[0]} to {ports[-1]}"


def _places(
    identity: Identity, environ: Mapping[str, str], ports: Sequence[int], until: float
) -> Generator[tuple[str, int], None, None]:
    """Yield where rank 0 may be, again and again. Raises LaunchError."""
    hosts = addresses_of(str(identity.address), min(LOOKUP_S, max(until - time.monotonic(), 1.0)))
    if not trusts_agent(environ, identity):
        while True:
            yield from ((host, port) for host in hosts for port in ports)
    with contextlib.closing(agent_store.told(interpreter(), identity, until, environ)) as lines:
        for line in lines:
            _, _, number = line.rpartition(" ")
            if number.isascii() and number.isdigit():
                yield from ((host, int(number)) for host in hosts)
