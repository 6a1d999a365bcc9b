"""A driver that is part of the kernel has no initstate, no version, and (builtin) as its file."""

from aorta.testing import FakeHost, collect

CASE = "kmd-builtin-not-in-lsmod"


def test_built_in():
    host = FakeHost(
        files={"/sys/module/amdgpu/parameters/noretry": "-1\n"},
        nodes={"/dev/kfd": "c"},
        commands={
            "lsmod": "Module                  Size  Used by\n",
            "modinfo amdgpu": "name:           amdgpu\nfilename:       (builtin)\nlicense:        GPL\n",
        },
    )
    value = collect(host, "amdgpu_driver").value
    assert (value["module_loaded"], value["module_builtin"], value["kmd_version"]) == (True, True, None)
    assert value["module_filename"] == "(builtin)"
    assert value["status"] == "present"
    assert value["parameters"] == {"noretry": "-1"}


def test_without_modinfo_the_missing_initstate_alone_claims_nothing():
    value = collect(FakeHost(dirs=["/sys/module/amdgpu"]), "amdgpu_driver").value
    assert (value["module_loaded"], value["module_builtin"]) == (True, None)
