"""The AOTriton beside torch's libraries."""

import errno

import pytest

from aorta.testing import FakeHost, collect
from aorta_collectors.aotriton import numbers
from tests.parts.torch_builds import CPU, LIB, host

NAME = f"{LIB}/libaotriton_v2.so"
IMAGE = f"{LIB}/aotriton.images/amd-gfx942/flash/attn_fwd/x.hsaco.zst"
OTHER = f"{LIB}/aotriton.images/amd-gfx90a/x"


def run(files=None, parts=None, **world):
    return collect(host(parts, files=files, **world), "aotriton")


def fields(result, kind):
    return {reason.field for reason in result.reasons if reason.kind == kind}


def test_a_wheel_for_rocm():
    files = {f"{NAME}.0.11.1": b"new", IMAGE: "", OTHER: "", f"{LIB}/aotriton.images/note": ""}
    result = run(files, links={NAME: "libaotriton_v2.so.0.11.1"})
    assert result.value == {
        "bundled_present": True,
        "bundled_version": "0.11.1",
        "bundled_lib_hash": "sha256:11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437",
        "bundled_images_dir_present": True,
        "bundled_image_archs": ["amd-gfx90a", "amd-gfx942"],
        "installed_prefix": None,
    }
    assert result.reasons == ()


def test_versions_are_numbers():
    result = run(
        {f"{NAME}.0.9.2": b"old", f"{NAME}.0.10.0": b"new", f"{NAME}.0.8": b"", f"{NAME}.0.99.0.bak": b""}
    )
    assert result.value["bundled_version"] == "0.10.0"
    assert result.value["bundled_lib_hash"].startswith("sha256:11507a0e2f5e69d5")


def test_no_name_with_a_version():
    result = run({NAME: b"new"})
    assert (result.value["bundled_present"], result.value["bundled_version"]) == (True, None)
    assert result.value["bundled_lib_hash"].startswith("sha256:11507a0e2f5e69d5")
    assert result.kinds("bundled_version") == ["unsupported"]


@pytest.mark.parametrize("parts", [None, CPU])
def test_none_is_there(parts):
    result = run(parts=parts)
    assert (result.value["bundled_present"], result.value["bundled_images_dir_present"]) == (False, False)
    assert fields(result, "absent") == {"bundled_version", "bundled_lib_hash", "bundled_image_archs"}
    assert result.record.status == "ok"


def test_other_names_are_none():
    assert (
        run({f"{LIB}/libaotriton_v2.so_0.1.2": "", f"{LIB}/libaotriton_v3.so": ""}).value["bundled_present"]
        is False
    )


def test_w2_denied():
    result = run({f"{NAME}.0.11.1": errno.EACCES, f"{LIB}/aotriton.images": errno.EACCES})
    assert fields(result, "denied") == {
        "bundled_lib_hash",
        "bundled_image_archs",
        "bundled_images_dir_present",
    }
    assert result.value["bundled_version"] == "0.11.1"
    assert result.value["bundled_images_dir_present"] is None


def test_a_directory_that_does_not_list():
    result = run({LIB: errno.EACCES}, dirs=())
    assert (result.value["bundled_present"], result.kinds("")) == (None, ["denied"])


def test_the_prefix_is_told_without_torch():
    result = collect(FakeHost(env={"AOTRITON_INSTALLED_PREFIX": "/opt/aotriton"}), "aotriton")
    assert result.value["installed_prefix"] == "/opt/aotriton"
    assert result.kinds("") == ["absent"]
    assert result.value["bundled_present"] is None


def test_torch_without_libraries_whose_import_failed():
    result = run(parts={}, dirs=(), end={"imported": False, "error": "OSError: libc10.so"})
    assert result.kinds("") == ["failed"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("libaotriton_v2.so.0.11.1", (0, 11, 1)),
        ("libaotriton_v2.so.0.11", ()),
        ("libaotriton_v2.so.0.11.1b", ()),
        ("libaotriton_v2.so.1.2.3.4", ()),
        ("libaotriton_v2.so.0.11." + "1" * 9, ()),
        ("libaotriton_v2.so", ()),
        ("libaotriton_v2.so.0.11.٣", ()),
    ],
)
def test_numbers(name, parts):
    assert numbers(name) == parts
