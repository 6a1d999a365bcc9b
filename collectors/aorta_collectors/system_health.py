"""What AMD's deployment health check says of this node."""

import json
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.observations import mapping
from aorta_collectors.providers import RocmRoots
from aorta_collectors.tools import sudo
from aorta_collectors.tools.tool_json import decode, first_line

TOOLS = ("rdhc", "rdhc.py")
ARGUMENTS = ("--quick", "--json", "/dev/stdout")
TIMEOUT_S = 30.0
SIZE_LIMIT = 1 << 20
SECTIONS = {"system_info", "gpu_info", "firmware_info", "test_results"}


@collector(
    section="system_health",
    model=Annotated[
        dict[str, Any] | None,
        Fact(
            "The JSON of rdhc --quick, verbatim: system_info, gpu_info, firmware_info, test_results.",
            caveat="Root's view, with root's environment; used for no other section.",
            volatile=True,
        ),
    ],
    provenance=(Provenance.HOST_DEVICE, Provenance.HOST_KERNEL),
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=35,
)
def collect(ctx: Context) -> dict[str, Any] | None:
    """ROCm deployment health check (rdhc --quick); needs root and --sudo."""
    tool = find_tool(ctx)
    if tool is None:
        ctx.note(ReasonKind.NO_TOOL, "", "rdhc is not installed", subject="rdhc")
        return None
    root = (mapping(ctx, "user").value or {}).get("root") is True
    answer = ctx.command((tool, *ARGUMENTS), timeout=TIMEOUT_S, sudo=not (root and ctx.request.sudo))
    done = answer.value
    if done is None or answer.kind is ReasonKind.NOT_REQUESTED:
        ctx.take(answer, "")
        return None
    failed = sudo.failure(answer)
    if failed is not None:
        ctx.note(failed.kind, "", failed.text, subject=answer.subject)
        return None
    return ctx.take(_report(done.stdout, answer.subject, truncated=done.truncated), "")


def find_tool(ctx: Context) -> str | None:
    """Return where rdhc is: on PATH, in a ROCm tree, in the system's directories; None: nowhere.

    The whole path is needed because sudo's secure_path replaces PATH.
    """
    for directory in ctx.search_path((*ctx.need(RocmRoots).bin_dirs, "/usr/local/bin", "/usr/bin")):
        for name in TOOLS:
            seen = ctx.stat(f"{directory}/{name}")
            if seen.value is not None and seen.value.kind == "file":
                return f"{directory.rstrip('/')}/{name}"
    return None


def _report(text: str, subject: str | None, *, truncated: bool) -> Answer[dict[str, Any]]:
    """Pick rdhc's report out of what it prints; a table follows or precedes it."""

    def wrong(why: str) -> Answer[dict[str, Any]]:
        return Answer(kind=ReasonKind.UNPARSED, subject=subject, detail=f"{subject}: {why}")

    if truncated:
        return wrong("it printed more than is kept, and was cut off")
    try:
        documents = [document for document in decode(text)[0] if isinstance(document, dict)]
    except ValueError as error:
        return wrong(str(error))
    reports = [document for document in documents if SECTIONS & document.keys()] or documents
    if not reports:
        return wrong(f"no JSON object: {first_line(text)}")
    if len(json.dumps(reports[0])) > SIZE_LIMIT:
        return wrong(f"a report of more than {SIZE_LIMIT} characters")
    return Answer(value=reports[0], subject=subject)
