"""A traceback of the vendor's script: only its last line, and that the host has no KFD."""

from aorta.testing import FakeHost, collect

CASE = "enumerator-traceback-no-kfd-topology"

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/opt/rocm/bin/rocm_agent_enumerator", line 257, in <module>\n    main()\n'
    '  File "/opt/rocm/bin/rocm_agent_enumerator", line 193, in readFromKFD\n'
    "    for node in sorted(os.listdir(topology_dir)):\n"
    "FileNotFoundError: [Errno 2] No such file or directory: '/sys/class/kfd/kfd/topology/nodes/'\n"
)


def test_the_last_line_only():
    host = FakeHost(commands={"rocm_agent_enumerator": {"exit": 1, "stderr": TRACEBACK}}, dirs=["/sys/class"])
    result = collect(host, "gpu_arch")
    for field in ("agent_count", "gfx_targets", "agent_arch_counts", "enumerator_targets"):
        assert result.value[field] is None
    (reason,) = [reason for reason in result.reasons if reason.field == "enumerator_targets"]
    assert reason.kind == "absent"  # a host without a GPU is not partial for want of one
    assert "FileNotFoundError" in reason.detail
    assert "/sys/class/kfd/kfd/topology/nodes/" in reason.detail
    assert "Traceback" not in reason.detail
    assert "line 257" not in reason.detail
    assert "no KFD" in reason.detail


def test_without_sysfs_the_absence_of_kfd_is_not_claimed():
    host = FakeHost(commands={"rocm_agent_enumerator": {"exit": 1, "stderr": TRACEBACK}})
    (reason,) = [each for each in collect(host, "gpu_arch").reasons if each.field == "enumerator_targets"]
    assert reason.kind == "unsupported"
    assert "no sysfs is mounted here" in reason.detail
