"""``capture()`` and ``capture_to()``: the snapshot of the process they are called in.

    from aorta.instrumentation import capture_to

    capture_to("env.json")

Collection never raises for what the machine does; file-system errors of writing the result do.
"""

import functools
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aorta.collect.merge import merge
from aorta.collect.orchestrator import Orchestrator
from aorta.collect.request import EXPECTABLE, INVOCATIONS, Request
from aorta.host.protocol import Host
from aorta.instrumentation.about import envelope
from aorta.instrumentation.buck_wishes import buck_wishes, seconds
from aorta.instrumentation.extensions import extended
from aorta.instrumentation.process import enders
from aorta.instrumentation.switch import sudo_from_environment
from aorta.instrumentation.write import write_atomically
from aorta.model.codec import dump, to_json
from aorta.model.frozen import evolve
from aorta.model.reason import Reason
from aorta.model.sections import ORDER
from aorta.model.snapshot import Snapshot
from aorta.model.vocabulary import BUCK_TIMEOUT_S, METHODS, Detail, ReasonKind
from aorta.plugin.discovery import GROUP, VARIABLE, discover
from aorta.plugin.entry_points import may_declare
from aorta.plugin.registry import Registry

#: Seconds that a capture from a program may take; the command line has its own.
DEADLINE_S = 60.0

#: How torch is asked: in a process of its own, or in this one.
CHILD, IN_PROCESS = STRATEGIES = ("child", "in_process")

#: The most seconds that a file system may stay silent.
PATIENCE_S = 3.0


class UnknownSectionError(ValueError):
    """A section was asked for that no collector makes."""


def capture(
    *,
    probe_invocation: str | None = None,
    detail: str = "compact",
    buck_target: str | None = None,
    buck_context: Any = None,
    buck_timeout: float = BUCK_TIMEOUT_S,
    buck_libraries: Mapping[str, str] | None = None,
    plugins: Sequence[Any] = (),
    sections: Iterable[str] | None = None,
    without: Iterable[str] = (),
    timeouts: Mapping[str, float] | None = None,
    deadline_s: float | None = None,
    spent_s: float = 0.0,
    sudo: bool | None = None,
    expect: Iterable[str] = (),
    env: Mapping[str, str] | None = None,
    digests: str | None = None,
    cache: bool = True,
    verify_digests: bool = False,
    import_torch: bool = True,
    import_strategy: str | None = None,
    python: str | None = None,
    host: Host | None = None,
    registry: Registry | None = None,
    started: Callable[[Orchestrator], None] | None = None,
) -> Snapshot:
    """Return a snapshot of this process and its machine.

    ``probe_invocation`` is what the caller claims (direct, buck2_run, buck2_action). ``detail`` is
    compact or full. ``plugins`` are further collectors: modules, their names, or functions.
    ``sections`` are the only ones to run (what they need runs too), ``without`` the ones to leave out,
    ``timeouts`` their deadlines in seconds. ``deadline_s`` is the limit for all (default 60 s,
    ``AORTA_DEADLINE_S``), of which ``spent_s`` are gone already. ``sudo`` allows privileged commands
    (default ``AORTA_SUDO=1``). ``expect`` names parts of the machine (gpu, torch, rdma) whose absence
    is a failure. ``env`` replaces the environment that is looked at. ``digests`` is how catalogs of
    kernels are hashed: full, identity or none (default: full, identity where they lie on a file system
    that may hang). Without ``cache`` nothing is taken from what was hashed before or left for later;
    ``verify_digests`` hashes it all the same and names what was wrong. torch is read in this process where it
    is loaded, and else imported into it on a watched thread, or left alone without ``import_torch``;
    ``import_strategy="child"`` imports it in a process of its own. ``python`` is the program of another
    interpreter (3.8 or later) whose torch and packages are looked at in place of this one's; it is
    always asked in a process. ``buck_target`` is a Buck target of whose dependencies buck2 is asked, on
    the client, within ``buck_timeout`` seconds, by which the default deadline grows; ``buck_context`` is
    how it is built: texts such as ``"mode=@//mode/opt"``, ``"config=KEY=VALUE"``, ``"modifier=M"`` in their
    order, a BuckContext, or ``"default"`` for no options; ``buck_libraries`` are further libraries, name to
    pattern. Where this is declared to be the workload, buck2 is not asked, and the document says so.
    ``host`` is looked at in place of this machine, and closed; ``registry`` takes the place of discovery;
    ``started`` is given the orchestrator before it runs.

    Raises ValueError for an unknown detail, section or part, for a target or option that cannot be meant,
    and for a time limit that is no positive number; nothing for what the machine or its environment does.
    """
    request = Request(
        detail=_detail(detail),
        probe_invocation=probe_invocation,
        expect=_parts(expect),
        sections=None if sections is None else tuple(sections),
        without=tuple(without),
        timeouts=dict(timeouts or {}),
        spent_s=spent_s,
        digests=_method(digests),
        cache=cache,
        verify_digests=verify_digests,
        env=env,
        import_strategy=_strategy(import_strategy, here=host is None and python is None),
        import_torch=import_torch,
        python=python,
        plugins_apart=True,
        **buck_wishes(buck_target, buck_context, buck_timeout, buck_libraries),
        **_limits(deadline_s, sudo=sudo, longer_s=0.0 if buck_target is None else seconds(buck_timeout)),
    )
    if registry is None:
        registry, request = _found(plugins, request)
    _check_sections(registry, request)
    return _captured(registry, request, host or live_host(request.deadline_s, python), started)


collect_env = capture


