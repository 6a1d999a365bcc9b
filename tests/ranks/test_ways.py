"""Ranks that are lost in nine ways, without torch: each sweep ends, and names the rank."""

import time

import pytest

from tests.parts.losses import AFTER_S, LIMIT_S, WAYS, assert_lost, only_run, recipe_of


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_lost_rank_ends_the_sweep_and_is_named(way, rank, tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, way, rank=rank))
    codes, told = job.ended()
    assert codes == [1, 1], told
    assert time.monotonic() - job.began < LIMIT_S + AFTER_S + 10
    assert_lost(only_run(tmp_path), rank=rank, way=way)
