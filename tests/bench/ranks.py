"""Figures of sweeps of several ranks: what a trial costs by itself, and what ``race`` finds, on CPUs."""

import argparse
import functools
import os
import statistics
import subprocess
import time
from pathlib import Path

from tests.bench.measuring import Figure, Line, NotMeasuredError
from tests.parts import torches
from tests.workloads.launching import swept

#: Trials of a long sweep and of a short one: the difference is that of trials alone.
LONG, SHORT = 12, 2
#: A trial of two ranks may take this much of ``python -c "import torch"``, and seconds.
TIMES, SECONDS = 1.3, 0.5
EMPTY = {"AORTA_WORKLOADS": "empty=tests.workloads.rank_subjects:Empty"}

#: Seconds that a sweep may take on a busy machine.
LIMIT_S = 900

#: Runs of race with a flipped bit, and without.
RUNS = 20
STEPS = 6
#: Where the bit is flipped: rank, layer (in modes that have some), iteration.
PLACES = ((0, 0, 0), (1, 3, 0), (0, 2, STEPS - 1), (1, 1, STEPS - 1))


def trial(folder: Path, _: argparse.Namespace) -> Line:
    """A trial of two ranks whose body imports torch and does nothing, in interpreters of their own."""
    python = torches.python()
    imports, trials, starts = [], [], []
    for turn in range(3):
        walls = {}
        for number in (SHORT, LONG):
            inner = folder / f"{turn}-{number}"
            inner.mkdir()
            began = time.perf_counter()
            done = swept(
                inner, "empty", {"cell": {}}, trials=number, python=python, environ=EMPTY, timeout=LIMIT_S
            )
            walls[number] = time.perf_counter() - began
            if set(done.verdicts()) != {"pass"} or len(done.records) != number:
                raise NotMeasuredError(f"not all trials passed: {done.errors[-400:]}")
        trials.append((walls[LONG] - walls[SHORT]) / (LONG - SHORT))
        starts.append(walls[SHORT] - SHORT * trials[-1])
        imports += [_import(python) for _ in range(3)]
    took, alone = statistics.median(trials), statistics.median(imports)
    limit = TIMES * alone + SECONDS
    told = f"a trial of 2 ranks {took:.2f} s, import torch {alone:.2f} s, the rest of a sweep"
    return f"{told} {statistics.median(starts):.2f} s", f"{limit:.2f} s", took <= limit


def _import(python: str) -> float:
    began = time.perf_counter()
    subprocess.run([python, "-c", "import torch"], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return time.perf_counter() - began


def race(mode: str, folder: Path, _: argparse.Namespace) -> Line:
    """Runs of race on two ranks: one flipped bit is found where it is, and nothing where there is none."""
    python = torches.python()
    has_layers = mode != "default"
    planted = {
        f"planted-{number}": {"rank": rank, "layer": layer if has_layers else 0, "iteration": iteration}
        for number, (rank, layer, iteration) in enumerate(PLACES)
    }
    cells = {name: {"workload_config": {"mode": mode, "inject": place}} for name, place in planted.items()}
    each = RUNS // len(PLACES)
    (folder / "planted").mkdir()
    (folder / "clean").mkdir()
    found = swept(folder / "planted", "race", cells, trials=each, steps=STEPS, python=python, timeout=LIMIT_S)
    clean = swept(
        folder / "clean",
        "race",
        {"cell": {"mode": mode}},
        trials=RUNS,
        steps=STEPS,
        python=python,
        timeout=LIMIT_S,
    )
    right = sum(_is_right(record, planted[record["cell"]]) for record in found.records.values())
    passed = clean.verdicts().count("pass")
    told = f"a flipped bit found in {right} of {RUNS} runs, {passed} of {RUNS} clean without"
    return f"{told} (mode {mode})", f"{RUNS} and {RUNS}", right == passed == RUNS


def _is_right(record: dict, place: dict) -> bool:
    """Tell whether all that was found is where the bit was flipped."""
    details = record["failure_details"]
    return (
        record["verdict"] == "fail" and bool(details) and all(place.items() <= one.items() for one in details)
    )


FIGURES: dict[str, Figure] = {
    "ranks_trial": trial,
    **{f"race_{mode}": functools.partial(race, mode) for mode in ("default", "ddp", "fsdp")},
}
