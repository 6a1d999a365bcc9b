"""Which rank of which job a process is, by the variables that its launcher told it."""

import pytest

from aorta.launch.identity import Identity, identity_of, identity_without_torch
from aorta.launch.tasks import LaunchError
from tests.launch.environs import (
    batch_script,
    hydra,
    interactive_shell,
    mvapich,
    open_mpi,
    pals,
    slurm,
    torch,
    torchrun,
)

AT = {"MASTER_ADDR": "n1", "MASTER_PORT": "29500"}


def told(environ):
    """Return an identity as a tuple: launcher, rank of size, local rank of local size, node of nodes."""
    one = identity_of(environ)
    return (one.launcher, one.rank, one.size, one.local_rank, one.local_size, one.node, one.nodes)


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        (torchrun(3, 1), ("torchrun", 3, 4, 1, 2, 1, 2)),
        (torch(3, 1, 4, 2, **AT), ("by_hand", 3, 4, 1, 2, None, 2)),
        (torch(1, None, 2, None, **AT), ("by_hand", 1, 2, None, None, None, None)),
        (slurm(3, 1), ("slurm", 3, 4, 1, None, 1, 2)),
        # torchrun under one task of a node
        ({**slurm(1, 0, 2), **torchrun(3, 1)}, ("torchrun", 3, 4, 1, 2, 1, 2)),
        (open_mpi(3, 1, **AT), ("openmpi", 3, 4, 1, 2, None, 2)),
        (mvapich(3, 1, **AT), ("mvapich", 3, 4, 1, 2, None, 2)),
        (hydra(1, 1, MASTER_PORT=29500), ("mpich", 1, 2, 1, 2, 0, 1)),
        (pals(3, 1, **AT), ("mpich", 3, 4, 1, 2, None, 2)),
        # the daemon of an mpirun is a task of a step, its processes are not
        ({**slurm(1, 0, 2), **open_mpi(3, 1, **AT)}, ("openmpi", 3, 4, 1, 2, None, 2)),
    ],
)
def test_launchers(environ, wanted):
    assert told(environ) == wanted


@pytest.mark.parametrize(
    "environ",
    [
        {},
        torch(0, 0, 1, 1),
        torchrun(0, 0, 1, 1),
        # an agent of its own in each of two tasks: each is a job
        {**slurm(1, 0, 2), **torchrun(0, 0, 1, 1)},
        {"WORLD_SIZE": "", "RANK": " ", "MASTER_PORT": ""},
        batch_script(1, 1),
        interactive_shell(1, 1),
        slurm(0, 0, 1, 1),
    ],
)
def test_one_process_is_alone(environ):
    assert identity_of(environ) == Identity()


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        (torchrun(1, 1), "n1"),
        # as the launcher told it, which no host need look up again
        (torchrun(1, 1, MASTER_ADDR="192.0.2.21"), "192.0.2.21"),
        (slurm(3, 1), "n07"),
        (slurm(3, 1, SLURM_STEP_NODELIST="n08,n07"), "n08"),
        (slurm(1, 1, 2, 1), "127.0.0.1"),
        (slurm(3, 1, MASTER_ADDR=" head "), "head"),
        (hydra(1, 1), "127.0.0.1"),
        (torch(1, 1, 2, 2), "127.0.0.1"),
        # RANK made of SLURM_PROCID by a script in each task
        ({**slurm(3, 1), **torch(3, None, 4, None)}, "n07"),
    ],
)
def test_the_host_of_rank_0(environ, wanted):
    assert identity_of(environ).address == wanted


@pytest.mark.parametrize(
    "environ",
    [
        open_mpi(3, 1),
        pals(3, 1),
        torch(3, 1, 4, 2),
        torch(1, None, 2, None),
        slurm(3, 1, SLURM_STEP_NODELIST="n["),
    ],
)
def test_a_host_of_rank_0_that_nobody_told_has_to_be_set(environ):
    with pytest.raises(LaunchError, match="set MASTER_ADDR to it on all ranks"):
        identity_of(environ)


def test_ranks_by_hand_are_told_what_is_missing():
    with pytest.raises(LaunchError) as raised:
        identity_of(torch(1, None, 2, None))
    assert str(raised.value) == (
        "the host of rank 0 is not known (ranks that are started by hand (RANK, WORLD_SIZE) are not told it):"
        " set MASTER_ADDR to it on all ranks"
    )


