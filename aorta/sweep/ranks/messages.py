"""What the ranks of a job say to each other: the kinds of messages. Rank 0 leads, the others follow."""

#: Both, now and then: a sign of life.
ALIVE = "alive"

#: A follower that comes says its ``Hello``; rank 0 answers that it is known, that it is of another job, or
#: that all have come before.
HELLO, KNOWN, STRANGER, LATE = ("hello", "known", "stranger", "late")

#: Rank 0, once all have come: a rank's ``place``, or in ``lines`` why they cannot run together.
WELCOME, REFUSED = ("welcome", "refused")

#: Rank 0's orders, and the follower's answers of the same kinds: the digest of its host, the snapshot of a
#: cell's environment, how its host is another than it was, what is left of a run that was killed. One rank
#: of each node is asked.
HOST, DESCRIBE, AGAIN, LEFT = ("host", "describe", "again", "left")

#: Rank 0 orders a trial by ``number``, and that it be ended; the follower tells how it ended, or that its
#: aorta was stopped in it.
TRIAL, ABORT, ENDED, STOPPED = ("trial", "abort", "ended", "stopped")

#: Rank 0's last word: the exit status ``code``.
END = "end"
