"""``aorta standalone``: this aorta as one file, for where nothing can be installed."""

import os
import stat

import click

from aorta.cli.errors import Command, Failure, Misuse
from aorta.cli.target import is_stdout
from aorta.instrumentation.filekind import OTHER
from aorta.instrumentation.process import say
from aorta.instrumentation.write import check_replaceable, check_writable, replacing, told


@click.command(cls=Command, short_help="Write aorta as a program of one file.")
@click.argument("file")
@click.option("--force", is_flag=True, help="Replace a file that is a snapshot or a recording.")
def standalone(file: str, *, force: bool) -> None:
    """Write this aorta, with all that it needs, as a program of one file.

    `python3 FILE env probe` runs it: it has the same commands and is installed nowhere. For Python 3.10
    it needs the package exceptiongroup beside aorta, whichever Python writes it.
    """
    from aorta.cli.archive import IncompleteError, archive

    if is_stdout(file):
        raise Misuse("a program goes into a file")
    try:
        check_writable(file)
        if not force:
            check_replaceable(file, OTHER)
        made = archive()
        _write(file, made.content)
    except IncompleteError as error:
        raise Failure(f"cannot write {file}: {error}") from None
    except OSError as error:
        raise Failure(told(error, file)) from None
    say(f"wrote {file} for Python {made.oldest} and newer{f': {made.why}' if made.why else ''}")


def _write(path: str, content: bytes) -> None:
    """Write a program; who may read it may run it."""
    with replacing(path) as stream:
        stream.buffer.write(content)
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISREG(mode):
            os.fchmod(stream.fileno(), stat.S_IMODE(mode) | (mode & 0o444) >> 2)
