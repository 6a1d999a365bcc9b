"""What the table alone would leave open: sentences, only where something needs one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aorta.model.text import count_of, listed
from aorta.sweep.matrix.compare import BETTER, FASTER, NO_DIFFERENCE, SLOWER, TOO_FEW, UNKNOWN, WORSE
from aorta.sweep.matrix.ranks import runs_of, uneven
from aorta.sweep.matrix.run_facts import COMPLETE, INTERRUPTED, RUNNING
from aorta.sweep.matrix.statistics import trials_needed
from aorta.sweep.matrix.table import Cell, milliseconds, paced, percent
from aorta.sweep.outcome import ERROR, FAIL, PASS

_COUNTED = {PASS: "passed_count", FAIL: "failed_count", ERROR: "error_count"}

#: The most characters of an environment's digest, its kind aside.
DIGEST = 12
#: The most trials a cell that somebody is told to run.
MANY = 1000


def callouts(head: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what is to be known before the table: that it is not complete, that nothing is compared."""
    if head["state"] != COMPLETE:
        totals, flight = head["totals"], head["in_flight"]
        told = {RUNNING: "Still running", INTERRUPTED: "Interrupted"}.get(head["state"], "Stopped early")
        why = f" ({head['why']})" if head["why"] else ""
        text = f"{told}{why}: {totals['done']} of {count_of(totals['planned'], 'trial')} done"
        if flight:
            verb = "is" if head["state"] == RUNNING else "was"
            trial = "" if flight["trial"] is None else f"trial {flight['trial']} of "
            text += f", {trial}cell {flight['cell']} {verb} in flight"
        yield f"{text}."
    name = head["baseline_cell"]
    base = next((cell for cell in cells if cell["name"] == name), None)
    if name is None:
        yield "No cell that ran is a baseline, so nothing is compared."
    elif len(cells) > 1 and head["totals"]["done"] and (base is None or base["failure_rate"] is None):
        yield f"The baseline {name} has no judged trial, so no cell is compared with it."


def of_cell(cell: Cell, base: Cell | None) -> Iterator[str]:
    """Yield the notes of one cell."""
    name = cell["name"]
    if cell["unreliable"]:
        yield (
            f"{name}: {cell['error_count']} of {count_of(cell['done_count'], 'trial')} ended without a"
            " verdict; the others may not be typical."
        )
    if len(cell["env_digests"]) > 1:
        kinds = (f"{_short(one['digest'])} in {_trials(one['trials'])}" for one in cell["env_digests"])
        yield f"{name}: the environment was not the same in all trials: {'; '.join(kinds)}."
    if base is not None and base is not cell:
        yield from _pace(cell, base)
    yield from _ended_early(cell)


def _ended_early(cell: Cell) -> Iterator[str]:
    stop = cell["stop_after"]
    if not stop or cell["done_count"] >= cell["trials"]:
        return
    events = cell[_COUNTED[stop["event_verdict"]]]
    if events >= stop["events"]:
        text = (
            f"{cell['name']}: ended early, with {events} {stop['event_verdict']} in"
            f" {count_of(cell['done_count'], 'trial')} of at most {cell['trials']}"
        )
        called = cell["comparison"]["call"] in (WORSE, BETTER)
        yield (
            f"{text}; its rate looks more extreme than it is, so take the call as a guide."
            if called
            else f"{text}."
        )


def _pace(cell: Cell, base: Cell) -> Iterator[str]:
    name, confound = cell["name"], cell["confound"]
    rate, of_base = cell["failure_rate"], base["failure_rate"]
    if confound["tag"] not in (SLOWER, FASTER) or rate is None or of_base is None:
        return
    # A mean is what a few slow steps make of it: where the medians say otherwise, the reader sees it.
    means, medians = (
        " against ".join(milliseconds(one[f"{name}_step_time_ms"]) for one in (cell, base))
        for name in ("mean", "p50")
    )
    steps = f"{means} a step, the medians {medians}"
    if confound["tag"] == SLOWER and rate < of_base:
        yield (f"{name}: fails less and is {paced(cell)} ({steps}): slowness may be what hides the failure.")
    elif confound["tag"] == FASTER and rate > of_base:
        yield (
            f"{name}: fails more and is {paced(cell)} ({steps}): speed may be what brings the failure out."
        )


def of_all(head: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the notes that several cells share: what so many trials could not show, and how many could."""
    yield from uneven(head, cells)
    base = next((cell for cell in cells if cell["name"] == head["baseline_cell"]), None)
    if base is None:
        return
    yield from _limits(cells, base)
    if head["state"] != RUNNING:
        # Of trials that are still to come nobody knows, and the search takes its time.
        yield from _further(cells, base)
    yield from _other_steps(cells, base)


def _limits(cells: Sequence[Cell], base: Cell) -> Iterator[str]:
    groups: dict[tuple[Any, ...], list[str]] = {}
    for cell in cells:
        call, judged = cell["comparison"]["call"], cell["passed_count"] + cell["failed_count"]
        if call in (NO_DIFFERENCE, TOO_FEW):
            ends = (cell["comparison"]["worse_from"], cell["comparison"]["better_to"])
            groups.setdefault((call, judged, *ends), []).append(cell["name"])
    for (call, judged, worse_from, better_to), names in groups.items():
        told = f"{listed(names)} ({count_of(judged, 'judged trial')}{' each' if len(names) > 1 else ''})"
        if call == TOO_FEW:
            yield f"Too few trials: {told}: no result would have been called worse or better."
            continue
        limits = [f"of at least {percent(worse_from)}"] if worse_from is not None else []
        limits += [f"of at most {percent(better_to)}"] if better_to is not None else []
        text = f"No difference seen: {told}: only failure rates {' or '.join(limits)} would have been called"
        if better_to is None and base["failed_count"]:
            text += "; no cure could have been, not even one that never fails"
        elif worse_from is None and base["passed_count"]:
            text += "; nothing worse could have been, not even a cell that always fails"
        yield f"{text}."


def _further(cells: Sequence[Cell], base: Cell) -> Iterator[str]:
    """Yield with how many trials the rates that were seen would be called, of cells of which they are not."""
    rate, told = base["failure_rate"], []
    for cell in cells:
        own = cell["failure_rate"]
        if cell["comparison"]["call"] in (NO_DIFFERENCE, TOO_FEW) and own != rate and None not in (own, rate):
            judged = min(one["passed_count"] + one["failed_count"] for one in (cell, base))
            needed = trials_needed(own, rate, len(cells) - 1, MANY, judged)
            number = f"more than {MANY}" if needed is None else f"about {needed}"
            told.append(f"{cell['name']} ({percent(own)} against {percent(rate)}): {number}")
    if told:
        yield f"Judged trials a cell with which rates as these would be called: {listed(told)}."


def _other_steps(cells: Sequence[Cell], base: Cell) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for cell in cells:
        confound = cell["confound"]
        if confound["tag"] == UNKNOWN and cell["step_time_samples"] and base["step_time_samples"]:
            groups.setdefault(confound["why"], []).append(cell["name"])
    for why, names in groups.items():
        yield f"{listed(names)}: steps are not compared: {why}."


def _short(digest: str) -> str:
    kind, colon, value = digest.rpartition(":")
    return f"{kind}{colon}{value[:DIGEST]}"


def _trials(numbers: Sequence[int]) -> str:
    """Return numbers of trials in words, those in a row as ``3-7``."""
    return f"trial{'s' if len(numbers) > 1 else ''} {listed(runs_of(numbers).split(', '))}"