def test_all_processes_of_a_job_have_one_name_for_it_that_no_other_job_has():
    def names(*environs):
        return {identity_of(environ).job for environ in environs}

    assert names(slurm(0, 0), slurm(3, 1)) == {"slurm.77.0.0"}
    assert names(slurm(0, 0, step="1"), slurm(0, 0, SLURM_RESTART_COUNT=1)) == {
        "slurm.77.1.0",
        "slurm.77.0.1",
    }
    # each agent counts the failures of its own workers, and only some of them may be in a step
    agents = names(torchrun(0, 0), {**slurm(1, 0, 2), **torchrun(3, 1, TORCHELASTIC_RESTART_COUNT=1)})
    assert agents == {"none.n1.29400"}
    first = {**batch_script(2), **open_mpi(0, 0, **AT)}
    assert len(names(first, {**slurm(1, 0, 2), **open_mpi(3, 1, **AT)})) == 1
    assert names(pals(0, 0, **AT), pals(3, 1, **AT)) == {"4f0e"}
    assert names(hydra(0, 0, PBS_JOBID="9.pbs", MASTER_PORT=4000)) == {"9.pbs.4000"}
    assert names(hydra(0, 0)) == {None}


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        (torch(4, None, 4, None, **AT), "RANK is 4 and WORLD_SIZE is 4: ranks are below the size"),
        (torch(1, None, 1, None), "RANK is 1 and WORLD_SIZE is 1: ranks are below the size"),
        (torch(1, None, None, None), "RANK is 1 and WORLD_SIZE is not set: set both"),
        ({**slurm(1, 1), "RANK": "1"}, "RANK is 1 and WORLD_SIZE is not set: set both"),
        (torch(None, None, 8, None), "WORLD_SIZE is 8 and RANK is not set: set both"),
        (torch(0, 0, 0, 0), "WORLD_SIZE is 0: it is at least 1"),
        (torch(0, 0, "many", 1), "WORLD_SIZE is 'many': a whole number is needed"),
        (torch("-1", 0, 2, 1), "RANK is '-1': a whole number is needed"),
        (torch(1, 2, 4, 4, **AT), "LOCAL_RANK is 2 and RANK is 1"),
        (torch(1, 1, 2, 4, **AT), "LOCAL_WORLD_SIZE is 4 and WORLD_SIZE is 2"),
        (torch(3, 2, 4, 2, **AT), "LOCAL_RANK is 2 and LOCAL_WORLD_SIZE is 2"),
        (torchrun(1, 1, MASTER_PORT="http"), "MASTER_PORT is 'http', not a port"),
        (torchrun(1, 1, MASTER_PORT="99999"), "MASTER_PORT is '99999', not a port"),
        (torchrun(1, 1, MASTER_PORT="0"), "a number from 1 to 65535"),
        (open_mpi(1, 2, local_size=4, **AT), "OMPI_COMM_WORLD_LOCAL_RANK is 2 and OMPI_COMM_WORLD_RANK is 1"),
        ({**slurm(1, 1), **torch(0, None, 4, None)}, "was RANK exported before srun? unset it"),
        ({**slurm(1, 1), **torch(0, None, 1, None)}, "WORLD_SIZE is 1, and this is one of 4 tasks"),
        (slurm(1, 1, SLURM_PROCID=None), "a step of 4 tasks, and SLURM_PROCID, which of them, is not set"),
        (batch_script(), "the script or shell of Slurm job 77, which has 4 tasks, and none of its tasks"),
        (batch_script(1, 2), "the script or shell of Slurm job 77, which has 2 nodes, and none of its tasks"),
        (interactive_shell(), "start it as srun aorta sweep run"),
        ({**batch_script(), "SLURM_STEP_ID": "4294967291"}, "start it as srun aorta sweep run"),
    ],
)
def test_what_contradicts_itself_or_lacks_a_part_is_told_with_the_way_out(environ, text):
    with pytest.raises(LaunchError) as raised:
        identity_of(environ)
    assert text in str(raised.value)


def test_tasks_with_a_rank_exported_before_srun_can_still_tell_each_other():
    exported = torch(0, None, 4, None)
    found = [identity_without_torch({**slurm(rank, rank % 2), **exported}) for rank in range(4)]
    assert [one.rank for one in found] == [0, 1, 2, 3]
    # rank 0 is in order by itself, and meets the others
    first = identity_of({**slurm(0, 0), **exported})
    assert (first.job, first.address, first.size) == (found[1].job, found[1].address, found[1].size)
    assert identity_without_torch(torch(4, None, 4, None)) == Identity()
