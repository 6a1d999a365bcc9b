"""The reasons that no section gives: what is true of the capture as a whole."""

from collections.abc import Iterator

from aorta.collect.context import DEFAULT_PATH
from aorta.collect.orchestrator import Orchestrator
from aorta.host.protocol import SYSTEM_DIRECTORIES
from aorta.model.reason import Reason
from aorta.model.redact import redact
from aorta.model.sections import ORDER
from aorta.model.snapshot import Covered
from aorta.model.vocabulary import WORKLOADS, Coverage, ReasonKind

#: Where the absence of an expected part is told.
_EXPECTED_IN = {"gpu": "gpus", "torch": "pytorch_version", "rdma": "nic_devices"}


def remarks(run: Orchestrator, coverage: Covered) -> list[Reason]:
    """Return the reasons that concern several sections, or none of them."""
    return [
        *_unbuilt(run),
        *(_of_capture(ReasonKind.UNPARSED, text) for text in run.request.complaints),
        *_lost_plugins(run),
        *_lost_path(run),
        *_dead_mounts(run),
        *_unlinked(run),
        *_expectations(run, coverage),
    ]


def _of_capture(kind: ReasonKind, text: str, *, subject: str | None = None) -> Reason:
    return Reason(section="collection", kind=kind, subject=subject, detail=redact(text))


def _unbuilt(run: Orchestrator) -> Iterator[Reason]:
    for name in ORDER:
        if name not in run.results:
            text = "no collector of it is registered"
            yield Reason(section=name, kind=ReasonKind.NOT_REQUESTED, detail=text)


def _lost_plugins(run: Orchestrator) -> Iterator[Reason]:
    for plugin in run.registry.plugins:
        if plugin.status == "failed":
            text = f"the plugin {plugin.name} is left out: {plugin.detail}"
            yield _of_capture(ReasonKind.FAILED, text, subject=plugin.module)


def _dead_mounts(run: Orchestrator) -> Iterator[Reason]:
    for mount in run.host.dead_mounts():
        text = f"the file system at {mount} did not answer; nothing on it was read"
        yield _of_capture(ReasonKind.TIMED_OUT, text, subject=mount)


def _lost_path(run: Orchestrator) -> Iterator[Reason]:
    """Say where tools were looked for in an environment without PATH, such as that of a remote action."""
    if run.commands.lost_path:
        places = ", ".join((*DEFAULT_PATH.split(":"), *SYSTEM_DIRECTORIES))
        where = f"tools were looked for in {places} and ROCm's own directories"
        text = f"PATH is {run.commands.lost_path}: {where}"
        yield _of_capture(ReasonKind.ABSENT, text, subject="PATH")


def _unlinked(run: Orchestrator) -> Iterator[Reason]:
    """Say once what keeps tools from starting, such as a preloaded library without its own libraries."""
    for said, programs in sorted(run.commands.unlinked().items()):
        yield _of_capture(ReasonKind.FAILED, f"{', '.join(sorted(programs))} cannot start: {said}")


def _expectations(run: Orchestrator, coverage: Covered) -> Iterator[Reason]:
    for part in sorted(run.request.expect):
        if getattr(coverage, part, None) is not Coverage.SEEN:
            text = f"expected by the caller (--expect {part}), and not seen"
            section = _EXPECTED_IN.get(part, "collection")
            yield Reason(section=section, kind=ReasonKind.EXPECTED, detail=text)
    claim = run.request.probe_invocation
    if claim in WORKLOADS and coverage.torch is Coverage.ABSENT and "torch" not in run.request.expect:
        text = (
            f"not seen, while this is claimed to be {claim}: a Buck target has torch among its dependencies,"
            " and only a snapshot taken inside the target sees it"
        )
        yield Reason(section=_EXPECTED_IN["torch"], kind=ReasonKind.EXPECTED, detail=text)
