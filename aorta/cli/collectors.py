"""``aorta env collectors``: what is declared, and where it comes from."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from aorta import __version__
from aorta.cli.errors import Command, Misuse, printing
from aorta.instrumentation.process import Stdout

if TYPE_CHECKING:
    from aorta.plugin.declare import Spec
    from aorta.plugin.registry import Registry

Row = tuple[str, ...]

#: The source of what aorta brings itself.
BUILTIN = "builtin"


@click.command(cls=Command, short_help="List what can be collected, and the plugins.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option(
    "--plugin", "plugins", multiple=True, metavar="MODULE", help="A module with further collectors."
)
@click.option(
    "--no-plugins",
    is_flag=True,
    help="Leave out all plugins: those of AORTA_PLUGINS and those that are installed.",
)
def collectors(*, as_json: bool, plugins: tuple[str, ...], no_plugins: bool) -> None:
    """List the sections, the values they share, and the plugins that were found.

    Of aorta's own modules only those that are left out are named; `--json` names them all.
    """
    from aorta.plugin.discovery import discover

    if no_plugins and plugins:
        raise Misuse(f"--plugin {plugins[0]} and --no-plugins: only one of them")
    with Stdout() as out:
        listed = listing(discover(plugins, outside=not no_plugins))
        text = json.dumps(listed, indent=2) if as_json else "\n".join(_lines(listed))
        with printing():
            out.write(text + "\n")


def _declared(registry: "Registry", spec: "Spec") -> dict[str, Any]:
    """Return what sections and providers declare alike."""
    return {
        "needs": [model.__name__ for model in spec.needs],
        "timeout_s": spec.timeout_s,
        "summary": spec.summary,
        "plugin": registry.plugin_of[spec.name],
        "blocked": registry.blocked.get(spec.name),
    }


def listing(registry: "Registry") -> dict[str, list[dict[str, Any]]]:
    """Return all that is declared, as JSON values."""
    return {
        "collectors": [
            {
                "section": spec.section,
                "provenance": [kind.value for kind in spec.provenance],
                "scope": spec.scope.value,
                "detail": spec.detail.value,
                **_declared(registry, spec),
            }
            for spec in registry.collectors.values()
        ],
        "providers": [
            {
                "name": spec.name,
                **_declared(registry, spec),
            }
            for spec in registry.providers.values()
        ],
        "plugins": [
            {
                "name": record.name,
                "version": record.version,
                "source": record.source,
                "module": record.module,
                "sections": list(record.sections),
                "status": record.status,
                "detail": record.detail,
            }
            for record in registry.plugins
        ],
    }


def _lines(listed: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    yield from _table(
        ("SECTION", "PROVENANCE", "SCOPE", "DETAIL", "NEEDS", "DEADLINE", "SUMMARY"),
        [
            (
                one["section"],
                ",".join(one["provenance"]),
                one["scope"],
                one["detail"],
                ",".join(one["needs"]) or "-",
                f"{one['timeout_s']:g} s",
                _summary(one),
            )
            for one in listed["collectors"]
        ],
    )
    yield ""
    yield from _table(
        ("PROVIDER", "NEEDS", "DEADLINE", "SUMMARY"),
        [
            (one["name"], ",".join(one["needs"]) or "-", f"{one['timeout_s']:g} s", _summary(one))
            for one in listed["providers"]
        ],
    )
    yield ""
    yield from _table(
        ("PLUGIN", "VERSION", "SOURCE", "STATUS", "SECTIONS", "DETAIL"), _plugins(listed["plugins"])
    )


def _plugins(listed: list[dict[str, Any]]) -> list[Row]:
    """Return the rows of the plugins: outside ones first, then what is unusual of aorta's own."""
    outside = [one for one in listed if one["source"] != BUILTIN]
    built_in = [one for one in listed if one["source"] == BUILTIN]
    unusual = [one for one in built_in if one["status"] != "loaded" or one["detail"]]
    rows = [
        (
            one["name"],
            one["version"] or "-",
            one["source"],
            one["status"],
            ",".join(one["sections"]) or "-",
            " ".join(one["detail"].split()),
        )
        for one in (*outside, *unusual)
    ]
    usual = [one for one in built_in if one not in unusual]
    number = sum(len(one["sections"]) for one in usual)
    return [
        *rows,
        ("aorta", __version__, BUILTIN, "loaded", str(number), f"{len(usual)} modules of aorta itself"),
    ]


def _summary(one: dict[str, Any]) -> str:
    return f"{one['summary']} ({one['blocked']})" if one["blocked"] else str(one["summary"])


def _table(head: Row, rows: list[Row]) -> Iterable[str]:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head) - 1)]
    for row in (head, *rows):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[-1]]).rstrip()
