"""The Buck2 project that this process stands in, as ``buck2`` itself says."""

from aorta.collect import CommandAnswer, Context, Manner
from aorta.model.frozen import frozen
from aorta.model.vocabulary import INVOCATION_VARIABLE, ReasonKind, Scope, Word, claimed_workload
from aorta.plugin import provider
from aorta_collectors.providers.gap import Gap

#: The file that makes a directory one of a Buck project.
CONFIG = ".buckconfig"

#: What buck2 says outside of a project.
NO_PROJECT = "buck project root"

#: What is said of a program that is in no directory of PATH.
NOT_THERE = "not on PATH"

TOOL_TIMEOUT_S = 10.0


class BuildKind(Word):
    """What builds the tree that this process stands in."""

    NONE = "none"
    BUCK2 = "buck2"


@frozen
class BuckCheckout:
    """The Buck2 project of the working directory.

    ``kind`` is null where it could not be told, and ``gap`` says why it is not buck2. ``version`` is
    what follows ``buck2`` in its own line, ``root`` the project's directory, ``folder`` the working one.
    """

    kind: BuildKind | None = None
    version: str | None = None
    root: str | None = None
    folder: str | None = None
    gap: Gap | None = None


@provider(model=BuckCheckout, scope=Scope.NAMESPACE, timeout_s=TOOL_TIMEOUT_S + 5)
def provide(ctx: Context) -> BuckCheckout:
    """The Buck2 project that this process stands in."""
    folder = working_directory(ctx)
    claim = claimed_workload(ctx.request.probe_invocation, ctx.env(INVOCATION_VARIABLE))
    if claim:
        text = f"declared to be the workload ({claim}), from inside which Buck is not asked"
        return BuckCheckout(
            folder=folder, gap=Gap(kind=ReasonKind.NOT_REQUESTED, subject="buck2", detail=text)
        )
    if ctx.request.buck_target is None and folder is not None:
        outside = _outside(ctx, folder)
        if outside is not None:
            return BuckCheckout(kind=BuildKind.NONE, folder=folder, gap=outside)
    version, root = ctx.commands(
        ("buck2", "--version"),
        ("buck2", "root", "--kind", "project"),
        timeout=TOOL_TIMEOUT_S,
        manner=Manner(as_caller=True),
    )
    place = parse_root(root.stdout)
    if place is not None:
        told = parse_version(version.stdout)
        return BuckCheckout(
            kind=BuildKind.BUCK2, version=told, root=place, folder=folder, gap=_lack(version, told)
        )
    said = root.value.stderr if root.value is not None else ""
    if NO_PROJECT in said:
        detail = "buck2 finds no project here: no .buckconfig in this directory or above it"
        gap = Gap(kind=ReasonKind.ABSENT, subject=folder or "buck2 root", detail=detail)
        return BuckCheckout(kind=BuildKind.NONE, folder=folder, gap=gap)
    if root.ok:
        detail = "buck2 root: no absolute path in what it printed"
        gap = Gap(kind=ReasonKind.UNPARSED, subject="buck2 root", detail=detail)
        return BuckCheckout(folder=folder, gap=gap)
    # Of one that is there and does not start, or of a place that could not be looked at, nothing follows.
    kind = BuildKind.NONE if (root.kind, root.detail) == (ReasonKind.NO_TOOL, NOT_THERE) else None
    return BuckCheckout(kind=kind, folder=folder, gap=Gap.of(root, "buck2 root"))


def working_directory(ctx: Context) -> str | None:
    """Return the directory that this process works in, None where it is not told."""
    value = ctx.observe("cwd").value
    return value if isinstance(value, str) and value.startswith("/") else None


def _outside(ctx: Context, folder: str) -> Gap | None:
    """Return that no directory from here up has a Buck configuration, None where one may have."""
    parts = [part for part in folder.split("/") if part]
    for depth in range(len(parts), -1, -1):
        place = "/".join(["", *parts[:depth], CONFIG])
        if ctx.stat(place).kind is not ReasonKind.ABSENT:
            return None
    detail = f"no {CONFIG} in {folder} or above it, so no Buck project"
    return Gap(kind=ReasonKind.ABSENT, subject=folder, detail=detail)


def _lack(version: CommandAnswer, told: str | None) -> Gap | None:
    """Return why the version is not known, None where it is."""
    if told is not None:
        return None
    if version.ok:
        detail = "buck2 --version: no line that begins with buck2"
        version = CommandAnswer(kind=ReasonKind.UNPARSED, subject="buck2 --version", detail=detail)
    return Gap.of(version, "buck2 --version")


def parse_version(printed: str) -> str | None:
    """Return the version of ``buck2 --version``, e.g. ``2026-08-15-13baa8a…``; words in <> are its own."""
    lines = (line.strip() for line in printed.splitlines())
    return next((line[6:].strip() for line in lines if line.startswith("buck2 ") and line[6:].strip()), None)


def parse_root(printed: str) -> str | None:
    """Return the directory of ``buck2 root``: the last line that is an absolute path."""
    lines = [line.strip() for line in printed.splitlines()]
    return next((line for line in reversed(lines) if line.startswith("/")), None)
