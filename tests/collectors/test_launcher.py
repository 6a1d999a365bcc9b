"""Section ``launcher``: who started the process, and numbers that are believed."""

import pytest

from aorta.host.live import LiveHost
from aorta.testing import FakeHost, collect
from aorta_collectors.launcher import parse_number, parse_tasks_per_node

TORCHRUN = {
    "RANK": "3",
    "LOCAL_RANK": "3",
    "WORLD_SIZE": "8",
    "LOCAL_WORLD_SIZE": "8",
    "GROUP_RANK": "0",
    "GROUP_WORLD_SIZE": "1",
    "ROLE_RANK": "3",
    "ROLE_WORLD_SIZE": "8",
    "ROLE_NAME": "default",
    "MASTER_ADDR": "node01",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "2",
    "TORCHELASTIC_MAX_RESTARTS": "3",
}
KUBEFLOW = {
    "PET_NNODES": "2",
    "PET_NODE_RANK": "0",
    "PET_NPROC_PER_NODE": "8",
    "PET_MASTER_ADDR": "trainer-master-0",
    "MASTER_ADDR": "trainer-master-0",
    "MASTER_PORT": "23456",
    "WORLD_SIZE": "16",
    "RANK": "0",
}
SRUN = {
    "SLURM_JOB_ID": "1000001",
    "SLURM_JOBID": "1000001",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "3",
    "SLURM_NTASKS": "16",
    "SLURM_NPROCS": "16",
    "SLURM_STEP_NUM_TASKS": "16",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_NNODES": "2",
    "SLURM_NODEID": "0",
    "SLURM_TASKS_PER_NODE": "8(x2)",
    "SLURM_STEP_TASKS_PER_NODE": "8(x2)",
    "SLURMD_NODENAME": "node10",
    "SLURM_NODELIST": "node[10-11]",
    "SLURM_JOB_USER": "alice",
    "SLURM_JOB_ACCOUNT": "project7",
    "SLURM_JOB_PARTITION": "p",
    "SLURM_LAUNCH_NODE_IPADDR": "192.0.2.10",
    "SLURM_SUBMIT_HOST": "login1",
    "SLURM_TOPOLOGY_ADDR": "sw.node10",
}
OMPI = {
    "OMPI_COMM_WORLD_RANK": "5",
    "OMPI_COMM_WORLD_SIZE": "8",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
    "OMPI_COMM_WORLD_NODE_RANK": "1",
    "PMIX_RANK": "5",
}
FIELDS = (
    "kind rank world_size local_rank local_world_size group_rank node_rank nnodes node job_id step_id"
    " restart_count rdzv_id master_port"
).split()


def launcher(env, **more):
    return collect(FakeHost(env={**env, **more}), "launcher")


def told(env, **more):
    return {name: value for name, value in launcher(env, **more).value.items() if value is not None}


def without(env, *names):
    return {name: value for name, value in env.items() if name not in names}


def test_no_launcher_variable():
    result = launcher({"HOSTNAME": "node01"})
    assert result.value == {**dict.fromkeys(FIELDS), "kind": "none"}
    assert result.reasons == ()


def test_torchrun():
    assert told(TORCHRUN) == {
        "kind": "torchrun",
        "rank": 3,
        "world_size": 8,
        "local_rank": 3,
        "local_world_size": 8,
        "group_rank": 0,
        "nnodes": 1,
        "restart_count": 2,
        "rdzv_id": "none",
        "master_port": 29500,
    }
    assert launcher(TORCHRUN).reasons == ()


def test_kubeflow_pod_before_torchrun():
    result = launcher(KUBEFLOW)
    assert {k: v for k, v in result.value.items() if v is not None} == {
        "kind": "kubeflow",
        "rank": 0,
        "world_size": 16,
        "node_rank": 0,
        "nnodes": 2,
        "master_port": 23456,
    }
    assert result.kinds("local_rank") == ["absent"]
    assert launcher(KUBEFLOW, PET_NNODES="1:4").kinds("nnodes") == ["unsupported"]


def test_srun():
    assert told(SRUN) == {
        "kind": "slurm",
        "rank": 3,
        "world_size": 16,
        "local_rank": 3,
        "local_world_size": 8,
        "node_rank": 0,
        "nnodes": 2,
        "node": "node10",
        "job_id": "1000001",
        "step_id": "0",
    }
    assert launcher(SRUN).reasons == ()


