"""``Follower``: the connection of another rank to rank 0; a thread of its own listens."""

import select
import threading
import time
from collections.abc import Sequence
from typing import Any

from aorta.instrumentation.process import exit_at_once
from aorta.sweep.ranks.channel import SIGN_S, SILENCE_S, STILL_S, Channel, ChannelClosedError, Message
from aorta.sweep.ranks.messages import ABORT, ALIVE

#: Seconds to come to an end after rank 0 is gone.
LEAVE_S = 30.0
#: Seconds in which the thread that listens finds the same as one that sends, and knows why.
_HEARS_S = 1.0


class LostLeaderError(Exception):
    """Rank 0 is gone; the text says how that was seen."""


class Follower:
    """Hears what rank 0 says. Orders wait in their order; what says that a trial is over counts at once."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._changed = threading.Condition()
        self._orders: list[Message] = []
        self._over: set[int] = set()
        self.gone: str | None = None
        self._ended = False
        # A rank that cannot even leave by itself, as where a file system hangs, is ended.
        self._leaves = threading.Timer(LEAVE_S, exit_at_once, (1,))
        self._leaves.daemon = True
        # What came with the greeting.
        self._take(channel.unread())
        self._thread = threading.Thread(target=self._listen, name="rank 0", daemon=True)
        self._thread.start()

    def order(self, until: float | None = None) -> Message:
        """Return the next order. Raises LostLeaderError, also when there is none ``until`` then."""
        with self._changed:
            while not self._orders:
                left = None if until is None else until - time.monotonic()
                if self.gone is not None or (left is not None and left <= 0):
                    raise LostLeaderError(self.gone or "it said nothing in time")
                self._changed.wait(left)
            return self._orders.pop(0)

    def is_over(self, number: int) -> bool:
        """Tell whether the trial of an order is to be ended."""
        return number in self._over or self.gone is not None

    def tell(self, kind: str, **members: Any) -> None:
        """Send a message. Raises LostLeaderError."""
        try:
            self._channel.send(kind, **members)
        except ChannelClosedError as error:
            with self._changed:
                self._changed.wait_for(lambda: self.gone is not None, _HEARS_S)
                raise LostLeaderError(self.gone or str(error)) from None

    def close(self) -> None:
        """End the connection."""
        self._ended = True
        self._leaves.cancel()
        self._channel.hang_up()
        self._thread.join(2.0)
        self._channel.close()

    def _listen(self) -> None:
        heard = signed = looked = time.monotonic()
        stood, stood_at = 0.0, looked
        try:
            while not self._ended:
                ready = select.select([self._channel], [], [], SIGN_S / 2)[0]
                if (still := time.monotonic() - looked) > STILL_S:
                    # This process stood still, not rank 0's.
                    heard += still
                    stood, stood_at = still, time.monotonic()
                looked = time.monotonic()
                if ready:
                    heard = looked
                    self._take(self._channel.received())
                now = time.monotonic()
                if now - signed >= SIGN_S:
                    signed = now
                    self._channel.send(ALIVE)
                if now - heard > SILENCE_S:
                    raise ChannelClosedError(f"nothing was heard of it for {SILENCE_S:g} s")
            why = "this rank's aorta has ended"
        except ChannelClosedError as error:
            why = str(error)
            if stood > SILENCE_S and time.monotonic() - stood_at < SILENCE_S:
                why = f"it gave up this rank, whose aorta stood still for {stood:.0f} s"
        except Exception as error:
            # Whatever it is: with nobody listening, what waits for orders would wait for ever.
            why = f"what it said was not understood: {type(error).__name__}: {error}"
        if not self._ended:
            self._leaves.start()
        with self._changed:
            self.gone = why
            self._changed.notify_all()

    def _take(self, messages: Sequence[Message]) -> None:
        with self._changed:
            for message in messages:
                if message["kind"] == ABORT:
                    self._over.add(message["number"])
                elif message["kind"] != ALIVE:
                    self._orders.append(message)
            self._changed.notify_all()
