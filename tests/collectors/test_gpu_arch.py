import errno

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import CPU, MI300X, NODES, agent, kfd, rocminfo

MI210 = {**MI300X, "gfx_target_version": 90010, "location_id": 1280}


def arch(**host):
    return collect(FakeHost(**host), "gpu_arch")


def test_both_sources_agree():
    text = rocminfo(agent(1), agent(2))
    result = arch(
        files=kfd(CPU, MI300X, {**MI300X, "location_id": 11008}),
        nodes={"/dev/kfd": "c"},
        commands={"rocm_agent_enumerator": "gfx000\ngfx942\ngfx942\n", "rocminfo": text},
    )
    assert result.value == {
        "agent_count": 2,
        "gfx_targets": ["gfx942"],
        "agent_arch_counts": {"gfx942": 2},
        "source": "kfd",
        "silicon_targets": ["gfx942", "gfx942"],
        "physical_count": 2,
        "denied_nodes": 0,
        "enumerator_targets": ["gfx942", "gfx942"],
        "enumerator_agrees": True,
        "runtime_targets": ["gfx942", "gfx942"],
        "runtime_agrees": True,
        "isa_targets": ["gfx942:sramecc+:xnack-"],
        "overrides": {},
        "visibility_masks": {},
    }
    assert result.reasons == ()


def test_mixed_gpus_are_sorted_by_name():
    value = arch(files=kfd(CPU, MI300X, MI210), commands={"rocm_agent_enumerator": "gfx942\ngfx90a\n"}).value
    assert value["gfx_targets"] == ["gfx90a", "gfx942"]
    assert value["agent_arch_counts"] == {"gfx90a": 1, "gfx942": 1}
    assert value["silicon_targets"] == ["gfx942", "gfx90a"]


def test_empty_host():
    result = arch()
    assert result.value["agent_count"] is None
    assert result.value["gfx_targets"] is None
    assert not any(reason.partial for reason in result.reasons)
    assert result.kinds("agent_count") == ["unsupported"]
    assert result.kinds("enumerator_targets") == ["no_tool"]
    assert (result.value["denied_nodes"], result.kinds("denied_nodes")) == (None, ["unsupported"])


def test_sysfs_without_kfd():
    result = arch(dirs=["/sys/class"])
    assert result.kinds("agent_count") == ["absent"]
    assert result.value["denied_nodes"] == 0


def test_an_empty_list_is_no_count_where_nothing_can_be_seen():
    empty = {"rocm_agent_enumerator": ""}
    assert arch(commands=empty, dirs=["/sys/class"]).value["agent_count"] == 0
    result = arch(commands=empty)
    assert (result.value["agent_count"], result.value["enumerator_targets"]) == (None, None)
    assert result.kinds("agent_count") == result.kinds("enumerator_targets") == ["unsupported"]


def test_a_refused_device_directory_is_no_absent_device():
    assert arch(files={"/dev": errno.EACCES}).kinds("runtime_targets") == ["denied"]


def test_driver_without_gpu():
    value = arch(files=kfd(CPU)).value
    assert (value["agent_count"], value["gfx_targets"], value["agent_arch_counts"]) == (0, [], {})
    assert value["source"] == "kfd"


def test_no_kfd_the_enumerator_answers():
    value = arch(commands={"rocm_agent_enumerator": "gfx1100\n"}).value
    assert (value["agent_count"], value["gfx_targets"], value["source"]) == (
        1,
        ["gfx1100"],
        "rocm_agent_enumerator",
    )
    assert value["enumerator_agrees"] is None
    assert value["silicon_targets"] is None


def test_tool_in_the_rocm_tree_is_found_by_its_directories():
    result = arch(
        files={"/opt/rocm/.info/version": "6.4.0-47\n", "/opt/rocm/bin/rocm_agent_enumerator": "#!"},
        commands={"/opt/rocm/bin/rocm_agent_enumerator": "gfx000\ngfx942\n"},
    )
    assert result.value["agent_count"] == 1


def test_hidden_nodes_are_counted_not_failed():
    result = arch(
        files=kfd(CPU, MI300X, refused=dict.fromkeys(range(2, 9), errno.EPERM)),
        commands={"rocm_agent_enumerator": "gfx942\n"},
    )
    assert (result.value["agent_count"], result.value["denied_nodes"]) == (1, 7)
    assert not any(reason.partial for reason in result.reasons)


