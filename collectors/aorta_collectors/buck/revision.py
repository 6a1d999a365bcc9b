"""The revision of a working tree: what its version control says, without changing any of its settings."""

import re
from collections import Counter

from aorta.collect import CommandAnswer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind, Word
from aorta_collectors.providers.gap import Gap

TIMEOUT_S = 10.0

#: Settings by which git runs a program on the files that it compares.
FILTERS = r"^filter\..*\.(clean|process)$"

#: Where a checkout of Sapling configures itself, and the lines below which programs are named.
SL_SETTINGS, PROGRAMS = "config", r"(?i)^(\[(?:hooks|extensions|alias|fsmonitor|.*tools)\]|%include)"


class RevisionSource(Word):
    """Which version control told a revision."""

    GIT = "git"
    HG = "hg"
    SL = "sl"


#: What a working tree has in its top directory, by what made it.
MARKS = {".hg": RevisionSource.HG, ".sl": RevisionSource.SL, ".git": RevisionSource.GIT}


@frozen
class Revision:
    """What is checked out: ``text`` as the tool says it (hg adds + to a changed tree)."""

    source: RevisionSource | None = None
    text: str | None = None
    dirty: bool | None = None
    gap: Gap | None = None
    dirty_gap: Gap | None = None


def revision_of(ctx: Context, root: str) -> Revision:
    """Return the revision of the working tree that holds a directory."""
    source, top, denied = _source(ctx, root)
    if source is None:
        return Revision(
            gap=denied or Gap(kind=ReasonKind.ABSENT, subject=root, detail=f"{root}: no checkout")
        )
    if source is RevisionSource.GIT:
        return _git(ctx, root)
    if source is RevisionSource.SL:
        # Of hg the variable is known by which it leaves a checkout's configuration alone.
        gap = _own_programs(ctx, f"{top}/.sl/{SL_SETTINGS}")
        if gap is not None:
            return Revision(source=source, gap=gap)
    answer = ctx.command((source.value, "--cwd", root, "id", "-i"), timeout=TIMEOUT_S)
    found = parse_hg(answer.stdout)
    if found is None:
        return Revision(source=source, gap=_why(answer, source))
    return Revision(source=source, text=found, dirty=found.endswith("+"))


def _own_programs(ctx: Context, path: str) -> Gap | None:
    """Return why a tool is not asked that would run what a checkout's own configuration names."""
    found = ctx.find(path, PROGRAMS)
    if found.kind is not None:
        return None if found.kind is ReasonKind.ABSENT else Gap.of(found, path)
    if not found.value:
        return None
    names = ", ".join(found.value[:4])[:200]
    detail = f"not asked, since sl would run what {path} may name: it has {names}"
    return Gap(kind=ReasonKind.UNSUPPORTED, subject=path, detail=detail)


def _source(ctx: Context, root: str) -> tuple[RevisionSource | None, str, Gap | None]:
    """Return what the nearest directory from here up was checked out with, and that, or what was not seen."""
    parts = [part for part in root.split("/") if part]
    unseen = None
    for depth in range(len(parts), -1, -1):
        for mark, source in MARKS.items():
            top = "".join(f"/{part}" for part in parts[:depth])
            place = f"{top}/{mark}"
            found = ctx.stat(place)
            if found.ok:
                return source, top, None
            if found.kind is not ReasonKind.ABSENT:
                unseen = unseen or Gap.of(found, place)
    return None, "", unseen


def _git(ctx: Context, root: str) -> Revision:
    filters = ("config", "--name-only", "--get-regexp", FILTERS)
    head, here, elsewhere = ctx.commands(
        ("git", "-C", root, "rev-parse", "HEAD"),
        ("git", "-C", root, *filters),
        ("git", "-C", "/", *filters),
        timeout=TIMEOUT_S,
    )
    found = parse_git(head.stdout)
    if found is None:
        return Revision(source=RevisionSource.GIT, gap=_why(head, RevisionSource.GIT))
    gap = _own_filters(here, elsewhere)
    if gap is not None:
        return Revision(source=RevisionSource.GIT, text=found, dirty_gap=gap)
    # A monitor of the file system would be started, or asked, for nothing; so would git in each submodule.
    status = ("git", "-c", "core.fsmonitor=false", "--no-optional-locks", "-C", root, "status", "--porcelain")
    only = ("--untracked-files=no", "--ignore-submodules=dirty", "--no-renames")
    changes = ctx.command((*status, *only), timeout=TIMEOUT_S)
    dirty = bool(changes.stdout.strip()) if changes.ok else None
    gap = None if changes.ok else _why(changes, RevisionSource.GIT)
    return Revision(source=RevisionSource.GIT, text=found, dirty=dirty, dirty_gap=gap)


def _own_filters(here: CommandAnswer, elsewhere: CommandAnswer) -> Gap | None:
    """Return why the state is not asked for: the checkout names programs that git would run to tell it."""
    for answer in (here, elsewhere):
        # Without such a setting its status is 1.
        if not answer.ok and (answer.value is None or answer.value.exit_code != 1):
            return _why(answer, RevisionSource.GIT)
    own = Counter(here.stdout.split()) - Counter(elsewhere.stdout.split())
    if not own:
        return None
    names = ", ".join(sorted(own)[:4])[:200]
    detail = f"not asked, since git would run what this checkout's own configuration names: {names}"
    return Gap(kind=ReasonKind.UNSUPPORTED, subject=here.subject or "git config", detail=detail)


def _why(answer: CommandAnswer, source: RevisionSource) -> Gap:
    """Return why there is no revision: the tool's first complaint, which names the cause."""
    said = first_line(answer.value.stderr) if answer.value is not None else ""
    if answer.ok:
        detail = f"{source.value} printed no revision"
        return Gap(kind=ReasonKind.UNPARSED, subject=answer.subject or source.value, detail=detail)
    gap = Gap.of(answer, source.value)
    if answer.kind is ReasonKind.FAILED and said:
        return Gap(kind=gap.kind, subject=gap.subject, detail=f"{source.value}: {said}")
    return gap


def first_line(text: str) -> str:
    """Return the first line that is not blank, at most 300 characters."""
    return next((line.strip()[:300] for line in text[:8192].splitlines() if line.strip()), "")


def parse_git(printed: str) -> str | None:
    """Return the commit of ``git rev-parse HEAD``, 40 or 64 hexadecimal digits."""
    found = re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", printed.strip())
    return found[0] if found else None


def parse_hg(printed: str) -> str | None:
    """Return the revision of ``hg id -i``, with its + for a changed tree (a merge has two); none of zeros."""
    lines = printed.strip().splitlines()
    found = re.fullmatch(r"[0-9a-f]{12,40}\+?(?:\+[0-9a-f]{12,40}\+?)?", lines[-1].strip()) if lines else None
    # Zeros: nothing was committed yet.
    return found[0] if found and found[0].strip("0+") else None
