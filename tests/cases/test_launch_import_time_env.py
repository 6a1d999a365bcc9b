"""Variables that are set after what reads them was imported: a warning names them, and each record does."""

import json

import pytest

from tests.parts.sweeps import Sweeps

CASE = "launch-import-time-env"

#: Loaded when the workload is found, before any trial has its variables.
TORCH = "__version__ = '2.0'\n"
MODULE = '''
import torch
from aorta.workloads import Workload, WorkloadResult


class Small(Workload):
    """A workload for tests."""

    trial_isolation_supported = frozenset({"in_process", "process"})

    def run(self):
        return WorkloadResult(passed=True)
'''
RECIPE = """
schema_version: 1
workload: small
ticket: T
trials: 2
steps: 1
trial_isolation: {isolation}
cells:
  - {{name: base, mitigations: [none], environment: local}}
  - name: queues
    mitigations: [none]
    environment: local
    extra_env: {{GPU_MAX_HW_QUEUES: '2', HSA_NO_SCRATCH_RECLAIM: '1', NCCL_DEBUG: INFO}}
"""
LATE = ["GPU_MAX_HW_QUEUES", "HSA_NO_SCRATCH_RECLAIM"]


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the sweep in an isolation; it returns how that went, records and matrix."""
    sweeps = Sweeps(tmp_path)

    def go(isolation):
        sweeps.write("torch.py", TORCH)
        sweeps.write("small_workload.py", MODULE)
        sweeps.write("r.yaml", RECIPE.format(isolation=isolation))
        paths = f"{sweeps.folder}:{sweeps.environ()['PYTHONPATH']}"
        done = sweeps.run(AORTA_WORKLOADS="small=small_workload:Small", PYTHONPATH=paths)
        assert done.returncode == 0, done.stdout + done.stderr
        return done, sweeps.records(), sweeps.matrix()

    return go


def test_what_comes_after_the_import_is_told_and_recorded(run):
    done, records, matrix = run("in_process")
    assert {cell: record.get("env_late") for (cell, _), record in records.items()} == {
        "base": None,
        "queues": LATE,
    }
    lines = [line for line in done.stderr.splitlines() if line.startswith("aorta: warning: cell queues:")]
    (line,) = lines
    assert f"{', '.join(LATE)} are not what they were when torch was imported" in line
    assert "NCCL_DEBUG" not in line
    assert "trial_isolation: process" in line
    assert [text for text in matrix["warnings"] if "queues" in text] == [line.partition("warning: ")[2]]


def test_a_fresh_interpreter_has_them_in_time(run):
    done, records, matrix = run("process")
    assert "GPU_MAX_HW_QUEUES" not in done.stderr + json.dumps(matrix["warnings"])
    assert not any("env_late" in record for record in records.values())
