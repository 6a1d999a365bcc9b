"""The aorta of a rank is killed, stopped or told to end, by hand and under torchrun."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.parts.losses import (
    PLAIN,
    assert_matrix,
    assert_nothing_left,
    matrix_of,
    only_run,
    recipe_of,
    record_of,
)
from tests.parts.sweeps import wait_for

HOST = os.uname().nodename


def in_trial(folder, rank=0, cell="base"):
    """Wait until a rank's worker of the first trial runs; return the run."""

    def traces():
        return [
            path
            for path in Path(folder).glob(f"triage_results/*/*/2*/cells/{cell}/trial_*.rank{rank}.trace")
            if "phase run" in path.read_text()
        ]

    wait_for(lambda: len(traces()) > 0, 50)
    time.sleep(0.3)
    return only_run(folder)


def aorta_of(folder, rank):
    """Return the process of a rank's aorta: it has the launcher's variables, and none of a trial."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        is_sweep = b"aorta" in words and b"sweep" in words and f"HOME={folder}".encode() in variables
        if is_sweep and f"RANK={rank}".encode() in variables:
            found.append(int(pid))
    [pid] = found
    return pid


def assert_stacks(run, *, ranks):
    """Check that each rank of the trial that was under way left where it was."""
    for rank in range(ranks):
        stacks = (run / f"cells/base/trial_000.rank{rank}.stacks.log").read_text()
        assert "losing.py" in stacks
        assert stacks.count("most recent call first") < 8


@pytest.mark.timeout(150)
def test_under_torchrun_a_killed_aorta_is_the_rank_that_was_lost(tmp_path, torchrun):
    job = torchrun(recipe_of(tmp_path, "hang", workload=PLAIN, rank=0, limit=50))
    run = in_trial(tmp_path)
    os.kill(aorta_of(tmp_path, 1), signal.SIGKILL)
    told = job.communicate(timeout=100)[1]
    assert job.returncode == 1, told
    record = record_of(run)
    assert (record["verdict"], record["lost"]["rank"], record["lost"]["end"]) == ("error", 1, "vanished")
    assert f"rank 1 on {HOST}: its aorta was lost" in record["reason"]
    matrix = matrix_of(run)
    # torchrun ends rank 0 while it waits for the others.
    assert (matrix["lost_rank"], matrix["complete"]) == (True, False)
    assert matrix["state"] in ("stopped", "interrupted")
    assert f"rank 1 on {HOST} was lost in trial 0 of base" in (run / "matrix.md").read_text()
    assert_nothing_left(run)


def test_a_killed_aorta_is_the_rank_that_was_lost_and_no_trial_follows(tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "hang", rank=0, limit=50, trials=3)
    job = by_hand(recipe, "--continue-after-crash", ranks=3)
    run = in_trial(tmp_path)
    job.processes[1].kill()
    codes, told = job.ended()
    assert codes == [1, -signal.SIGKILL, 1], told
    record = record_of(run)
    assert (record["verdict"], record["lost"]["rank"], record["lost"]["end"]) == ("error", 1, "vanished")
    assert [row["end"] for row in record["ranks"]] == ["aborted", "vanished", "aborted"]
    # Where the others were when they were ended.
    assert "losing.py" in record["ranks"][0]["traceback"]
    assert not (run / "cells/base/trial_001.json").exists()
    assert_matrix(run, f"rank 1 on {HOST} was lost in trial 0 of base: its aorta was lost")
    assert_nothing_left(run)


def test_an_aorta_that_stands_still_is_lost_and_hears_so_when_it_goes_on(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, "none", pause_ms=30000, limit=50))
    run = in_trial(tmp_path)
    job.processes[1].send_signal(signal.SIGSTOP)
    began = time.monotonic()
    job.processes[0].wait(40)
    assert time.monotonic() - began < 30
    record = record_of(run)
    assert (record["lost"]["rank"], record["lost"]["end"]) == (1, "vanished")
    assert "nothing was heard of it for 8 s" in record["reason"]
    assert record["ranks"][0]["end"] == "aborted"
    assert_matrix(run, f"rank 1 on {HOST} was lost in trial 0 of base")
    job.processes[1].send_signal(signal.SIGCONT)
    codes, told = job.ended()
    assert codes == [1, 1]
    assert re.search(
        r"rank 0 was lost: it gave up this rank, whose aorta stood still for \d+ s\n", told[1]
    ), told[1]
    assert_nothing_left(run)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_rank_0_leaves_its_matrix_and_no_record_of_the_trial_under_way(number, tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, "none", pause_ms=30000, limit=50))
    run = in_trial(tmp_path)
    job.processes[0].send_signal(number)
    # The job's launcher may kill it ten seconds later.
    wait_for(lambda: matrix_of(run)["state"] == "interrupted", 10)
    codes, told = job.ended()
    assert codes == [128 + number, 1], told
    assert (told[0].splitlines()[-1], told[1]) == (f"aorta: stopped by {number.name}", "")
    matrix = matrix_of(run)
    assert (matrix["lost_rank"], matrix["in_flight"]["trial"]) == (False, 0)
    assert not (run / "cells/base/trial_000.json").exists()
    assert_stacks(run, ranks=2)
    assert_nothing_left(run)


def test_a_job_that_is_ended_has_lost_no_rank(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, "none", pause_ms=30000, limit=50), ranks=3)
    run = in_trial(tmp_path)
    # A launcher ends all, in any order.
    for process in reversed(job.processes):
        process.terminate()
    codes, told = job.ended()
    assert codes == [143, 143, 143], told
    matrix = matrix_of(run)
    assert (matrix["state"], matrix["lost_rank"]) == ("interrupted", False)
    assert not (run / "cells/base/trial_000.json").exists()
    assert_stacks(run, ranks=3)
    assert_nothing_left(run)


def test_another_rank_that_is_told_to_end_is_lost_and_says_by_what(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, "none", pause_ms=30000, limit=50, workload=PLAIN))
    run = in_trial(tmp_path)
    job.processes[1].terminate()
    codes, told = job.ended()
    assert codes == [1, 143], told
    assert "its aorta was lost: stopped by SIGTERM" in record_of(run)["reason"]
    assert_matrix(run, f"rank 1 on {HOST} was lost in trial 0 of base")
    assert_nothing_left(run)


def test_a_rank_0_that_is_killed_ends_the_others_and_their_workers(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, "none", pause_ms=30000, limit=50), ranks=3)
    run = in_trial(tmp_path, rank=2)
    job.processes[0].kill()
    codes, told = job.ended()
    assert codes == [-signal.SIGKILL, 1, 1], told
    assert "rank 0 was lost: its connection was closed" in told[1]
    assert [path.name for path in run.rglob("*.trace")] == ["trial_000.rank0.trace"]


def test_a_full_file_system_is_told_with_the_rank_that_writes_there(by_hand, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "full", results], check=True)
    try:
        codes, told = by_hand(recipe_of(tmp_path, trials=40), "--output", str(results)).ended()
    finally:
        subprocess.run(["umount", "-l", results], check=True)
    assert codes == [1, 1]
    last = told[0].splitlines()[-1]
    assert last.startswith(f"aorta: rank 0 on {HOST}: cannot ")
    assert last.endswith("No space left on device")
