"""What each rank of a trial is given: variables before its interpreter starts, a device, a place to meet."""

import pytest

from aorta.workloads.group import device_index
from tests.parts import torches
from tests.workloads.launching import swept

MODULE = "tests.workloads.rank_subjects"


def test_what_a_module_reads_at_import_is_each_trials_own(tmp_path):
    """Of every rank, in every cell and trial: the interpreter starts with the variables."""
    cells = {
        "plain": {"workload_config": {}},
        "simple": {"workload_config": {}, "extra_env": {"NCCL_PROTO": "Simple"}},
        "xnack": {"workload_config": {}, "mitigations": ["xnack"]},
    }
    done = swept(tmp_path, "cached", cells, trials=2, environ={"AORTA_WORKLOADS": f"cached={MODULE}:Cached"})
    assert done.codes == [0, 0], done.errors
    own = {
        "plain": {},
        "simple": {"NCCL_PROTO": "Simple"},
        "xnack": {"HSA_XNACK": "1"},
    }
    for cell, variables in own.items():
        for trial in range(2):
            expected = {"AORTA_CELL": cell, "AORTA_TRIAL": str(trial), "HSA_XNACK": None, "NCCL_PROTO": None}
            told = repr(sorted({**expected, **variables}.items()))
            for rank in range(2):
                files = done.run / "cells" / cell / f"trial_{trial:03d}.rank{rank}.files"
                assert (files / "cached").read_text() == told


def test_the_device_of_each_rank_is_recorded_with_what_it_was_shown(tmp_path):
    given = {"AORTA_WORKLOADS": f"cached={MODULE}:Cached", "ROCR_VISIBLE_DEVICES": "4,5"}
    done = swept(tmp_path, "cached", {"cell": {}}, environ=given)
    devices = [one["device"] for one in done.first()["ranks"]]
    assert devices == ["cuda:0 (ROCR_VISIBLE_DEVICES=4,5)"] * 2


@pytest.mark.parametrize(("count", "local_rank", "index"), [(1, 0, 0), (1, 7, 0), (8, 0, 0), (8, 7, 7)])
def test_a_rank_is_bound_to_the_only_gpu_or_to_that_of_its_local_rank(count, local_rank, index):
    assert device_index(count, local_rank) == index


@pytest.mark.parametrize(
    ("count", "local_rank", "told"),
    [(0, 0, "torch sees no GPU"), (2, 2, "local rank 2 has no GPU: torch sees 2")],
)
def test_a_rank_without_a_gpu_is_told(count, local_rank, told):
    with pytest.raises(RuntimeError, match=told):
        device_index(count, local_rank)


@pytest.mark.timeout(160)
@pytest.mark.parametrize(("launcher", "isolation"), [("torchrun", "process"), ("hand", "in_process")])
def test_a_workload_that_meets_by_the_variables_alone(tmp_path, launcher, isolation):
    """As programs do that know nothing of aorta: env://, in each trial anew."""
    done = swept(
        tmp_path,
        "user",
        {"cell": {}},
        python=torches.python(),
        launcher=launcher,
        isolation=isolation,
        trials=2,
        timeout=150,
        environ={"AORTA_WORKLOADS": f"user={MODULE}:OfAUser"},
    )
    assert set(done.codes) == {0}, done.errors
    assert done.verdicts() == ["pass", "pass"]
    told = [record["metrics"] for record in done.records.values()]
    assert len({one["MASTER_PORT"] for one in told}) == 2
    assert all(one["store"].endswith(f":{one['MASTER_PORT']}") for one in told)
    assert {one["TORCHELASTIC_USE_AGENT_STORE"] for one in told} <= {None, "False"}
