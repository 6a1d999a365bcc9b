"""``aorta env probe``: capture this machine into one file, or show a part of it."""

import itertools
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from aorta.cli.buck_options import BuckCommand, buck_wishes_of
from aorta.cli.capturing import (
    allows_sudo,
    capture_options,
    captured,
    deadline_of,
    discovered,
    live,
    torch_wishes,
)
from aorta.cli.errors import Failure, Misuse, printing
from aorta.cli.field import steps_of, value_at, why_null
from aorta.cli.target import check_apart, expand, is_stdout
from aorta.cli.tasks import Tasks, tasks_of
from aorta.cli.words import Words
from aorta.instrumentation.filekind import SNAPSHOT, held_by
from aorta.instrumentation.notice import execution_notice, unanswered_notice
from aorta.instrumentation.process import Stdout, say
from aorta.instrumentation.write import check_replaceable, check_writable, told, write_atomically
from aorta.model.vocabulary import EXPECTABLE, INVOCATION_VARIABLE, INVOCATIONS

if TYPE_CHECKING:
    from aorta.host.protocol import Host
    from aorta.plugin.registry import Registry

DEFAULT_OUTPUT = "env.json"

#: Exit status under --fail-on-partial.
PARTIAL = 3

#: Keys of the document that are known whatever runs; all others outside the sections need everything.
FIXED = ("schema_version", "schema_compat", "captured_at")
COMPUTED = ("partial", "partial_reasons", "collection", "extensions")


@click.command(cls=BuckCommand, short_help="Capture this machine into one JSON file.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write; '-' is standard output. {host}, {node}, {rank} and {job} are filled in."
    f"  [default: {DEFAULT_OUTPUT}]",
)
@click.option("--summary", is_flag=True, help="Show what is unusual and an overview; no file without -o.")
@click.option(
    "--field", metavar="PATH", help="Print one value as JSON, e.g. 'gpus[0].bdf'; no file without -o."
)
@click.option("--json", "as_json", is_flag=True, help="Print the document; no file without -o.")
@click.option(
    "--section",
    "sections",
    multiple=True,
    type=Words(),
    metavar="S[,S]",
    help="Run only these sections and what they need; may be repeated.",
)
@click.option(
    "--no-section",
    "without",
    multiple=True,
    type=Words(),
    metavar="S[,S]",
    help="Leave these sections out; may be repeated.",
)
@click.option(
    "--expect",
    multiple=True,
    type=Words(EXPECTABLE),
    metavar=",".join(EXPECTABLE),
    help="What this machine should have; its absence makes the snapshot partial.",
)
@click.option(
    "--fail-on-partial", is_flag=True, help=f"Exit with status {PARTIAL} when the snapshot is partial."
)
@click.option(
    "--execution-context",
    type=click.Choice(INVOCATIONS),
    help=f"What started this capture, as you claim.  [env: {INVOCATION_VARIABLE}]",
)
@click.option("--every-rank", is_flag=True, help="Capture in every task, not only in the first of each node.")
@click.option(
    "--force",
    is_flag=True,
    help="Replace also a recording, and the snapshot of another host, or of a replay by a live one and the"
    " other way round. Any other file is replaced without it.",
)
@click.option(
    "--no-digest-cache", is_flag=True, help="Take no digest from an earlier capture, and leave none."
)
@click.option(
    "--verify-digests", is_flag=True, help="Hash also what is remembered, and name what was remembered wrong."
)
@click.option("--replay", metavar="FILE", help="Look at a recording in place of this machine.")
@capture_options
def probe(**asked: Any) -> None:
    """Capture what this process runs on.

    A partial snapshot is a success: what could not be seen, and why, stands in the document.
    """
    _check(asked)
    tasks = tasks_of(os.environ)
    shows = asked["summary"] or asked["as_json"] or asked["field"] is not None
    wanted = asked["output"] or (None if shows else DEFAULT_OUTPUT)
    target = None
    for output in (wanted, "-" if asked["as_json"] else None):
        if output is not None:
            check_apart(output, tasks, every_rank=asked["every_rank"])
    if wanted is not None:
        target = expand(wanted, tasks, os.environ)
    if not tasks.captures and not asked["every_rank"]:
        _skip(tasks)
        return
    if target is not None and not is_stdout(target):
        try:
            check_writable(target)
            if not asked["force"]:
                check_replaceable(target, SNAPSHOT, "live" if asked["replay"] is None else "replay")
        except OSError as error:
            raise Failure(told(error, target)) from None
    with Stdout() as out:
        code = _run(asked, target, out)
    raise click.exceptions.Exit(code)


def _check(asked: Mapping[str, Any]) -> None:
    """Raise Misuse for options that contradict each other."""
    views = [name for name in ("summary", "field", "as_json") if asked[name] not in (False, None)]
    options = ", ".join("--json" if name == "as_json" else f"--{name}" for name in views)
    if len(views) > 1:
        raise Misuse(f"{options}: only one of them at a time")
    if views and asked["output"] is not None and is_stdout(asked["output"]):
        raise Misuse(f"{options} and -o -: both are for standard output")
    if asked["verify_digests"]:
        against = {
            "--no-digest-cache": asked["no_digest_cache"],
            "--digests none": asked["digests"] == "none",
        }
        against["--replay"] = asked["replay"] is not None
        for option in (name for name, given in against.items() if given):
            raise Misuse(f"--verify-digests and {option}: nothing is remembered there that could be verified")
    if asked["python"] is not None and asked["replay"] is not None:
        raise Misuse("--python and --replay: a recording tells of the interpreter that it was made with")
    if asked["output"] == "":
        raise Misuse("-o needs the name of a file")
    both = {*_flat(asked["sections"])} & {*_flat(asked["without"])}
    if both:
        raise Misuse(f"--section and --no-section both name {', '.join(sorted(both))}")
    if asked["field"] is not None:
        steps_of(asked["field"])


