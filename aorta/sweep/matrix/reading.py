"""Reading matrix.json: the document, or one line that says why there is none."""

import os
from typing import Any

from aorta.model.document import DocumentError, parse_json
from aorta.sweep.json_schema import complaint
from aorta.sweep.matrix.schema import MATRIX, SCHEMA_VERSION

#: The file's name in the directory of a run.
NAME = "matrix.json"
#: The largest that is read, in bytes. A run of a thousand trials has less than a hundredth of it.
LIMIT = 256 << 20
#: How deep below a directory runs are looked for: ticket, workload, time.
DEPTH = 3


class MatrixError(Exception):
    """A matrix that cannot be shown; the text says why."""


def matrix_of(place: str) -> str:
    """Return the path of the matrix that a place stands for: a file, a run, or the newest run below.

    Raises MatrixError.
    """
    if os.path.isdir(place):
        found = newest_below(place)
        if found is None:
            raise MatrixError(f"{place}: no run in it or below it: no {NAME}")
        return found
    if not os.path.exists(place):
        raise MatrixError(f"{place}: no such run: name its directory, or its {NAME}")
    return place


def newest_below(folder: str) -> str | None:
    """Return the matrix of the run that began last in a directory or up to three levels below it.

    The names of runs are the time at which they began, with a number behind where two began in one second.
    """
    own = os.path.join(folder, NAME)
    if os.path.isfile(own):
        return own
    runs: list[tuple[str, int, str]] = []
    level = [folder]
    for _ in range(DEPTH):
        level = [entry for parent in level for entry in _folders(parent)]
        runs += [(*_began(entry), entry) for entry in level if os.path.isfile(os.path.join(entry, NAME))]
    return os.path.join(max(runs)[2], NAME) if runs else None


def _folders(parent: str) -> list[str]:
    try:
        with os.scandir(parent) as entries:
            # A link to the newest run is not one more.
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _began(folder: str) -> tuple[str, int]:
    name = os.path.basename(folder)
    number = name[20:]
    return name[:19], int(number) if number.isascii() and number.isdigit() else 1


def read(path: str) -> dict[str, Any]:
    """Return the document in a file. Raises MatrixError for anything else than a matrix."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(LIMIT + 1)
    except OSError as error:
        raise MatrixError(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > LIMIT:
        raise MatrixError(f"{path}: larger than {LIMIT >> 20} MiB, so no matrix")
    try:
        document = parse_json(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MatrixError(f"{path}: not UTF-8 at byte {error.start}, so no matrix") from None
    except DocumentError as error:
        raise MatrixError(f"{path}: {error}") from None
    version = document.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or "cells" not in document:
        raise MatrixError(f"{path}: no matrix of an aorta sweep")
    if version > SCHEMA_VERSION:
        raise MatrixError(f"{path}: schema version {version}: made by a newer aorta, which can show it")
    _complete(document)
    wrong = complaint(document, MATRIX)
    if wrong is not None:
        raise MatrixError(f"{path}: not as schema version {version} has it: {wrong}")
    return document


def _complete(document: dict[str, Any]) -> None:
    """Add what a matrix has not that was written when all runs were of one rank."""
    node, digest = document.get("node"), document.get("host_digest")
    nodes = [{"node": node, "ranks": [0], "host_digest": digest}] if isinstance(node, str) else []
    alone: dict[str, Any] = {"lost_rank": False, "launcher": None, "world_size": 1, "starts": {}}
    for name, value in {**alone, "nodes": nodes}.items():
        document.setdefault(name, value)