def capture_to(path: str | os.PathLike[str], *, force: bool = True, **options: Any) -> Snapshot:
    """Take a snapshot and write it to ``path``, atomically; directories are made as needed.

    Options are those of ``capture``; without ``force`` the file of another host is not replaced.
    Raises OSError when the file cannot be written; nothing half-written is left.
    """
    snapshot = capture(**options)
    write_atomically(os.fspath(path), to_json(dump(snapshot)), force=force)
    return snapshot


def live_host(
    deadline_s: float = DEADLINE_S,
    python: str | None = None,
    env: Mapping[str, str | None] | None = None,
) -> Host:
    """Return this machine; a file system that may hang gets a third of the deadline, 3 s at most.

    ``python`` is the program of another interpreter that questions about Python are for; it gets a third
    of the deadline too, 15 s at most, to say what it is. ``env`` overlays this process's environment.
    """
    from aorta.host.child import end_all
    from aorta.host.interpreter import FACTS_S
    from aorta.host.live import LiveHost

    enders.add(end_all)
    return LiveHost(
        env=env,
        slow_limit_s=min(PATIENCE_S, deadline_s / 3),
        python=python,
        python_limit_s=min(FACTS_S, deadline_s / 3),
    )


def _detail(word: str) -> Detail:
    words = [member.value for member in Detail]
    if word not in words:
        raise ValueError(f"detail is {word!r}: one of {', '.join(words)}")
    return Detail(word)


def _method(word: str | None) -> str | None:
    if word is not None and word not in METHODS:
        raise ValueError(f"digests is {word!r}: one of {', '.join(METHODS)}")
    return word


def _parts(words: Iterable[str]) -> frozenset[str]:
    parts = frozenset(words)
    if not parts <= set(EXPECTABLE):
        raise ValueError(f"expect is {sorted(parts)}: of {', '.join(EXPECTABLE)}")
    return parts


def registry_of(plugins: Sequence[Any], limit_s: float) -> Registry:
    """Return the collectors; where there are none from outside, those of this process's last capture."""
    if plugins or os.environ.get(VARIABLE) or may_declare(GROUP):
        return discover(plugins, limit_s=limit_s)
    return _built_in()


def _found(plugins: Sequence[Any], request: Request) -> tuple[Registry, Request]:
    """Return the collectors, and the request less the time that finding them took."""
    registry = registry_of(plugins, (request.deadline_s - request.spent_s) / 3)
    return registry, evolve(request, spent_s=request.spent_s + registry.took_s)


@functools.cache
def _built_in() -> Registry:
    registry = discover(outside=False)
    # That is our own start, and only once.
    registry.took_s = 0.0
    return registry


def _strategy(word: str | None, *, here: bool) -> str:
    """Return how torch is asked; by default in this process where the capture is of it."""
    if word is not None and word not in STRATEGIES:
        raise ValueError(f"import_strategy is {word!r}: one of {', '.join(STRATEGIES)}")
    return word or (IN_PROCESS if here else CHILD)


def _limits(deadline_s: float | None, *, sudo: bool | None, longer_s: float) -> dict[str, Any]:
    """Return the deadline, whether privileged commands may run, and what the environment says amiss."""
    limit, complaints = (deadline_s, ()) if deadline_s is not None else _default_deadline(longer_s)
    if not 0 < limit < math.inf:
        raise ValueError(f"deadline_s is {deadline_s!r}: a number of seconds above 0")
    allowed, doubts = (sudo, ()) if sudo is not None else _default_sudo()
    return {"deadline_s": limit, "sudo": allowed, "complaints": (*complaints, *doubts)}


def _default_deadline(longer_s: float) -> tuple[float, tuple[str, ...]]:
    """Return the limit, and what is wrong with the environment's: a job must not end for it."""
    usual = DEADLINE_S + longer_s
    try:
        return deadline_from_environment(usual), ()
    except ValueError as error:
        return usual, (f"{error}; {usual:g} s were taken",)


def _default_sudo() -> tuple[bool, tuple[str, ...]]:
    """Return whether the environment allows privileged commands, and what is wrong with its word."""
    try:
        return sudo_from_environment(), ()
    except ValueError as error:
        return False, (f"{error}; no privileged command was run",)


def _check_sections(registry: Registry, request: Request) -> None:
    """Raise UnknownSectionError for a name that is no section; a deadline may be a provider's too."""
    known = {*ORDER, *registry.collectors}
    unknown = {*(request.sections or ()), *request.without} - known
    unknown |= set(request.timeouts) - known - set(registry.providers)
    if unknown:
        import difflib

        meant = [difflib.get_close_matches(name, sorted(known), n=1) for name in sorted(unknown)]
        close = list(dict.fromkeys(match for matches in meant for match in matches))
        hint = f" (did you mean {', '.join(close)}?)" if close else ""
        raise UnknownSectionError(f"no section {', '.join(sorted(unknown))}{hint}; see: aorta env collectors")


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


def _captured(
    registry: Registry,
    request: Request,
    host: Host,
    started: Callable[[Orchestrator], None] | None,
) -> Snapshot:
    failure: Exception | None = None
    try:
        run = Orchestrator(registry, host, extended(request, registry, host))
        if started is not None:
            started(run)
        try:
            run.run()
        except Exception as error:
            # A defect of ours: what was collected so far is still written, and says so.
            failure = error
        finally:
            run.digests.close()
    finally:
        host.close()
    snapshot = merge(run, envelope(run))
    if failure is None:
        return snapshot
    text = f"{type(failure).__name__} in the orchestrator"
    reason = Reason(section="collection", kind=ReasonKind.FAILED, detail=text)
    collection = evolve(snapshot.collection, reasons=(*snapshot.collection.reasons, reason))
    return evolve(snapshot, collection=collection)


__all__ = ["INVOCATIONS", "capture", "capture_to", "collect_env"]
