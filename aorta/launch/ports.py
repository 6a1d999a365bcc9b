"""The ports at which a job's processes meet: from where on they are a job's own, and which one is free."""

import binascii
import errno
import socket
from collections.abc import Iterable, Mapping, Sequence

from aorta.launch.identity import Identity
from aorta.launch.tasks import LaunchError
from aorta.model.text import printable

#: The first of the ports at which trials of several ranks meet, and how many there are from it on.
PORT_BASE, PORTS = "AORTA_TRIAL_MASTER_PORT_BASE", 1000
#: The last of them are where the ranks meet in the beginning: the first of these that is free.
MEETING = 16
LEAST, MOST = 1024, 65535 - PORTS + 1

#: Where a job without a base of its own has it: below the ports that the kernel gives away by itself.
_FIRST, _BASES = 10000, 21000


def told_base(environ: Mapping[str, str]) -> int | None:
    """Return the base that the user set. Raises LaunchError for what is none."""
    text = environ.get(PORT_BASE)
    if text is None:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) < 6
    if not is_number or not LEAST <= int(text) <= MOST:
        raise LaunchError(
            f"{PORT_BASE} is {printable(text)!r}, not a number from {LEAST} to {MOST}: the {PORTS} ports from"
            " it on are the trials'"
        )
    return int(text)


def base_of(environ: Mapping[str, str], identity: Identity) -> int | None:
    """Return the first of the job's ports: the user's, else one made of the job's name, else None.

    ``10000 + crc32(name) % 21000``, where the name is ``slurm.JOB.STEP.RESTARTS`` in a Slurm step.
    Raises LaunchError.
    """
    told = told_base(environ)
    if told is not None or identity.job is None or identity.agent_store:
        return told
    return _FIRST + binascii.crc32(identity.job.encode("utf-8", "surrogateescape")) % _BASES


def trusts_agent(environ: Mapping[str, str], identity: Identity) -> bool:
    """Tell whether rank 0 tells the others through torchrun's agent where they meet. Raises LaunchError."""
    return identity.agent_store and told_base(environ) is None


def meeting_ports(environ: Mapping[str, str], identity: Identity) -> Sequence[int]:
    """Return the ports at which rank 0 may wait for the others, in their order; 0 is any free one.

    Raises LaunchError where none is known to all.
    """
    if identity.port is not None and not identity.agent_store:
        return [identity.port]
    if trusts_agent(environ, identity):
        return [0]
    base = base_of(environ, identity)
    if base is None:
        raise LaunchError(
            f"nobody told where the ranks meet: set MASTER_PORT, or {PORT_BASE}, to the same number on all"
        )
    return range(base + PORTS - MEETING, base + PORTS)


def bound(ports: Iterable[int], address: str) -> socket.socket | None:
    """Return a socket that holds the first free port of some on this host; None where all are taken.

    No other holder can have it, but a server that sets SO_REUSEADDR, as a trial's rank 0 does, can bind and
    listen at the port while this socket holds it.
    """
    for port in ports:
        holder = _made(address)
        try:
            holder.bind(("", port))
        except OSError as error:
            holder.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            return holder
    return None


def listening(port: int, address: str) -> socket.socket:
    """Return a socket that listens at a port which a launcher chose. Raises OSError when it is taken.

    The kernel remembers connections of an earlier sweep for a minute; they are no reason not to listen.
    """
    made = bound([port], address)
    if made is None:
        made = _made(address)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if made.getsockname()[1] == 0:
            made.bind(("", port))
        # Of two sockets that share a port like that, the kernel lets one listen.
        made.listen(1024)
    except OSError:
        made.close()
        raise
    return made


def _made(address: str) -> socket.socket:
    family = _family(address)
    made = socket.socket(family, socket.SOCK_STREAM)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    return made


def _family(address: str) -> socket.AddressFamily:
    """Return the family to serve: both where the kernel has both, since names may mean either."""
    if address.count(":") > 1 or socket.has_dualstack_ipv6():
        return socket.AF_INET6
    return socket.AF_INET
