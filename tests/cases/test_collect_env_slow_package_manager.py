"""Package managers are never run for the Python environment."""

import time

from aorta.instrumentation.environment import capture
from aorta.testing import FakeHost, collect

CASE = "collect-env-slow-package-manager"

HANGING = {"outcome": "abandoned", "stdout": ""}


def test_a_conda_environment_is_told_without_conda():
    host = FakeHost(
        {"/opt/conda/envs/train/conda-meta/history": ""},
        commands={"conda list --json": HANGING, "conda env list": HANGING, "pip list --format=json": HANGING},
        observed={
            "interpreter": {
                "version": "3.12.1",
                "prefix": "/opt/conda/envs/train",
                "base_prefix": "/opt/conda/envs/train",
            }
        },
    )
    result = collect(host, "runtime_context")
    assert result.value["conda_env_name"] == "train"
    assert result.record.commands == ()


def test_a_hanging_package_manager_on_path_costs_nothing(tmp_path, monkeypatch):
    for name in ("conda", "pip", "python3"):
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/ran\nsleep 240 & wait\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    start = time.monotonic()
    snapshot = capture(sections=("runtime_context", "python_version"))
    assert time.monotonic() - start < 10
    assert snapshot.sections["python_version"]
    assert not (tmp_path / "ran").exists()
