"""The guard rail of Buck captures: a word on standard error when the capture may be of the wrong machine.

It is never part of the document and never changes an exit status.
"""

from collections.abc import Callable, Mapping
from typing import Any

from aorta.model.vocabulary import WORKLOADS

#: Set by those who start a container or a remote worker; either one says that isolation was meant.
IMAGE_VARIABLES = ("AORTA_RE_IMAGE", "AORTA_DOCKER_IMAGE")

MILD = (
    "note: declared buck2_run, and no sign of isolation: this snapshot describes the client host, which is"
    " normal for `buck2 run`; if it ran in a worker or a container, name its image in AORTA_RE_IMAGE or"
    " AORTA_DOCKER_IMAGE."
)
LOUD = (
    "WARNING: this snapshot claims to be taken inside a Buck action (buck2_action), but no sign of",
    "WARNING: isolation was seen and neither AORTA_RE_IMAGE nor AORTA_DOCKER_IMAGE is set.",
    "WARNING: It probably describes the CLIENT HOST and not the machine that the action runs on.",
    "WARNING: Take it from inside the action, or use --execution-context buck2_run for the client.",
)


def execution_notice(document: Mapping[str, Any], env: Callable[[str], str | None]) -> list[str]:
    """Return the lines to print for a document: none, a mild notice, or a loud warning.

    ``env`` returns a variable of the environment that was captured.
    """
    claimed = _member(document, "execution_context", "probe_invocation")
    if claimed not in WORKLOADS or _isolated(document):
        return []
    if any((env(name) or "").strip() for name in IMAGE_VARIABLES):
        return []
    if claimed == "buck2_run":
        return [MILD]
    return list(LOUD)


def unanswered_notice(document: Mapping[str, Any]) -> list[str]:
    """Return the line to print where a Buck target was asked about and there is no answer: none or one."""
    if _member(document, "buck_invocation", "status") not in ("failure", "buck_not_detected"):
        return []
    reasons = _member(document, "collection", "reasons")
    told = [
        str(reason.get("detail"))
        for reason in (reasons if isinstance(reasons, list) else ())
        if isinstance(reason, Mapping)
        and (reason.get("section"), reason.get("field")) == ("buck_invocation", "status")
    ]
    return [f"the Buck target has no answer: {told[0]}" if told else "the Buck target has no answer"]


def _isolated(document: Mapping[str, Any]) -> bool:
    """Tell whether isolation was seen, or was not looked for, so that nothing can be said."""
    if document.get("container_detected") or _member(document, "isolation", "container"):
        return True
    records = _member(document, "collection", "collectors")
    record = records.get("container_detected") if isinstance(records, Mapping) else None
    return isinstance(record, Mapping) and record.get("status") == "not_requested"


def _member(document: Mapping[str, Any], *path: str) -> Any:
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
