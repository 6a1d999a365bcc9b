"""rocminfo's text about the module is its own check; sysfs and the device node decide."""

from aorta.testing import FakeHost, collect

CASE = "rocminfo-container-module-warning"


def test_sysfs_decides():
    prose = "\x1b[31mROCk module is NOT loaded, possibly no GPU devices\x1b[0m\n"
    host = FakeHost(
        dirs=["/sys/module/amdgpu"],
        nodes={"/dev/kfd": "c"},
        commands={"rocminfo": {"exit": 1, "stdout": prose}},
    )
    value = collect(host, "amdgpu_driver").value
    assert value["kfd_device_present"] is True
    assert value["module_loaded"] is True
    assert value["status"] == "present"
    arch = collect(host, "gpu_arch")
    assert arch.value["runtime_targets"] is None
    assert arch.value["agent_count"] is None
