"""A long sweep of several ranks: its aortas hold no more at its end than near its beginning."""

import os
from pathlib import Path

import pytest

from tests.parts.losses import assert_nothing_left, environ_of, matrix_of, only_run, recipe_of
from tests.parts.sweeps import wait_for

TRIALS = int(os.environ.get("AORTA_TEST_TRIALS", "40"))


def held(pid):
    """Return how many open files and threads a process has."""
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


def both(choose, kept, now):
    """Return the least or the most of each number so far."""
    return now if kept is None else tuple(map(choose, kept, now))


@pytest.mark.timeout(max(150, TRIALS * 2))
def test_open_files_threads_and_temporary_files_do_not_grow(tmp_path, by_hand):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environ = {**environ_of(tmp_path), "TMPDIR": str(temporary)}
    job = by_hand(recipe_of(tmp_path, trials=TRIALS, limit=60), environ=environ)
    early, late = {}, {}

    def done():
        found = len(list(Path(tmp_path).glob("triage_results/*/*/2*/cells/base/trial_*[0-9].json")))
        for process in job.processes:
            if process.poll() is None and found <= TRIALS // 4:
                early[process.pid] = both(max, early.get(process.pid), held(process.pid))
            if process.poll() is None and TRIALS * 3 // 4 <= found < TRIALS:
                late[process.pid] = both(min, late.get(process.pid), held(process.pid))
        return all(process.poll() is not None for process in job.processes)

    wait_for(done, max(140, TRIALS * 2))
    codes, told = job.ended()
    assert codes == [0, 0], told
    for process in job.processes:
        # What a trial opens and closes comes and goes: what stays is the least that is held.
        assert late[process.pid][0] <= early[process.pid][0], (early, late)
        assert late[process.pid][1] <= early[process.pid][1], (early, late)
    assert list(temporary.iterdir()) == []
    run = only_run(tmp_path)
    assert matrix_of(run)["totals"]["passed"] == TRIALS
    assert_nothing_left(run)
