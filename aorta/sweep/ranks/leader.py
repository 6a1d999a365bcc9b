"""``Leader``: rank 0's side of the connections to all other ranks.

One thread reads what they say and sees when one is gone: its connection ends, or it is silent for too long.
"""

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from aorta.sweep.ranks.channel import LIMIT, SIGN_S, SILENCE_S, STILL_S, Channel, ChannelClosedError, Message
from aorta.sweep.ranks.hello import Hello, as_message, from_message
from aorta.sweep.ranks.messages import ALIVE, HELLO, KNOWN, LATE, STRANGER, WELCOME

_LOOK_S = 0.25

#: Seconds for a rank to take what it is sent, all of which is short: the thread serves the others, too. And
#: for all of them to end their connections after the last word.
_SENDING_S, _LEAVING_S = 2, 1.0

#: The longest hello in bytes, and how many connections may be open that have not said theirs, beside one for
#: each rank: a program that only connects does not use up memory or files.
_HELLO_BYTES, _STRANGERS = 1 << 20, 256


class Member:
    """Another rank: what it told of itself, and why it is gone when it is."""

    def __init__(self, hello: Hello, channel: Channel) -> None:
        self.hello = hello
        self.channel = channel
        #: When anything was heard of it last, and when it was lost, by the monotonic clock.
        self.seen = time.monotonic()
        self.gone: str | None = None
        self.gone_at = 0.0
        self.messages: list[Message] = []


