"""A kernel banner is no driver version; the inbox driver is known by its srcversion.

No section takes anything from amd-smi's version line; what it would be misread for is held here.
"""

from aorta.testing import FakeHost, collect

CASE = "smi-version-line-with-kernel-banner"

BANNER = "Linuxversion6.8.0-79-generic(buildd@builder-022)(x86_64-linux-gnu-gcc-13)#79-UbuntuSMP"
SMI = (
    f"AMDSMI Tool: 25.3.0+ede62f2 | ROCm version: 6.4.0 | amdgpu version: {BANNER} | amd_hsmp version: N/A\n"
)
FILES = {"/sys/module/amdgpu/srcversion": "6CCB5408246071AC9F63359\n"}


def test_the_srcversion_is_the_identity():
    host = FakeHost(files=FILES, nodes={"/dev/kfd": "c"}, commands={"amd-smi version": SMI})
    value = collect(host, "amdgpu_driver").value
    assert (value["kmd_version"], value["loaded_version"]) == (None, None)
    assert value["loaded_srcversion"] == "6CCB5408246071AC9F63359"
    assert "builder-022" not in str(value)


def test_a_banner_in_the_version_file_is_no_version():
    result = collect(FakeHost(files={**FILES, "/sys/module/amdgpu/version": f"{BANNER}\n"}), "amdgpu_driver")
    assert result.value["kmd_version"] is None
    assert result.kinds("loaded_version") == ["unparsed"]
