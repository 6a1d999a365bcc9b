"""Sweeps in which a rank is lost: how they are asked for, started and judged, whatever launches them.

``recipe_of`` and ``VARIABLES`` are what a launcher is given, ``assert_lost`` is what must be left.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.parts.losing import WORDS
from tests.parts.pages import ROOT
from tests.parts.sweeps import processes_with

#: The workloads' names for AORTA_WORKLOADS: without torch, with it, with one result of all ranks.
PLAIN, TORCH, GLOBAL = "losing", "losing-torch", "losing-global"
_MODULE = "tests.parts.losing"
VARIABLES = {
    "AORTA_WORKLOADS": f"{PLAIN}={_MODULE}:Losing,{TORCH}={_MODULE}:LosingTorch,"
    f"{GLOBAL}={_MODULE}:GlobalLosing",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": f"{ROOT}:{ROOT}/collectors",
}

#: How the rank that was lost ended, by the way: ``end``, ``signal``, ``phase``, the trial's verdict.
WAYS = {
    "crash": ("signalled", "SIGSEGV", "run", "fail"),
    "exception": ("raised", None, "run", "error"),
    "hang": ("timed_out", None, "run", "error"),
    "kill": ("signalled", "SIGKILL", "run", "error"),
    "exit": ("exited", None, "run", "error"),
    "setup": ("raised", None, "setup", "error"),
    "collective": ("signalled", "SIGKILL", "run", "error"),
    "cleanup": ("signalled", "SIGKILL", "cleanup", "error"),
    "blocked": ("signalled", "SIGKILL", "run", "error"),
}
#: What the traceback of one that did not just vanish says.
_TRACES = {
    "crash": "losing.py",
    "exception": "planted in run",
    "hang": "losing.py",
    "setup": "planted in setup",
}

#: Seconds of a trial: what hangs ends then. And what may pass after it until the run has ended.
LIMIT_S, AFTER_S = 6, 15

_RECIPE = """
schema_version: 1
ticket: LOSS
workload: {workload}
trials: {trials}
steps: 1
trial_timeout: {limit}
workload_config: {config}
cells:
  - {{name: base, mitigations: [none], environment: local}}
"""


def recipe_of(folder, way="none", *, workload=PLAIN, trials=2, limit=LIMIT_S, **config):
    """Write a recipe in which a rank is lost, and return its path. ``config`` is more of LosingConfig."""
    path = Path(folder) / f"{way}.yaml"
    text = json.dumps({"way": way, **config})
    path.write_text(_RECIPE.format(workload=workload, trials=trials, limit=limit, config=text))
    return str(path)


def environ_of(folder, **more):
    """Return the variables of a launcher: a PATH without tools keeps each snapshot short."""
    programs = Path(folder) / "programs"
    programs.mkdir(exist_ok=True)
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
    return {"PATH": str(programs), "HOME": str(folder), "LANG": "C.UTF-8", **VARIABLES, **measured, **more}


def torchrun(folder, python, recipe, *words, ranks=2, environ=None):
    """Start a sweep under torchrun in a folder."""
    launcher = [python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return subprocess.Popen(
        [*launcher, "-m", "aorta", "sweep", "run", "--recipe", recipe, *words],
        cwd=folder,
        env=environ or environ_of(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class ByHand:
    """The ranks of a job, each started by hand with a launcher's variables.

    ``under`` has the words before the command of those ranks that are started by another program.
    """

    def __init__(
        self, folder, recipe, *words, port, ranks=2, python=sys.executable, environ=None, under=None
    ):
        self.folder = folder
        self.began = time.monotonic()
        common = {
            **(environ or environ_of(folder)),
            "WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "LOCAL_WORLD_SIZE": str(ranks),
        }
        self.processes = [
            subprocess.Popen(
                [
                    *(under or {}).get(rank, ()),
                    python,
                    "-m",
                    "aorta",
                    "sweep",
                    "run",
                    "--recipe",
                    recipe,
                    *words,
                ],
                cwd=folder,
                env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(ranks)
        ]

    def ended(self, timeout=100):
        """Wait for all, and return their exit statuses and what they wrote to standard error."""
        told = [process.communicate(timeout=timeout)[1] for process in self.processes]
        return [process.returncode for process in self.processes], told

    def end(self):
        """End those that still run."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


def only_run(folder):
    """Return the directory of the one run below a folder."""
    [found] = Path(folder).glob("triage_results/*/*/2*/matrix.json")
    return found.parent


def matrix_of(run):
    """Return a run's matrix."""
    return json.loads((Path(run) / "matrix.json").read_text())


def record_of(run, *, cell="base", trial=0):
    """Return a trial's record."""
    return json.loads((Path(run) / "cells" / cell / f"trial_{trial:03d}.json").read_text())


def assert_lost(run, *, rank, way, host=None, trial=0, cell="base", ranks=2, stopped=True, limit=LIMIT_S):
    """Check what a run leaves whose ``rank`` was lost in a way of WAYS, in this trial.

    ``host`` is the rank's; without it, this one. ``stopped``: the run ended with that.
    """
    run, host = Path(run), host or os.uname().nodename
    end, signal, phase, verdict = WAYS[way]
    record = record_of(run, cell=cell, trial=trial)
    lost = record["lost"]
    assert (lost["rank"], lost["node"]) == (rank, host), record["reason"]
    assert (lost["end"], lost["signal"], lost["phase"]) == (end, signal, phase), lost
    assert record["verdict"] == verdict, record["reason"]
    assert f"rank {rank} on {host}" in record["reason"]
    assert WORDS in lost["log"]
    assert way != "exit" or lost["exit_code"] == 0
    assert _TRACES.get(way, "") in (lost["traceback"] or "")
    assert [one["rank"] for one in record["ranks"]] == list(range(ranks))
    assert record["elapsed_s"] < limit + AFTER_S
    assert_logs(run, record, ranks=ranks)
    assert_matrix(run, f"rank {rank} on {host} was lost in trial {trial} of {cell}", stopped=stopped)
    assert_nothing_left(run)


def assert_logs(run, record, *, ranks):
    """Check that each rank's logs lie where the record says."""
    stem = Path(run) / "cells" / record["cell"] / f"trial_{record['trial']:03d}"
    for rank in range(ranks):
        assert Path(f"{stem}.rank{rank}.stderr.log").is_file()
        assert Path(f"{stem}.rank{rank}.stdout.log").is_file()
    for one in (record["lost"], *record["ranks"]):
        assert one is None or one.get("stderr") is None or (Path(run) / one["stderr"]).is_file()


def assert_matrix(run, words, *, stopped=True):
    """Check that a run's matrix, also in Markdown, says that a rank was lost."""
    matrix = matrix_of(run)
    markdown = (Path(run) / "matrix.md").read_text()
    assert matrix["lost_rank"] is stopped
    if stopped:
        assert matrix["state"] == "stopped", matrix["state"]
        assert words in markdown
    else:
        assert matrix["state"] == "complete", matrix["state"]


def assert_nothing_left(run):
    """Check that no process of the run lives, and that no file of a trial's start is left."""
    mark = f"AORTA_SWEEP_RUN={matrix_of(run)['run_id']}"
    until = time.monotonic() + 10
    while (left := processes_with(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []
    names = [path.name for path in Path(run).rglob("*")]
    assert [
        name for name in names if name.endswith((".part", ".request.json", ".response.json", ".trace"))
    ] == []
    assert [path for path in Path(run).rglob("*") if path.is_dir() and not any(path.iterdir())] == []
