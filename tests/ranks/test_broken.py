"""Ranks whose own disk, thread, clean-up or answer is at fault, and a job that stands still as a whole."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.parts.losses import (
    assert_logs,
    assert_matrix,
    assert_nothing_left,
    environ_of,
    matrix_of,
    only_run,
    recipe_of,
    record_of,
)
from tests.parts.needs import need
from tests.ranks.test_ended import in_trial

HOST = os.uname().nodename
ODD = "breaking"
#: For a rank alone, what lies below a folder can be read and not written.
READ_ONLY = '/bin/mount --bind "$0" "$0"; /bin/mount -o remount,ro,bind "$0"; cd "$0"; exec "$@"'


def odd(folder):
    return environ_of(folder, AORTA_WORKLOADS=f"{ODD}=tests.parts.breaking:Breaking")


@pytest.mark.parametrize("wait_s", [1, 1000], ids=["others raise", "others wait"])
def test_a_rank_that_cannot_write_its_results_is_named_and_nobody_waits_for_it(wait_s, tmp_path, by_hand):
    need(os.geteuid() == 0 and bool(shutil.which("unshare")), "a mount namespace of one's own")
    apart = ["/usr/bin/unshare", "--mount", "/bin/sh", "-ec", READ_ONLY, str(tmp_path)]
    recipe = recipe_of(tmp_path, wait_s=wait_s, limit="null")
    codes, told = by_hand(recipe, ranks=3, under={1: apart}).ended()
    assert codes == [1, 1, 1], told
    run = only_run(tmp_path)
    record = record_of(run)
    assert (record["lost"]["rank"], record["lost"]["end"]) == (1, "not_started"), record["reason"]
    words = f"rank 1 on {HOST}: the trial could not be started: Read-only file system: {run}/cells/base/"
    assert record["reason"].startswith(words), record["reason"]
    assert_matrix(run, f"rank 1 on {HOST} was lost in trial 0 of base: the trial could not be started")
    assert not (run / "cells/base/trial_001.json").exists()
    assert_nothing_left(run)


def test_a_job_whose_aortas_all_stand_still_for_a_while_goes_on(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, pause_ms=1000, limit=60), ranks=3)
    run = in_trial(tmp_path)
    for process in job.processes:
        process.send_signal(signal.SIGSTOP)
    # Longer than a rank may be silent.
    time.sleep(10)
    for process in job.processes:
        process.send_signal(signal.SIGCONT)
    codes, told = job.ended()
    assert codes == [0, 0, 0], told
    assert matrix_of(run)["state"] == "complete"
    assert [record_of(run, trial=number)["verdict"] for number in range(2)] == ["pass", "pass"]
    assert_nothing_left(run)


def test_a_rank_that_stays_after_its_answer_is_not_waited_for_when_another_is_lost(tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "lingers", workload=ODD, limit=60)
    codes, told = by_hand(recipe, ranks=3, environ=odd(tmp_path)).ended()
    ended = time.time()
    assert codes == [1, 1, 1], told
    run = only_run(tmp_path)
    record = record_of(run)
    assert record["reason"] == f"rank 1 on {HOST}: RuntimeError: planted in run"
    # It answers 1.5 s after the loss, and may stay 10 s where it is alone.
    assert ended - (run / "cells/base/trial_000.rank1.stderr.log").stat().st_mtime < 10.5
    assert_logs(run, record, ranks=3)
    assert_nothing_left(run)


def test_a_rank_that_raises_in_cleanup_is_the_cause_where_others_wait_for_it(tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "cleanup-raises", workload=ODD)
    codes, told = by_hand(recipe, ranks=3, environ=odd(tmp_path)).ended()
    assert codes == [1, 1, 1], told
    run = only_run(tmp_path)
    record = record_of(run)
    assert record["verdict"] == "error"
    words = f"rank 1 on {HOST}: OSError: planted in cleanup (in cleanup)"
    assert record["reason"] == words
    lost = record["lost"]
    assert (lost["rank"], lost["end"], lost["phase"]) == (1, "raised", "cleanup")
    assert [row["end"] for row in record["ranks"]] == ["timed_out", "raised", "returned"]
    assert_matrix(run, f"rank 1 on {HOST} was lost in trial 0 of base: OSError: planted in cleanup")
    assert_nothing_left(run)


@pytest.mark.parametrize("rank", [0, 1, None], ids=["rank 0", "rank 1", "alone"])
def test_an_answer_of_20_MB_is_cut_and_nothing_is_lost(rank, tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "much", workload=ODD, limit=50, rank=rank or 0)
    if rank is None:
        line = [sys.executable, "-m", "aorta", "sweep", "run", "--recipe", recipe]
        done = subprocess.run(
            line, cwd=tmp_path, env=odd(tmp_path), capture_output=True, text=True, timeout=100, check=False
        )
        codes, told = [done.returncode], done.stderr
    else:
        codes, told = by_hand(recipe, environ=odd(tmp_path)).ended()
    assert set(codes) == {0}, told
    run = only_run(tmp_path)
    for trial in range(2):
        record = record_of(run, trial=trial)
        assert (record["verdict"], record.get("lost")) == ("pass", None), record["reason"]
        named = "" if rank is None else f"rank {rank} on {HOST}: "
        cut = f"{named}metrics and failure_details left out: 20 MB, and 8 are kept"
        assert cut in record["notes"]
        assert "text" not in record["metrics"]
        assert (run / f"cells/base/trial_{trial:03d}.json").stat().st_size < 1 << 20
    assert_nothing_left(run)


def test_a_rank_that_asserts_has_failed_and_the_run_goes_on(tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "asserts", workload=ODD, limit=60)
    codes, told = by_hand(recipe, environ=odd(tmp_path)).ended()
    assert codes == [0, 0], told
    run = only_run(tmp_path)
    for trial in range(2):
        record = record_of(run, trial=trial)
        assert record["verdict"] == "fail"
        assert record["reason"].startswith(f"rank 1 on {HOST}: AssertionError: the sum is wrong")
        assert (record["lost"]["rank"], record["lost"]["end"]) == (1, "raised")
    assert_matrix(run, "", stopped=False)
    assert_nothing_left(run)


def test_a_rank_that_leaves_early_is_named_and_not_one_that_waited_for_it(tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "leaves", workload=ODD, limit=60, wait_s=2)
    codes, told = by_hand(recipe, environ=odd(tmp_path), ranks=3).ended()
    assert codes == [1, 1, 1], told
    run = only_run(tmp_path)
    words = "it came to its end after 1 of 4 iterations, and others waited for it in vain"
    assert record_of(run)["reason"].startswith(f"rank 1 on {HOST}: {words}")
    assert_matrix(run, f"rank 1 on {HOST} was lost in trial 0 of base: {words}")
    assert_nothing_left(run)


def test_the_first_of_several_exceptions_is_the_one_that_was_raised_first(tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "slow-to-clean", workload=ODD, limit=60)
    codes, told = by_hand(recipe, environ=odd(tmp_path), ranks=3).ended()
    assert codes == [1, 1, 1], told
    assert record_of(only_run(tmp_path))["reason"].startswith(
        f"rank 1 on {HOST}: ValueError: planted in rank 1"
    )


def test_what_a_rank_found_stands_whatever_becomes_of_its_cleanup(tmp_path, by_hand):
    recipe = recipe_of(tmp_path, "found-then-hangs", workload=ODD, limit=6, wait_s=1)
    codes, told = by_hand(recipe, environ=odd(tmp_path)).ended()
    assert codes == [1, 1], told
    record = record_of(only_run(tmp_path))
    assert record["verdict"] == "fail"
    assert f"rank 1 on {HOST}: 1 failure: a wrong sum in layer 3; then " in record["reason"]
    assert (record["lost"]["rank"], record["lost"]["phase"]) == (1, "cleanup")
    assert record["failure_details"] == [{"rank": 1, "hint": "a wrong sum in layer 3"}]
    assert_nothing_left(only_run(tmp_path))
