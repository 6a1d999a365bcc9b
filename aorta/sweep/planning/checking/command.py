"""Whether the command of a recipe can be started, with the variables that each cell gives it."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping

from aorta.model.text import printable
from aorta.sweep.planning.checking.problem import ERROR, WARNING, Problem, error, of_cells, warning
from aorta.sweep.planning.checking.words import hint, odd_words
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell

Told = tuple[str, str]


def check_command(plan: Plan, environ: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what keeps the command from starting; it is looked for on the ``PATH`` that the trial has."""
    argv = plan.recipe.command
    if not argv:
        source = plan.recipe.source or "RECIPE"
        yield error(
            f"there is no command: put it behind --, as in aorta sweep run --recipe {printable(source)} "
            "-- ./repro.sh"
        )
        return
    if argv[0].startswith("-"):
        yield error(
            f"the command begins with {printable(argv[0])!r}, an option; it must begin with a program"
        )
        return
    seen: dict[str | None, list[Told]] = {}

    def told(cell: PlannedCell) -> list[Told]:
        path = environ_under(overlay_of(cell.layers, environ), environ).get("PATH")
        if path not in seen:
            seen[path] = list(_faults(argv[0], path))
        return seen[path]

    yield from of_cells(plan.cells, told, all_named=False)
    yield from (warning(text) for text in odd_words(argv))


def _faults(program: str, path: str | None) -> Iterator[Told]:
    shown = printable(program) or "an empty name"
    if "/" in program:
        fault = _fault(program)
        if fault is not None:
            where = "" if program.startswith("/") else f" (looked for in {printable(os.getcwd())})"
            yield ERROR, f"the command {shown} {fault}{where}{hint(program)}"
            return
        yield from _unlike_a_program(program)
        return
    hindered = None
    for folder in (os.defpath if path is None else path).split(os.pathsep):
        candidate = os.path.join(folder or ".", program)
        fault = _fault(candidate)
        if fault is None:
            yield from _unlike_a_program(candidate)
            return
        if fault != _ABSENT and program:
            hindered = hindered or f"the command {printable(candidate)} {fault}"
    yield ERROR, hindered or f"the command {shown} is not on the PATH that the trial has{hint(program)}"


_ABSENT = "does not exist"


def _fault(path: str) -> str | None:
    """Return why a file cannot be started."""
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        return "has a NUL character in its name"
    except OSError as problem:
        if problem.errno in (errno.ENOENT, errno.ENOTDIR):
            return "leads to a file that does not exist" if os.path.islink(path) else _ABSENT
        return f"cannot be looked at: {problem.strerror}"
    if stat.S_ISDIR(mode):
        return "is a directory"
    if not stat.S_ISREG(mode):
        return "is no ordinary file"
    return None if os.access(path, os.X_OK) else "is not executable: chmod +x makes it so"


def _unlike_a_program(path: str) -> Iterator[Told]:
    """Yield what is wrong with the beginning of an executable file; one that cannot be read may still run."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(256)
    except OSError:
        return
    if head.startswith(b"#!"):
        words = head[2:].partition(b"\n")[0].split()
        interpreter = os.fsdecode(words[0]) if words else ""
        if not os.path.exists(interpreter):
            name = printable(interpreter) or "no program"
            yield ERROR, f"the command {printable(path)} names {name} in its first line, which does not exist"
    elif not head.startswith(b"\x7fELF"):
        text = (
            f"the command {printable(path)} is no program, and has no first line that names one (#!/bin/sh)"
        )
        yield WARNING, f"{text}: the system may not start it"
