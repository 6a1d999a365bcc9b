"""The name of the node is SLURMD_NODENAME and nothing made out of a node list."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "launch-slurm-nodelist-forms"


LISTS = ("alpha,beta,gamma", "nodes[1-5,8]", "nodes[003-012]", "rack1-n[01-02],rack2-n07", "gpu-a[1-2]-ib")


@pytest.mark.parametrize("nodes", LISTS)
def test_no_list_becomes_a_node(nodes):
    env = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NODELIST": nodes, "SLURM_STEP_NODELIST": nodes}
    assert collect(FakeHost(env=env), "launcher").value["node"] is None
    named = {**env, "SLURMD_NODENAME": "rack1-n02"}
    assert collect(FakeHost(env=named), "launcher").value["node"] == "rack1-n02"


@pytest.mark.parametrize("nodes", [name for name in LISTS if "[" in name or "," in name])
def test_a_list_in_the_place_of_a_name_is_no_name(nodes):
    result = collect(FakeHost(env={"SLURM_JOB_ID": "7", "SLURMD_NODENAME": nodes}), "launcher")
    assert result.value["node"] is None
    assert result.kinds("node") == ["unparsed"]
