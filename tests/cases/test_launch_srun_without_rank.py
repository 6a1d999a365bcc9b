"""Under srun the rank is the task number, RANK wins over it, and no step means no rank."""

from aorta.testing import FakeHost, collect

CASE = "launch-srun-without-rank"


def launcher(**env):
    return collect(FakeHost(env=env), "launcher")


def test_a_task_of_srun_without_rank():
    task = {"SLURM_PROCID": "3", "SLURM_LOCALID": "3", "SLURM_NTASKS": "8"}
    assert launcher(**task, SLURM_STEP_ID="0").value["rank"] == 3
    # The same numbers without a step: perhaps a batch script. It says so, and never rank 0.
    result = launcher(**task)
    assert result.value["rank"] is None
    assert result.kinds("rank") == ["absent"]
    assert "SLURM_STEP_ID" in result.reasons[0].detail


def test_rank_wins():
    env = {
        "SLURM_PROCID": "0",
        "SLURM_LOCALID": "0",
        "SLURM_NTASKS": "2",
        "RANK": "5",
        "LOCAL_RANK": "1",
        "WORLD_SIZE": "16",
    }
    for step in ({}, {"SLURM_STEP_ID": "0"}):
        value = launcher(**env, **step).value
        assert (value["rank"], value["local_rank"], value["world_size"]) == (5, 1, 16)


def test_an_interactive_shell_is_a_plain_run():
    result = launcher(SLURM_PROCID="0", SLURM_JOB_NAME="interactive", SLURM_NTASKS="1")
    assert result.value["kind"] == "slurm"
    assert result.value["rank"] is None
    assert all(not reason.partial for reason in result.reasons)
