"""Three installs, a link at one and a variable at another (that env_vars shows the variable is tested there)."""

from aorta.testing import FakeHost, collect

CASE = "rocm-several-roots-and-link"
HOST = {
    "files": {
        "/opt/rocm-6.2.4/.info/version": "6.2.4-139\n",
        "/opt/rocm-6.4.1/.info/version": "6.4.1-83\n",
        "/opt/rocm-7.0.2/.info/version": "7.0.2-56\n",
    },
    "links": {"/opt/rocm": "/etc/alternatives/rocm", "/etc/alternatives/rocm": "/opt/rocm-6.4.1"},
}


def test_the_variable_wins_and_the_others_are_told():
    value = collect(FakeHost(**HOST, env={"ROCM_PATH": "/opt/rocm-7.0.2"}), "rocm").value
    assert (value["version"], value["version_release"]) == ("7.0.2-56", "7.0.2")
    assert (value["root"], value["root_resolved"], value["root_source"]) == (
        "/opt/rocm-7.0.2",
        "/opt/rocm-7.0.2",
        "ROCM_PATH",
    )
    assert value["other_roots"] == ["/opt/rocm-6.2.4", "/opt/rocm-6.4.1"]
    assert value["opt_rocm_target"] == "/opt/rocm-6.4.1"


def test_without_the_variable_the_link_wins_and_is_resolved():
    value = collect(FakeHost(**HOST), "rocm").value
    assert (value["version"], value["root"], value["root_resolved"]) == (
        "6.4.1-83",
        "/opt/rocm",
        "/opt/rocm-6.4.1",
    )
    assert value["other_roots"] == ["/opt/rocm-6.2.4", "/opt/rocm-7.0.2"]