def _flat(lists: tuple[list[str], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(itertools.chain.from_iterable(lists)))


def _skip(tasks: Tasks) -> None:
    place = "rank" if tasks.local_rank is None else "local rank"
    number = tasks.rank if tasks.local_rank is None else tasks.local_rank
    text = f"aorta: rank {tasks.rank} of {tasks.size}: {place} {number} does not capture, 0 does"
    say(f"{text} (--every-rank changes that)")


def _run(asked: Mapping[str, Any], target: str | None, out: Stdout) -> int:
    document, env = _document(asked, target)
    for line in (*execution_notice(document, env), *unanswered_notice(document)):
        say(f"aorta: {line}")
    _deliver(asked, target, document, out)
    return PARTIAL if asked["fail_on_partial"] and document["partial"] else 0


def _document(asked: Mapping[str, Any], target: str | None) -> tuple[dict[str, Any], Any]:
    """Capture, and return the document and what looks up a variable of the environment captured."""
    from aorta.model.codec import dump

    sudo, buck = allows_sudo(sudo=asked["sudo"]), buck_wishes_of(asked)
    host = live(asked) if asked["replay"] is None else _replayed(asked["replay"])
    registry = discovered(asked)
    sections = _flat(asked["sections"]) or None
    if asked["field"] is not None:
        needed = _sections_of_field(asked["field"], registry)
        _check_field(asked, sections, needed or ())
        sections = sections or (needed if target is None else None)
    snapshot = captured(
        registry,
        host,
        progress=asked["progress"],
        probe_invocation=asked["execution_context"],
        detail="full" if asked["extended"] else "compact",
        sections=sections,
        without=_flat(asked["without"]),
        timeouts=dict(asked["timeouts"]),
        deadline_s=deadline_of(asked),
        sudo=sudo,
        digests=asked["digests"],
        cache=not asked["no_digest_cache"],
        verify_digests=asked["verify_digests"],
        expect=_flat(asked["expect"]),
        **torch_wishes(asked, host),
        **buck,
    )
    return dump(snapshot), host.env


def _check_field(asked: Mapping[str, Any], sections: tuple[str, ...] | None, needed: tuple[str, ...]) -> None:
    """Raise Misuse for a field of a section that is not to run."""
    for section in needed:
        if section in _flat(asked["without"]) or (sections is not None and section not in sections):
            raise Misuse(f"--field {asked['field']}: the section {section} is not among those to run")


def _replayed(replay: str) -> "Host":
    from aorta.host.replay import RecordingError, open_recording

    try:
        return open_recording(replay)
    except RecordingError as error:
        if held_by(replay).kind == SNAPSHOT:
            raise Failure(
                f"{replay}: a snapshot, not a recording; look at it with: aorta env show {replay}"
            ) from None
        raise Failure(str(error)) from None
    except (OSError, UnicodeError) as error:
        raise Failure(f"cannot read {replay}: {getattr(error, 'strerror', None) or error}") from None


def _sections_of_field(path: str, registry: "Registry") -> tuple[str, ...] | None:
    """Return the sections that a field needs, None for all. Raises Failure for an unknown root."""
    from aorta.model.sections import ORDER

    first, *rest = steps_of(path)
    if first.what in FIXED:
        return ()
    if first.what in ORDER or (first.what in registry.collectors and "." not in first.what):
        return (first.what,)
    if first.what == "extensions" and rest and rest[0].what in registry.collectors:
        return (rest[0].what,)
    if first.what not in COMPUTED:
        # Not in the document: say so now, not after the capture.
        value_at(dict.fromkeys((*FIXED, *ORDER, *COMPUTED)), path, registry.collectors)
    return None


def _deliver(asked: Mapping[str, Any], target: str | None, document: dict[str, Any], out: Stdout) -> None:
    """Write and show what was asked for."""
    from aorta.model.codec import to_json

    if target is not None and not is_stdout(target):
        try:
            write_atomically(target, to_json(document), force=asked["force"])
        except OSError as error:
            raise Failure(told(error, target)) from None
        if asked["progress"] is not False:
            say(_done(target, document))
    with printing():
        if asked["field"] is not None:
            value = value_at(document, asked["field"])
            out.write(json.dumps(value, indent=2) + "\n")
            why = why_null(document, asked["field"]) if value is None else ""
            if why and asked["progress"] is not False:
                say(f"aorta: {why}")
        elif asked["as_json"] or (target is not None and is_stdout(target)):
            out.write(to_json(document))
        elif asked["summary"] or (out.isatty() and asked["progress"] is not False):
            from aorta.cli.render import show_summary

            show_summary(document, out)


def _done(target: str, document: Mapping[str, Any]) -> str:
    number = len(document["partial_reasons"])
    partial = f" (partial: {number} reason{'s' if number != 1 else ''})" if number else ""
    return f"wrote {target}{partial}"
