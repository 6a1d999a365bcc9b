"""The version file under /opt/rocm/core."""

from aorta.testing import FakeHost, collect

CASE = "rocm-version-multiarch-core-symlink"


def test_core_is_the_second_place():
    host = FakeHost(
        files={"/opt/rocm/core-7.13/.info/version": "7.13.0\n"},
        links={"/opt/rocm/core": "/opt/rocm/core-7.13"},
    )
    value = collect(host, "rocm").value
    assert value["version"] == "7.13.0"
    assert value["version_path"].endswith("core/.info/version")
    assert value["root_source"] == "opt_rocm"
    assert len(value["candidates"]) == 1


def test_the_top_level_file_is_the_first_place():
    host = FakeHost(files={"/opt/rocm/core/.info/version": "7.13.0\n", "/opt/rocm/.info/version": "7.13.1\n"})
    assert collect(host, "rocm").value["version"] == "7.13.1"
