"""``aorta sweep list-workloads``: what a recipe may run, how that is launched, and the keys of its config."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from aorta.cli.errors import Command, Misuse, printing
from aorta.instrumentation.process import Stdout, say
from aorta.model.text import printable
from aorta.workloads.discovery import FAILED, Found, UnknownWorkloadError, found, located
from aorta.workloads.protocol import DISTRIBUTED

Row = tuple[str, ...]


@click.command("list-workloads", cls=Command, short_help="List the workloads that a recipe may run.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_workloads(*, names: tuple[str, ...], as_json: bool) -> None:
    """List the workloads, or those that are named: launch, isolation, and the keys of workload_config.

    Workloads come with aorta, from installed packages (entry points of the group aorta.workloads), and from
    the variable AORTA_WORKLOADS (NAME=module:Class, separated by commas; without NAME= it is the class's
    name in small letters). A workload that is named and cannot be used makes the exit status 1.
    """
    with Stdout() as out:
        every = _wanted(names)
        listed = [_told(one) for one in every if one.status != FAILED]
        for one in every:
            if one.status == FAILED:
                say(f"aorta: {printable(one.problem or one.name)}")
        failed = [{"name": one.name, "problem": one.problem} for one in every if one.status == FAILED]
        shown = {"workloads": listed, "failed": failed}
        text = json.dumps(shown, indent=2) if as_json else "\n".join(_lines(listed))
        with printing():
            if listed or as_json:
                out.write(text + "\n")
    if names and failed:
        raise click.exceptions.Exit(1)


def _wanted(names: tuple[str, ...]) -> list[Found]:
    """Return what is listed, imported. Raises Misuse for a name that there is not."""
    every = found(load=True)
    for name in names:
        if not any(one.name == name for one in every):
            try:
                located(name)
            except UnknownWorkloadError as error:
                raise Misuse(str(error)) from None
    return [one for one in every if not names or one.name in names]


def _told(one: Found) -> dict[str, Any]:
    """Return all that is said of a workload, as JSON values."""
    from aorta.workloads.config import config_schema

    cls = one.load()
    return {
        "name": one.name,
        "source": one.source if one.source == "builtin" else one.owner,
        "target": one.target,
        "summary": (cls.__doc__ or "").strip().partition("\n")[0].replace("``", ""),
        "launch_mode": cls.launch_mode,
        "min_world_size": cls.min_world_size,
        "isolation": {
            "default": cls.trial_isolation_default,
            "required": cls.trial_isolation_required,
            "supported": sorted(set(cls.trial_isolation_supported)),
        },
        "result_scope": cls.distributed_result_scope,
        "launches_container": cls.launches_container,
        "requires": sorted(set(cls.requires)),
        "config": None if cls.config_type is None else [key._asdict() for key in config_schema(cls)],
    }


def _lines(listed: list[dict[str, Any]]) -> Iterator[str]:
    yield from _table(
        ("NAME", "SOURCE", "LAUNCH", "ISOLATION", "WHAT IT DOES"),
        [(one["name"], one["source"], _launch(one), _isolation(one), str(one["summary"])) for one in listed],
    )
    for one in listed:
        yield ""
        if not one["config"]:
            any_key = "any key" if one["config"] is None else "no keys"
            yield f"workload_config of {one['name']}: {any_key}"
            continue
        yield f"workload_config of {one['name']}:"
        rows = [(f"  {key['key']}", key["type"], _default(key), key["doc"]) for key in one["config"]]
        yield from _table(("  KEY", "TYPE", "DEFAULT", "WHAT IT IS"), rows)


def _launch(one: dict[str, Any]) -> str:
    container = ", starts containers" if one["launches_container"] else ""
    if one["launch_mode"] != DISTRIBUTED:
        return f"{one['launch_mode']}{container}"
    least = one["min_world_size"]
    ranks = f"{least} or more ranks" if least > 1 else "any number of ranks"
    return f"{DISTRIBUTED}, {ranks}{container}"


def _isolation(one: dict[str, Any]) -> str:
    policy = one["isolation"]
    others = [word for word in policy["supported"] if word != policy["default"]]
    if policy["required"] or not others:
        return f"{policy['default']} (required)" if policy["required"] else f"{policy['default']}"
    return f"{policy['default']} (or {', '.join(others)})"


def _default(key: dict[str, Any]) -> str:
    return "(required)" if key["required"] else json.dumps(key["default"])


def _table(head: Row, rows: Sequence[Row]) -> Iterable[str]:
    lines = [head, *(tuple(printable(cell) for cell in row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
