"""Figures of the matrix: what making its files again costs after each of a thousand trials."""

import argparse
import statistics
import time
from pathlib import Path

from aorta.sweep.matrix.matrix import Matrix
from aorta.sweep.matrix.run_facts import RUNNING, State
from tests.bench.measuring import Figure, Line
from tests.sweep_matrix.made import RUN, cell, plan, stepped

TRIALS, STEPS = 1_000, 50
#: Trials at the end whose costs count: then there is most to write.
LAST = 200


def again(_: Path, options: argparse.Namespace) -> Line:
    """Both files after each of the last trials of 1,000, in 5 cells, with 50 steps each, round-robin."""
    del options
    return _measured(5)


def one_cell(_: Path, options: argparse.Namespace) -> Line:
    """The same in one cell: all samples are summed up anew."""
    del options
    return _measured(1)


def _measured(cells: int) -> Line:
    names = [f"cell-{number}" for number in range(cells)]
    matrix = Matrix(plan(*(cell(name, trials=TRIALS // cells) for name in names)), RUN, environ={})
    took = []
    for number in range(TRIALS):
        name = names[number % cells]
        times = tuple(10 + (number * 7919 + step * 104729) % 1000 / 500 for step in range(STEPS))
        verdict = "fail" if number % 7 == 0 else "pass"
        made = stepped(name, number // cells, *times, verdict=verdict, exit_code=0, env_digest="sha256:1")
        state = State(word=RUNNING, cell=name, trial=number // cells)
        started = time.perf_counter()
        matrix.add(made)
        matrix.json_text(state)
        matrix.markdown(state)
        took.append((time.perf_counter() - started) * 1000)
    last = sorted(took[-LAST:])
    median, worst = statistics.median(last), last[int(0.95 * LAST)]
    told = f"matrix.json and matrix.md after a trial, {TRIALS} in {cells} cells: {median:.2f} ms (95 %: {worst:.2f})"
    return told, "1 ms", median <= 1.0


FIGURES: dict[str, Figure] = {"sweep_matrix": again, "sweep_matrix_one_cell": one_cell}

if __name__ == "__main__":
    for figure in FIGURES.values():
        print(*figure(Path(), argparse.Namespace()))
