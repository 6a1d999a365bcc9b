"""What a summary says of Buck, where it was asked or claimed."""

from collections.abc import Iterator

from aorta.cli.plain import Document
from aorta.model.text import listed

NOT_ASKED = ("", "not_requested")


def buck_rows(known: Document) -> Iterator[tuple[str, str]]:
    """Yield the rows of the overview."""
    claim = known.text("execution_context.probe_invocation")
    if claim not in ("", "direct"):
        yield "declared", claim
    if known.text("buck_invocation.status") in NOT_ASKED:
        return
    yield (
        "Buck target",
        " ".join((known.text("buck_invocation.target"), known.text("buck_invocation.status"))),
    )
    names = [str(entry.get("name")) for entry in known.members("library_introspection")]
    if names:
        yield "Buck libraries", listed(list(dict.fromkeys(names)), 8)
    platform = known.text("execution_context.likely_execution_platform")
    if platform:
        yield "Buck platform", f"{platform} (selected)"
