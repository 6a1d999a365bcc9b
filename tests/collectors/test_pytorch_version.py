"""The version of torch, whoever tells it."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.torch_builds import PACKAGE, VERSION, host, version_file


def run(*arguments, **world):
    return collect(host(*arguments, **world), "pytorch_version")


def test_torch_tells_it():
    result = run()
    assert (result.value, result.reasons, result.record.status) == (VERSION, (), "ok")


FAILED = {"imported": False, "error": "OSError: libamdhip64.so.7: cannot open", "done": True}


def test_its_file_tells_it():
    result = run({}, end=FAILED, files={f"{PACKAGE}/version.py": version_file("2.8.0+rocm6.4")})
    assert (result.value, result.reasons) == ("2.8.0+rocm6.4", ())


def test_its_metadata_tell_it():
    result = run({}, end=FAILED, metadata="2.7.1+rocm6.3")
    assert (result.value, result.reasons) == ("2.7.1+rocm6.3", ())


@pytest.mark.parametrize("metadata", [None, ""])
def test_nobody_tells_it(metadata):
    result = run({}, end=FAILED, metadata=metadata)
    assert (result.value, result.kinds("")) == (None, ["failed"])
    assert "libamdhip64.so.7" in result.reasons[0].detail
    assert result.record.status == "partial"


def test_no_torch():
    result = collect(FakeHost(), "pytorch_version")
    assert (result.value, result.kinds(""), result.record.status) == (None, ["absent"], "ok")


def test_metadata_without_the_package_are_no_torch():
    result = collect(FakeHost(distributions={"torch": "2.9.1"}), "pytorch_version")
    assert (result.value, result.kinds("")) == (None, ["absent"])
    assert "2.9.1" in result.reasons[0].detail


def test_a_version_that_is_no_text():
    assert run({"version": 7}, metadata=None).value is None
