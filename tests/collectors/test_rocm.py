"""The rocm section: version chain, roots and the other stacks."""

import errno

import pytest

from aorta.model.vocabulary import Coverage
from aorta.testing import Distribution, FakeHost, Module, collect

SITE = "/venv/lib/python3.12/site-packages"
CORE = f"{SITE}/_rocm_sdk_core"
TORCH = {"torch": f"{SITE}/torch/__init__.py"}
MANIFEST = "share/therock/therock_manifest.json"


def rocm(**host):
    return collect(FakeHost(**host), "rocm")


def told(result, field):
    return [(reason.kind.value, reason.field) for reason in result.reasons if reason.field == field]


def test_empty_host_is_not_partial():
    result = rocm()
    value = result.value
    assert (
        value["version"],
        value["version_source"],
        value["root"],
        value["root_source"],
        value["layout"],
    ) == (None, None, "/opt/rocm", "none", "none")
    assert value["candidates"] == []
    assert not any(reason.partial for reason in result.reasons)
    assert {"version", "version_dev", "kmd_version"} <= {reason.field for reason in result.reasons}
    assert result.coverage["rocm"] is Coverage.ABSENT


def test_classic():
    result = rocm(
        files={
            "/opt/rocm-6.2.0/.info/version": "6.2.0-66\n",
            "/opt/rocm-6.2.0/.info/version-hiprt": "6.2.0-66\n",
            "/opt/rocm-6.2.0/lib/x": "",
            "/sys/module/amdgpu/version": "6.8.5\n",
        },
        links={"/opt/rocm": "/etc/alternatives/rocm", "/etc/alternatives/rocm": "/opt/rocm-6.2.0"},
    )
    value = result.value
    assert (value["version"], value["version_source"], value["version_path"]) == (
        "6.2.0-66",
        "version_file",
        "/opt/rocm/.info/version",
    )
    assert (value["version_release"], value["version_build"], value["version_dev"]) == ("6.2.0", "66", None)
    assert (value["root"], value["root_source"], value["layout"], value["kmd_version"]) == (
        "/opt/rocm",
        "opt_rocm",
        "classic",
        "6.8.5",
    )
    assert (value["root_resolved"], value["opt_rocm_target"], value["other_roots"]) == (
        "/opt/rocm-6.2.0",
        "/opt/rocm-6.2.0",
        [],
    )
    assert told(result, "version_dev") == [("absent", "version_dev")]
    assert not any(reason.partial for reason in result.reasons)


def test_build_number_from_version_dev():
    value = rocm(
        files={"/opt/rocm/.info/version": "7.2.0\n", "/opt/rocm/.info/version-dev": "7.2.0-43\n"}
    ).value
    assert (value["version"], value["version_dev"], value["version_build"]) == ("7.2.0", "7.2.0-43", "43")
    odd = rocm(
        files={"/opt/rocm/.info/version": "7.2.0\n", "/opt/rocm/.info/version-dev": "7.1.0-43\n"}
    ).value
    assert odd["version_build"] is None


def test_wheel_takes_version_dev_from_the_manifest():
    result = rocm(
        files={
            f"{CORE}/.info/version": "10.1.0\n",
            f"{CORE}/{MANIFEST}": '{"rocm_version": "10.1.0", "rocm_package_version": "10.1.0a20260811"}',
            f"{SITE}/_rocm_sdk_libraries/lib/x": "",
        },
        modules={"_rocm_sdk_core": f"{CORE}/__init__.py"},
        distributions={"rocm": "10.1.0a20260811"},
    )
    value = result.value
    assert (value["version"], value["version_source"], value["version_dev"]) == (
        "10.1.0",
        "version_file",
        "10.1.0a20260811",
    )
    assert (value["root"], value["lib_root"], value["root_source"], value["layout"]) == (
        CORE,
        f"{SITE}/_rocm_sdk_libraries",
        "import:_rocm_sdk_core",
        "wheel",
    )
    assert value["candidates"] == [{"root": CORE, "version": "10.1.0", "via": "import:_rocm_sdk_core"}]


def test_manifest_names_the_version_where_no_file_does():
    value = rocm(
        files={f"{CORE}/{MANIFEST}": '{"rocm_version": "7.10.0"}'},
        modules={"_rocm_sdk_core": f"{CORE}/__init__.py"},
    ).value
    assert (value["version"], value["version_source"]) == ("7.10.0", "therock_manifest")
    assert value["version_path"] == f"{CORE}/{MANIFEST}"


def test_an_old_manifest_without_a_version_is_no_fault():
    result = rocm(
        files={f"{CORE}/{MANIFEST}": '{"the_rock_commit": "x"}'},
        modules={"_rocm_sdk_core": f"{CORE}/__init__.py"},
    )
    assert told(result, "version") == [("absent", "version")]


@pytest.mark.parametrize(
    ("distributions", "version", "source"),
    [
        ({"rocm": "7.1.0", "rocm-sdk-core": "7.1.1"}, "7.1.0", "pip:rocm"),
        ({"rocm": " ", "rocm-sdk-core": "7.1.1"}, "7.1.1", "pip:rocm-sdk-core"),
        ({"rocm": Distribution(name="rocm"), "rocm-sdk-core": "7.1.1"}, "7.1.1", "pip:rocm-sdk-core"),
        ({"rocm": ""}, "6.2", "torch"),
        ({}, "6.2", "torch"),
    ],
)
def test_the_chain_goes_on_after_a_blank(distributions, version, source):
    result = rocm(
        files={f"{SITE}/torch/version.py": "__version__ = '2.5.1+rocm6.2'\n"},
        modules=TORCH,
        distributions=distributions,
    )
    assert (result.value["version"], result.value["version_source"]) == (version, source)
    assert told(result, "version") == []


