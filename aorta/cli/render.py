"""Showing a summary: with rich on a terminal, as plain lines elsewhere."""

from collections.abc import Mapping
from typing import Any

from aorta.cli.summary import Summary, summarize
from aorta.instrumentation.process import Stdout


def show_summary(document: Mapping[str, Any], out: Stdout) -> None:
    """Print the summary of a document."""
    summary = summarize(document)
    if out.isatty():
        _rich(summary, out)
    else:
        out.write("\n".join(plain_lines(summary)) + "\n")


def plain_lines(summary: Summary) -> list[str]:
    """Return a summary as lines without any markup."""
    width = max((len(label) for label, _ in summary.rows), default=0)
    unusual = [f"! {text}" for text in summary.unusual] or ["nothing unusual was seen"]
    return [
        summary.head,
        *unusual,
        "",
        *(f"{label:<{width}}  {text}".rstrip() for label, text in summary.rows),
    ]


def _rich(summary: Summary, out: Stdout) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=out.stream, highlight=False)
    console.print(Text(summary.head, style="bold red" if summary.head.startswith("PARTIAL") else "bold"))
    for text in summary.unusual:
        console.print(Text.assemble(("! ", "bold yellow"), text))
    if not summary.unusual:
        console.print(Text("nothing unusual was seen", style="green"))
    table = Table(show_header=False, box=None, padding=(0, 1))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in summary.rows:
        # Text, since what a machine says may look like markup.
        table.add_row(Text(label), Text(text))
    console.print()
    console.print(table)
    out.write("")
