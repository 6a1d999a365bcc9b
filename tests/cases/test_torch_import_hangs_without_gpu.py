"""An import of torch that never ends: what the metadata say stays, importable is not known, and why."""

import pytest

from aorta.testing import collect
from tests.parts.torch_builds import host

CASE = "torch-import-hangs-without-gpu"
VERSION = "2.13.0+rocm7.2"
END = {"imported": None, "hung": True, "done": False, "ended": "it did not end within 45 s"}


def run(section, **end):
    return collect(host({}, end={**END, **end}, metadata=VERSION), section)


@pytest.mark.parametrize("how", ["child", "in_process"])
def test_the_metadata_tell_the_version(how):
    result = run("pytorch_build", how=how)
    value = result.value
    assert (value["version"], value["version_source"]) == (VERSION, "metadata")
    assert (value["importable"], value["import_error"]) == (None, None)
    assert result.kinds("importable") == ["timed_out"]
    timed_out = [reason for reason in result.reasons if reason.kind == "timed_out"]
    assert all("timed out" in reason.detail for reason in timed_out)
    assert result.record.status == "partial"
    assert run("pytorch_version", how=how).value == VERSION


def test_what_was_told_before_stays_told():
    parts = {"version": VERSION, "hip": "7.2.53211"}
    result = collect(host(parts, end={**END, "imported": True}), "pytorch_build")
    assert (result.value["hip_version"], result.value["version_source"]) == ("7.2.53211", "torch")
    assert result.value["importable"] is True
    assert result.kinds("build_flags") == ["timed_out"]
