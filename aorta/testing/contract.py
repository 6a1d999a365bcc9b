"""The contract of every collector and provider, as one assertion.

On a host that has nothing, that denies everything, or on which everything hangs, a collector gives a
value of its declared shape or a typed reason, asks only for what it declares, and touches nothing of
the machine by itself.
"""

import functools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from aorta.collect.orchestrator import Orchestrator
from aorta.collect.request import Request
from aorta.collect.result import Result
from aorta.host.fake import FakeHost
from aorta.host.protocol import Host
from aorta.model.frozen import evolve
from aorta.model.load import load
from aorta.model.shape import Shape, empty, nothing
from aorta.model.vocabulary import Detail, Status
from aorta.plugin.declare import SPEC_ATTRIBUTE, CollectorSpec, ProviderSpec, Spec
from aorta.plugin.discovery import discover
from aorta.plugin.registry import Registry
from aorta.testing.hosts import DenyingHost, HangingHost

#: The deadline that a collector is given on the host that hangs, and how much later it may be over.
HANG_S, MARGIN_S = 0.4, 1.5

#: Audit events that are input or output; a name with a dot at its end is a family.
FORBIDDEN = (
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "ctypes.",
    "shutil.",
    "glob.",
    "tempfile.",
    "pathlib.",
    "mmap.",
    "fcntl.",
    "import",
)


def assert_contract(what: Any, *, plugins: Sequence[Any] = ()) -> None:
    """Check the contract of a collector or provider: its spec, its name, or its decorated function.

    ``plugins`` are the modules it comes from where it is not built in. Raises AssertionError with a
    sentence that says what was broken.
    """
    registry, spec = _found(what, plugins)
    for detail in Detail:
        _check(spec, _run(registry, spec, FakeHost(), detail), "on an empty host")
        _check(spec, _run(registry, spec, DenyingHost(), detail), "on a host that denies everything")
    _check_silence(registry, spec)
    _check_hanging(registry, spec)


def _found(what: Any, plugins: Sequence[Any]) -> tuple[Registry, Spec]:
    spec = getattr(what, SPEC_ATTRIBUTE, what)
    name = spec if isinstance(spec, str) else spec.name
    registry = discover(plugins, outside=False)
    if name not in {known.name for known in registry.specs()} and callable(what):
        registry = discover([*plugins, what], outside=False)
    for known in registry.specs():
        if known.name == name:
            return registry, known
    faults = "; ".join(record.detail for record in registry.plugins if record.detail)
    raise AssertionError(f"{name} is no collector or provider" + (f": {faults}" if faults else ""))


def _run(registry: Registry, spec: Spec, host: Host, detail: Detail, **wishes: Any) -> Result:
    sections = (spec.name,) if isinstance(spec, CollectorSpec) else None
    if sections is None:
        registry = _only(registry, spec)
    run = Orchestrator(registry, host, Request(detail=detail, sections=sections, **wishes))
    try:
        run.run()
    finally:
        host.close()
    return run.results[spec.name]


def _only(registry: Registry, spec: Spec) -> Registry:
    """Return a registry in which nothing runs but a provider and what it needs."""
    names = registry.graph([spec.name])
    small = _copy(registry)
    small.providers = {name: one for name, one in registry.providers.items() if name in names}
    small.collectors = {name: one for name, one in registry.collectors.items() if name in names}
    return small


def _copy(registry: Registry) -> Registry:
    other = Registry.__new__(Registry)
    other.__dict__.update(registry.__dict__)
    other.collectors, other.providers = dict(registry.collectors), dict(registry.providers)
    return other


def _with(registry: Registry, spec: Spec, function: Callable[..., Any], **changes: Any) -> Registry:
    """Return a registry in which another function stands for a collector or provider."""
    other = _copy(registry)
    if isinstance(spec, CollectorSpec):
        other.collectors[spec.name] = evolve(spec, function=function, **changes)
    else:
        other.providers[spec.name] = evolve(spec, function=function, **changes)
    return other


