"""The pool of commands: each line once, side by side, each waiter for itself."""

import threading
import time

import pytest

from aorta.collect.commands import AT_ONCE, CommandPool
from aorta.host.protocol import Completed
from aorta.model.vocabulary import Outcome
from aorta.testing import FakeHost

OK = Completed(outcome=Outcome.OK, exit_code=0)


class Host(FakeHost):
    """Runs a command until it is let go; counts."""

    def __init__(self):
        super().__init__()
        self.runs = []
        self.go_on = threading.Event()
        self.now = self.most = 0
        self.lock = threading.Lock()

    def run(self, argv, *, timeout, path=(), manner=None):
        with self.lock:
            self.runs.append((tuple(argv), tuple(path)))
            self.now += 1
            self.most = max(self.most, self.now)
        while not self.go_on.wait(0.01) and time.monotonic() < timeout.until:
            pass
        with self.lock:
            self.now -= 1
        return OK if self.go_on.is_set() else Completed(outcome=Outcome.TIMED_OUT, elapsed_s=0.1)


@pytest.fixture
def host():
    made = Host()
    yield made
    made.go_on.set()


def test_one_line_runs_once(host):
    pool = CommandPool(host)
    tickets = [pool.start(["t"], 5, ()) for _ in range(5)]
    host.go_on.set()
    results = [pool.wait(ticket)[1] for ticket in tickets]
    assert [ticket.shared for ticket in tickets] == [False, True, True, True, True]
    assert results == [OK] * 5
    again, done = pool.wait(pool.start(["t"], 5, ()))
    assert (again.shared, done) == (True, OK)
    assert len(host.runs) == 1


def test_each_waiter_keeps_its_own_time(host):
    pool = CommandPool(host)
    short = pool.start(["t"], 0.1, ())
    long = pool.start(["t"], 5, ())
    begun = time.monotonic()
    assert pool.wait(short)[1].outcome is Outcome.TIMED_OUT
    assert time.monotonic() - begun < 4
    threading.Timer(0.2, host.go_on.set).start()
    assert pool.wait(long)[1] == OK
    assert len(host.runs) == 1


def test_a_longer_waiter_moves_the_limit(host):
    pool = CommandPool(host)
    first = pool.start(["t"], 0.1, ())
    second = pool.start(["t"], 0.6, ())
    time.sleep(0.3)
    assert not first.job.ended.is_set()
    assert pool.wait(second)[1].outcome is Outcome.TIMED_OUT
    assert first.job.limit.until == pytest.approx(second.until)


def test_at_most_sixteen_at_once(host):
    pool = CommandPool(host)
    tickets = [pool.start([f"t{n}"], 5, ()) for n in range(40)]
    time.sleep(0.3)
    assert host.now == AT_ONCE == 16
    host.go_on.set()
    assert all(pool.wait(ticket)[1] == OK for ticket in tickets)
    assert host.most == 16
    pool.join(time.monotonic() + 5)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("command t")]


def test_a_program_is_looked_for_again_in_further_places():
    class Roots(FakeHost):
        def __init__(self):
            super().__init__()
            self.paths = []

        def run(self, argv, *, timeout, path=(), manner=None):
            self.paths.append(tuple(path))
            time.sleep(0.05)
            return OK if "/opt/rocm/bin" in path else Completed(outcome=Outcome.NOT_FOUND)

    host = Roots()
    pool = CommandPool(host)
    plain = pool.start(["amd-smi"], 5, ())
    early = pool.start(["amd-smi"], 5, ["/opt/rocm/bin"])
    assert pool.wait(plain)[1].outcome is Outcome.NOT_FOUND
    ticket, done = pool.wait(early)
    assert (done, ticket.shared) == (OK, False)
    late, done = pool.wait(pool.start(["amd-smi"], 5, ["/opt/rocm/bin"]))
    assert (done, late.shared) == (OK, True)
    assert host.paths == [(), ("/opt/rocm/bin",)]


def test_no_thread_is_to_be_had(host, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    pool = CommandPool(host)
    for _ in range(2):
        _, error = pool.wait(pool.start(["t"], 0.2, ()))
        assert isinstance(error, RuntimeError)
