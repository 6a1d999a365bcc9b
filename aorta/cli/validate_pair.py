"""``aorta validate pair``: the gate for a Buck client's snapshot and its workloads'."""

import click

from aorta.cli.errors import Command, Misuse, printing
from aorta.instrumentation.process import Stdout
from aorta.validate.options import Options
from aorta.validate.program import DESCRIPTION, EPILOGUE, HELP, misuse, run


@click.command(
    cls=Command,
    help=DESCRIPTION,
    epilog=EPILOGUE,
    short_help="Check a client's and its workloads' snapshots.",
)
@click.argument("client")
@click.argument("workload", nargs=-1, required=True)
@click.option("--require-library", metavar="NAME", multiple=True, help=HELP["require"])
@click.option("--allow-unisolated-action", is_flag=True, help=HELP["unisolated"])
@click.option("--strict", is_flag=True, help=HELP["strict"])
@click.option("--json", "as_json", is_flag=True, help=HELP["json"])
@click.option("--junit", metavar="FILE", help=HELP["junit"])
@click.pass_context
def pair(
    context: click.Context,
    client: str,
    workload: tuple[str, ...],
    require_library: tuple[str, ...],
    junit: str | None,
    *,
    allow_unisolated_action: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Check a pair."""
    files = (client, *workload)
    options = Options(require_library, allow_unisolated_action, strict)
    if wrong := misuse(files, options, json=as_json, junit_file=junit):
        raise Misuse(wrong)
    with Stdout() as out, printing():
        status = run(files, options, out.write, json=as_json, junit_file=junit)
    context.exit(status)
