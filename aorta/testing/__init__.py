r"""For authors of collectors: a made-up host, one section at a time, and the contract to hold.

    from aorta.testing import FakeHost, assert_contract, collect

    def test_the_version():
        host = FakeHost(files={"/sys/module/amdgpu/version": "6.8.5\n"})
        assert collect(host, "amdgpu_driver").value["loaded_version"] == "6.8.5"

    def test_the_contract():
        assert_contract("amdgpu_driver")

A collector is meant by its decorated function; a built-in one by its section too. All runs in this process,
so that a debugger and coverage see the collector. ``record`` and ``replay`` keep a host in a file.
"""

import os
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
from aorta.plugin.declare import CollectorSpec, Spec
from aorta.plugin.discovery import discover
from aorta.plugin.registry import Registry
from aorta.testing.contract import assert_contract
from aorta.testing.lookup import constant, looked_up, only, overheard

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
    """What one collector made of a host.

    ``value`` is the section as it stands in the document (dict, list, scalar or None), ``typed`` what the
    collector returned. ``reasons`` say why something is missing, each with ``kind``, ``field``, ``subject``
    and ``detail``. ``record`` is what the document keeps of the run: ``status``, ``commands``, ….
    ``coverage`` are the parts of the machine that it, or what it needs, spoke of; ``redacted`` the paths of
    values that looked like credentials. ``error`` is the exception that ended it: a reason says its type
    and place only.
    """

    value: Any
    reasons: tuple[Reason, ...]
    record: Record
    coverage: Mapping[str, Coverage]
    redacted: frozenset[str]
    typed: Any
    error: BaseException | None = None

    def kinds(self, field: str | None = None) -> list[str]:
        """Return the kinds of the reasons as words, of one field if given: ``["absent"]``."""
        return [reason.kind.value for reason in self.reasons if field is None or reason.field == field]


def collect(
    host: Host,
    what: str | Callable[..., Any],
    *,
    plugins: Sequence[Any] = (),
    given: Sequence[object] = (),
    detail: str = "full",
    expect: Iterable[str] = (),
    **request: Any,
) -> Collected:
    """Run one section (a function under ``@collector``, or its name) and what it needs on a host.

    ``plugins`` are modules with what it needs; ``given`` are instances of classes that it needs, which are
    then not made: ``given=[RdmaDevices(names=("mlx5_0",))]``. Further keywords are fields of
    ``aorta.collect.Request``: ``sudo=True``, ``timeouts={"site.nic": 1}``, ``env={…}``, ``digests="none"``.

    Raises LookupError for a section that is not there or is declared wrongly, with file and line;
    TypeError for a function without ``@collector``. What the collector raises is a reason, as in a capture.
    """
    registry, spec = looked_up(what, plugins)
    if not isinstance(spec, CollectorSpec):
        raise LookupError(f"{spec.name} is no section: aorta.testing.provide runs a provider")  # noqa: TRY004
    for value in given:
        registry = constant(registry, _maker(registry, type(value)), value)
    return _run(host, registry, spec, detail, expect, request, sections=(spec.name,))


def provide(
    host: Host,
    model: type[Any],
    *,
    plugins: Sequence[Any] = (),
    detail: str = "full",
    expect: Iterable[str] = (),
    **request: Any,
) -> Collected:
    """Run what makes a class, a provider or a section; ``typed`` is the instance that it made.

    ``plugins`` are the modules that it comes from. Raises LookupError for a class that nothing makes.
    """
    registry = discover(plugins, outside=False)
    spec = _maker(registry, model)
    return _run(host, only(registry, spec), spec, detail, expect, request, sections=None)


def _maker(registry: Registry, model: type[Any]) -> Spec:
    try:
        return registry.maker(model)
    except KeyError:
        faults = "; ".join(record.detail for record in registry.plugins if record.status == "failed")
        told = f": {faults}" if faults else "; give plugins=[MODULE]"
        raise LookupError(f"nothing makes {model.__name__}{told}") from None


def _run(
    host: Host,
    registry: Registry,
    spec: Spec,
    detail: str,
    expect: Iterable[str],
    request: Mapping[str, Any],
    sections: tuple[str, ...] | None,
) -> Collected:
    wishes = Request(detail=Detail(detail), expect=frozenset(expect), sections=sections, **request)
    listening, raised = overheard(registry, spec)
    run = Orchestrator(listening, host, wishes)
    run.run()
    result = run.results[spec.name]
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
        error=raised[0] if raised else None,
    )


def torch_report(*, how: str = "child", **parts: Any) -> dict[str, Any]:
    """Return what an imported torch told, for ``FakeHost(observed={"torch": …})``.

    ``parts`` are named as in ``aorta.host.torch_report.parts``: version, hip, config, mapped, ….
    """
    ended = {"error": None, "done": True, "ended": "", "hung": False, "noise": ""}
    return {"how": how, "imported": True, **ended, "parts": parts, "errors": {}}


def record(host: Host, path: str | os.PathLike[str]) -> Host:
    """Return a host that answers as ``host`` does and writes each question and answer to a file, a line each.

    Credentials are replaced in it. Its ``close`` ends the file, and closes ``host``.
    """
    from aorta.host.recording import RecordingHost

    return RecordingHost(host, os.fspath(path))


def replay(path: str | os.PathLike[str]) -> Host:
    """Return the host of a recording, of ``record`` or of ``aorta env record``.

    What was not asked then is answered ``not_recorded``. Raises RecordingError, a ValueError, for a
    file that is no recording, and OSError for one that cannot be read.
    """
    from aorta.host.replay import open_recording

    return open_recording(os.fspath(path))
