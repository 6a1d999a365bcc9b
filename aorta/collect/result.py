"""``Result``: what became of one collector or provider."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from aorta.collect.context import Context
from aorta.collect.packed import Packed
from aorta.model.dump import Dumper
from aorta.model.frozen import frozen
from aorta.model.reason import Reason
from aorta.model.shape import Shape, empty, nothing
from aorta.model.snapshot import CommandRecord, Record
from aorta.model.vocabulary import Coverage, Detail, ReasonKind, Status
from aorta.plugin.declare import CollectorSpec, Spec

#: The most characters of a section of an outside plugin: all are looked through for secrets.
CHARACTERS = 4 << 20


@frozen
class Result:
    """One collector's end: its typed value, its checked JSON value, its reasons and its record."""

    value: Any
    plain: Any
    reasons: tuple[Reason, ...]
    record: Record
    coverage: Mapping[str, Coverage] = attrs.field(factory=dict)
    redacted: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    #: Variables that programs which were run may have looked at.
    passed_on: frozenset[str] = frozenset()
    #: Whether the machine was asked anything but variables.
    looked: bool = True

    @property
    def usable(self) -> bool:
        """Tell whether others may build on the value."""
        return self.record.status in (Status.OK, Status.PARTIAL, Status.REUSED)


def record_of(
    spec: Spec,
    status: Status,
    *,
    plugin: str,
    elapsed_s: float = 0.0,
    ctx: Context | None = None,
    hung_at: str | None = None,
) -> Record:
    """Return the record of a collector that ended with ``status``."""
    declared: dict[str, Any] = (
        {"provenance": spec.provenance, "scope": spec.scope, "detail": spec.detail}
        if isinstance(spec, CollectorSpec)
        else {}
    )
    asked: dict[str, Any] = {"digests": ctx.digest_count, "commands": _asked(ctx)} if ctx else {}
    return Record(
        status=status, elapsed_s=round(elapsed_s, 4), plugin=plugin, hung_at=hung_at, **declared, **asked
    )


def missing(
    spec: Spec,
    status: Status,
    kind: ReasonKind,
    text: str,
    *,
    plugin: str,
    elapsed_s: float = 0.0,
    ctx: Context | None = None,
    hung_at: str | None = None,
) -> Result:
    """Return the result of a collector that gave no value: the failure shape and one reason more."""
    noted = _told(ctx) if ctx else ()
    last = Reason(section=spec.name, kind=kind, subject=hung_at, detail=_by(spec, plugin, text))
    shape = spec.shape if isinstance(spec, CollectorSpec) else None
    return Result(
        value=nothing(shape) if shape else None,
        plain=empty(shape) if shape else None,
        reasons=(*noted, last),
        record=record_of(spec, status, plugin=plugin, elapsed_s=elapsed_s, ctx=ctx, hung_at=hung_at),
        redacted=_names(ctx.redacted) if ctx else frozenset(),
        variables=_names(ctx.variables) if ctx else frozenset(),
        passed_on=_names(ctx.passed_on) if ctx else frozenset(),
        looked=ctx is None or ctx.looked,
    )


def _by(spec: Spec, plugin: str, text: str) -> str:
    """Return a text with the plugin's name, where it is not one of aorta's own."""
    outside = isinstance(spec, CollectorSpec) and "." in spec.section
    return f"{text} (plugin {plugin})" if outside else text


def _asked(ctx: Context) -> tuple[CommandRecord, ...]:
    return tuple(record for record in tuple(ctx.command_records) if isinstance(record, CommandRecord))


def _told(ctx: Context) -> tuple[Reason, ...]:
    """Return what was noted; a plugin can reach the list and put anything in."""
    return tuple(reason for reason in tuple(ctx.reasons) if isinstance(reason, Reason))


def _names(given: Iterable[Any]) -> frozenset[str]:
    return frozenset(str(name) for name in tuple(given))


def succeeded(spec: Spec, value: Any, ctx: Context, *, plugin: str, elapsed_s: float) -> Result:
    """Return the result of a collector that returned; a value of another type than declared fails."""
    plain = None
    if isinstance(spec, CollectorSpec):
        shape = spec.shape
        if not _fits(value, shape):
            text = f"returned {type(value).__name__}, declared is {_declared(shape)}"
            return missing(
                spec,
                Status.FAILED,
                ReasonKind.FAILED,
                text,
                plugin=plugin,
                elapsed_s=elapsed_s,
                ctx=ctx,
            )
        outside = "." in spec.section
        limit = CHARACTERS if outside else math.inf
        dumper = Dumper(ctx.request.detail, redacting=True, characters=limit)
        plain = dumper.dump(value, shape)
        ctx.redacted.update(f"{spec.section}.{path}" for path in dumper.redacted)
        for problem in dumper.problems:
            ctx.note(problem.kind, problem.path, _by(spec, plugin, problem.text))
        _check_promises(plain, shape, ctx, spec)
    elif not isinstance(value, (spec.model, Packed)):
        text = f"returned {type(value).__name__}, declared is {spec.model.__name__}"
        return missing(
            spec, Status.FAILED, ReasonKind.FAILED, text, plugin=plugin, elapsed_s=elapsed_s, ctx=ctx
        )
    partial = any(reason.partial for reason in _told(ctx))
    return Result(
        value=value,
        plain=plain,
        reasons=_told(ctx),
        record=record_of(
            spec, Status.PARTIAL if partial else Status.OK, plugin=plugin, elapsed_s=elapsed_s, ctx=ctx
        ),
        coverage={part: state for part, state in ctx.coverage.items() if isinstance(state, Coverage)},
        redacted=_names(ctx.redacted),
        variables=frozenset(ctx.variables),
        passed_on=frozenset(ctx.passed_on),
        looked=ctx.looked,
    )


def _fits(value: Any, shape: Shape) -> bool:
    if value is None:
        return shape.nullable
    if shape.kind == "object":
        return shape.cls is not None and isinstance(value, shape.cls)
    if shape.kind == "list":
        return isinstance(value, (list, tuple))
    if shape.kind == "map":
        return isinstance(value, Mapping)
    if shape.kind == "scalar":
        return type(value) is shape.cls or (shape.cls is float and type(value) is int)
    return shape.kind == "any" or str(value) in shape.values


def _declared(shape: Shape) -> str:
    return shape.cls.__name__ if shape.cls is not None else shape.kind


def _check_promises(plain: Any, shape: Shape, ctx: Context, spec: CollectorSpec) -> None:
    if shape.kind != "object" or not isinstance(plain, dict):
        return
    for name, member in shape.fields:
        wanted = member.fact is not None and member.fact.always and _in_detail(member, ctx.request.detail)
        explained = any(reason.field.split(".")[0] in (name, "") for reason in _told(ctx))
        if wanted and plain.get(name) is None and not explained:
            ctx.note(ReasonKind.FAILED, name, f"{spec.place} promises a value and gave none")


def _in_detail(shape: Shape, detail: Detail) -> bool:
    return shape.fact is None or shape.fact.detail is Detail.COMPACT or detail is Detail.FULL
