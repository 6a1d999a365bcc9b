"""Ranks that are lost in nine ways under torchrun, in collectives of gloo: the sweep ends, and names the rank."""

import time

import pytest

from tests.parts.losses import AFTER_S, TORCH, WAYS, assert_lost, only_run, recipe_of


@pytest.mark.parametrize(
    ("way", "rank"), [*((way, 1) for way in WAYS), ("crash", 0), ("kill", 0), ("hang", 0), ("collective", 0)]
)
@pytest.mark.timeout(150)
def test_a_lost_rank_ends_the_sweep_and_is_named(way, rank, tmp_path, torchrun):
    # What a hang is measured against includes two imports of torch, side by side on a busy machine.
    limit = 12 if way == "hang" else 40
    began = time.monotonic()
    job = torchrun(recipe_of(tmp_path, way, workload=TORCH, rank=rank, limit=limit))
    told = job.communicate(timeout=120)[1]
    assert job.returncode == 1, told
    assert time.monotonic() - began < limit + AFTER_S + 50
    assert_lost(only_run(tmp_path), rank=rank, way=way, limit=limit)