def test_no_user_account_or_address():
    for env in (SRUN, {**SRUN, **TORCHRUN}, KUBEFLOW):
        text = str(launcher(env).value)
        for hidden in ("alice", "project7", "192.0.2", "login1", "node01", "trainer-master", "sw."):
            assert hidden not in text


def test_torchrun_inside_srun_keeps_the_job():
    env = {**SRUN, **TORCHRUN, "SLURM_PROCID": "0"}
    assert (
        told(env).items()
        >= {"kind": "torchrun", "rank": 3, "world_size": 8, "job_id": "1000001", "node": "node10"}.items()
    )
    assert launcher(env).reasons == ()


def test_torchrun_child_that_lost_its_rank_is_not_slurms_task():
    result = launcher({**SRUN, **without(TORCHRUN, "RANK")})
    assert result.value["rank"] is None
    assert result.kinds("rank") == ["absent"]


def test_rank_set_by_hand_under_srun():
    result = launcher(SRUN, RANK="5", WORLD_SIZE="16", LOCAL_RANK="1")
    assert result.value["kind"] == "slurm"
    assert (result.value["rank"], result.value["world_size"], result.value["local_rank"]) == (5, 16, 1)


@pytest.mark.parametrize("step", [None, "", "4294967290", "4294967291", "4294967294"])
def test_a_batch_script_is_not_rank_0(step):
    env = without(SRUN, "SLURM_STEP_ID") if step is None else {**SRUN, "SLURM_STEP_ID": step}
    result = launcher(env, SLURM_PROCID="0", SLURM_LOCALID="0")
    assert result.value["kind"] == "slurm"
    assert result.value["job_id"] == "1000001"
    for field in ("rank", "world_size", "local_rank", "local_world_size"):
        assert result.value[field] is None
        assert result.kinds(field) == ["absent"]


@pytest.mark.parametrize("step", ["batch", "-1", "99999999999999", "0x1"])
def test_strange_step_id(step):
    result = launcher(SRUN, SLURM_STEP_ID=step)
    assert result.value["rank"] is None
    assert result.kinds("rank") == ["unparsed"]


def test_old_names_of_slurm():
    env = without(
        SRUN, "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES"
    )
    assert (
        told(env, SLURM_STEPID="0").items()
        >= {"rank": 3, "world_size": 16, "nnodes": 2, "step_id": "0"}.items()
    )


def test_open_mpi():
    assert told(OMPI) == {"kind": "mpi", "rank": 5, "world_size": 8, "local_rank": 1, "local_world_size": 4}


def test_mpirun_inside_slurm_is_not_its_daemon():
    env = {**SRUN, **OMPI, "SLURM_PROCID": "1"}
    assert told(env).items() >= {"kind": "mpi", "rank": 5, "world_size": 8, "job_id": "1000001"}.items()
    hydra = {
        **SRUN,
        "PMI_RANK": "5",
        "PMI_SIZE": "8",
        "MPI_LOCALRANKID": "1",
        "MPI_LOCALNRANKS": "4",
        "SLURM_PROCID": "1",
    }
    assert (
        told(hydra).items()
        >= {"kind": "mpi", "rank": 5, "world_size": 8, "local_rank": 1, "local_world_size": 4}.items()
    )


def test_srun_with_a_process_manager():
    assert (
        told(SRUN, PMI_RANK="3", PMI_SIZE="16", PMIX_RANK="3").items() >= {"kind": "slurm", "rank": 3}.items()
    )
    result = launcher(SRUN, PMI_RANK="7")
    assert result.value["rank"] is None
    assert result.kinds("rank") == ["unparsed"]


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"PMI_RANK": "1", "PMI_SIZE": "4"}, {"kind": "mpi", "rank": 1, "world_size": 4}),
        (
            {"PALS_RANKID": "1", "PALS_LOCAL_RANKID": "1", "PALS_LOCAL_SIZE": "2"},
            {"kind": "mpi", "rank": 1, "local_rank": 1, "local_world_size": 2},
        ),
        ({"PMIX_RANK": "2"}, {"kind": "mpi", "rank": 2}),
        (
            {"MV2_COMM_WORLD_RANK": "0", "MV2_COMM_WORLD_SIZE": "2"},
            {"kind": "mpi", "rank": 0, "world_size": 2},
        ),
        ({"RANK": "1", "WORLD_SIZE": "2"}, {"kind": "unknown", "rank": 1, "world_size": 2}),
        ({"WORLD_SIZE": "2"}, {"kind": "unknown", "world_size": 2}),
    ],
)
def test_others(env, expected):
    assert told(env) == expected


