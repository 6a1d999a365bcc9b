"""``aorta schema show``: the JSON Schema of the document."""

import json

import click

from aorta.cli.errors import Command, Misuse, printing
from aorta.instrumentation.process import Stdout


@click.command(cls=Command, short_help="Print the JSON Schema.")
@click.option("--section", metavar="S", help="Of one section only.")
@click.option(
    "--with-plugins", is_flag=True, help="With the sections of the plugins that are installed or named."
)
@click.option(
    "--plugin", "plugins", multiple=True, metavar="MODULE", help="A module with further collectors."
)
def show(section: str | None, plugins: tuple[str, ...], *, with_plugins: bool) -> None:
    """Print the JSON Schema of the document that this version writes."""
    from aorta.model.schema import document_schema
    from aorta.plugin.discovery import discover

    with Stdout() as out:
        schema = document_schema(discover(plugins, outside=with_plugins))
        if section is not None:
            extensions = schema["properties"]["extensions"].get("properties", {})
            known = {**schema["properties"], **extensions}
            if section not in known:
                hint = "" if with_plugins else "; those of plugins are there with --with-plugins"
                raise Misuse(f"no section {section}; see: aorta env collectors{hint}")
            schema = known[section]
        with printing():
            out.write(json.dumps(schema, indent=2) + "\n")
