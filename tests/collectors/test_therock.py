"""The therock section."""

import errno
import json

import pytest

from aorta.testing import FakeHost, collect

SITE = "/venv/lib/python3.12/site-packages"
CORE = f"{SITE}/_rocm_sdk_core"
PLACE = f"{CORE}/share/therock/therock_manifest.json"
PIN = "416eae89dcee3fb1e0c434f795edcf8cef40a80d"
GOOD = {
    "the_rock_commit": "03e3f2eba205f9a8f554a24d5e76925b39efab7a",
    "github_job": "build_stage",
    "github_run_id": "31444849807",
    "rocm_package_version": "10.1.0a20260811",
    "rocm_version": "10.1.0",
    "submodules": [
        {
            "submodule_name": "HIPIFY",
            "submodule_path": "compiler/hipify",
            "submodule_url": "https://github.com/ROCm/HIPIFY.git",
            "pin_sha": "FD6BD537F9F8512D1E4BF4D80290864BA88B257C",
            "patches": [],
        },
        {
            "submodule_name": "rocm-libraries",
            "submodule_url": "https://github.com/ROCm/rocm-libraries",
            "pin_sha": PIN,
            "patches": ["0001.patch"],
        },
    ],
    "flags": {"KPACK_SPLIT_ARTIFACTS": True},
}


def therock(content, **host):
    files = {f"{CORE}/.info/version": "10.1.0\n"}
    if content is not None:
        files[PLACE] = content if isinstance(content, (str, bytes, int)) else json.dumps(content)
    return collect(
        FakeHost(files=files, modules={"_rocm_sdk_core": f"{CORE}/__init__.py"}, **host), "therock"
    )


def test_a_good_manifest():
    result = therock(GOOD)
    value = result.value
    assert (value["status"], value["manifest_path"]) == ("present", PLACE)
    for key in ("the_rock_commit", "github_job", "github_run_id", "rocm_package_version", "rocm_version"):
        assert value[key] == GOOD[key]
    assert value["gemm_libraries_commit"] == PIN
    assert value["submodules"][0] == {
        "name": "HIPIFY",
        "url": "https://github.com/ROCm/HIPIFY.git",
        "pin_sha": "fd6bd537f9f8512d1e4bf4d80290864ba88b257c",
        "patches": [],
    }
    assert value["submodules"][1]["patches"] == ["0001.patch"]
    assert result.reasons == ()


@pytest.mark.parametrize("host", [{}, {"files": {"/opt/rocm/.info/version": "6.2.0"}}])
def test_absent_is_silent(host):
    result = collect(FakeHost(**host), "therock")
    assert (result.value["status"], result.value["manifest_path"], result.value["submodules"]) == (
        "absent",
        None,
        None,
    )
    assert not any(reason.partial for reason in result.reasons)


def test_native_packages_keep_it_in_core():
    host = FakeHost(
        files={
            "/opt/rocm/core-7.13/share/therock/therock_manifest.json": json.dumps(GOOD),
            "/opt/rocm/core-7.13/lib/x": "",
        },
        links={"/opt/rocm/core": "core-7.13"},
    )
    assert (
        collect(host, "therock").value["manifest_path"]
        == "/opt/rocm/core/share/therock/therock_manifest.json"
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        b"\xff\xfe",
        '{"rocm_version": NaN}',
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
    ],
)
def test_what_is_no_manifest_is_invalid(content):
    result = therock(content)
    assert (result.value["status"], result.value["manifest_path"], result.value["rocm_version"]) == (
        "invalid",
        PLACE,
        None,
    )
    assert [reason.kind.value for reason in result.reasons] == ["unparsed"]


def test_a_dangling_link_is_invalid():
    result = therock(None, links={PLACE: "gone.json"})
    assert result.value["status"] == "invalid"
    assert result.kinds() == ["expected"]


@pytest.mark.parametrize(
    "files",
    [{"/opt": errno.EACCES, "/usr/lib": errno.EACCES}, {"/opt": errno.EIO}, {"/opt/rocm/core": errno.EIO}],
)
def test_where_rocm_cannot_be_seen_no_manifest_is_absent(files):
    result = collect(FakeHost({"/opt/rocm/lib/x": "", **files} if "/opt" not in files else files), "therock")
    assert result.value["status"] == "unknown"
    assert set(result.kinds()) <= {"denied", "failed"}
    assert result.kinds()


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EACCES, "denied"), (errno.ETIMEDOUT, "timed_out"), (errno.EIO, "failed")]
)
def test_what_was_not_seen_is_unknown(number, kind):
    result = therock(number)
    assert result.value["status"] == "unknown"
    assert result.kinds() == [kind]


def test_built_outside_git():
    document = {
        **GOOD,
        "the_rock_commit": None,
        "submodules": [{**entry, "pin_sha": None} for entry in GOOD["submodules"]],
    }
    result = therock(document)
    assert (result.value["the_rock_commit"], result.value["gemm_libraries_commit"]) == (None, None)
    assert [(reason.kind.value, reason.field) for reason in result.reasons] == [
        ("absent", "submodules"),
        ("absent", "the_rock_commit"),
    ]


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        ("none", []),
        ([7, {"submodule_url": "x"}, {"submodule_name": ["x"]}], []),
        ([{"submodule_name": "a", "pin_sha": "416eae8"}], ["a"]),
        ([{"submodule_name": "a", "pin_sha": {}}], ["a"]),
    ],
)
def test_what_is_odd_in_the_submodules_is_one_reason(entries, names):
    result = therock({**GOOD, "submodules": entries})
    assert [entry["name"] for entry in result.value["submodules"]] == names
    assert result.kinds("submodules") == ["unparsed"]


def test_no_submodules_and_odd_scalars():
    result = therock({"rocm_version": True, "github_run_id": 31444849807, "github_job": "  "})
    assert (result.value["rocm_version"], result.value["github_run_id"], result.value["github_job"]) == (
        None,
        "31444849807",
        None,
    )
    assert result.value["submodules"] == []
    assert not any(reason.partial for reason in result.reasons)


def test_odd_patches_are_null():
    result = therock(
        {**GOOD, "submodules": [{"submodule_name": "rocm-libraries", "pin_sha": PIN, "patches": "one"}]}
    )
    assert result.value["submodules"][0]["patches"] is None


def test_a_byte_order_mark_is_no_fault():
    assert therock("\ufeff" + json.dumps(GOOD)).value["status"] == "present"
