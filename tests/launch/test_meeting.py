"""The ranks of a job meet: what keeps them from running is told alike on all, quickly, and nothing is written."""

import re
import signal
import time

import pytest

from tests.launch.conftest import is_listened_at, wait_for


def test_ranks_meet_again_and_again_at_one_port(job):
    for number in (1, 2):
        for rank in (1, 0):
            job.start(rank)
        codes, outs, errors = job.ended()
        assert codes == [0, 0], errors
        # one summary, of rank 0; the others say nothing
        assert [out.count("Wrote matrix") for out in outs] == [0, 1]
        assert errors[0] == ""
        assert len(job.runs) == number


def test_three_ranks_of_which_rank_0_comes_last(job):
    for rank in (2, 1):
        job.start(rank, size=3)
    time.sleep(1.0)
    job.start(0, size=3)
    codes, _, errors = job.ended()
    assert codes == [0, 0, 0], errors
    matrix = job.matrix()
    assert (matrix["world_size"], matrix["launcher"]) == (3, "by_hand")


def test_another_recipe(job):
    job.start(0)
    job.start(1, recipe=job.recipe("other.yaml", more="workload_config: {payload_bytes: 7}"))
    [line] = job.refused()
    assert re.fullmatch(
        r"aorta: the recipe is \S+ \(sha256:\w{12}\) on rank 1 on \S+, and \S+ \(sha256:\w{12}\) on rank 0 on \S+",
        line,
    )


def test_another_number_of_trials(job):
    job.start(0, size=3)
    job.start(1, size=3)
    job.start(2, "--trials=7", size=3)
    number, line = job.refused()
    assert number.startswith("aorta: the number of trials is 7 on rank 2 on ")
    assert "the recipe is" in line
    for told in (number, line):
        assert re.search(r" on rank 2 on \S+, and .* on rank 0 on \S+ and 1 more$", told)


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 2)])
def test_another_world_size(job, first, second):
    job.start(0, size=first)
    job.start(1, size=second, LOCAL_WORLD_SIZE=2)
    [line] = job.refused(60)
    assert re.fullmatch(
        rf"aorta: WORLD_SIZE is {second} on rank 1 on \S+, and {first} on rank 0 on \S+", line
    )


def test_another_version_of_a_workload(job):
    recipe = job.recipe("mine.yaml", workload="mine")
    for rank in (0, 1):
        place = job.folder / f"node{rank}"
        place.mkdir()
        text = f"from aorta.workloads.ranks import Ranks\nclass Mine(Ranks):\n    number = {rank}\n"
        (place / "mine.py").write_text(text)
        path = f"{job.environ(0)['PYTHONPATH']}:{place}"
        job.start(rank, recipe=recipe, PYTHONPATH=path, AORTA_WORKLOADS="mine=mine:Mine")
    [line] = job.refused()
    assert re.search(r"the code of workload mine is sha256:\w+ on rank 1 on \S+, and sha256:", line)


def test_another_version_of_what_a_workload_imports_from_beside_it(job):
    recipe = job.recipe("mine.yaml", workload="mine")
    for rank in (0, 1):
        place = job.folder / f"node{rank}" / "site_tools"
        place.mkdir(parents=True)
        (place / "__init__.py").write_text("")
        (place / "numbers.py").write_text(f"NUMBER = {rank}\n")
        text = "from aorta.workloads.ranks import Ranks\nfrom site_tools import numbers\nclass Mine(Ranks): pass\n"
        (place / "mine.py").write_text(text)
        path = f"{job.environ(0)['PYTHONPATH']}:{place.parent}"
        job.start(rank, recipe=recipe, PYTHONPATH=path, AORTA_WORKLOADS="mine=site_tools.mine:Mine")
    [line] = job.refused()
    assert re.search(r"the code of workload mine is sha256:\w+ on rank 1 on \S+, and sha256:", line)


MINE = """
from aorta.workloads.ranks import Ranks
class Mine(Ranks):
    requires = ("some_accelerator",)
"""


def test_a_module_that_one_node_lacks(job):
    (job.folder / "mine.py").write_text(MINE)
    recipe = job.recipe("mine.yaml", workload="mine")
    paths = [f"{job.environ(0)['PYTHONPATH']}:{job.folder}"]
    (job.folder / "node").mkdir()
    (job.folder / "node" / "some_accelerator.py").touch()
    paths.append(f"{paths[0]}:{job.folder}/node")
    for rank in (0, 1, 2):
        path = paths[rank != 2]
        job.start(rank, recipe=recipe, size=3, AORTA_WORKLOADS="mine=mine:Mine", PYTHONPATH=path)
    [line] = job.refused()
    assert line.startswith("aorta: rank 2 on ")
    assert "some_accelerator" in line


