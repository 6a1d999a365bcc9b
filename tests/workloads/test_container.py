"""A workload that brings its own container: it gets the image and the cell's variables."""

import os

import pytest

from aorta.sweep.definitions.registry import Environment
from aorta.workloads.discovery import find

#: Writes down how it was called, and which variables it was given.
DOCKER = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
[ "$1" = run ] && echo "value=$HSA_XNACK"
exit 0
"""


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """A program in the place of docker."""
    program = tmp_path / "docker"
    program.write_text(DOCKER)
    program.chmod(0o755)
    return program


@pytest.fixture
def container(execute, docker, monkeypatch):
    monkeypatch.setenv("AORTA_WORKLOADS", "container=tests.workloads.container_workload:InContainer")
    return lambda **more: execute(workload="container", docker=str(docker), **more)


def test_the_image_and_the_variables_reach_it(container, docker, files):
    where = Environment(name="rocm", docker="rocm/pytorch:7.1")
    found = container(
        environment=where, overlay={"HSA_XNACK": "1", "NCCL_DEBUG": None}, command=["rocminfo", "-v"]
    )
    assert found.verdict == "pass", found
    run, remove = (docker.parent / "calls").read_text().splitlines()
    assert run.endswith(f"-e HSA_XNACK -v {files.folder}:/artifacts rocm/pytorch:7.1 rocminfo -v")
    assert remove.startswith("rm -f aorta-cell-0-")
    with open(files.stdout) as file:
        assert file.read() == "value=1\n"


def test_without_an_image_it_is_an_error(container):
    found = container()
    assert found.verdict == "error"
    assert "needs an environment with an image (docker:)" in found.reason


def test_it_says_so(monkeypatch, container):
    assert find("container").launches_container
    assert "torch" not in os.environ.get("AORTA_WORKLOADS")
