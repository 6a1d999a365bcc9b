"""``aorta sweep show``: what a run found, from its files."""

import glob
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click

from aorta.cli.errors import Command, Failure, Misuse, printing
from aorta.cli.plain import clean
from aorta.instrumentation.process import Stdout, say
from aorta.model.text import count_of
from aorta.sweep.outcome import PASS
from aorta.sweep.run.store import DEFAULT_OUTPUT, LATEST

#: Columns that a narrow terminal goes without, the first first.
SPARED = (
    "Drift",
    "Environment",
    "Diagnostic",
    "Time",
    "Mitigations",
    "95 % interval",
    "Top finding",
    "Step ms",
)


#: How a reason begins that says only how the command ended.
_BARE = ("exit status ", "ended by ")
_LAST_BYTES = 4096


@click.command(cls=Command, short_help="Show what a run found, or one cell's trials.")
@click.argument("run", default=DEFAULT_OUTPUT)
@click.option("--json", "as_json", is_flag=True, help="Print the document.")
@click.option("--cell", metavar="NAME", help="List the trials of one cell, and their logs.")
@click.option("--junit", metavar="FILE", help="Write JUnit's XML: a suite a cell, a case a trial.")
def show(run: str, cell: str | None, junit: str | None, *, as_json: bool) -> None:
    """Show RUN: the directory of a run, a matrix.json, or a directory below which the newest run is shown.

    Without RUN, or with 'latest', it is the newest below triage_results.
    """
    if as_json and cell is not None:
        raise Misuse("--json, --cell: only one of them at a time")
    from aorta.sweep.matrix.reading import MatrixError, matrix_of, read

    try:
        path = matrix_of(DEFAULT_OUTPUT if run == LATEST and not os.path.lexists(run) else run)
        document = read(path)
    except MatrixError as error:
        raise Failure(clean(str(error))) from None
    folder = os.path.dirname(path) or "."
    if junit is not None:
        from aorta.cli.sweep_junit import write_junit

        write_junit(junit, document)
    with Stdout() as out, printing():
        if as_json:
            out.write(json.dumps(document, indent=2) + "\n")
        elif cell is not None:
            out.write("\n".join(trials_of(document, cell, folder)) + "\n")
        elif out.isatty():
            _rich(document, folder, out)
        else:
            from aorta.sweep.matrix.markdown import Page

            out.write(Page().text(document, document["cells"]))
    if not document["complete"] and not as_json:
        say(f"aorta: {_way_on(document, folder)}")


def _way_on(document: Mapping[str, Any], folder: str) -> str:
    if document["state"] == "running":
        return (
            f"the run is not complete: it is still running, or was killed; then go on with: {_resume(folder)}"
        )
    return f"the run is {document['state']}; go on with: {_resume(folder)}"


def _resume(folder: str) -> str:
    return f"aorta sweep run --resume {shlex.quote(folder)}"


def trials_of(document: Mapping[str, Any], name: str, folder: str) -> list[str]:
    """Return the trials of a cell as lines: verdict, time, reason, record and logs. Raises Misuse."""
    from aorta.cli.sweep_lost import lost_lines
    from aorta.sweep.matrix.table import against, duration, failures

    cell = next((one for one in document["cells"] if one["name"] == name), None)
    if cell is None:
        import difflib

        names = [one["name"] for one in document["cells"]]
        close = difflib.get_close_matches(name, names)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}"
        raise Misuse(f"--cell: no cell {name!r} in this run: {clean(hint)}")
    told = ", ".join(filter(None, (failures(cell), against(cell)))) or "no trial yet"
    lines = [clean(f"{cell['name']}: {told}")]
    for trial in cell["trial_results"]:
        ended = trial.get("signal") or trial.get("exit_code")
        parts = [
            f"trial {trial['trial']:<4}",
            f"{trial['verdict']:<5}",
            f"{duration(trial['elapsed_s'] or 0):>7}",
        ]
        parts += [f"exit {ended}"] if ended is not None else []
        lines.append(f"  {'  '.join(parts)}{_reason(trial)}")
        lines += [f"    {clean(path)}" for path in _files(trial, folder)]
        lines += [f"    {line}" for line in _last_words(trial, folder)]
        if "rank" in trial and trial["verdict"] != PASS:
            lines += [f"    {line}" for line in lost_lines(os.path.join(folder, trial["path"]))]
    return lines


