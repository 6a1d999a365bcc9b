"""Without sysfs or the proc file system nothing below them is absent."""

import errno

import pytest

from aorta.testing import FakeHost, collect


class Live(FakeHost):
    """A made-up machine that counts as the one the program runs on."""

    kind = "live"


OF_PROC = (
    *("memory_bytes", "swap_bytes", "cpu.model", "cpu.logical", "cpu.allowed", "numa.allowed", "boot_id"),
    *("numa.balancing", "kernel_command_line", "iommu.parameters", "hugepages.total"),
)
OF_SYS = ("iommu.groups", "numa.nodes", "numa.node_count", "cpu.governors", "hugepages.transparent")


@pytest.mark.parametrize("dirs", [(), ("/proc", "/sys")])
def test_a_live_machine_without_proc_is_partial(dirs):
    result = collect(Live(dirs=dirs), "host")
    for field in OF_PROC:
        (reason,) = [reason for reason in result.reasons if reason.field == field]
        assert (reason.kind, reason.detail) == ("expected", "no proc file system is mounted here")


@pytest.mark.parametrize("dirs", [(), ("/proc", "/sys")])
def test_a_recording_without_proc_is_not_partial(dirs):
    result = collect(FakeHost(dirs=dirs), "host")
    assert {result.kinds(field)[0] for field in OF_PROC} == {"unsupported"}
    assert not any(reason.partial for reason in result.reasons)


@pytest.mark.parametrize("host", [FakeHost, Live])
@pytest.mark.parametrize("there", ["/proc/self", "/proc/mounts"])
def test_a_file_that_proc_does_not_have_is_absent(host, there):
    result = collect(host(dirs=[there]), "host")
    assert {result.kinds(field)[0] for field in OF_PROC} == {"absent"}


@pytest.mark.parametrize("host", [FakeHost, Live])
def test_without_sysfs_its_files_are_unsupported(host):
    for dirs in ((), ("/sys",)):
        result = collect(host(dirs=dirs), "host")
        assert {result.kinds(field)[0] for field in OF_SYS} == {"unsupported"}
    result = collect(host(dirs=["/sys/kernel"]), "host")
    assert {result.kinds(field)[0] for field in OF_SYS} == {"absent"}


def test_a_refusal_is_a_refusal():
    result = collect(Live({"/proc": errno.EACCES, "/sys": errno.EIO}), "host")
    assert {result.kinds(field)[0] for field in OF_PROC} == {"denied"}
    assert {result.kinds(field)[0] for field in OF_SYS} == {"failed"}
