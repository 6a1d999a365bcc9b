"""The contract of every collector and provider, as one assertion.

On a host that has nothing, that denies everything, or on which everything hangs, a collector gives a
value of its declared shape or a typed reason, asks only for what it declares, claims nothing that it
could not see, and touches nothing of the machine by itself.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from aorta.collect.orchestrator import Orchestrator
from aorta.collect.request import Request
from aorta.collect.result import Result
from aorta.host.fake import FakeHost
from aorta.host.protocol import Host
from aorta.model.dump import Dumper
from aorta.model.frozen import frozen
from aorta.model.load import load
from aorta.model.shape import Shape, empty, nothing
from aorta.model.vocabulary import PARTIAL_KINDS, Detail, ReasonKind, Status
from aorta.plugin.declare import CollectorSpec, ProviderSpec, Spec
from aorta.plugin.registry import Registry
from aorta.testing.hosts import DenyingHost, HangingHost
from aorta.testing.lookup import constant, looked_up, only, overheard, replaced
from aorta.testing.silence import heard

#: The deadline that a collector is given on the host that hangs, and how much later it may be over.
HANG_S, MARGIN_S = 0.4, 1.5

#: The longest value or text that a sentence of an assertion shows.
SHOWN = 120


@frozen
class Tried:
    """What one run came to, and the exception that ended it."""

    result: Result
    error: BaseException | None

    @property
    def told(self) -> str:
        """Return its reasons, and what the exception says: reasons leave that out."""
        said = "; ".join(reason.text for reason in self.result.reasons)
        text = str(self.error) if self.error is not None else ""
        return f"{said}: {text[:300]}" if text else said


def assert_contract(what: Any, *, plugins: Sequence[Any] = ()) -> None:
    """Check the contract of a collector or provider: its decorated function, its name, or its spec.

    ``plugins`` are the modules it comes from, or needs, where they are not built in. Raises
    AssertionError with a sentence that says what was broken, from the collector's own exception where
    there was one; TypeError for what is no collector.
    """
    try:
        registry, spec = looked_up(what, plugins)
    except LookupError as error:
        raise AssertionError(error.args[0]) from None
    first: dict[Detail, Result] = {}
    for detail in Detail:
        empty_host = _tried(registry, spec, FakeHost(), detail)
        first[detail] = empty_host.result
        _check(spec, empty_host, "on an empty host")
        _check_whole(spec, empty_host.result)
        denying = DenyingHost()
        denied = _tried(registry, spec, denying, detail)
        _check(spec, denied, "on a host that denies everything")
        if denying.asked:
            _check_claims(spec, denied.result)
    _check_silence(registry, spec)
    for detail, result in first.items():
        _check_again(spec, result, _run(registry, spec, FakeHost(), detail))
    _check_hanging(registry, spec)


def _run(registry: Registry, spec: Spec, host: Host, detail: Detail, **wishes: Any) -> Result:
    sections = (spec.name,) if isinstance(spec, CollectorSpec) else None
    if sections is None:
        registry = only(registry, spec)
    run = Orchestrator(registry, host, Request(detail=detail, sections=sections, **wishes))
    try:
        run.run()
    finally:
        host.close()
    return run.results[spec.name]


def _tried(registry: Registry, spec: Spec, host: Host, detail: Detail, **wishes: Any) -> Tried:
    """Run it, and keep what it raised."""
    listening, raised = overheard(registry, spec)
    result = _run(listening, spec, host, detail, **wishes)
    return Tried(result=result, error=raised[0] if raised else None)


# What it gives


def _check(spec: Spec, tried: Tried, where: str) -> None:
    result = tried.result
    if result.record.status in (Status.FAILED, Status.TIMED_OUT):
        ended = result.record.status.value
        raise AssertionError(f"{spec.name} {ended} {where}: {tried.told}") from tried.error
    if result.usable and isinstance(spec, ProviderSpec) and not isinstance(result.value, spec.model):
        raise AssertionError(f"{spec.name} gave {type(result.value).__name__} {where}")
    if isinstance(spec, CollectorSpec):
        _check_form(spec, result.plain, where)
        _check_types(spec, result, where)
        _check_fields(spec, result, where)


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


def _check_types(spec: CollectorSpec, result: Result, where: str) -> None:
    """Find what the document would have as null with a reason, since it does not fit."""
    dumper = Dumper(Detail.FULL)
    dumper.dump(result.value, spec.shape)
    if result.usable and dumper.problems:
        lost = "; ".join(f"{one.path}: {one.text}" if one.path else one.text for one in dumper.problems)
        raise AssertionError(f"the value of {spec.name} {where} is not as declared: {lost}")


def _check_fields(spec: CollectorSpec, result: Result, where: str) -> None:
    """Find reasons that nobody would find, since there is no such field."""
    names = [name for name, _ in spec.shape.fields]
    for reason in result.reasons:
        field = re.split(r"[.\[]", reason.field)[0]
        if names and field and field not in names:
            known = ", ".join(names)
            raise AssertionError(
                f"{spec.name} {where} notes {reason.text!r} against {field!r}, which is no field: {known}"
            )


def _check_whole(spec: Spec, result: Result) -> None:
    """Find what would make the snapshot of every other machine partial."""
    partial = [f"{reason.text} ({reason.kind.value})" for reason in result.reasons if reason.partial]
    if partial:
        whole = ", ".join(kind.value for kind in ReasonKind if kind not in PARTIAL_KINDS)
        raise AssertionError(
            f"{spec.name} makes the snapshot of an empty machine partial, where there was nothing to see:"
            f" {'; '.join(partial[:5])}; say one of {whole} there"
        )


def _check_again(spec: Spec, first: Result, second: Result) -> None:
    if first.plain != second.plain:
        raise AssertionError(
            f"{spec.name} says two things of one machine, so no recording could be replayed:"
            f" {_short(first.plain)}, then {_short(second.plain)}"
        )


def _check_claims(spec: Spec, result: Result) -> None:
    """Find a false, 0 or [] where all was denied; variables and needs may have told it."""
    if not isinstance(spec, CollectorSpec) or spec.needs or result.variables:
        return
    claims = [f"{path or spec.name} is {value!r}" for path, value in _claims(result.plain, "")]
    if claims:
        raise AssertionError(
            f"{spec.name} claims what it did not see, on a host that denies everything:"
            f" {'; '.join(claims[:5])}; what was not seen is null, with a reason"
        )


def _claims(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _claims(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for member in value:
            yield from _claims(member, f"{path}[]")
    elif value is not None and not value:
        yield path, value


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


# What it does by itself


def _check_silence(registry: Registry, spec: Spec) -> None:
    """Run it with an ear on its thread. It ran before, so that late imports are done."""

    def run(watched: Callable[[Any], Any]) -> None:
        for detail in Detail:
            _run(replaced(registry, spec, watched), spec, FakeHost(), detail)

    found = heard(spec.function, run)
    if found.touched:
        events = ", ".join(found.touched[:5])
        raise AssertionError(f"{spec.name} touches the machine by itself: {events}; ask ctx instead")
    if found.printed:
        text = found.printed.strip()[:SHOWN]
        raise AssertionError(f"{spec.name} prints {text!r}: what it has to tell is its value and its reasons")


# A host that hangs


def _check_hanging(registry: Registry, spec: Spec) -> None:
    """Run it where every answer is missing; what it needs is there, so that it is its own turn."""
    calm = registry
    for needed in spec.needs:
        maker = registry.maker(needed)
        calm = constant(calm, maker, _made(registry, maker))
    host = HangingHost()
    begun = time.monotonic()
    tried = _tried(calm, spec, host, Detail.FULL, timeouts={spec.name: HANG_S})
    elapsed, status = time.monotonic() - begun, tried.result.record.status
    if elapsed > HANG_S + MARGIN_S:
        raise AssertionError(f"{spec.name} took {elapsed:.1f} s of {HANG_S} s where everything hangs")
    if status is Status.FAILED:
        raise AssertionError(f"{spec.name} fails where everything hangs: {tried.told}") from tried.error
    if host.asked and status is not Status.TIMED_OUT:
        raise AssertionError(f"{spec.name} is {status.value} although an answer hangs: {tried.told}")
    if isinstance(spec, CollectorSpec):
        _check_form(spec, tried.result.plain, "where everything hangs")


def _made(registry: Registry, maker: Spec) -> Any:
    """Return what a need is on an empty host."""
    result = _run(registry, maker, FakeHost(), Detail.FULL)
    if result.usable:
        return result.value
    return nothing(maker.shape) if isinstance(maker, CollectorSpec) else maker.model()
