"""Recorded hosts against each other, and old documents against new ones of the same host."""

import functools
import json

import pytest

from aorta.host.replay import open_recording
from aorta.instrumentation.environment import capture
from aorta.model.codec import dump, to_json
from aorta.model.downgrade import as_1_17
from tests.hosts.test_hosts import HOSTS, recording
from tests.parts.compared import Found
from tests.parts.old_documents import codec

B, C = "b-mi300x-docker-rocm720", "o-mi325x-docker-rocm720-host701"


@functools.cache
def host(name, detail="full"):
    return json.loads(to_json(dump(capture(host=open_recording(recording(name)), detail=detail))))


def test_two_hosts_with_one_release_in_their_containers():
    found = Found(host(B), host(C))
    assert {row.path: row.verdict for row in found.comparison.triage} == {
        "runtime_context.type": "same",
        "container_detected": "same",
        "probe_namespace": "different",
        "amdgpu_driver.kfd_device_present": "same",
    }
    rows = found.rows
    assert (rows["amdgpu_driver.loaded_version"].a, rows["amdgpu_driver.loaded_version"].b) == (
        "6.8.5",
        "6.14.14",
    )
    assert found.differences[0].startswith("gpus[*].")
    assert found.differences[4].startswith("amdgpu_driver.")
    assert {"rocblas.lib_hash", "gpus[*].marketing_name", "env_vars.OMP_NUM_THREADS"} <= set(
        found.differences
    )
    assert not any(path.startswith("rocm.version") for path in found.differences), "both have ROCm 7.2.0"
    assert (
        rows["gpus[*].device_id"].members[0].startswith("bdf=")
        or rows["gpus[*].device_id"].members[0].isdigit()
    )
    assert "nic_devices[*].bdf" in found.informational
    assert rows["docker.image"].why_b == "not_requested: the launcher did not set AORTA_DOCKER_IMAGE"
    assert "docker.image" in found.unknown
    assert rows["tensile_catalog.hipblaslt.menu.files"].note.startswith("66 of 100 differ: ")
    assert len(found.differences) < 100


def test_a_driver_that_could_not_be_looked_up_in_a_container_is_unknown():
    """The module's file and package are those of the image: nothing is known of the host's."""
    found = Found(host("a-mi300x-cx7-ubuntu2204-bare"), host(B))
    assert {
        "amdgpu_driver.module_version",
        "amdgpu_driver.package_name",
        "amdgpu_driver.package_version",
        "amdgpu_driver.loaded_matches_disk",
    } <= set(found.unknown)
    assert not any(
        path.startswith(("amdgpu_driver.module", "amdgpu_driver.package")) for path in found.differences
    )


@pytest.mark.parametrize("name", HOSTS)
def test_two_replays_of_one_host_are_equal(name):
    again = json.loads(to_json(dump(capture(host=open_recording(recording(name)), detail="full"))))
    assert Found(host(name), again).kinds == ([], [], [])


@pytest.mark.parametrize("name", HOSTS)
def test_the_same_host_as_an_old_document_has_no_difference(name):
    """It knows less, and nothing else."""
    older = codec().dump(codec().load(as_1_17(host(name))))
    found = Found(host(name), older)
    assert (found.differences, found.informational) == ([], [])
    assert found.unknown
    assert Found(older, host(name)).kinds == found.kinds


@pytest.mark.parametrize("name", [B, "c-mi355x-ainic-ubuntu2404-bare"])
def test_compact_and_extended_have_no_difference(name):
    found = Found(host(name), host(name, "compact"))
    assert (found.differences, found.informational) == ([], [])
    assert all("files" in path or "node_guid" in path for path in found.unknown)


@pytest.mark.parametrize("one", HOSTS)
def test_any_two_hosts_compare_both_ways(one):
    for other in HOSTS:
        there, back = Found(host(one), host(other)), Found(host(other), host(one))
        assert there.kinds == back.kinds
        assert all(row.why_a or row.why_b or row.note or row.side for row in there.comparison.unknown)
