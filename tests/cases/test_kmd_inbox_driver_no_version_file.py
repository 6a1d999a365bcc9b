"""The kernel's own driver declares no version; it is loaded all the same."""

from aorta.testing import FakeHost, collect

CASE = "kmd-inbox-driver-no-version-file"

MODINFO = (
    "filename:       /lib/modules/6.8.0-60-generic/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst\n"
    "srcversion:     0A1B2C3D4E5F60718293A4B\nintree:         Y\n"
    "vermagic:       6.8.0-60-generic SMP preempt mod_unload modversions \n"
)
STATES = ("dpkg-query", "-W", "-f=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n")
NONE = {"exit": 1, "stderr": "dpkg-query: no packages found matching amdgpu-dkms*\n"}


def inbox(**files):
    return FakeHost(
        files={"/sys/class/kfd/kfd/topology/generation_id": "1\n", **files},
        dirs=["/sys/module/amdgpu"],
        nodes={"/dev/kfd": "c"},
        commands={
            "modinfo amdgpu": MODINFO,
            (*STATES, "amdgpu-dkms*"): NONE,
            (*STATES, "amdgpu-kmod*"): NONE,
            "rocminfo": "Agent 1\n  Name: gfx942\n  Device Type: GPU\n",
        },
    )


def test_loaded_without_a_version():
    result = collect(inbox(), "amdgpu_driver")
    value = result.value
    assert (value["kmd_version"], value["module_loaded"], value["module_intree"]) == (None, True, True)
    assert value["module_srcversion"] == "0A1B2C3D4E5F60718293A4B"
    assert value["status"] == "present"
    assert not any(reason.partial for reason in result.reasons)


def test_the_loaded_srcversion_is_its_identity():
    value = collect(
        inbox(**{"/sys/module/amdgpu/srcversion": "0A1B2C3D4E5F60718293A4B\n"}), "amdgpu_driver"
    ).value
    assert value["loaded_srcversion"] == "0A1B2C3D4E5F60718293A4B"
    assert value["loaded_matches_disk"] is True
