"""The end of a sweep in words: what the cells came to, and whether that is a success."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from aorta.cli.plain import clean
from aorta.model.text import count_of
from aorta.sweep.matrix.compare import BASELINE, BETTER, WORSE
from aorta.sweep.matrix.kinds import together, told
from aorta.sweep.matrix.table import probability

#: What ``--fail-on`` takes.
FAIL_ON = ("fail", "error", "worse")


def end_summary(document: Mapping[str, Any]) -> str:
    """Return the lines at the end of a run: how many cells are clean, and each one that is not.

    A clean cell has a line too where that is the finding: it is better than the baseline.
    """
    cells = document["cells"]
    counts = {"clean": 0, "failing": 0, "errors": 0, "unjudged": 0, "unfinished": 0}
    for cell in cells:
        counts["failing"] += cell["failed_count"] > 0
        counts["errors"] += cell["error_count"] > 0
        counts["unjudged"] += cell["failure_rate"] is None
        counts["clean"] += _is_clean(cell)
    if counts["clean"] == len(cells) and document["complete"]:
        return f"Sweep summary: {'the cell' if len(cells) == 1 else f'all {len(cells)} cells'} passed."
    lot = [f"{counts['clean']} clean", f"{counts['failing']} with failing trials"]
    lot += [f"{counts['errors']} with errors", f"{counts['unjudged']} not judged"]
    lines = [f"Sweep summary: {count_of(len(cells), 'cell')}: {', '.join(lot)}."]
    if not document["complete"]:
        totals, why = document["totals"], f" ({document['why']})" if document["why"] else ""
        done = f"{totals['done']} of {count_of(totals['planned'], 'trial')} done"
        lines.append(f"  The run is {document['state']}{clean(why)}: {done}.")
    lines += [_line(cell) for cell in cells if not _is_clean(cell) or cell["comparison"]["call"] == BETTER]
    return "\n".join(lines)


def _is_clean(cell: Mapping[str, Any]) -> bool:
    return bool(cell["passed_count"]) and not cell["failed_count"] and not cell["error_count"]


def _line(cell: Mapping[str, Any]) -> str:
    word = "better" if _is_clean(cell) else "none"
    word = "fail" if cell["failed_count"] else "error" if cell["error_count"] else word
    first = cell["first_failure"] or cell["first_error"]
    text = f"  [{word}] {clean(cell['name'])}: {'; '.join(_counts(cell))}"
    if first is None:
        return text
    kinds = together(cell)
    why = f": {clean(first['reason'])}" if first["reason"] else ""
    if len(kinds) > 1:
        why = f": {clean(told(kinds))}" + (f"; first: {clean(first['reason'])}" if first["reason"] else "")
    return f"{text}{why} -> {clean(os.path.dirname(first['path']))}"


def _counts(cell: Mapping[str, Any]) -> Iterator[str]:
    judged, comparison = cell["passed_count"] + cell["failed_count"], cell["comparison"]
    call = ""
    if comparison["call"] in (WORSE, BETTER):
        call = f" ({comparison['call']} than baseline, p = {probability(comparison['adjusted_p'])})"
    if cell["failed_count"] or call:
        yield f"{cell['failed_count']}/{judged} failed{call}"
    if cell["error_count"]:
        yield f"{cell['error_count']}/{cell['done_count']} without a verdict"
    if not cell["done_count"]:
        yield "not one trial was executed"


def verdict_of_run(document: Mapping[str, Any], fail_on: str | None) -> bool:
    """Tell whether a run is a success, as its exit status is to say.

    One in which no trial could be judged never is, nor one that the loss of a rank ended. ``fail_on`` says
    what else makes it none: ``fail`` a trial that failed, ``error`` that or one without a verdict, ``worse``
    a cell that is worse than the baseline, or that nothing can be compared: there is no baseline, or it has
    no judged trial.
    """
    totals = document["totals"]
    if document["lost_rank"] or not totals["passed"] + totals["failed"]:
        return False
    if fail_on == "worse":
        if document["baseline_cell"] is None:
            return False
        found = [(cell["comparison"]["call"], cell["failure_rate"]) for cell in document["cells"]]
        return all(call != WORSE and (call, rate) != (BASELINE, None) for call, rate in found)
    if fail_on == "error":
        return not totals["failed"] and not totals["errors"]
    return fail_on != "fail" or not totals["failed"]
