"""The file to write: its placeholders, and that no two tasks write the same one."""

import os
import re
import stat
from collections.abc import Callable, Mapping

from aorta.cli.errors import Misuse
from aorta.cli.tasks import JOB_VARIABLES, Tasks

#: Names of the standard output that are no files of their own.
STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")

PLACEHOLDERS = {
    "host": "the host's name",
    "node": "the node's number in the job, from 0",
    "rank": "the task's rank",
    "job": "the job's id",
}
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def is_stdout(path: str) -> bool:
    """Tell whether a path means the standard output."""
    return path in STANDARD_OUTPUT


def expand(path: str, tasks: Tasks, environ: Mapping[str, str]) -> str:
    """Return the path with its placeholders filled. Raises Misuse for an unknown one."""
    values: dict[str, Callable[[], str]] = {
        "host": lambda: os.uname().nodename,
        "node": lambda: _node(tasks),
        "rank": lambda: str(tasks.rank),
        "job": lambda: _job(environ),
    }

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            known = ", ".join(f"{{{word}}}" for word in PLACEHOLDERS)
            raise Misuse(f"unknown placeholder {match[0]} in {path}; there are {known}")
        return _as_name(values[name]())

    return _PLACEHOLDER.sub(fill, path)


def check_apart(path: str, tasks: Tasks, *, every_rank: bool) -> None:
    """Raise Misuse when several tasks would write the same file, or mix on one standard output.

    All tasks decide alike, from what they were all told. That a directory is local to each node is not
    believed: what looks like a local disk may be shared by nodes that are containers of one machine.
    """
    if tasks.size == 1:
        return
    if is_stdout(path):
        _check_stdout(tasks, every_rank=every_rank)
        return
    used = set(_PLACEHOLDER.findall(path))
    if every_rank and "rank" not in used:
        raise Misuse(
            f"--every-rank with {tasks.size} tasks needs {{rank}} in -o, e.g. -o {_with('{rank}', path)},"
            f" not {path}"
        )
    if tasks.several_nodes and not used & {"host", "node", "rank"}:
        where = "may be on several" if tasks.nodes is None else f"are on {tasks.nodes}"
        word = "{host}" if tasks.node is None else "{node}"
        raise Misuse(
            f"the tasks {where} nodes and all would write {path};"
            f" let each write its own: -o {_with(word, path)} ({{host}}, {{node}} or {{rank}})"
        )


def _check_stdout(tasks: Tasks, *, every_rank: bool) -> None:
    """Raise Misuse when documents would come together in one stream, which mixes long ones line by line."""
    several = every_rank or (tasks.gathered and tasks.several_nodes)
    if several and not _is_file(1):
        raise Misuse(
            "several tasks would print a document each, and the launcher mixes their lines;"
            " write files: -o env-{rank}.json (or let the launcher give each task a file for its output)"
        )


def _is_file(descriptor: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def _with(word: str, path: str) -> str:
    stem, extension = os.path.splitext(path)
    return f"{stem}-{word}{extension}"


def _node(tasks: Tasks) -> str:
    if tasks.node is not None:
        return str(tasks.node)
    if tasks.several_nodes:
        raise Misuse("{node}: the launcher does not tell the node's number; use {host}")
    return "0"


def _job(environ: Mapping[str, str]) -> str:
    return next((environ[name] for name in JOB_VARIABLES if environ.get(name)), "nojob")


def _as_name(text: str) -> str:
    """Return a value as it may stand in a file's name."""
    return re.sub(r"[^\w.+@:-]", "_", text)[:120] or "_"
