"""The file to write: its placeholders, and that no two tasks write the same one."""

import os
import re
from collections.abc import Callable, Mapping

from aorta.cli.errors import Misuse
from aorta.cli.tasks import JOB_VARIABLES, Tasks

#: Names of the standard output that are no files of their own.
STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")

PLACEHOLDERS = {
    "host": "the host's name",
    "node": "the node's number in the job",
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
    """Raise Misuse when several tasks would write the same file."""
    if is_stdout(path) or tasks.size == 1:
        return
    used = set(_PLACEHOLDER.findall(path))
    if every_rank and "rank" not in used:
        raise Misuse(
            f"--every-rank with {tasks.size} tasks needs {{rank}} in -o, e.g. env-{{rank}}.json, not {path}"
        )
    if tasks.several_nodes and not used & {"host", "node", "rank"}:
        raise Misuse(
            f"the tasks are on {tasks.nodes} nodes and all would write {path};"
            " use {node} (or {host}, {rank}) in -o, e.g. -o env-{node}.json"
        )


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