@pytest.mark.parametrize(
    "text", ["abc", "-1", "1.0", " 3", "+3", "0x1", "³", "3\n", "9" * 5000, "\udcff", "8(x2)"]
)
def test_junk_is_no_rank(text):
    result = launcher(TORCHRUN, RANK=text)
    assert result.value["rank"] is None
    assert result.kinds("rank") == ["unparsed"]
    for reason in result.reasons:
        reason.text.encode("utf-8")
        assert len(reason.text) < 300


def test_tasks_per_node_is_never_a_size():
    result = launcher(without(SRUN, "SLURM_STEP_NUM_TASKS", "SLURM_NPROCS"), SLURM_NTASKS="8(x2)")
    assert result.value["world_size"] is None
    assert result.kinds("world_size") == ["unparsed"]


def test_tasks_per_node_of_the_step_only():
    result = launcher(without(SRUN, "SLURM_STEP_TASKS_PER_NODE"))
    assert result.value["local_world_size"] is None
    assert result.kinds("local_world_size") == ["absent"]
    assert launcher(SRUN, SLURM_STEP_TASKS_PER_NODE="x").kinds("local_world_size") == ["unparsed"]


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"RANK": "8"}, ["rank", "world_size"]),
        ({"WORLD_SIZE": "0"}, ["rank", "world_size"]),
        ({"LOCAL_RANK": "9"}, ["local_rank", "local_world_size"]),
        ({"LOCAL_WORLD_SIZE": "9", "LOCAL_RANK": "0"}, ["local_world_size", "world_size"]),
    ],
)
def test_contradictions_cost_both_numbers(change, fields):
    result = launcher(TORCHRUN, **change)
    for field in fields:
        assert result.value[field] is None
        assert "unparsed" in result.kinds(field)
        assert any("contradiction" in reason.detail for reason in result.reasons)


def test_a_size_of_zero_alone():
    assert launcher({"WORLD_SIZE": "0"}).kinds("world_size") == ["unparsed"]


def test_slurm_sizes_that_differ():
    result = launcher(SRUN, SLURM_NTASKS="4")
    assert result.value["world_size"] is None
    assert result.kinds("world_size") == ["unparsed"]
    assert result.value["rank"] == 3
    assert launcher(SRUN, WORLD_SIZE="99").kinds("world_size") == ["unparsed"]


def test_ports_and_words():
    assert launcher(TORCHRUN, MASTER_PORT="70000").kinds("master_port") == ["unparsed"]
    assert launcher(TORCHRUN, MASTER_PORT="x").kinds("master_port") == ["unparsed"]
    assert launcher(TORCHRUN, TORCHELASTIC_RUN_ID="a b").kinds("rdzv_id") == ["unparsed"]
    assert launcher(TORCHRUN, TORCHELASTIC_RUN_ID="hf_abcdefghijklmnop0123").value["rdzv_id"] == "[redacted]"
    assert launcher(SRUN, SLURMD_NODENAME="\udcff").kinds("node") == ["unparsed"]


def test_parsers():
    assert parse_number("007") == 7
    for text in ("", "-1", "1" * 11):
        with pytest.raises(ValueError):
            parse_number(text)
    assert [parse_tasks_per_node("8(x2),4", node) for node in (0, 1, 2)] == [8, 8, 4]
    assert parse_tasks_per_node("2(x999999999)", 5000) == 2
    for text, node in (("8(x2)", 2), ("8(x2", 0), ("", 0), ("1," * 70000, 0)):
        with pytest.raises(ValueError):
            parse_tasks_per_node(text, node)


def test_this_process():
    live = LiveHost()
    result = collect(live, "launcher")
    live.close()
    assert result.value["kind"] in ("none", "unknown", "torchrun", "slurm", "mpi", "kubeflow")
    assert result.record.status in ("ok", "partial")
