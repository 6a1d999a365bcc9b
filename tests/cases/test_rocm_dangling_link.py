"""/opt/rocm leads to a version that was removed."""

from aorta.testing import FakeHost, collect

CASE = "rocm-dangling-link"


def test_the_dead_link_is_told_and_gives_no_version():
    host = FakeHost(
        links={"/opt/rocm": "/opt/rocm-5.7.1"}, files={"/opt/rocm-6.2.0/.info/version": "6.2.0-66\n"}
    )
    result = collect(host, "rocm")
    value = result.value
    assert (value["version"], value["root"], value["root_source"]) == (
        "6.2.0-66",
        "/opt/rocm-6.2.0",
        "opt_rocm_versioned",
    )
    assert value["opt_rocm_target"] == "/opt/rocm-5.7.1"
    assert any(reason.partial and "/opt/rocm-5.7.1" in reason.detail for reason in result.reasons)


def test_nothing_is_guessed_between_two():
    files = {f"/opt/rocm-{version}/.info/version": f"{version}\n" for version in ("6.2.0", "6.3.0")}
    result = collect(FakeHost(links={"/opt/rocm": "/opt/rocm-5.7.1"}, files=files), "rocm")
    assert result.value["version"] is None
    assert result.kinds("version") == ["expected"]
    assert result.value["other_roots"] == ["/opt/rocm-6.2.0", "/opt/rocm-6.3.0"]
