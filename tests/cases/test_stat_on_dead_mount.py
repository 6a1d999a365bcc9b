"""A server that is down costs what lies on it, within seconds, and says which mount that is."""

import errno

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.fake_tools import make
from tests.parts.fuse import hanging_mount
from tests.parts.probing import LATE_LIBRARIES, environment, gone, probe

CASE = "stat-on-dead-mount"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Probe, with the limits of every day, where all of ROCm and the user's own lie on a dead mount."""
    folder = tmp_path_factory.mktemp("nfs")
    path = make(folder / "parts")
    with hanging_mount() as mount:
        dead = f"{mount}/hang"
        (folder / "rocm").symlink_to(f"{dead}/rocm-6.4.1")
        env = environment(folder, path, ROCM_PATH=folder / "rocm", MIOPEN_USER_DB_PATH=f"{dead}/miopen")
        done = probe(folder / "env.json", {**env, LATE_LIBRARIES: f"{dead}/lib:/usr/lib"}, limit_s=60.0)
    return mount, done, gone(mount)


def test_it_returns_and_leaves_nothing_behind(outcome):
    _, done, left = outcome
    assert done.code == 0, done.stderr
    assert done.elapsed_s < 20
    assert left == {}


def test_rocm_is_not_known_and_the_mount_is_named(outcome):
    mount, done, _ = outcome
    assert done.document["rocm"]["version"] is None
    assert done.document["collection"]["coverage"]["rocm"] != "absent"
    assert done.document["partial"] is True
    assert mount in {reason["subject"] for reason in done.reasons("timed_out", "rocm")}
    assert any(mount in line for line in done.document["partial_reasons"])


def test_other_sections_are_filled(outcome):
    _, done, _ = outcome
    document = done.document
    assert {record["status"] for record in done.records().values()} <= {"ok", "partial", "not_requested"}
    assert document["gpu_arch"]["agent_count"] == 8
    assert document["host"]["kernel_release"]
    assert document["runtime_context"]["type"]
    assert document["env_vars"]["MIOPEN_USER_DB_PATH"].endswith("/hang/miopen")


def test_the_dead_root_stays_the_root():
    host = FakeHost(
        files={
            "/nfs": errno.ETIMEDOUT,
            "/sys/module/amdgpu/version": "6.8.5\n",
            "/opt/rocm-6.2.0/.info/version": "6.2.0-66\n",
        },
        links={"/opt/rocm": "/nfs/sw/rocm-6.4.1"},
        env={"ROCM_PATH": "/nfs/sw/rocm-6.4.1", "LD_LIBRARY_PATH": "/nfs/sw/lib:/usr/lib"},
    )
    result = collect(host, "rocm")
    value = result.value
    assert (value["version"], value["root"], value["root_source"]) == (
        None,
        "/nfs/sw/rocm-6.4.1",
        "ROCM_PATH",
    )
    assert value["kmd_version"] == "6.8.5"
    told = {(reason.kind.value, reason.field) for reason in result.reasons}
    assert {("timed_out", field) for field in ("root", "version", "version_dev")} <= told
    assert value["other_roots"] == ["/opt/rocm-6.2.0"]