def test_torch_rocm_attribute_comes_first_and_hip_is_never_taken():
    text = "__version__ = '2.13.0'\nhip = '7.15.26333'\n"
    assert rocm(files={f"{SITE}/torch/version.py": text}, modules=TORCH).value["version"] is None
    value = rocm(files={f"{SITE}/torch/version.py": text + "rocm = '10.1.0a20260811'\n"}, modules=TORCH).value
    assert (value["version"], value["version_path"]) == ("10.1.0a20260811", f"{SITE}/torch/version.py")


@pytest.mark.parametrize("version", ["2.9.1+cpu", "2.9.1+cu128", "2.9.1"])
def test_torch_without_rocm_tells_nothing(version):
    result = rocm(files={f"{SITE}/torch/version.py": f"__version__ = '{version}'\n"}, modules=TORCH)
    assert result.value["version"] is None
    assert not any(reason.partial for reason in result.reasons)


def test_torch_as_a_plain_module_or_without_version_file():
    assert rocm(modules={"torch": Module(name="torch", origin="/x/torch.py")}).value["version"] is None
    assert rocm(modules=TORCH).value["version"] is None
    denied = rocm(modules=TORCH, files={f"{SITE}/torch/version.py": errno.EACCES})
    assert ("denied", "version") in told(denied, "version")


def test_a_silent_root_borrows_a_version_and_says_so():
    result = rocm(files={"/opt/rocm/lib/x": ""}, distributions={"rocm": "7.1.0"})
    assert (result.value["version"], result.value["version_source"], result.value["root_source"]) == (
        "7.1.0",
        "pip:rocm",
        "opt_rocm",
    )
    assert [reason.detail for reason in result.reasons if reason.field == "version"] == [
        "/opt/rocm carries no version; the version is what pip:rocm says"
    ]


def test_distribution_packages_never_borrow():
    result = rocm(
        files={"/usr/share/hip/version": "x", f"{SITE}/torch/version.py": "__version__ = '2.5.1+rocm6.2'\n"},
        modules=TORCH,
    )
    assert (result.value["version"], result.value["root"], result.value["layout"]) == (
        None,
        "/usr",
        "distribution",
    )
    assert told(result, "version") == [("unsupported", "version")]


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EACCES, "denied"), (errno.ETIMEDOUT, "timed_out"), (errno.EIO, "failed")]
)
def test_an_unreadable_version_is_not_replaced_by_another_stacks(number, kind):
    result = rocm(
        files={"/opt/rocm/.info/version": number, "/opt/rocm/lib/x": ""}, distributions={"rocm": "7.1.0"}
    )
    assert result.value["version"] is None
    assert told(result, "version") == [(kind, "version")]


def test_denied_everywhere_is_seen_as_denied():
    result = rocm(
        files={"/opt": errno.EACCES, "/sys/module/amdgpu": errno.EACCES}, distributions={"rocm": "7.1.0"}
    )
    value = result.value
    assert (value["version"], value["root_source"], value["layout"]) == (None, "unknown", "unknown")
    assert [value[field] for field in ("root", "lib_root", "include_root", "other_roots", "candidates")] == [
        None
    ] * 5
    assert {(reason.kind.value, reason.field) for reason in result.reasons} >= {
        ("denied", "root"),
        ("denied", "version"),
        ("denied", "version_dev"),
        ("denied", "candidates"),
        ("denied", "other_roots"),
        ("denied", "kmd_version"),
    }
    assert result.coverage["rocm"] is Coverage.UNKNOWN


def test_a_place_that_cannot_be_seen_leaves_no_claim_of_completeness():
    files = {"/x/.info/version": "7.1.0\n", "/x/lib/a": "", "/opt": errno.EIO}
    result = rocm(files=files, env={"ROCM_PATH": "/x"})
    assert result.value["version"] == "7.1.0"
    assert [stack["root"] for stack in result.value["candidates"]] == ["/x"]
    assert result.value["other_roots"] is None
    assert result.kinds("other_roots") == result.kinds("candidates") == ["failed"]


def test_without_sysfs_the_driver_is_not_absent():
    assert told(rocm(), "kmd_version") == [("unsupported", "kmd_version")]
    assert told(rocm(dirs=["/sys/class"]), "kmd_version") == [("absent", "kmd_version")]


def test_in_tree_driver_declares_no_version():
    result = rocm(files={"/sys/module/amdgpu/srcversion": "x"})
    assert told(result, "kmd_version") == [("unsupported", "kmd_version")]


def test_blank_driver_version():
    assert told(rocm(files={"/sys/module/amdgpu/version": "\n"}), "kmd_version") == [
        ("unparsed", "kmd_version")
    ]


def test_wheels_of_several_families_are_all_told():
    files = {f"{SITE}/_rocm_sdk_libraries_{family}/lib/x": "" for family in ("gfx1151", "gfx950_dcgpu")}
    value = rocm(
        files={**files, f"{CORE}/.info/version": "7.14.0"}, modules={"_rocm_sdk_core": f"{CORE}/__init__.py"}
    ).value
    assert value["lib_roots"] == [
        f"{SITE}/_rocm_sdk_libraries_gfx1151",
        f"{SITE}/_rocm_sdk_libraries_gfx950_dcgpu",
    ]


def test_a_broken_leftover_hides_nothing():
    result = rocm(files={"/opt/rocm/.info/version": "garbage\n"}, distributions={"rocm": "7.14.0"})
    assert (result.value["version"], result.value["version_source"], result.value["root_source"]) == (
        "7.14.0",
        "pip:rocm",
        "none",
    )
    assert ["garbage" in reason.detail for reason in result.reasons if reason.field == "root"] == [True]
