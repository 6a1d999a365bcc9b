"""Going on with a run: which one, whether it is the same sweep on the same host, and what it has."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aorta.model.frozen import frozen
from aorta.model.text import count_of, listed
from aorta.sweep.matrix.ranks import TOLD, runs_of
from aorta.sweep.matrix.reading import MatrixError, matrix_of
from aorta.sweep.matrix.reading import read as read_matrix
from aorta.sweep.matrix.run_facts import NodeFacts
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.run.store import RunDirectory, StoreError, place_of
from aorta.sweep.slug import slug
from aorta.sweep.summary import TrialSummary

_RECORD = re.compile(r"trial_([0-9]+)\.json")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:-\d+)?")


class ResumeError(Exception):
    """A run cannot be gone on with; the text says why and what to do."""


@frozen
class Earlier:
    """A run that is on disk: its directory, and its matrix."""

    path: str
    matrix: Mapping[str, Any]

    @property
    def fingerprint(self) -> str | None:
        """Return what the run's recipe was, in short."""
        found: str | None = self.matrix["recipe_source"]["fingerprint"]
        return found

    @property
    def complete(self) -> bool:
        """Tell whether nothing was missing."""
        return bool(self.matrix["complete"])

    def is_of(self, starts: Mapping[str, int]) -> bool:
        """Tell whether it is of one of these jobs, and of a time before that began again the last time."""
        own = self.matrix["starts"]
        return any(name in own and own[name] < count for name, count in starts.items())


def earlier_run(place: str) -> Earlier:
    """Return the run that a place stands for, as ``aorta sweep show`` takes it. Raises ResumeError."""
    try:
        path = matrix_of(place)
        return Earlier(path=os.path.dirname(os.path.realpath(path)), matrix=read_matrix(path))
    except MatrixError as error:
        raise ResumeError(str(error)) from None


def latest_run(
    output: str, ticket: str | None, workload: str, is_wanted: Callable[[Earlier], bool]
) -> Earlier | None:
    """Return the newest run that is wanted, of its ticket or else of another one; None where none is."""
    own = place_of(output, ticket, workload)
    others = (entry.path for entry in _entries(output))
    for places in ([own], [os.path.join(place, slug(workload)) for place in others]):
        runs = [entry for place in places for entry in _entries(place) if _STAMP.fullmatch(entry.name)]
        for entry in sorted(runs, key=_in_time, reverse=True):
            try:
                found = earlier_run(entry.path)
            except ResumeError:
                continue
            if is_wanted(found):
                return found
    return None


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _in_time(entry: "os.DirEntry[str]") -> tuple[str, int]:
    stamp, number = entry.name[:19], entry.name[20:]
    return stamp, int(number) if number else 1


def check_same(earlier: Earlier, fingerprint: str, differing: Sequence[str] = ()) -> None:
    """Raise ResumeError when a run is of another recipe; ``differing`` are the keys that differ."""
    if earlier.fingerprint != fingerprint:
        what = f" (in {', '.join(differing)})" if differing else ""
        raise ResumeError(
            f"{earlier.path} is of another recipe or command{what}: what ran there cannot be mixed with it;"
            " begin a new run without --resume"
        )


def check_place(earlier: Earlier) -> None:
    """Raise ResumeError in another directory than a run's, where relative names mean something else."""
    cwd = earlier.matrix["cwd"]
    begun = os.getcwd() if cwd is None else os.path.normpath(os.path.join(earlier.path, cwd))
    if os.path.realpath(begun) != os.path.realpath(os.getcwd()):
        raise ResumeError(
            f"{earlier.path} was begun in {begun}, and relative names in its command mean files there:"
            " cd to it"
        )


