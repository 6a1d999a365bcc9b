"""The matrix as a table of plain texts, from the document: for a page, and for a terminal."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from aorta.model.text import count_of
from aorta.sweep.matrix.compare import BASELINE, BETTER, FASTER, SLOWER, WORSE
from aorta.sweep.outcome import PER_STEP

Cell = Mapping[str, Any]

CALLED = {
    "baseline": "baseline",
    "worse": "worse",
    "better": "better",
    "no_difference": "no difference seen",
    "too_few": "too few trials",
    "not_comparable": "not comparable",
}


class Column(NamedTuple):
    """A column: its heading, what a cell has in it, and whether it goes where no cell has anything."""

    heading: str
    text: Callable[[Cell], str]
    is_optional: bool = False


def columns(cells: Sequence[Cell]) -> list[Column]:
    """Return the columns that these cells need."""
    return [
        Column("Cell", lambda cell: str(cell["name"])),
        Column("Mitigations", lambda cell: ", ".join(cell["mitigations"]), is_optional=True),
        Column("Diagnostic", lambda cell: cell["diagnostic"] or "", is_optional=True),
        Column("Environment", lambda cell: str(cell["environment"])),
        *(_config(name) for name in varying(cells)),
        Column("Failures", failures),
        Column("95 % interval", interval),
        Column("Errors", errors),
        Column("Against baseline", against),
        Column("Step ms", step, is_optional=True),
        Column("Time", lambda cell: duration(cell["total_elapsed_s"]) if cell["done_count"] else ""),
        Column("Top finding", finding, is_optional=True),
        Column("Drift", drift, is_optional=True),
    ]


def _config(name: str) -> Column:
    def text(cell: Cell) -> str:
        value = cell["workload_config"].get(name, "")
        return value if isinstance(value, str) else json.dumps(value)

    return Column(f"Config: {name}", text)


def varying(cells: Sequence[Cell]) -> list[str]:
    """Return the keys of the workload's configuration in which cells differ."""
    names = dict.fromkeys(name for cell in cells for name in cell["workload_config"])
    absent = object()
    return [
        name
        for name in names
        if any(
            cell["workload_config"].get(name, absent) != cells[0]["workload_config"].get(name, absent)
            for cell in cells
        )
    ]


def failures(cell: Cell) -> str:
    """Return failures of judged trials, and the rate."""
    rate, judged = cell["failure_rate"], cell["passed_count"] + cell["failed_count"]
    if rate is None:
        return "none judged" if cell["done_count"] else ""
    return f"{cell['failed_count']}/{judged} ({percent(rate)})"


def interval(cell: Cell) -> str:
    """Return the interval of the failure rate."""
    ends = cell["failure_rate_interval"]
    return f"{percent(ends[0])} to {percent(ends[1])}" if ends else ""


def errors(cell: Cell) -> str:
    """Return the trials without a verdict, and whether they are too many."""
    if not cell["error_count"]:
        return "0" if cell["done_count"] else ""
    return f"{cell['error_count']}/{cell['done_count']}{' unreliable' if cell['unreliable'] else ''}"


def against(cell: Cell) -> str:
    """Return how a cell compares with the baseline, in failures and in pace."""
    comparison = cell["comparison"]
    call = comparison["call"]
    if call == BASELINE:
        return CALLED[call]
    if not cell["done_count"]:
        return ""
    text = CALLED[call]
    if call in (WORSE, BETTER):
        text += f" (p = {probability(comparison['adjusted_p'])})"
    pace = paced(cell)
    return f"{text}; {pace}" if pace else text


def paced(cell: Cell) -> str:
    """Return ``slower +87%`` or ``faster -12%``; an empty text for neither."""
    tag, percents = cell["confound"]["tag"], cell["confound"]["percent"]
    change = "?" if percents is None else percents
    return {SLOWER: f"slower +{change}%", FASTER: f"faster -{change}%"}.get(tag, "")


def step(cell: Cell) -> str:
    """Return the mean and the median of a step in milliseconds, and what they are of if not of steps."""
    mean, median = cell["mean_step_time_ms"], cell["p50_step_time_ms"]
    if mean is None or median is None:
        return ""
    source = cell["step_time_source"]
    return f"{mean:.4g} (p50 {median:.4g}{'' if source == PER_STEP else f', {source}'})"


def finding(cell: Cell) -> str:
    """Return what most failing trials are of, and how many other kinds there are; else what warned most."""
    kinds = cell["failure_kinds"] or cell["error_kinds"]
    if kinds and cell["failure_detectors"]:
        others = f", {count_of(len(kinds) - 1, 'other kind')}" if len(kinds) > 1 else ""
        return f"{kinds[0]['kind']} in {kinds[0]['trials']}{others}"
    warned = next(iter(cell["warn_detectors"]), None)
    return f"warn {warned['id']} in {warned['trials']}" if warned else ""


def drift(cell: Cell) -> str:
    """Return how many environments the trials of a cell had, where it is more than one."""
    number = len(cell["env_digests"])
    return f"{number} environments" if number > 1 else ""


def percent(rate: float) -> str:
    """Return a rate in percent; 0 and 100 only where they are exact."""
    shown = f"{100 * rate:.0f}"
    if (shown == "0" and rate > 0) or (shown == "100" and rate < 1):
        shown = f"{100 * rate:.2g}" if rate < 0.5 else f"{min(99.9, 100 * rate):.3g}"
    return f"{shown}%"


def probability(p: float | None) -> str:
    """Return a probability to two digits."""
    return "?" if p is None else f"{p:.2g}"


def milliseconds(time: float | None) -> str:
    """Return a time to four digits, with its unit."""
    return "?" if time is None else f"{time:.4g} ms"


def duration(seconds: float) -> str:
    """Return a time as ``0.25 s``, ``12 s``, ``3m 05s`` or ``2h 03m``."""
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m {rest:02d}s"
