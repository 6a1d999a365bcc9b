"""Ranks of one trial, each a real process with the variables of a launcher."""

import os
import socket
import subprocess
import sys

RANK = """
import json, os, sys
from aorta.sweep.files import TrialFiles
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.definitions.registry import Environment
from aorta.sweep.workload.trial import WorkloadRunner

name, stem, config, isolation = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4]
cell = PlannedCell(
    name="c", mitigations=("none",), environment=Environment(name="local"), steps=3, workload_config=config
)
recipe = Recipe(workload=name, trial_timeout=40.0, save_logs=True)
plan = Plan(recipe=recipe, workload=name, isolation=isolation, cells=(cell,), baseline="c")
outcome = WorkloadRunner(plan).execute(cell, 0, TrialFiles(stem=stem), dict(os.environ))
keys = ("verdict", "reason", "traceback", "step_times_ms", "step_time_source", "failure_details", "metrics")
print(json.dumps({key: getattr(outcome, key) for key in keys}))
"""


def free_port():
    """Return a port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def launch(folder, workload, config, *, ranks=2, python=sys.executable, isolation="process"):
    """Run one trial on some ranks; return their outcomes by rank."""
    import json

    port = free_port()
    started = []
    for rank in range(ranks):
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AORTA_")},
            "PYTHONPATH": os.pathsep.join(
                path for path in sys.path if path and "site-packages" not in path and "lib/python" not in path
            ),
            "OMP_NUM_THREADS": "1",
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(ranks),
            "LOCAL_WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
        argv = [python, "-c", RANK, workload, str(folder / f"rank{rank}"), json.dumps(config), isolation]
        started.append(
            subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
    told = [one.communicate(timeout=55) for one in started]
    assert [one.returncode for one in started] == [0] * ranks, told
    return [json.loads(out.splitlines()[-1]) for out, _ in told]
