"""Which of several ends was the cause, in orders that real ranks rarely come in."""

import pytest

from aorta.sweep.outcome import Outcome
from aorta.sweep.ranks.ends import RankEnd, as_message, first_cause, from_message, is_waiting, vanished
from aorta.sweep.ranks.merged import merged

GLOO = 'File "/v/torch/distributed/distributed_c10d.py", line 9 in all_reduce'
PEER = "RuntimeError: [/p/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:1"
LATE = (
    "RuntimeError: [/p/gloo/transport/tcp/unbound_buffer.cc:88] Timed out waiting 8000ms for recv operation"
)
WATCHDOG = (
    "[rank0]: ProcessGroupNCCL's watchdog got stuck\nterminate called after throwing an instance of"
    " 'c10::DistBackendError': NCCL watchdog: remote process exited or there was a network error"
)


def end(rank, how, after_s=1.0, *, reason="x", waits=False, log="", verdict="error", **more):
    """Return the end of a rank."""
    outcome = Outcome(verdict=verdict, reason=reason, end=how, **more)
    return RankEnd(
        rank=rank, host="n", local_rank=rank, outcome=outcome, waits=waits, log=log, after_s=after_s
    )


KILLED = {"how": "signalled", "signal": "SIGKILL"}
ABORTED = {"how": "signalled", "signal": "SIGABRT"}