@pytest.mark.parametrize(
    ("error", "kind"), [(errno.EPERM, "denied"), (errno.EIO, "failed"), (errno.ETIMEDOUT, "timed_out")]
)
def test_all_gpu_nodes_refused(error, kind):
    result = arch(files=kfd(CPU, refused={1: error}))
    assert result.value["agent_count"] is None
    assert result.value["gfx_targets"] is None
    assert result.kinds("agent_count") == [kind]


def test_a_broken_node_makes_the_count_unknown():
    result = arch(files=kfd(CPU, MI300X, refused={2: errno.EIO}))
    assert result.value["agent_count"] is None
    assert result.value["silicon_targets"] == ["gfx942"]
    assert result.kinds("agent_count") == ["failed"]


def test_listing_denied():
    result = arch(files={NODES: errno.EACCES})
    assert result.value["agent_count"] is None
    assert result.value["denied_nodes"] is None
    assert result.kinds("agent_count") == ["denied"]


def test_kernel_that_tells_no_target():
    old = {key: value for key, value in MI300X.items() if key != "gfx_target_version"}
    result = arch(files=kfd(CPU, old))
    assert result.kinds("agent_count") == ["unsupported"]
    assert result.value["agent_count"] is None
    with_tool = arch(files=kfd(CPU, old), commands={"rocm_agent_enumerator": "gfx942\n"}).value
    assert (with_tool["agent_count"], with_tool["source"]) == (1, "rocm_agent_enumerator")


def test_w19_diagnostics_on_stdout_are_no_targets():
    noise = "Timeout querying rocminfo. Are you compiling with more than 254 threads?\n"
    result = arch(files=kfd(CPU, MI300X), commands={"rocm_agent_enumerator": noise})
    assert result.value["gfx_targets"] == ["gfx942"]
    assert result.value["enumerator_targets"] is None
    reason = next(reason for reason in result.reasons if reason.field == "enumerator_targets")
    assert (reason.kind.value, "Timeout querying rocminfo" in reason.detail) == ("failed", True)


def test_w19_a_target_list_is_told_from_the_silicon():
    value = arch(
        files=kfd(CPU, MI300X),
        commands={"rocm_agent_enumerator": "gfx90a\ngfx90a\n"},
        env={"ROCM_TARGET_LST": "/t"},
    ).value
    assert value["gfx_targets"] == ["gfx942"]
    assert value["enumerator_targets"] == ["gfx90a", "gfx90a"]
    assert value["enumerator_agrees"] is False
    assert value["overrides"] == {"ROCM_TARGET_LST": "/t"}


def test_interpreter_of_the_tool_is_missing():
    failed = {"exit": 127, "stderr": "/usr/bin/env: 'python3': No such file or directory\n"}
    result = arch(files=kfd(CPU, MI300X), commands={"rocm_agent_enumerator": failed})
    assert result.value["agent_count"] == 1
    assert result.kinds("enumerator_targets") == ["no_tool"]


def test_a_tool_that_hangs():
    result = arch(files=kfd(CPU, MI300X), commands={"rocm_agent_enumerator": {"outcome": "timed_out"}})
    assert result.value["agent_count"] == 1
    assert result.kinds("enumerator_targets") == ["timed_out"]
    assert result.value["enumerator_agrees"] is None


def test_features_come_from_the_enumerator_where_the_runtime_cannot_be_asked():
    commands = {
        "rocm_agent_enumerator": "gfx942\n",
        "rocm_agent_enumerator -name": "gfx942:sramecc+:xnack+\ngfx9-4-generic:sramecc+:xnack+\n",
    }
    assert arch(commands=commands).value["isa_targets"] == ["gfx942:sramecc+:xnack+"]
    result = arch(files=kfd(CPU, MI300X), commands=commands)
    assert (result.value["isa_targets"], result.kinds("isa_targets")) == (None, ["unsupported"])


def test_garbage_is_no_count_of_zero():
    result = collect(
        FakeHost(commands={"rocm_agent_enumerator": "\x00\ufffd what?\n"}, dirs=["/sys/class"]), "gpu_arch"
    )
    assert result.value["agent_count"] is None
    assert result.kinds("enumerator_targets") == ["unparsed"]


def test_a_listing_of_the_cpu_alone_is_a_count_of_zero():
    result = collect(
        FakeHost(commands={"rocm_agent_enumerator": "gfx000\n"}, dirs=["/sys/class"]), "gpu_arch"
    )
    assert (result.value["agent_count"], result.kinds("enumerator_targets")) == (0, [])
