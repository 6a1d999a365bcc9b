"""Upgraded without a reboot: package and file are new, the loaded module is old."""

from aorta.testing import FakeHost, collect

CASE = "kmd-disk-vs-loaded-after-upgrade"

STATES = ("dpkg-query", "-W", "-f=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n")


def upgraded(loaded):
    return FakeHost(
        files={"/sys/module/amdgpu/version": "6.10.5\n", "/sys/module/amdgpu/srcversion": f"{loaded}\n"},
        commands={
            "modinfo amdgpu": "filename:       /lib/modules/5.15.0-163-generic/updates/dkms/amdgpu.ko\n"
            "version:        6.12.12\nsrcversion:     D3580B8CE287C145D0DC895\n",
            (*STATES, "amdgpu-dkms*"): "ii \tamdgpu-dkms\t1:6.12.12.60400-2147987.22.04\tall\n",
        },
    )


def test_three_facts_and_a_flag():
    value = collect(upgraded("C502C9F63988A81945CAABD"), "amdgpu_driver").value
    assert (value["kmd_version"], value["module_version"]) == ("6.10.5", "6.12.12")
    assert value["package_version"] == "1:6.12.12.60400-2147987.22.04"
    assert value["loaded_matches_disk"] is False


def test_the_flag_goes_by_srcversion():
    assert collect(upgraded("D3580B8CE287C145D0DC895"), "amdgpu_driver").value["loaded_matches_disk"] is True