class Leader:
    """Serves the ranks that belong to this job; what others say is answered once, and dropped."""

    def __init__(self, holder: socket.socket, own: Hello) -> None:
        holder.listen(1024)
        holder.setblocking(False)
        self.port = int(holder.getsockname()[1])
        self.own = own
        self.members: dict[int, Member] = {}
        #: What contradicts itself so that no run can begin.
        self.wrong: list[str] = []
        #: Whether ranks may still come. Later ones are of the next sweep, and wait for this one's end.
        self.admits = True
        self._listener = holder
        self._changed = threading.Condition()  # its lock may be taken twice
        self._changes = 0
        self._ended = False
        self._broken: Exception | None = None
        #: When this process went on after it had stood still, and for how long it had.
        self._still = (0.0, 0.0)
        #: For how long it has in all, in seconds.
        self.stood_still_s = 0.0
        self._of: dict[Channel, Member] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(holder, selectors.EVENT_READ, None)
        self._strangers: dict[Channel, float] = {}
        self._thread = threading.Thread(target=self._serve, name="ranks", daemon=True)
        self._thread.start()

    def wait(self, condition: Callable[[], bool], until: float | None = None) -> bool:
        """Wait until a condition holds, or ``until`` by the monotonic clock; tell whether it does.

        The condition is looked at whenever anything is heard, and now and then. It may send: no lock is held.
        """
        while True:
            with self._changed:
                known = self._changes
            if condition():
                return True
            if self._broken is not None:
                raise RuntimeError("the other ranks are no longer heard") from self._broken
            left = _LOOK_S if until is None else min(_LOOK_S, until - time.monotonic())
            if left <= 0:
                return False
            with self._changed:
                if self._changes == known:
                    self._changed.wait(left)

    def gather(self, until: float, late_s: float) -> bool:
        """Wait for all ranks; tell whether they came.

        When one of them cannot run, or something contradicts itself, the rest get ``late_s`` to hear of it.
        """
        self.wait(lambda: self._is_known_to_fail() or not self.missing(), until)
        came = self.wait(lambda: not self.missing(), min(until, time.monotonic() + late_s))
        with self._changed:
            self.admits = False
        return came

    def _is_known_to_fail(self) -> bool:
        hellos = [self.own, *(member.hello for member in self.members.values())]
        return bool(self.wrong) or any(hello.problems or hello.size != self.own.size for hello in hellos)

    def missing(self) -> list[int]:
        """Return the ranks that did not come."""
        return [rank for rank in range(1, self.own.size) if rank not in self.members]

    def take(self, kind: str) -> list[tuple[int, Message]]:
        """Return the messages of a kind that have come, each once, with the rank that sent it."""
        with self._changed:
            found = []
            for rank, member in self.members.items():
                found += [(rank, one) for one in member.messages if one["kind"] == kind]
                member.messages = [one for one in member.messages if one["kind"] != kind]
            return found

    def tell(self, ranks: Iterable[int], kind: str, **members: Any) -> None:
        """Send a message to some ranks; those that are gone hear nothing."""
        for rank in ranks:
            member = self.members[rank]
            if member.gone is None:
                try:
                    member.channel.send(kind, **members)
                except ChannelClosedError as error:
                    self._lose(member, str(error))

    def welcome(self, places: Iterable[Hello]) -> None:
        """Tell each other rank its place."""
        for place in places:
            if place.rank:
                self.tell([place.rank], WELCOME, place=as_message(place))

    def tell_all(self, kind: str, **members: Any) -> None:
        """Send a message to all ranks."""
        self.tell(list(self.members), kind, **members)

    def close(self) -> None:
        """End all connections, each when the other side has heard all, or soon after."""
        members = list(self.members.values())
        for member in members:
            member.channel.finish()
        with contextlib.suppress(RuntimeError):
            self.wait(
                lambda: all(member.gone is not None for member in members), time.monotonic() + _LEAVING_S
            )
        self._ended = True
        with contextlib.suppress(OSError):
            # So the thread wakes up.
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(2.0)
        for channel in [*self._of, *self._strangers]:
            channel.close()
        self._listener.close()
        self._selector.close()

    def _serve(self) -> None:
        signed, looked = 0.0, time.monotonic()
        try:
            while not self._ended:
                ready = self._selector.select(_LOOK_S)
                looked = self._awoke(looked)
                for key, _ in ready:
                    if key.data is None:
                        self._accept()
                    else:
                        self._hear(key.data)
                now = time.monotonic()
                if now - signed >= SIGN_S:
                    signed = now
                    self._look(now)
        except Exception as error:
            # Whatever it is: who waits for the others would wait for ever.
            self._broken = error
            self._tell_change()

    def _awoke(self, looked: float) -> float:
        """Return the time; when this process itself stood still, that is nobody's silence."""
        now = time.monotonic()
        if now - looked > STILL_S:
            self._still = (now, now - looked)
            self.stood_still_s += now - looked
            for member in self._of.values():
                member.seen += now - looked
        return now

    def _tell_change(self) -> None:
        with self._changed:
            self._changes += 1
            self._changed.notify_all()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:
            # As without a file descriptor that is free: it would be tried again at once.
            time.sleep(0.0 if self._ended else _LOOK_S)
            return
        channel = Channel(connection, _HELLO_BYTES, _SENDING_S)
        if len(self._strangers) >= self.own.size + _STRANGERS:
            self._gone(next(iter(self._strangers)), "")
        self._strangers[channel] = time.monotonic()
        self._selector.register(channel, selectors.EVENT_READ, channel)

    def _hear(self, channel: Channel) -> None:
        try:
            messages = channel.received()
        except ChannelClosedError as error:
            self._gone(channel, str(error))
            return
        if channel in self._of:
            # Also a part of a long message is a sign of life.
            self._of[channel].seen = time.monotonic()
        for message in messages:
            member = self._of.get(channel)
            if member is None:
                self._greet(channel, message)
            elif message["kind"] != ALIVE:
                with self._changed:
                    member.messages.append(message)
                self._tell_change()

    def _greet(self, channel: Channel, message: Message) -> None:
        """Let in a rank of this job."""
        try:
            hello = from_message(message) if message["kind"] == HELLO else None
        except TypeError:
            hello = None
        with self._changed:
            if hello is None or hello.job != self.own.job or not self.admits:
                with contextlib.suppress(ChannelClosedError):
                    channel.send(LATE if hello is not None and hello.job == self.own.job else STRANGER)
                self._gone(channel, "")
                return
            other = self.own if hello.rank == 0 else getattr(self.members.get(hello.rank), "hello", None)
            place = hello.rank
            if other is not None or hello.rank >= self.own.size:
                # It is told like all others.
                place = self.own.size + len(self.members)
                self.wrong += _contradictions(hello, other, self.own)
            self._strangers.pop(channel, None)
            channel.limit = LIMIT
            self.members[place] = self._of[channel] = Member(hello, channel)
            self.tell([place], KNOWN)
        self._tell_change()

    def _gone(self, channel: Channel, why: str, at: float | None = None) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(channel)
        if channel in self._of:
            self._lose(self._of[channel], why, at)
        elif self._strangers.pop(channel, None) is not None:
            channel.close()

    def _lose(self, member: Member, why: str, at: float | None = None) -> None:
        since, seconds = self._still
        if seconds > SILENCE_S and time.monotonic() - since < SILENCE_S:
            why = f"it gave up on rank 0, whose aorta stood still for {seconds:.0f} s"
        with self._changed:
            if member.gone is None:
                member.gone_at = time.monotonic() if at is None else at
                member.gone = why
        # One that only was silent hears so, should it go on.
        member.channel.hang_up()
        self._tell_change()

    def _look(self, now: float) -> None:
        """Show that this rank is alive, and see who is not."""
        for place, member in list(self.members.items()):
            if member.gone is not None:
                continue
            if now - member.seen > SILENCE_S:
                self._gone(member.channel, f"nothing was heard of it for {SILENCE_S:g} s", member.seen)
            else:
                self.tell([place], ALIVE)
        for channel, since in list(self._strangers.items()):
            if now - since > SILENCE_S:
                self._gone(channel, "")


def _contradictions(hello: Hello, other: Hello | None, own: Hello) -> Iterator[str]:
    process = f"pid {hello.pid} on {hello.host}"
    if other is not None:
        yield f"two are told to be rank {hello.rank}: pid {other.pid} on {other.host} and {process}"
    elif hello.size == own.size:
        yield f"{process} is told to be rank {hello.rank} of {own.size}: ranks are below the size"
