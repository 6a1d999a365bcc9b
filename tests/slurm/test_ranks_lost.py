"""Ranks that are lost on the other node in nine ways: the step ends by itself, and the matrix names the rank."""

import time

import pytest

from tests.parts import torches
from tests.parts.losses import AFTER_S, LIMIT_S, TORCH, VARIABLES, WAYS, assert_lost, only_run, recipe_of
from tests.slurm.rank_sweeps import AORTA, TWO

#: What a step does when a task ends with another status than 0.
STEPS = {"srun": "", "kill-on-bad-exit": " --kill-on-bad-exit=1"}


def check(steps, recipe, options, way, limit, aorta=AORTA, **env):
    began = time.monotonic()
    done = steps.run(TWO + options, *aorta, "--recipe", recipe, **VARIABLES, **env)
    # The first that ends with 1 lets Slurm end the others, which have written all by then.
    assert done.returncode in ((1, 143) if options else (1,)), done.stderr
    assert time.monotonic() - began < limit + AFTER_S + 10
    assert "rank 1 on node2 was lost in trial 0 of base" in done.stdout, done.stdout
    assert_lost(only_run(steps.folder), rank=1, way=way, host="node2", limit=limit)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", STEPS.values(), ids=STEPS)
def test_the_rank_is_named(steps, way, options):
    check(steps, recipe_of(steps.folder, way), options, way, LIMIT_S)


@pytest.mark.parametrize("options", STEPS.values(), ids=STEPS)
def test_the_rank_is_named_in_a_collective_of_torch(steps, options):
    words = (torches.python(), "-m", "aorta", "sweep", "run")
    recipe = recipe_of(steps.folder, "collective", workload=TORCH, limit=40)
    check(steps, recipe, options, "collective", 40, words)


@pytest.mark.parametrize("options", STEPS.values(), ids=STEPS)
def test_the_first_rank_is_named_too(steps, options):
    recipe = recipe_of(steps.folder, "kill", rank=0)
    done = steps.run(TWO + options, *AORTA, "--recipe", recipe, **VARIABLES)
    assert done.returncode in ((1, 143) if options else (1,)), done.stderr
    assert_lost(only_run(steps.folder), rank=0, way="kill", host="node1")


def test_a_sweep_goes_on_after_a_crash(steps):
    recipe = recipe_of(steps.folder, "crash", only=0, trials=3)
    done = steps.run(TWO, *AORTA, "--recipe", recipe, "--continue-after-crash", **VARIABLES)
    assert done.returncode == 0, done.stderr
    run = only_run(steps.folder)
    assert_lost(run, rank=1, way="crash", host="node2", stopped=False)
    verdicts = [(run / f"cells/base/trial_00{trial}.json").exists() for trial in range(3)]
    assert verdicts == [True] * 3
