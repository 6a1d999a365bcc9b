"""Sweeps of several ranks by the real command line, started by hand or by torchrun, and what they leave."""

import itertools
import json
import os
import sys

from aorta.launch.ports import bound
from tests.parts import losses

#: Ports that neither the kernel gives away by itself nor a job takes for its trials.
_PORTS = range(32000, 32768)
_begin = itertools.count(os.getpid() * 31)


def free_port():
    """Return a port that is free now; nobody is given it by chance."""
    first = next(_begin) % len(_PORTS)
    holder = bound([*_PORTS[first:], *_PORTS[:first]], "127.0.0.1")
    with holder:
        return holder.getsockname()[1]


class Swept:
    """What a sweep has left: its records by cell and trial, and the standard error of rank 0."""

    def __init__(self, folder, codes, errors):
        self.codes, self.errors = codes, errors
        assert list(folder.glob("triage_results")), errors
        self.run = losses.only_run(folder)
        self.matrix = losses.matrix_of(self.run)
        self.records = {
            (record["cell"], record["trial"]): record
            for record in (json.loads(path.read_text()) for path in self.run.glob("cells/*/trial_*.json"))
        }

    def verdicts(self, cell=None):
        """Return the verdicts of a cell, or of all, in the order of their trials."""
        return [one["verdict"] for key, one in sorted(self.records.items()) if cell in (None, key[0])]

    def first(self, cell="cell"):
        """Return the first record of a cell."""
        return self.records[cell, 0]


def recipe(folder, workload, cells, *, trials=1, steps=3, isolation="process", limit=45):
    """Write a recipe of a workload: ``cells`` maps names to ``workload_config``, or to a whole cell."""
    listed = [
        {
            "name": name,
            "mitigations": ["none"],
            "environment": "local",
            **(one if "workload_config" in one else {"workload_config": one}),
        }
        for name, one in cells.items()
    ]
    asked = {"ticket": "T", "workload": workload, "trials": trials, "steps": steps, "trial_timeout": limit}
    path = folder / "r.yaml"
    # JSON is YAML.
    path.write_text(
        json.dumps({"schema_version": 1, **asked, "trial_isolation": isolation, "cells": listed}, indent=1)
    )
    return str(path)


def environ_of(folder, **more):
    """Return the variables of a rank; of the workloads of the tests too."""
    names = "subject=tests.workloads.subjects:Subject"
    return losses.environ_of(folder, **{"AORTA_WORKLOADS": names, **more})


def swept(
    folder,
    workload,
    cells,
    *,
    ranks=2,
    python=sys.executable,
    launcher="hand",
    environ=None,
    timeout=55,
    **more,
):
    """Sweep on some ranks and return what is left; it may take so many seconds."""
    path, env = recipe(folder, workload, cells, **more), environ_of(folder, **(environ or {}))
    if launcher == "torchrun":
        process = losses.torchrun(folder, python, path, ranks=ranks, environ=env)
        try:
            _, errors = process.communicate(timeout=timeout)
        finally:
            # Its ranks end with it.
            process.terminate()
        return Swept(folder, [process.returncode], errors)
    job = losses.ByHand(folder, path, port=free_port(), ranks=ranks, python=python, environ=env)
    try:
        codes, told = job.ended(timeout=timeout)
    finally:
        job.end()
    return Swept(folder, codes, told[0])
