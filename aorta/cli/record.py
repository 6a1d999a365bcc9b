"""``aorta env record``: a capture of which every access is kept."""

import os
from typing import IO, Any

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
from aorta.cli.errors import Failure, Misuse
from aorta.cli.target import check_apart, expand, is_stdout
from aorta.cli.tasks import tasks_of
from aorta.instrumentation.filekind import RECORDING
from aorta.instrumentation.process import Stdout, say
from aorta.instrumentation.write import check_replaceable, check_writable, replacing, told


class Lines:
    """A sink that counts the lines it hands on."""

    def __init__(self, stream: IO[str]) -> None:
        self.number = 0
        self._stream = stream

    def write(self, text: str, /) -> int:
        """Hand on one line."""
        self.number += 1
        return self._stream.write(text)

    def flush(self) -> None:
        """Do nothing: the file counts only when it is whole."""


@click.command(cls=BuckCommand, short_help="Capture, and keep every access for a replay.")
@click.argument("file")
@click.option("--force", is_flag=True, help="Replace also a snapshot. Any other file is replaced without it.")
@capture_options
def record(file: str, **asked: Any) -> None:
    """Run a full capture and write every access and its answer to FILE.

    `aorta env probe --replay FILE` captures from it, on any machine. Secrets are taken out; look it
    through before you give it away.
    """
    if is_stdout(file):
        raise Misuse("a recording goes into a file")
    tasks = tasks_of(os.environ)
    check_apart(file, tasks, every_rank=False)
    target = expand(file, tasks, os.environ)
    if not tasks.captures:
        say(f"aorta: rank {tasks.rank} of {tasks.size} does not record")
        return
    with Stdout():
        try:
            check_writable(target)
            if not asked["force"]:
                check_replaceable(target, RECORDING)
            accesses = _recorded(target, asked)
        except OSError as error:
            raise Failure(told(error, target)) from None
    if asked["progress"] is not False:
        say(f"wrote {target}: {accesses} accesses")


def _recorded(target: str, asked: dict[str, Any]) -> int:
    from aorta.host.recording import RecordingHost

    sudo, buck = allows_sudo(sudo=asked["sudo"]), buck_wishes_of(asked)
    registry = discovered(asked)
    with replacing(target) as stream:
        lines = Lines(stream)
        host = RecordingHost(live(asked), lines)
        captured(
            registry,
            host,
            progress=asked["progress"],
            detail="full" if asked["extended"] else "compact",
            timeouts=dict(asked["timeouts"]),
            deadline_s=deadline_of(asked),
            sudo=sudo,
            digests=asked["digests"],
            **torch_wishes(asked, host),
            **buck,
        )
        if host.broken is not None:
            raise host.broken
    return lines.number - 1
