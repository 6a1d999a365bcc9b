"""The checker of isolation sets itself: it finds what is wrong and refuses what it can not use."""

import pytest
import yaml

from tests.isolation.check_variants import main

DOCKER = {
    "name": "docker",
    "truth": {"container": True, "runtime": "docker", "orchestrator": None, "container_detected": True},
    "files": {
        "/proc/self/cgroup": f"0::/system.slice/docker-{'ab' * 32}.scope\n",
        "/proc/1/cgroup": {"errno": "EACCES"},
        "/.dockerenv": "",
    },
    "links": {"/proc/self/ns/mnt": "mnt:[4026532701]"},
    "unreadable": ["EACCES /proc/1/ns/mnt"],
    "env": {"HOME": "/root"},
}


def checked(tmp_path, cases, *names):
    path = tmp_path / "variants.yaml"
    path.write_text(cases if isinstance(cases, str) else yaml.safe_dump(cases))
    return main([str(path), *names])


def test_a_wrong_truth_is_found(tmp_path, capsys):
    wrong = {**DOCKER, "name": "wrong", "truth": {"container": False, "runtime": "podman"}}
    assert checked(tmp_path, [DOCKER, wrong]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "1 of 2 sets hold"
    assert any(line.startswith('wrong: runtime is "podman"') for line in lines)
    assert not any(line.startswith("docker") for line in lines)


def test_all_hold(tmp_path, capsys):
    assert checked(tmp_path, [DOCKER]) == 0
    assert checked(tmp_path, [DOCKER, {**DOCKER, "name": "x", "truth": {"runtime": "lxc"}}], "docker") == 0
    assert capsys.readouterr().out.count("1 of 1 sets hold") == 2


def test_no_set_is_no_success(tmp_path, capsys):
    assert checked(tmp_path, [DOCKER], "another") == 1
    assert "0 of 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    "cases",
    [
        "a: 1",
        "[",
        "- {truth: {}}",
        [{"name": "x"}],
        [{"name": "x", "truth": {"shape": 1}}],
        [{**DOCKER, "unreadable": ["EWHAT /x"]}],
        [{**DOCKER, "files": ["/x"]}],
        [{**DOCKER, "files": {"/x": 1}}],
        [{**DOCKER, "links": {"/x": {"errno": None}}}],
        [{**DOCKER, "smells": 1}],
    ],
)
def test_what_can_not_be_used_is_refused_in_one_line(tmp_path, capsys, cases):
    assert checked(tmp_path, cases) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main([str(tmp_path / "none.yaml")]) == 2
