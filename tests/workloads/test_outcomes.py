"""What becomes of a trial, in both isolations: by what the workload returns and raises, and when."""

import json
import os
import time

import pytest

from aorta.sweep.outcome import Outcome


@pytest.fixture(params=["in_process", "process"])
def outcome(request, execute):
    """Return a function that executes a trial in one of the isolations."""
    return lambda **config: execute(request.param, **config)


@pytest.mark.parametrize(
    ("phase", "what", "verdict", "reason"),
    [
        ("run", None, "pass", None),
        ("constructor", "raises", "error", "ValueError: no such thing (in constructor)"),
        ("setup", "raises", "error", "ValueError: no such thing (in setup)"),
        ("setup", "asserts", "error", "AssertionError: one is not two (in setup)"),
        (
            "setup",
            "gpu_fault",
            "error",
            "RuntimeError: HIP error: an illegal memory access was encountered (in setup)",
        ),
        ("run", "raises", "error", "ValueError: no such thing"),
        ("run", "asserts", "fail", "AssertionError: one is not two"),
        ("run", "gpu_fault", "fail", "RuntimeError: HIP error: an illegal memory access was encountered"),
        ("run", "no_memory", "error", "RuntimeError: HIP error: out of memory"),
        ("run", "unspeakable", "error", "Mute: its text cannot be had"),
        ("run", "system_exit", "error", "SystemExit: 3"),
        ("run", "not_passed", "fail", "2 failures, the first in iteration 7: wrong at 7"),
        ("run", "wrong_result", "error", "run() returned an object of str, no WorkloadResult"),
        ("run", "unclear", "error", "passed is 'yes', not true or false"),
        ("run", "did_not_run", "error", "did not run: 0 of 5 iterations were done"),
        ("run", "never_started", "error", "did not run: its main work was never started"),
        ("cleanup", "raises", "pass", None),
        ("cleanup", "system_exit", "pass", None),
        ("cleanup", "gpu_fault", "fail", "HIP error: an illegal memory access was encountered (in cleanup)"),
    ],
)
def test_verdicts(outcome, tmp_path, phase, what, verdict, reason):
    marker = tmp_path / "marker"
    found = outcome(**({phase: what} if what else {}), marker=str(marker))
    assert (found.verdict, found.reason) == (verdict, reason)
    # cleanup runs whenever there is an object.
    assert marker.exists() == (phase != "constructor")
    if phase == "cleanup":
        assert found.notes[0].startswith("cleanup raised: ")
    if what in ("raises", "asserts", "gpu_fault"):
        assert found.traceback.startswith("Traceback (most recent call last):")
        assert f"in {what}\n" in found.traceback
    json.dumps(found.metrics, allow_nan=False)


def test_an_interrupt_of_the_workload_s_own_is_an_error_in_a_process(execute):
    assert (execute(run="interrupts").verdict, execute(run="interrupts").reason) == (
        "error",
        "KeyboardInterrupt",
    )


def test_long_texts_are_cut(outcome):
    found = outcome(run="long_text")
    assert found.verdict == "error"
    assert len(found.reason) <= 400
    assert len(found.traceback.encode()) <= 64 << 10
    assert "bytes left out" in found.traceback


@pytest.mark.parametrize(
    ("what", "times", "source", "iterations"),
    [
        ("timed", (1.0, 2.5), "per_step", 2),
        ("counted", (500.0,), "elapsed_per_iteration", 4),
        ("counted_for_ever", None, "wall_clock", 3),
        (None, None, "wall_clock", None),
        ("raises", (), "none", None),
    ],
)
def test_step_times(outcome, what, times, source, iterations):
    found = outcome(run=what, steps=2)
    assert (found.step_time_source, found.iterations) == (source, iterations)
    assert found.step_times_ms == (times if times is not None else (found.elapsed_s * 500,))


def test_metrics_that_are_no_json_are_left_out(outcome):
    found = outcome(run="odd_metrics")
    assert found.verdict == "pass"
    assert found.metrics == {"scalar": 1.5, "deep": {"a": [[1, 2], {"b": True}]}, "text": "\\ud800 é"}
    left_out = sorted(note.partition(" left out")[0] for note in found.notes if "left out" in note)
    assert left_out == [
        "metrics.3",
        "metrics.bytes",
        "metrics.inf",
        "metrics.nan",
        "metrics.object",
        "step_times_ms",
    ]


def test_whole_numbers_of_more_than_64_bits_are_left_out(outcome):
    """Python itself writes none of more than 4300 digits; the failure stands."""
    found = outcome(run="huge_numbers")
    assert (found.verdict, found.reason) == ("fail", "the workload says that it did not pass: far too many")
    assert found.failure_details == ({"hint": "far too many"},)
    assert found.metrics == {"c": 2**64 - 1}
    assert found.iterations == 2**64 - 1
    left_out = "left out: it is a number of 16610 bits"
    assert {f"metrics.a {left_out}", f"metrics.b {left_out}", f"failure_details[0].value {left_out}"} <= set(
        found.notes
    )
    assert "failure_count left out: 'a number of 16610 bits' is no count" in found.notes
    assert "first_failure_iteration left out: 'a number of 65 bits' is no count" in found.notes


def test_times_of_so_many_steps_are_kept(outcome):
    found = outcome(run="timed_often")
    assert (found.verdict, found.step_time_source) == ("pass", "per_step")
    assert (len(found.step_times_ms), found.step_times_ms[-1]) == (200_000, 199_999.0)
    assert "5 more step_times_ms left out" in found.notes


def test_the_time_is_the_trial_s_alone(outcome):
    begun = time.monotonic()
    found = outcome(run="hangs", seconds=0.2)
    assert 0.2 <= found.elapsed_s < time.monotonic() - begun


def test_files_of_the_trial_are_kept_and_an_empty_folder_is_not(outcome, files):
    assert outcome().verdict == "pass"
    assert not os.path.exists(files.folder)
    assert outcome(run="leaves_a_file").verdict == "pass"
    assert os.listdir(files.folder) == ["trace.bin"]


def test_nothing_else_is_left_beside_the_record(outcome, files):
    outcome(run="raises")
    here = os.path.dirname(files.stem)
    assert sorted(os.listdir(here)) == ["trial_000.stderr.log", "trial_000.stdout.log"]


def test_what_is_printed(outcome, files):
    assert outcome(run="prints").verdict == "pass"
    with open(files.stdout, "rb") as file:
        assert file.read().startswith(b"to standard output\n")
    with open(files.stderr) as file:
        assert file.read() == "to standard error\n"


def test_a_typed_config(outcome):
    found = outcome(workload="strict", degrees=95, steps=7)
    assert found.verdict == "fail"
    assert found.metrics == {"steps": 7}
    found = outcome(workload="strict", degres=95)
    assert found.verdict == "error"
    assert "no key 'degres': did you mean degrees?" in found.reason


def test_the_outcome_is_plain(outcome):
    assert isinstance(outcome(), Outcome)
