"""Apptainer keeps the job's cgroup and PID namespace."""

import errno

import pytest

from aorta.testing import FakeHost, collect

CASE = "ctr-apptainer"

FILES = {
    "/proc/self/cgroup": "0::/system.slice/slurmstepd.scope/job_1234/step_0/user/task_0\n",
    "/.singularity.d/labels.json": "{}",
}
LINKS = {"/proc/self/ns/mnt": "mnt:[4026533001]", "/proc/1/ns/mnt": errno.EACCES}
VARIABLES = {
    "APPTAINER_CONTAINER": "/scratch/img.sif",
    "APPTAINER_NAME": "img.sif",
    "SINGULARITY_CONTAINER": "/scratch/img.sif",
}


@pytest.mark.parametrize("env", [VARIABLES, {}], ids=["variables", "cleanenv"])
def test_the_directory_counts_with_and_without_variables(env):
    host = FakeHost(FILES, links=LINKS, env=env)
    assert collect(host, "container_detected").value is True
    assert collect(host, "runtime_context").value["type"] == "singularity"


def test_the_refused_link_is_neither_same_nor_an_error():
    result = collect(FakeHost(FILES, links=LINKS), "isolation")
    signal = next(each for each in result.value["signals"] if each["name"] == "private-mount-namespace")
    assert signal["outcome"] == "unreadable"
    assert "denied" not in result.kinds()


def test_the_namespace_is_still_fingerprinted():
    assert collect(FakeHost(FILES, links=LINKS), "probe_namespace").value.startswith("mnt-local:")
