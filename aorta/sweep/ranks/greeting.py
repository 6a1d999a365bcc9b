"""How a rank greets rank 0, and how it tells rank 0 from whatever else listens at a port.

Who may come. Nothing here is secret: a program that reaches rank 0's port, and knows the job's name, is
taken for the rank that it says it is. The names of torchrun's, Slurm's and Open MPI's jobs keep apart jobs
that do not know of each other; they keep nobody out who wants to get in. Such a stranger can keep a sweep
from beginning (two processes say that they are rank 1), or take a rank's place, see the names of cells and
of the results' directory, and tell what verdicts it likes. It cannot have rank 0 run or read anything, and
writes nothing but the logs and the snapshot of the rank whose place it took. A stranger that listens at rank
0's port before rank 0 can do more: ranks write logs where it says. So it is with the stores of torch, gloo
and NCCL, beside which these ports are: keep them inside the cluster.
"""

import select
import socket
import time

from aorta.sweep.ranks.channel import Channel, ChannelClosedError
from aorta.sweep.ranks.hello import Hello, as_message
from aorta.sweep.ranks.messages import HELLO, KNOWN, LATE, STRANGER

#: Seconds for one try to reach a port, and for an answer there.
_TRY_S = 3.0

_ANSWERS = {
    STRANGER: "an aorta of another job listens there",
    LATE: "the ranks of a sweep there have all come before",
}


class NoLeaderError(Exception):
    """No rank 0 of this job is there; the text says why. ``taken``: something else has its port."""

    def __init__(self, text: str, *, taken: bool = False) -> None:
        super().__init__(text)
        self.taken = taken


def greeted(address: str, port: int, hello: Hello) -> Channel:
    """Return a connection on which a hello was said and answered. Raises NoLeaderError."""
    try:
        connection = socket.create_connection((address, port), timeout=_TRY_S)
    except OSError as error:
        raise NoLeaderError(error.strerror or str(error)) from None
    channel = Channel(connection)
    try:
        channel.send(HELLO, **as_message(hello))
        answer = _answer(channel)
    except ChannelClosedError as error:
        channel.close()
        raise NoLeaderError(f"what listens there is no aorta: {error}", taken=True) from None
    if answer != KNOWN:
        channel.close()
        raise NoLeaderError(_ANSWERS.get(answer, "what listens there says nothing"), taken=True)
    return channel


def _answer(channel: Channel) -> str:
    """Return the kind of what the other side says first; an empty text when it says nothing."""
    until = time.monotonic() + _TRY_S
    while (left := until - time.monotonic()) > 0:
        ready = select.select([channel], [], [], left)[0]
        if ready and (messages := channel.received()):
            channel.put_back(messages[1:])
            return str(messages[0]["kind"])
    return ""
