"""The configured graph of the target that the caller named: what ``buck2 cquery`` answers, asked once."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aorta.collect import CommandAnswer, Context, Manner, Masked
from aorta.model.frozen import frozen
from aorta.model.vocabulary import INVOCATION_VARIABLE, ReasonKind, Scope, Word, claimed_workload
from aorta.plugin import provider
from aorta_collectors.providers.buck_checkout import BuckCheckout, BuildKind
from aorta_collectors.providers.buck_modes import BuckModes
from aorta_collectors.providers.gap import Gap

if TYPE_CHECKING:
    from aorta.buck.labels import Configured
    from aorta.buck.options import BuckContext

#: The limit that the caller may move: a cold daemon loads, and a large repository is parsed.
TIMEOUT_S = 130.0

ATTRIBUTE = r"^buck\.execution_platform$"
NO_PLATFORM = "<NONE>"

#: The most bytes of an answer: a large program has some hundred thousand targets below it.
ANSWER_LIMIT = 256 << 20


class QueryStatus(Word):
    """What became of the query."""

    NOT_REQUESTED = "not_requested"
    BUCK_NOT_DETECTED = "buck_not_detected"
    SUCCESS = "success"
    FAILURE = "failure"


@frozen
class BuckGraph:
    """The rows of ``deps(TARGET)``, those of the target itself, and the execution platform selected for it.

    ``gap`` says why there are no rows, ``platform_gap`` why there is no platform, ``root_gap`` why no single
    row is the target.
    """

    status: QueryStatus = QueryStatus.NOT_REQUESTED
    rows: "tuple[Configured, ...]" = ()
    roots: "tuple[Configured, ...]" = ()
    platform: str | None = None
    gap: Gap | None = None
    root_gap: Gap | None = None
    platform_gap: Gap | None = None

    def answered(self, ctx: Context) -> bool:
        """Tell whether there are rows; note of a section that rests on them why it has none."""
        if self.status is QueryStatus.NOT_REQUESTED and self.gap is not None:
            self.gap.note(ctx, "")
        elif self.status is not QueryStatus.SUCCESS:
            ctx.note(ReasonKind.BLOCKED, "", "no answer of buck2: see buck_invocation.status")
        return self.status is QueryStatus.SUCCESS


@provider(model=BuckGraph, scope=Scope.NAMESPACE, needs=(BuckCheckout, BuckModes), timeout_s=TIMEOUT_S)
def provide(ctx: Context) -> BuckGraph:
    """The configured graph of the Buck target that the caller named."""
    target = ctx.request.buck_target
    if target is None:
        text = "no Buck target was named (--buck-target)"
        return _ended(QueryStatus.NOT_REQUESTED, ReasonKind.NOT_REQUESTED, "buck2 cquery", text)
    claim = claimed_workload(ctx.request.probe_invocation, ctx.env(INVOCATION_VARIABLE))
    if claim:
        text = (
            f"not asked, since this is declared to be the workload ({claim}): a query from inside it would"
            " start another Buck, or change the one that runs; take the client's snapshot with the target"
            " on the client, and this one without"
        )
        return _ended(QueryStatus.FAILURE, ReasonKind.FAILED, target, text)
    checkout = ctx.need(BuckCheckout)
    gap = checkout.gap or Gap(kind=ReasonKind.FAILED, subject=target, detail="no Buck project")
    if checkout.kind is BuildKind.NONE or (checkout.kind is None and gap.kind is ReasonKind.NO_TOOL):
        what = f"buck2: {gap.detail}" if gap.kind is ReasonKind.NO_TOOL else gap.detail
        text = f"{target} was not asked about: {what}"
        return _ended(QueryStatus.BUCK_NOT_DETECTED, ReasonKind.FAILED, gap.subject, text)
    return _asked(ctx, target, ctx.request.buck_context)


def _ended(status: QueryStatus, kind: ReasonKind, subject: str, detail: str) -> BuckGraph:
    gap = Gap(kind=kind, subject=subject, detail=detail)
    return BuckGraph(status=status, gap=gap, platform_gap=gap)


def _asked(ctx: Context, target: str, context: "BuckContext") -> BuckGraph:
    from aorta.buck.answers import parse_platforms, parse_rows
    from aorta.buck.labels import is_pattern
    from aorta.buck.roots import platforms_of, roots_of
    from aorta_collectors.buck.failures import read

    limit, left = ctx.request.buck_timeout, ctx.allowance()
    until = time.monotonic() + min(limit, left)
    query = ("buck2", "cquery", "--console", "none", *context.argv)
    answer = _ask(ctx, (*query, "deps(%s)", target, "--json"), until)
    rows, gap = read(answer, parse_rows, "the query")
    if rows is None:
        if gap is not None and gap.kind is ReasonKind.TIMED_OUT and left < limit:
            text = f"the capture left the query {left:.3g} s, and buck2 did not answer: a later --deadline"
            gap = Gap(kind=ReasonKind.BUDGET, subject=gap.subject, detail=text)
        failed = Gap(kind=ReasonKind.BLOCKED, subject=target, detail="the query of its dependencies failed")
        return BuckGraph(status=QueryStatus.FAILURE, gap=gap, platform_gap=failed)
    if is_pattern(target):
        detail = f"{target} names several targets, so no single one of them is the root"
        several = Gap(kind=ReasonKind.UNSUPPORTED, subject=target, detail=detail)
        return BuckGraph(status=QueryStatus.SUCCESS, rows=tuple(rows), root_gap=several, platform_gap=several)
    roots = roots_of(rows, target)
    platforms, gap = read(_ask(ctx, (*query, "-a", ATTRIBUTE, target), until), parse_platforms, "the query")
    platform, gap = _one(platforms_of(platforms or {}, {row.text for row in roots}, target), gap, target)
    return BuckGraph(
        status=QueryStatus.SUCCESS,
        rows=tuple(rows),
        roots=tuple(roots),
        platform=platform,
        root_gap=_no_single(roots, rows, target),
        platform_gap=gap,
    )


def _no_single(roots: Sequence["Configured"], rows: Sequence["Configured"], target: str) -> Gap | None:
    """Return why no single row is the target, None where one is."""
    if len(roots) == 1:
        return None
    if roots:
        detail = f"{target} has {len(roots)} configurations, through a transition: see root_configurations"
        return Gap(kind=ReasonKind.UNSUPPORTED, subject=target, detail=detail)
    detail = f"{target} is not among the {len(rows)} targets of the answer, or several may be it"
    return Gap(kind=ReasonKind.UNPARSED, subject=target, detail=detail)


def _ask(ctx: Context, argv: tuple[str | Masked, ...], until: float) -> CommandAnswer:
    left = max(0.1, until - time.monotonic())
    manner = Manner(as_caller=True, hides=ctx.need(BuckModes).paths, output_limit=ANSWER_LIMIT)
    return ctx.command(argv, timeout=left, manner=manner)


def _one(named: set[str], gap: Gap | None, target: str) -> tuple[str | None, Gap | None]:
    """Return the one platform that was named, or why there is none."""
    if gap is not None:
        return None, gap
    if len(named) == 1 and NO_PLATFORM not in named:
        return named.pop(), None
    if not named:
        return None, Gap(kind=ReasonKind.UNSUPPORTED, subject=target, detail=f"buck2 names none for {target}")
    text = (
        f"no execution platform is compatible with {target}"
        if named == {NO_PLATFORM}
        else f"{target} has several, one a configuration: {', '.join(sorted(named))}"
    )
    return None, Gap(kind=ReasonKind.UNSUPPORTED, subject=target, detail=text)
