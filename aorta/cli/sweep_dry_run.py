"""What ``aorta sweep run --dry-run`` prints: all that a run would do, and what is wrong with it.

Plain lines; nothing is cut or folded to a terminal's width, so that values can be copied.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aorta.cli.sweep_dry_run_launch import launch_rows
from aorta.cli.sweep_effect import effect
from aorta.host.redaction import Redaction, secrets_of
from aorta.model.text import count_of, printable
from aorta.sweep.planning.overlay import Layer, overlay_of
from aorta.sweep.recipe.model import COMMAND, INTERLEAVED, PLACES, PROCESS, Recipe
from aorta.sweep.run.store import place_of

if TYPE_CHECKING:
    from aorta.sweep.planning.checks import Problem
    from aorta.sweep.planning.plan import Plan, PlannedCell

Row = tuple[str, str]


def dry_run_text(plan: "Plan", environ: Mapping[str, str], problems: "Sequence[Problem]", output: str) -> str:
    """Return what a plan would run, with secrets taken out; ``problems`` come last."""
    redaction = _redaction(plan, environ)
    head = [*_head(plan, output), *launch_rows(plan, environ), *_trials(plan), *_rules(plan, redaction)]
    lines = [*_columns(head)]
    for cell in plan.cells:
        about = "  (baseline)" if cell.name == plan.baseline else ""
        lines += ["", f"Cell {cell.name}{about}"]
        lines += [f"  {line}" for line in _columns(_cell(plan, cell, redaction))]
        lines += [f"  {line}" for line in _variables(cell, environ, redaction)]
    lines += ["", *_problems(problems), "Nothing was run or written.", ""]
    return "\n".join(lines)


def _redaction(plan: "Plan", environ: Mapping[str, str]) -> Redaction:
    redaction = Redaction(secrets_of(environ))
    for cell in plan.cells:
        for layer in cell.layers:
            for secret in secrets_of({**layer.change.set, **layer.change.prepend}):
                redaction.learn(secret)
    return redaction


def _columns(rows: Iterable[Row]) -> Iterator[str]:
    """Yield names and values, the values under each other."""
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    return (f"{name:<{width}}  {value}".rstrip() for name, value in rows)


def _head(plan: "Plan", output: str) -> Iterator[Row]:
    recipe = plan.recipe
    yield "Recipe", printable(recipe.source) if recipe.source else "made of options"
    if recipe.sha256:
        yield "Content", f"sha256:{recipe.sha256.removeprefix('sha256:')}"
    yield "Ticket", printable(recipe.ticket) if recipe.ticket else "none"
    yield "Workload", plan.workload
    yield "Isolation", _isolation(plan)
    yield "Results", f"{printable(place_of(output, recipe.ticket, plan.workload))}/TIME/"


def _isolation(plan: "Plan") -> str:
    if plan.workload == COMMAND:
        return "each trial is a process of the command"
    if plan.isolation == PROCESS:
        return "process: each trial in an interpreter of its own"
    return "in_process: all trials in aorta's own process; of several ranks in one interpreter a rank"


def _trials(plan: "Plan") -> Iterator[Row]:
    recipe = plan.recipe
    number = sum(cell.trials for cell in plan.cells)
    most = "at most " if recipe.stop_after else ""
    yield "Trials", f"{most}{number} in {count_of(len(plan.cells), 'cell')}"
    yield (
        "Order",
        "interleaved: a trial of each cell, then the next of each"
        if recipe.order == INTERLEAVED
        else "sequential: one cell after another",
    )
    yield "Baseline", plan.baseline or "none of the cells that run: nothing is compared"
    yield from (("Detectable", text) for text in effect(plan))


def _rules(plan: "Plan", redaction: Redaction) -> Iterator[Row]:
    recipe = plan.recipe
    limit = recipe.timeout_s
    waits = "none" if recipe.end_on_hang else "none: a trial that hangs holds up the sweep"
    yield "Time limit", f"{limit:g} s a trial" if limit else waits
    if recipe.stop_after:
        rule = recipe.stop_after
        ends = f"a cell ends after {count_of(rule.events, 'trial')} with verdict {rule.event_verdict}"
        yield "Stop after", f"{ends}, after {rule.max_trials} at the latest"
    if recipe.fail_fast:
        yield "Fail fast", "the sweep ends with the first trial that fails"
    if recipe.warmup_steps and (plan.workload != COMMAND or recipe.step_time_regex):
        first = "step" if recipe.warmup_steps == 1 else f"{recipe.warmup_steps} steps"
        yield "Warm-up", f"times of a trial's first {first} are not counted"
    for name, cells in (("Only", recipe.only), ("Skipped", recipe.skip)):
        if cells:
            yield name, ", ".join(cells)
    if plan.workload == COMMAND:
        yield from _command(recipe, redaction)
    elif recipe.save_logs:
        yield "Logs", "kept"


def _command(recipe: Recipe, redaction: Redaction) -> Iterator[Row]:
    words = [printable(word) for word in redaction.words(recipe.command)]
    yield "Command", shlex.join(words) or "none"
    yield "Passed on", f"variables: {recipe.env_passthrough_mode}"
    if recipe.step_time_regex:
        yield "Step times", printable(recipe.step_time_regex)
    done = "ended" if recipe.end_on_hang else "left alone"
    window, grace = recipe.hang_window_sec, recipe.hang_grace_period_at_start
    yield "Hang", f"after {window:g} s of silence, from {grace:g} s on; the trial is {done}"
    for pattern in recipe.custom_patterns:
        needed = ", must be seen" if pattern.required_for_pass else ""
        yield "Pattern", f"custom:{pattern.id} ({pattern.effect}{needed}): {printable(pattern.match.regex)}"
    off = [*recipe.disable_detector_tiers, *recipe.disable_detectors]
    yield "Disabled", ", ".join(off) if off else "no detector"
    kept = {"pass": recipe.retain.on_pass, "fail": recipe.retain.on_fail, "error": recipe.retain.on_error}
    if set(kept.values()) != {"full"}:
        yield "Kept", ", ".join(f"{level} of {verdict}" for verdict, level in kept.items())


def _cell(plan: "Plan", cell: "PlannedCell", redaction: Redaction) -> Iterator[Row]:
    place = cell.environment
    owners = {layer.source: layer.owner for layer in cell.layers}
    yield "environment", f"{place.name} ({printable(place.source)}){_about(cell)}"
    for name in cell.mitigations:
        yield "mitigation", f"{name} ({printable(owners.get(f'mitigation {name}', 'aorta'))})"
    if cell.diagnostic is not None:
        owner = owners.get(f"mitigation {cell.diagnostic}", "aorta")
        yield "diagnostic", f"{cell.diagnostic} ({printable(owner)})"
    steps = "" if plan.workload == COMMAND else f", {count_of(cell.steps, 'step')} each"
    yield "trials", f"{'at most ' if cell.stop_after else ''}{cell.trials}{steps}"
    if cell.workload_config:
        config = redaction.value(cell.workload_config)
        yield "config", printable(json.dumps(config, ensure_ascii=False, default=str))


def _about(cell: "PlannedCell") -> str:
    place = cell.environment
    told = [f"{field} {printable(value)}" for field in PLACES if (value := getattr(place, field)) is not None]
    return f": {', '.join(told)}" if told else ""


def _variables(cell: "PlannedCell", environ: Mapping[str, str], redaction: Redaction) -> Iterator[str]:
    """Yield what the cell's layers make of variables: name, who has the last word, value."""
    overlay = overlay_of(cell.layers, environ)
    if not overlay:
        yield "variables    none is changed"
        return
    yield "variables"
    rows = [
        (
            name,
            _last(cell.layers, name),
            "unset" if value is None else f"= {printable(redaction.value(value, name))}",
        )
        for name, value in sorted(overlay.items())
    ]
    name_width, layer_width = (max(len(row[place]) for row in rows) for place in (0, 1))
    for name, layer, value in rows:
        yield f"  {name:<{name_width}}  {layer:<{layer_width}}  {value}"


def _last(layers: tuple[Layer, ...], name: str) -> str:
    touching = (
        layer.source
        for layer in reversed(layers)
        if name in layer.change.set or name in layer.change.unset or name in layer.change.prepend
    )
    return next(touching)


def _problems(problems: "Sequence[Problem]") -> Iterator[str]:
    if not problems:
        yield "No problem was found."
        return
    for problem in problems:
        yield f"{problem.severity}: {problem.line()}"
    errors = sum(problem.severity == "error" for problem in problems)
    if errors:
        yield f"This would not run: {count_of(errors, 'error')}."
    elif any(problem.severity == "error here" for problem in problems):
        yield "This would not run on this machine."