def test_a_workload_that_one_node_lacks(job):
    (job.folder / "mine.py").write_text("from aorta.workloads.ranks import Ranks as Mine\n")
    recipe = job.recipe("mine.yaml", workload="mine")
    path = f"{job.environ(0)['PYTHONPATH']}:{job.folder}"
    for rank in (0, 1):
        job.start(rank, recipe=recipe, PYTHONPATH=path, AORTA_WORKLOADS="mine=mine:Mine" if rank else None)
    [line] = job.refused()
    assert line.startswith("aorta: rank 0 on ")
    assert "mine" in line


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_recipe_that_one_node_lacks(job, lacking):
    for rank in (0, 1):
        job.start(rank, recipe="elsewhere.yaml" if rank == lacking else "r.yaml")
    [line] = job.refused(60)
    assert line.startswith(f"aorta: rank {lacking} on ")
    assert "elsewhere.yaml" in line


def test_a_recipe_that_is_wrong_everywhere_is_told_without_ranks(job):
    for rank in (0, 1):
        job.start(rank, recipe=job.recipe(more="colour: red"))
    [line] = job.refused()
    assert "colour" in line
    assert "rank" not in line


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_rank_with_a_problem_of_its_own(job, lacking):
    mark = {"AORTA_TRIAL_MASTER_PORT_BASE": "junk"}
    for rank in (0, 1):
        job.start(rank, **(mark if rank == lacking else {}))
    [line] = job.refused(60)
    assert line.startswith(f"aorta: rank {lacking} on ")
    assert ": AORTA_TRIAL_MASTER_PORT_BASE is 'junk'" in line


def test_a_rank_that_never_comes(job):
    began = time.monotonic()
    for rank in (0, 2):
        job.start(rank, size=4, join=3)
    [line] = job.refused(40)
    assert re.fullmatch(
        r"aorta: ranks 1, 3 of 4 did not come within 3 s \(--join-timeout\): rank 0 waited on \S+ at port"
        rf" {job.port}",
        line,
    )
    assert time.monotonic() - began < 30


def test_a_rank_0_that_never_comes(job):
    job.start(1, join=2)
    [line] = job.refused(40)
    assert re.search(
        rf"rank 1 on \S+ found no rank 0 at 127.0.0.1, port {job.port}, within 2 s \(Connection refused\)",
        line,
    )


@pytest.mark.parametrize("twice", [0, 1])
def test_two_are_told_to_be_one_rank(job, twice):
    job.start(0, size=3)
    wait_for(lambda: is_listened_at(job.port))
    for rank in (1, twice):
        job.start(rank, size=3)
    # the last one comes when it is known
    time.sleep(2.0)
    job.start(2, size=3)
    [line] = job.refused()
    assert re.fullmatch(rf"aorta: two are told to be rank {twice}: pid \d+ on \S+ and pid \d+ on \S+", line)


def test_a_rank_that_leaves_before_the_run(job):
    leaving = job.start(1, size=3)
    job.start(0, size=3, join=8)
    wait_for(lambda: is_listened_at(job.port))
    time.sleep(1.5)
    leaving.send_signal(signal.SIGKILL)
    codes, _, errors = job.ended(60)
    assert codes == [-9, 2]
    assert re.search(r"rank 2 of 3 did not come within 8 s", errors[1])
    assert re.search(r"rank 1 on \S+ left before the run: its connection was closed", errors[1])
    assert job.runs == []


def test_a_signal_ends_ranks_that_wait_for_others(job):
    started = [job.start(rank, size=3) for rank in (0, 1)]
    wait_for(lambda: is_listened_at(job.port))
    time.sleep(0.5)
    began = time.monotonic()
    for one in reversed(started):
        one.send_signal(signal.SIGTERM)
    codes, _, _ = job.ended(30)
    assert set(codes) <= {143, 2}
    assert time.monotonic() - began < 15
    assert job.runs == []


def test_a_name_that_cannot_be_looked_up(job):
    for rank in (0, 1):
        job.start(rank, join=1, MASTER_ADDR="no-such-host.invalid")
    [line] = job.refused(40)
    assert "rank 0's host 'no-such-host.invalid' cannot be looked up" in line
    assert "set MASTER_ADDR" in line