CASES = {
    "a killed one before exceptions that tell of it": (
        1,
        [end(0, "raised", 0.5, reason=PEER), end(1, after_s=0.9, **KILLED)],
    ),
    "the earlier of two that were killed": (
        1,
        [end(0, after_s=2.0, **KILLED), end(1, after_s=1.9, **KILLED)],
    ),
    "a reason of its own before one of peers, though it came later": (
        1,
        [end(0, "raised", 0.5, reason=PEER), end(1, "raised", 0.9, reason="ValueError: odd shape")],
    ),
    "an exception before the SIGABRT of a library that lost its peer": (
        1,
        [end(0, after_s=0.8, log=WATCHDOG, **ABORTED), end(1, "raised", 0.9, reason="ValueError: odd shape")],
    ),
    "a SIGABRT with a reason of its own before exceptions": (
        0,
        [end(0, log="free(): invalid pointer", **ABORTED), end(1, "raised", 0.2, reason="KeyError: 'a'")],
    ),
    "a lost aorta before what it takes with it": (
        2,
        [
            end(0, "raised", 3.0, reason=PEER),
            end(1, after_s=3.0, **KILLED),
            vanished(2, "n", 0, "closed", 2.5),
        ],
    ),
    "who hung, when one waited in vain and another lost that one": (
        2,
        [
            end(0, "raised", 8.0, reason=LATE, traceback=GLOO),
            end(1, "raised", 8.1, reason=PEER, traceback=GLOO),
            end(2, "aborted", 12.0),
        ],
    ),
    "who hung among those whose time was over": (
        1,
        [
            end(0, "timed_out", 6.0, waits=True),
            end(1, "timed_out", 6.1),
            end(2, "timed_out", 6.0, waits=True),
        ],
    ),
    "the first of those that waited in vain, when all did": (
        1,
        [
            end(0, "raised", 8.2, reason=LATE),
            end(1, "raised", 8.0, reason=LATE),
            end(2, "aborted", 9.0, waits=True),
        ],
    ),
    "a time-out that has nothing to do with the others": (
        0,
        [end(0, "raised", reason="TimeoutError: license server timed out"), end(1, "aborted", 4.0)],
    ),
    "an exit status of its own before an exception of peers": (
        1,
        [end(0, "raised", reason=PEER), end(1, "exited", exit_code=7)],
    ),
    "an exception two seconds before a death that it may have led to": (
        0,
        [end(0, "raised", 1.0, reason="ValueError: odd shape"), end(1, after_s=3.0, **KILLED)],
    ),
    "a death soon after an exception, which may tell of it before it is seen": (
        1,
        [end(0, "raised", 1.0, reason="ValueError: odd shape"), end(1, after_s=1.5, **KILLED)],
    ),
    "one that was not started before those that found nobody there": (
        1,
        [
            end(0, "raised", 2.0, reason=LATE),
            end(1, "not_started", 0.0),
            end(2, "raised", 1.0, reason=PEER),
            end(3, "aborted", 3.0),
        ],
    ),
    "one that raised in cleanup, where another waited for it": (
        1,
        [
            end(0, "timed_out", 6.0, waits=True),
            end(1, "returned", 1.0, verdict="pass", cleanup="OSError: a (in cleanup)"),
            end(2, "returned", 1.5, verdict="pass"),
        ],
    ),
    "who hung in its own code before one that raised in cleanup": (
        0,
        [
            end(0, "timed_out", 6.0),
            end(1, "returned", 1.0, verdict="pass", cleanup="OSError: a (in cleanup)"),
        ],
    ),
    "one that came to its end before its steps were done": (
        1,
        [
            end(0, "raised", 2.0, reason=PEER),
            end(1, "returned", 1.0, verdict="pass", iterations=2, configured_iterations=4),
            end(2, "returned", 1.0, verdict="pass", iterations=4, configured_iterations=4),
        ],
    ),
    "one that says of itself that something timed out, and waited for no rank": (
        1,
        [
            end(0, "aborted", 4.0),
            end(1, "raised", 1.0, reason="TimeoutError: the object store timed out at the cache's barrier"),
        ],
    ),
    "an exit status of a library that lost its peer after an exception": (
        1,
        [end(0, "exited", exit_code=1, log="MPI lost connection to rank 1"), end(1, "raised", reason="E: a")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_cause_is(name):
    rank, ends = CASES[name]
    assert first_cause(ends).rank == rank
    assert first_cause(ends[::-1]).rank == rank


def test_no_rank_was_lost_that_came_to_its_end():
    ends = [end(0, "returned", verdict="fail"), end(1, "returned", verdict="error"), end(2, "returned")]
    assert first_cause(ends) is None


def test_none_was_lost_where_none_was_started():
    ends = [end(rank, "not_started", 0.0, reason="no python") for rank in range(2)]
    assert first_cause(ends) is None
    outcome = merged(ends, "rank_local", str)
    assert (outcome.verdict, outcome.lost) == ("error", None)
    assert outcome.reason.startswith("all 2 ranks: no python")


def test_an_end_comes_through_a_message_as_it_was():
    one = end(1, "raised", notes=("a",), failure_details=({"hint": "b"},), log="c", waits=True)
    assert from_message(as_message(one)) == one


def test_a_failure_that_was_told_stands_and_the_loss_is_told_with_it():
    ends = [
        end(0, "returned", verdict="pass", reason=None),
        end(1, "returned", verdict="fail", reason="wrong"),
        end(2, **KILLED),
    ]
    outcome = merged(ends, "rank_local", lambda rank: f"log{rank}")
    assert (outcome.verdict, outcome.end) == ("fail", "signalled")
    assert outcome.reason == "rank 1 on n: wrong; rank 2 on n was lost: x"
    assert (outcome.lost["rank"], outcome.lost["stderr"]) == (2, "log2")
    assert [row["verdict"] for row in outcome.ranks] == ["pass", "fail", "error"]


def test_a_result_in_common_has_the_details_of_one_rank():
    details = ({"hint": "h"},)
    ends = [end(rank, "returned", verdict="fail", failure_details=details) for rank in (1, 0)]
    assert [one["rank"] for one in merged(ends, "rank_local", str).failure_details] == [0, 1]
    outcome = merged(ends, "global", str)
    assert [one["rank"] for one in outcome.failure_details] == [0]
    assert outcome.reason == "all 2 ranks: x"


def test_ranks_that_failed_alike_are_told_together_and_others_by_the_first():
    alike = [end(rank, "returned", verdict="fail") for rank in range(3)]
    assert merged(alike, "rank_local", str).reason == "all 3 ranks: x"
    other = end(1, "returned", verdict="fail", reason="y")
    assert merged([alike[0], other, alike[2]], "rank_local", str).reason == (
        "rank 0 on n: x (3 of 3 ranks failed)"
    )
    clean = end(1, "returned", verdict="pass", reason=None)
    assert merged([clean, *alike[::2]], "rank_local", str).reason == "rank 0 on n: x (2 of 3 ranks failed)"
    unstarted = [end(rank, "not_started") for rank in range(2)]
    assert merged(unstarted, "rank_local", str).reason == "all 2 ranks: x"


def test_who_hung_says_what_others_found_of_it():
    stacks = 'Thread 0x1 (most recent call first):\n  File "/w/work.py", line 7 in spin\n'
    ends = [
        end(0, "raised", 8.0, reason=LATE, traceback=GLOO),
        end(1, "aborted", 11.0, reason="ended", traceback=stacks, phase="run"),
    ]
    outcome = merged(ends, "rank_local", str)
    assert outcome.reason.startswith(
        "rank 1 on n: hung in run, it was at /w/work.py:7, and rank 0 on n waited for it in vain: RuntimeError"
    )
    assert outcome.lost["reason"] in outcome.reason
    assert outcome.ranks[1]["reason"] == outcome.lost["reason"]


def test_of_several_that_hung_alike_it_is_said_that_the_first_is_not_known():
    ends = [end(0, "timed_out", 6.0), end(1, "timed_out", 6.1, waits=True), end(2, "timed_out", 6.2)]
    outcome = merged(ends, "rank_local", str)
    assert outcome.lost["rank"] == 0
    assert outcome.lost["reason"] == "x; so it was on rank 2, and which was first is not known"


def test_one_that_left_early_is_the_lost_one_and_says_so():
    left = end(1, "returned", 1.0, verdict="pass", reason=None, iterations=2, configured_iterations=4)
    outcome = merged([end(0, "raised", 2.0, reason=PEER), left], "rank_local", str)
    words = "it came to its end after 2 of 4 iterations, and others waited for it in vain"
    assert (outcome.verdict, outcome.lost["rank"], outcome.lost["reason"]) == ("error", 1, words)
    assert outcome.reason.startswith(f"rank 1 on n: {words}")


def test_a_line_that_waits_for_a_gpu_or_a_thread_may_wait_for_ranks(tmp_path):
    program = tmp_path / "work.py"
    program.write_text("handle = start()\nhandle.wait()\nwhile True: spin()\n")
    for line, waits in ((2, True), (3, False)):
        frames = f'  File "{program}", line {line} in run\n  File "/a/body.py", line 1 in perform\n'
        assert is_waiting(f"Thread 0x2 (most recent call first):\n{frames}") is waits


@pytest.mark.parametrize(
    ("frames", "waits"),
    [
        ([GLOO], True),
        (
            [
                'File "/s/socket.py", line 1 in readinto',
                'File "/a/aorta/workloads/tcp_store.py", line 2 in _asked',
            ],
            True,
        ),
        (
            ['File "/w/work.py", line 1 in f', *['File "/v/torch/nn/module.py", line 2 in call'] * 2, GLOO],
            False,
        ),
        (['File "/w/work.py", line 1 in f'], False),
    ],
)
def test_only_the_innermost_frames_of_the_main_thread_tell_that_it_waits(frames, waits):
    other = f"Thread 0x1 (most recent call first):\n  {GLOO}\n\nThread 0x2 (most recent call first):\n"
    assert is_waiting(other + "".join(f"  {frame}\n" for frame in frames)) is waits
