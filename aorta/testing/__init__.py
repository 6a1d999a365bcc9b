r"""For authors of collectors: a made-up host, one section at a time, and the contract to hold.

    from aorta.testing import FakeHost, collect

    result = collect(FakeHost(files={"/sys/module/amdgpu/version": "6.8.5\n"}), "amdgpu_driver")
    assert result.value["loaded_version"] == "6.8.5"

``assert_contract("amdgpu_driver")`` runs a collector on hosts that have nothing, deny all or hang.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aorta.collect.orchestrator import Orchestrator
from aorta.collect.request import Request
from aorta.host.fake import FakeHost
from aorta.host.protocol import Completed, Distribution, Host, Masked, Module
from aorta.model.frozen import frozen
from aorta.model.reason import Reason
from aorta.model.snapshot import Record
from aorta.model.vocabulary import Coverage, Detail, Outcome
from aorta.plugin.discovery import discover
from aorta.testing.contract import assert_contract

__all__ = [
    "Collected",
    "Completed",
    "Distribution",
    "FakeHost",
    "Masked",
    "Module",
    "Outcome",
    "assert_contract",
    "collect",
    "provide",
    "record",
    "replay",
    "torch_report",
]


@frozen
class Collected:
    """What one collector made: its JSON value, its reasons, its record and the parts it covered."""

    value: Any
    reasons: tuple[Reason, ...]
    record: Record
    coverage: Mapping[str, Coverage]
    redacted: frozenset[str]
    typed: Any

    def kinds(self, field: str | None = None) -> list[str]:
        """Return the kinds of the reasons, of one field if given."""
        return [reason.kind.value for reason in self.reasons if field is None or reason.field == field]


def collect(
    host: Host,
    what: str | Callable[..., Any],
    *,
    plugins: Sequence[Any] = (),
    detail: str = "full",
    expect: Iterable[str] = (),
    **request: Any,
) -> Collected:
    """Run one section (its name, or a function under ``@collector``) and what it needs on a host.

    Further keywords are fields of ``aorta.collect.Request``: ``sudo``, ``probe_invocation``, ``env``,
    ``timeouts``, ``deadline_s``.
    """
    name = what if isinstance(what, str) else what.aorta_spec.name  # type: ignore[attr-defined]
    known = discover(plugins, outside=False)
    if name not in known.collectors and not isinstance(what, str):
        known = discover([*plugins, what], outside=False)
    return _run(host, known, name, detail, expect, request, sections=(name,))


def provide(
    host: Host, model: type[Any], *, detail: str = "full", expect: Iterable[str] = (), **request: Any
) -> Collected:
    """Run one provider, named by the class it makes; ``typed`` is what it made."""
    known = discover(outside=False)
    return _run(host, known, known.maker(model).name, detail, expect, request, sections=None)


def _run(
    host: Host,
    registry: Any,
    name: str,
    detail: str,
    expect: Iterable[str],
    request: Mapping[str, Any],
    sections: tuple[str, ...] | None,
) -> Collected:
    if sections is not None and name not in registry.collectors:
        failures = "; ".join(
            f"{plugin.name}: {plugin.detail}" for plugin in registry.plugins if plugin.detail
        )
        raise LookupError(f"no section {name!r}" + (f" ({failures})" if failures else ""))
    wishes = Request(detail=Detail(detail), expect=frozenset(expect), sections=sections, **request)
    run = Orchestrator(registry, host, wishes)
    run.run()
    result = run.results[name]
    coverage: dict[str, Coverage] = {}
    for other in run.results.values():
        coverage.update(other.coverage)
    return Collected(
        value=result.plain,
        reasons=result.reasons,
        record=result.record,
        coverage=coverage,
        redacted=result.redacted,
        typed=result.value,
    )


def torch_report(*, how: str = "child", **parts: Any) -> dict[str, Any]:
    """Return what an imported torch told, for ``FakeHost(observed={"torch": …})``.

    ``parts`` are named as in ``aorta.host.torch_report.parts``: version, hip, config, mapped, ….
    """
    ended = {"error": None, "done": True, "ended": "", "hung": False, "noise": ""}
    return {"how": how, "imported": True, **ended, "parts": parts, "errors": {}}


def record(host: Host, path: str) -> Host:
    """Return a host that writes all it is asked and answers to the file ``path``; close it at the end."""
    from aorta.host.recording import RecordingHost

    return RecordingHost(host, path)


def replay(path: str) -> Host:
    """Return the host of a recording. Raises RecordingError, a ValueError, for what is none."""
    from aorta.host.replay import open_recording

    return open_recording(path)
