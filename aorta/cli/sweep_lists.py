"""``aorta sweep list-mitigations`` and ``list-environments``: what a recipe may name, and what that does."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aorta.cli.errors import Command, Misuse, printing
from aorta.instrumentation.process import Stdout, say
from aorta.model.redact import redact_value
from aorta.model.text import printable
from aorta.sweep.recipe.model import PLACES

if TYPE_CHECKING:
    from aorta.sweep.definitions.registry import Registries
    from aorta.sweep.recipe.model import Change

Row = tuple[str, ...]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

NOTHING = "-"


def _options(command: Decorated) -> Decorated:
    command = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")(command)
    return click.option(
        "--mitigations-file",
        "files",
        multiple=True,
        metavar="FILE",
        help="A JSON file with further definitions; may be repeated.",
    )(command)


@click.command("list-mitigations", cls=Command, short_help="List the mitigations that a recipe may name.")
@_options
def list_mitigations(*, as_json: bool, files: tuple[str, ...]) -> None:
    """List the mitigations: who defines each, and what it does to variables."""
    known = _known(files)
    listed = [
        {"name": one.name, "source": one.source, "summary": one.summary or None, **_change(one.change)}
        for one in known.mitigations.values()
    ]
    rows: list[Row] = [
        (one.name, one.source, "; ".join(_deeds(one.change)) or "(nothing)", one.summary)
        for one in known.mitigations.values()
    ]
    _print(listed, ("NAME", "SOURCE", "VARIABLES", "WHAT IT DOES"), rows, as_json=as_json)


@click.command("list-environments", cls=Command, short_help="List the environments that a cell may name.")
@_options
def list_environments(*, as_json: bool, files: tuple[str, ...]) -> None:
    """List the environments: who defines each, all fields, and what it does to variables."""
    known = _known(files).environments.values()
    listed = [
        {
            "name": one.name,
            "source": one.source,
            "summary": one.summary or None,
            **{field: getattr(one, field) for field in PLACES},
            "env": _change(one.env),
        }
        for one in known
    ]
    rows = [
        (
            one.name,
            one.source,
            *(getattr(one, field) or NOTHING for field in PLACES),
            "; ".join(_deeds(one.env)) or NOTHING,
            one.summary,
        )
        for one in known
    ]
    heads = (field.upper().replace("_", " ") for field in PLACES)
    _print(listed, ("NAME", "SOURCE", *heads, "VARIABLES", "WHAT IT IS"), rows, as_json=as_json)


def _known(files: tuple[str, ...]) -> "Registries":
    """Return all that is defined; broken plugins are told. Raises Misuse for what is wrong in a file."""
    from aorta.sweep.definitions.registry import registries
    from aorta.sweep.errors import RegistryError

    try:
        known = registries(files)
    except RegistryError as error:
        for problem in error.problems[:-1]:
            say(f"aorta: {problem}")
        raise Misuse(error.problems[-1]) from None
    for problem in known.problems:
        say(f"aorta: {printable(problem)}")
    return known


def _change(change: "Change") -> dict[str, Any]:
    return {
        "set": {name: redact_value(name, value) for name, value in change.set.items()},
        "unset": list(change.unset),
        "prepend": {name: redact_value(name, value) for name, value in change.prepend.items()},
    }


def _deeds(change: "Change") -> Iterator[str]:
    """Yield what is done to each variable, in the notation of a shell."""
    import shlex

    for name, value in sorted(change.set.items()):
        yield f"{name}={shlex.quote(redact_value(name, value))}"
    for name in sorted(change.unset):
        yield f"unset {name}"
    for name, value in sorted(change.prepend.items()):
        yield f"{name}={shlex.quote(redact_value(name, value))}:${name}"


def _print(listed: list[dict[str, Any]], head: Row, rows: list[Row], *, as_json: bool) -> None:
    with Stdout() as out:
        text = json.dumps(listed, indent=2) if as_json else "\n".join(_table(head, rows))
        with printing():
            out.write(text + "\n")


def _table(head: Row, rows: list[Row]) -> Iterable[str]:
    """Yield the lines of a table; a column in which nothing stands is left out."""
    shown = [[printable(cell) for cell in row] for row in rows]
    kept = [place for place in range(len(head)) if any(row[place] not in ("", NOTHING) for row in shown)]
    lines = [[head[place] for place in kept], *([row[place] for place in kept] for row in shown)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip()
