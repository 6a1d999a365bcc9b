"""Of which jobs a task is, and how often launchers started them again."""

import pytest

from aorta.launch.identity import Identity
from aorta.launch.tasks import starts_of, starts_of_all
from aorta.sweep.ranks.hello import as_message, from_message, hello_of


def test_jobs_and_counts():
    environ = {"SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": " 2 ", "TORCHELASTIC_RUN_ID": "x"}
    assert starts_of(environ) == {"SLURM_JOB_ID=7": 2, "TORCHELASTIC_RUN_ID=x": 0}


def test_a_job_without_a_name_is_none():
    assert starts_of({"TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "1"}) == {}
    assert starts_of({"SLURM_RESTART_COUNT": "1"}) == {}


@pytest.mark.parametrize("count", ["0", "", "-1", "x", "\u00b2"])
def test_what_is_no_such_count(count):
    assert starts_of({"SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": count}) == {"SLURM_JOB_ID=7": 0}


def test_agents_count_each_for_themselves_and_slurm_once_for_all():
    slurm, agents = "SLURM_JOB_ID=7", "TORCHELASTIC_RUN_ID=x"
    assert starts_of_all([{slurm: 1, agents: 0}, {slurm: 1, agents: 2}, {slurm: 1, agents: 1}]) == {
        slurm: 1,
        agents: 3,
    }


def test_a_rank_tells_it():
    told = as_message(hello_of(Identity(), {}, (), {"a": 1}))
    assert from_message(told).starts == {"a": 1}
    assert from_message({name: value for name, value in told.items() if name != "starts"}).starts == {}
    for wrong in ({"a": "1"}, {"a": True}, 3):
        with pytest.raises(TypeError, match="starts"):
            from_message({**told, "starts": wrong})