def _reason(trial: Mapping[str, Any]) -> str:
    return f"  {clean(trial['reason'])}" if trial.get("reason") else ""


def _last_words(trial: Mapping[str, Any], folder: str) -> list[str]:
    """Return the last line of a trial's log, where its reason is no more than how it ended.

    It is the one of standard error, of one of several ranks also that of standard output.
    """
    from aorta.sweep.matrix.logs import telling_log

    reason = trial.get("reason") or ""
    if "rank" in trial:
        reason = reason.partition(": ")[2]
    if trial["verdict"] == PASS or not reason.startswith(_BARE):
        return []
    log = trial.get("stderr")
    log = telling_log(folder, log) if log else f"{trial['path'].removesuffix('.json')}.stderr.log"
    if log is None:
        return []
    try:
        with open(os.open(os.path.join(folder, log), os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _LAST_BYTES))
            text = stream.read().decode("utf-8", "replace").strip()
    except OSError:
        return []
    name = "stdout" if log.endswith(".stdout.log") else "stderr"
    return [f"{name} ends: {clean(text.splitlines()[-1].strip()[:300])}"] if text else []


def _files(trial: Mapping[str, Any], folder: str) -> list[str]:
    """Return the paths of a trial's record and of those logs that are there.

    Of several ranks they are those of the one that its reason is of, else rank 0's, and how many more.
    """
    from aorta.sweep.files import TrialFiles

    record = os.path.join(folder, trial["path"])
    files = TrialFiles(stem=record.removesuffix(".json"))
    logs = glob.glob(f"{glob.escape(files.stem)}.rank*.std*.log")
    if logs:
        files = files.of_rank(trial.get("rank", 0))
    shown = [path for path in (files.stdout, files.stderr, files.folder) if os.path.exists(path)]
    others = len(set(logs).difference(shown))
    more = f"{record.removesuffix('.json')}.rank*.log: {count_of(others, 'more log')}"
    return [record, *shown, *([more] if others else [])]


def fitting(table: Mapping[str, Sequence[str]], width: int) -> dict[str, Sequence[str]]:
    """Return the columns of a table that stand side by side in a width: the least important go first.

    What goes is in the notes, in the page, or among a cell's trials.
    """
    kept = dict(table)
    for heading in SPARED:
        if sum(2 + max(map(len, (name, *texts))) for name, texts in kept.items()) <= width:
            break
        kept.pop(heading, None)
    return kept


def _rich(document: Mapping[str, Any], folder: str, out: Stdout) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from aorta.cli.sweep_summary import end_summary
    from aorta.sweep.matrix import notes
    from aorta.sweep.matrix.ranks import ranks_line
    from aorta.sweep.matrix.table import columns

    cells = document["cells"]
    console = Console(file=out.stream, highlight=False)
    head = filter(None, (document["workload"], document["ticket"], document["run_timestamp"], folder))
    console.print(Text(clean("  ".join(head)), style="bold"))
    ranks = ranks_line(document)
    if ranks is not None:
        console.print(Text(clean(f"Ranks: {ranks}")))
    for text in notes.callouts(document, cells):
        console.print(Text(f"! {clean(text)}", style="bold yellow"))
    texts = {column.heading: [clean(column.text(cell)) for cell in cells] for column in columns(cells)}
    optional = {column.heading for column in columns(cells) if column.is_optional}
    shown = fitting(
        {name: column for name, column in texts.items() if name not in optional or any(column)}, console.width
    )
    table = Table(box=None, padding=(0, 1))
    for heading in shown:
        table.add_column(heading, overflow="fold")
    for index, cell in enumerate(cells):
        style = "red" if cell["failed_count"] else "yellow" if cell["error_count"] else ""
        # Text, since what a trial says may look like markup.
        table.add_row(*(Text(column[index]) for column in shown.values()), style=style)
    console.print(table)
    base = next((cell for cell in cells if cell["name"] == document["baseline_cell"]), None)
    told = [*notes.of_all(document, cells), *(note for cell in cells for note in notes.of_cell(cell, base))]
    for note in (*told, *document["warnings"]):
        console.print(Text(f"* {clean(note)}"))
    console.print(Text(end_summary(document), style="bold"))
    out.write("")