def check_host(earlier: Earlier, nodes: Sequence[NodeFacts]) -> None:
    """Raise ResumeError when a run was made on other hosts, or on these in another state."""
    before = {one["node"]: (one["host_digest"], one["ranks"]) for one in earlier.matrix["nodes"]}
    now = {one.node: (one.host_digest, list(one.ranks)) for one in nodes}
    placed = [{node: ranks for node, (_, ranks) in each.items()} for each in (before, now)]
    if len(before) == len(now) == 1 and _size(before) == _size(now) == 1:
        _check_one_host(earlier, before, now)
    elif placed[0] != placed[1]:
        raise ResumeError(
            f"{earlier.path} was made by {_ranks(before)}, and this job has {_ranks(now)}: start it alike, or"
            " begin a new run without --resume"
        )
    changed = [node for node, (digest, _) in before.items() if _differ(digest, now[node][0])]
    if changed:
        raise ResumeError(
            f"{earlier.path} was made when {listed(changed)} had another state: compare"
            f" environments/NAME/nodes/{slug(changed[0])}.json there with a new snapshot by `aorta env diff`;"
            " begin a new run without --resume"
        )


#: Nodes with the digests of their hosts, and their ranks.
_Nodes = Mapping[str, tuple[str | None, list[int]]]


def _check_one_host(earlier: Earlier, before: _Nodes, now: _Nodes) -> None:
    if any(node not in now or _differ(digest, now[node][0]) for node, (digest, _) in before.items()):
        raise ResumeError(
            f"{earlier.path} was made elsewhere ({', '.join(before)}), or this host has changed"
            " since: compare its host_env.json with `aorta env diff`; begin a new run without --resume"
        )


def _differ(one: str | None, other: str | None) -> bool:
    return None not in (one, other) and one != other


def _size(nodes: _Nodes) -> int:
    return sum(len(ranks) for _, ranks in nodes.values())


def _ranks(nodes: _Nodes) -> str:
    """Return ranks and nodes in words: ``4 ranks on 2 nodes (node1: 0-1, node2: 2-3)``."""
    told = [f"{node}: {runs_of(ranks)}" for node, (_, ranks) in list(nodes.items())[:TOLD]]
    more = ["…"] if len(nodes) > TOLD else []
    count = count_of(_size(nodes), "rank")
    return f"{count} on {count_of(len(nodes), 'node')} ({', '.join([*told, *more])})"


def is_finished(earlier: Earlier) -> bool:
    """Tell whether a run is complete and all its records are there, without reading them."""
    if not earlier.complete:
        return False
    listed: dict[str, set[str]] = {}
    for cell in earlier.matrix["cells"]:
        for path in cell["trial_paths"]:
            folder, name = os.path.split(os.path.join(earlier.path, path))
            if folder not in listed:
                listed[folder] = set(os.listdir(folder)) if os.path.isdir(folder) else set()
            if name not in listed[folder]:
                return False
    return True


def recorded(run: RunDirectory, plan: Plan) -> tuple[list[TrialSummary], list[str]]:
    """Return the trials of a plan that are on disk, and what is wrong with other files there."""
    from aorta.sweep.run.record import RecordError, read

    found, wrong = [], []
    for cell in plan.cells:
        for trial in _on_disk(run, cell):
            path = run.files(cell.name, trial).record
            try:
                found.append(read(path, cell.name, trial, run.relative(path)))
            except RecordError as error:
                wrong.append(f"{error}; the trial runs again")
            except (OSError, UnicodeError) as error:
                raise StoreError(f"cannot read {path}: {error}") from None
    return found, wrong


def _on_disk(run: RunDirectory, cell: PlannedCell) -> list[int]:
    """Return the trials of a cell of which there is a record; few, however many are planned."""
    folder = os.path.dirname(run.files(cell.name, 0).record)
    found = map(_RECORD.fullmatch, os.listdir(folder))
    numbers = {int(match[1]) for match in found if match is not None}
    return sorted(
        number
        for number in numbers
        if number < cell.trials and os.path.isfile(run.files(cell.name, number).record)
    )
