"""``capture()`` and ``capture_to()``: the snapshot of the process they are called in.

    from aorta.instrumentation import capture_to

    capture_to("env.json")

Collection never raises for what the machine does; file-system errors of writing the result do.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from aorta.collect.merge import merge
from aorta.collect.orchestrator import Orchestrator
from aorta.collect.request import INVOCATIONS, Request
from aorta.host.live import LiveHost
from aorta.host.protocol import Host
from aorta.instrumentation.about import envelope
from aorta.instrumentation.write import write_atomically
from aorta.model.codec import dump, to_json
from aorta.model.reason import Reason
from aorta.model.sections import ORDER
from aorta.model.snapshot import Snapshot
from aorta.model.vocabulary import Detail, ReasonKind
from aorta.plugin.discovery import discover
from aorta.plugin.registry import Registry

#: Seconds that a capture from a program may take; the command line has its own.
DEADLINE_S = 60.0


class UnknownSectionError(ValueError):
    """A section was asked for that no collector makes."""


def capture(
    *,
    probe_invocation: str | None = None,
    detail: str = "compact",
    buck_target: str | None = None,
    buck_context: Any = None,
    buck_timeout: float = 10.0,
    plugins: Sequence[Any] = (),
    sections: Iterable[str] | None = None,
    deadline_s: float | None = None,
    env: Mapping[str, str] | None = None,
    cache: bool = True,
    import_torch: bool = True,
    **options: Any,
) -> Snapshot:
    """Return a snapshot of this process and its machine.

    ``probe_invocation`` is what the caller claims (direct, buck2_run, buck2_action). ``detail`` is
    compact or full. ``plugins`` are further collectors: modules, their names, or functions.
    ``sections`` are the only ones to run; what they need runs too. ``deadline_s`` is the limit for
    all (default 60 s, ``AORTA_DEADLINE_S``). ``env`` replaces the environment that is looked at.
    ``cache`` and ``import_torch`` concern digests and the torch sections. Further options: ``host``,
    ``registry``, ``without``, ``timeouts``, ``sudo``, ``expect``.

    Raises ValueError for an unknown detail or section; nothing for what the machine does.
    """
    asked = _request(
        detail=detail,
        probe_invocation=probe_invocation,
        sections=tuple(sections) if sections is not None else None,
        deadline_s=deadline_from_environment(DEADLINE_S) if deadline_s is None else deadline_s,
        env=env,
        buck_target=buck_target,
        buck_context=buck_context,
        buck_timeout=buck_timeout,
        import_torch=import_torch,
        without=tuple(options.pop("without", ())),
        timeouts=dict(options.pop("timeouts", {})),
        sudo=options.pop("sudo", os.environ.get("AORTA_SUDO") == "1"),
        expect=frozenset(options.pop("expect", ())),
    )
    host: Host | None = options.pop("host", None)
    registry: Registry | None = options.pop("registry", None)
    if options:
        raise TypeError(f"capture() has no option {', '.join(sorted(options))}")
    registry = registry or discover(plugins)
    check_sections(registry, (*(asked.sections or ()), *asked.without, *asked.timeouts))
    return _capture(registry, host or LiveHost(), asked)


collect_env = capture


def capture_to(path: str | os.PathLike[str], **options: Any) -> Snapshot:
    """Take a snapshot and write it to ``path``, atomically; directories are made as needed.

    Options are those of ``capture`` and ``force`` (replace a file of another host). Raises OSError
    when the file cannot be written; nothing half-written is left.
    """
    force = bool(options.pop("force", True))
    snapshot = capture(**options)
    write_atomically(os.fspath(path), to_json(dump(snapshot)), force=force)
    return snapshot


def _request(*, detail: str, **wishes: Any) -> Request:
    words = [word.value for word in Detail]
    if detail not in words:
        raise ValueError(f"detail is {detail!r}: one of {', '.join(words)}")
    return Request(detail=Detail(detail), **wishes)


def check_sections(registry: Registry, names: Iterable[str]) -> None:
    """Raise UnknownSectionError for a name that is no section."""
    known = {*ORDER, *registry.collectors}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownSectionError(f"no section {', '.join(sorted(unknown))}; see: aorta env collectors")


def deadline_from_environment(default: float) -> float:
    """Return ``AORTA_DEADLINE_S`` in seconds, or the default. Raises ValueError for a bad value."""
    text = os.environ.get("AORTA_DEADLINE_S", "").strip()
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise ValueError(f"AORTA_DEADLINE_S is {text!r}: a number of seconds above 0")
    return seconds


def _capture(registry: Registry, host: Host, request: Request) -> Snapshot:
    run = Orchestrator(registry, host, request)
    failure: Exception | None = None
    try:
        run.run()
    except Exception as error:
        # A defect of ours: what was collected so far is still written, and says so.
        failure = error
    finally:
        host.close()
    about = envelope(run)
    snapshot = merge(run, about)
    if failure is None:
        return snapshot
    text = f"{type(failure).__name__} in the orchestrator"
    reason = Reason(section="collection", kind=ReasonKind.FAILED, detail=text)
    collection = attrs.evolve(
        snapshot.collection, reasons=(*snapshot.collection.reasons, reason)
    )
    return attrs.evolve(snapshot, collection=collection)


__all__ = ["INVOCATIONS", "capture", "capture_to", "collect_env"]