def _check(spec: Spec, result: Result, where: str) -> None:
    told = "; ".join(reason.text for reason in result.reasons)
    if result.record.status in (Status.FAILED, Status.TIMED_OUT):
        raise AssertionError(f"{spec.name} {result.record.status.value} {where}: {told}")
    if result.usable and isinstance(spec, ProviderSpec) and not isinstance(result.value, spec.model):
        raise AssertionError(f"{spec.name} gave {type(result.value).__name__} {where}")
    if isinstance(spec, CollectorSpec):
        _check_form(spec, result.plain, where)


def _check_form(spec: CollectorSpec, value: Any, where: str) -> None:
    try:
        json.dumps(value, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise AssertionError(f"the value of {spec.name} {where} is not strict JSON: {error}") from None
    for form, told in ((value, where), (empty(spec.shape), "when it fails")):
        faults = [] if form is None else load(form, spec.model, spec.name)[1]
        lost = [*faults, *_lost_keys(form, spec.shape, spec.name)]
        if lost:
            raise AssertionError(f"the value of {spec.name} {told} is not as declared: {'; '.join(lost)}")


def _lost_keys(value: Any, shape: Shape, path: str) -> Iterator[str]:
    if shape.kind == "object" and isinstance(value, dict):
        for name, member in shape.fields:
            if name not in value:
                yield f"{path}.{name} is not there"
            yield from _lost_keys(value.get(name), member, f"{path}.{name}")
    if shape.item is not None and value:
        members: Iterable[Any] = value.values() if isinstance(value, dict) else value
        for member in members:
            yield from _lost_keys(member, shape.item, f"{path}[]")


# No input or output of its own

_watched: dict[int, list[str]] = {}


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched:
        return
    heard = _watched.get(threading.get_ident())
    if heard is not None and any(
        event == name or (name.endswith(".") and event.startswith(name)) for name in FORBIDDEN
    ):
        heard.append(f"{event} {str(arguments[:1])[:80]}")


@functools.cache
def _listen() -> None:
    # An audit hook stays for good, so there is one for all.
    sys.addaudithook(_heard)


def _check_silence(registry: Registry, spec: Spec) -> None:
    """Run it with an ear on its thread. It ran before, so that late imports are done."""
    _listen()
    heard: list[str] = []

    @functools.wraps(spec.function)
    def watched(ctx: Any) -> Any:
        own = threading.get_ident()
        _watched[own] = heard
        try:
            return spec.function(ctx)
        finally:
            del _watched[own]

    for detail in Detail:
        _run(_with(registry, spec, watched), spec, FakeHost(), detail)
    if heard:
        raise AssertionError(f"{spec.name} touches the machine by itself: {', '.join(heard[:5])}")


# A host that hangs


def _check_hanging(registry: Registry, spec: Spec) -> None:
    """Run it where every answer is missing; what it needs is there, so that it is its own turn."""
    calm = registry
    for needed in spec.needs:
        maker = registry.maker(needed)
        calm = _with(calm, maker, _constant(registry, maker), needs=())
    host = HangingHost()

    # A function of its own, since an abandoned one is not started again.
    @functools.wraps(spec.function)
    def once(ctx: Any) -> Any:
        return spec.function(ctx)

    begun = time.monotonic()
    timeouts = {spec.name: HANG_S}
    result = _run(_with(calm, spec, once), spec, host, Detail.FULL, timeouts=timeouts)
    elapsed = time.monotonic() - begun
    told = "; ".join(reason.text for reason in result.reasons)
    if elapsed > HANG_S + MARGIN_S:
        raise AssertionError(f"{spec.name} took {elapsed:.1f} s of {HANG_S} s where everything hangs")
    if result.record.status is Status.FAILED:
        raise AssertionError(f"{spec.name} fails where everything hangs: {told}")
    if host.asked and result.record.status is not Status.TIMED_OUT:
        raise AssertionError(f"{spec.name} is {result.record.status.value} although an answer hangs: {told}")
    if isinstance(spec, CollectorSpec):
        _check_form(spec, result.plain, "where everything hangs")


def _constant(registry: Registry, maker: Spec) -> Callable[[Any], Any]:
    result = _run(registry, maker, FakeHost(), Detail.FULL)
    value = result.value
    if not result.usable:
        value = nothing(maker.shape) if isinstance(maker, CollectorSpec) else maker.model()

    def give(ctx: Any) -> Any:  # noqa: ARG001 - what a collector takes
        return value

    return give
