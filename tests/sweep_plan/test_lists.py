"""``aorta sweep list-mitigations`` and ``list-environments``."""

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import clean_environ


@pytest.fixture
def listed(tmp_path):
    """Return a function that runs one of the commands in a process of its own."""

    def run(command, *words, path=()):
        environ = clean_environ()
        environ["PYTHONPATH"] = ":".join([*map(str, path), environ["PYTHONPATH"]])
        code = f"from aorta.cli.sweep_lists import {command}; {command}()"
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", code, *words],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=100,
        )

    return run


def test_mitigations(listed, sidecar):
    path = sidecar(
        mitigations={"lean": {"set": {"B": "x y", "A": ""}, "unset": ["C"], "prepend": {"PATH": "/x"}}},
    )
    done = listed("list_mitigations", "--mitigations-file", path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["NAME", "SOURCE", "VARIABLES", "WHAT", "IT", "DOES"]
    assert len(lines) == 1 + 22 + 1
    assert lines[1].split()[:3] == ["none", "aorta", "(nothing)"]
    (xnack,) = [line for line in lines if line.startswith("xnack ")]
    assert xnack.split()[:3] == ["xnack", "aorta", "HSA_XNACK=1"]
    assert lines[-1].split(maxsplit=2) == [
        "lean",
        "sidecar:site.json",
        "A=''; B='x y'; unset C; PATH=/x:$PATH",
    ]
    assert len({line.index("aorta") for line in lines[1:-1]}) == 1


def test_mitigations_as_json(listed, sidecar):
    one = sidecar(mitigations={"lean": {"set": {"HF_TOKEN": "hf_secretsecret"}, "unset": ["C"]}})
    two = sidecar("two.json", mitigations={"more": {}})
    done = listed("list_mitigations", "--json", "--mitigations-file", one, "--mitigations-file", two)
    *_, lean, more = json.loads(done.stdout)
    assert lean == {
        "name": "lean",
        "source": "sidecar:site.json",
        "summary": None,
        "set": {"HF_TOKEN": "[redacted]"},
        "unset": ["C"],
        "prepend": {},
    }
    assert (more["name"], more["source"]) == ("more", "sidecar:two.json")


def test_environments(listed, sidecar):
    path = sidecar(environments={"site": {"docker": "i:1", "buck_target": "//a:b", "env": {"unset": ["A"]}}})
    done = listed("list_environments", "--mitigations-file", path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split("  ")[0] == "NAME"
    assert [line.split()[0] for line in lines[1:]] == [
        "local",
        "default",
        "emulated-rocjitsu",
        "emulated-rocjitsu-dbt",
        "site",
    ]
    for head, value in {
        "DOCKER": "i:1",
        "BUCK TARGET": "//a:b",
        "EMULATOR": "-",
        "VARIABLES": "unset A",
    }.items():
        place = lines[0].index(head)
        assert lines[-1][place:].startswith(value)
    assert "VENV" not in lines[0], "a column in which nothing stands"


def test_environments_as_json(listed):
    (local, *_, emulated) = json.loads(listed("list_environments", "--json").stdout)
    assert local == {
        "name": "local",
        "source": "aorta",
        "summary": "where aorta itself runs",
        "docker": None,
        "venv": None,
        "buck_target": None,
        "emulator": None,
        "mirage_profile": None,
        "env": {"set": {}, "unset": [], "prepend": {}},
    }
    assert (emulated["emulator"], emulated["mirage_profile"]) == ("rocjitsu-dbt", "dbt-mi350x")


def test_a_broken_plugin_is_told_and_the_rest_listed(listed, install, site):
    install("acme", "X = 7\nFAST = {'FAST': '1'}\n", mitigations={"odd": "acme:X", "fast": "acme:FAST"})
    done = listed("list_mitigations", path=[site])
    assert done.returncode == 0
    assert (
        done.stderr
        == "aorta: acme 1.2: entry point odd of aorta.mitigations: must be a mapping, not a number\n"
    )
    assert "fast" in done.stdout
    assert "acme 1.2" in done.stdout


def test_a_broken_file_is_misuse(listed, sidecar):
    path = sidecar(version=2, mitigations={"a": {"A": 1}})
    for command in ("list_mitigations", "list_environments"):
        done = listed(command, "--mitigations-file", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines() == [
            f"aorta: {path}: version: must be the number 1",
            f"aorta: {path}: mitigations.a.A: must be a text, in quotes, not a number",
        ]


def test_a_name_that_is_taken_is_misuse(listed, sidecar):
    done = listed("list_mitigations", "--mitigations-file", sidecar(mitigations={"none": {}}))
    assert done.returncode == 2
    assert done.stderr == (
        "aorta: mitigation none: sidecar:site.json and aorta both define it; rename one of them\n"
    )
