"""A process of this interpreter that finds the modules which this process finds."""

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from typing import Any

from aorta.host.interpreter import ending
from aorta.host.protocol import Completed
from aorta.host.runner import Runner
from aorta.host.slow import interpreter
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Outcome

#: The last seconds of a process that does not end, in which it says where it is.
LAST_S = 0.3

#: The most bytes that are read of where it was.
_STACKS = 1 << 20

_BEGINS = "(most recent call first):"
_FRAME = re.compile(r'\n  File "([^"\n]{1,500})", line (\d{1,9})')

#: What every such process does first. Where the kernel must kill one for its memory, let it be this one.
BOOT = """
import json, os, sys
told = json.loads(sys.stdin.buffer.read())
sys.path[:] = told["path"]
try:
    os.chdir(told["folder"] or "/")
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
except OSError:
    pass
"""


class NoDoubleError(Exception):
    """No such process can be started here."""


@frozen
class Ended:
    """How a process ended. ``stack`` are file and line of each call where it was last, innermost first."""

    done: Completed
    stack: tuple[tuple[str, int], ...] = ()

    @property
    def hung(self) -> bool:
        """Tell whether it had to be ended."""
        late = self.done.outcome in (Outcome.TIMED_OUT, Outcome.ABANDONED)
        return late or (bool(self.stack) and self.done.outcome is Outcome.EXIT)

    @property
    def how(self) -> str:
        """Return in a few words how it ended."""
        return ending(self.done)

    def place(self, file: str | None = None) -> str | None:
        """Return ``file:line`` of where it was last, in a certain file if it can be, or None."""
        library = os.path.dirname(os.__file__)
        # The innermost is often the library's, which waits for what the file called it for.
        frames = [
            *(frame for frame in self.stack if frame[0] == file),
            *(frame for frame in self.stack if not frame[0].startswith((library, "<"))),
            *self.stack,
        ]
        return f"{frames[0][0]}:{frames[0][1]}" if frames else None


def run_double(
    runner: Runner, code: str, told: Mapping[str, Any], limit_s: float, pass_fds: tuple[int, ...] = ()
) -> Ended:
    """Run code for ``limit_s`` seconds at most; what it left running in its session ends with it.

    It finds in ``told`` what is given here, and ``until``, a point in time (monotonic) by which it is to
    end by itself, and ``stacks``, the descriptor of a file for faulthandler. Raises NoDoubleError.
    """
    program = interpreter()
    if program is None:
        raise NoDoubleError("there is no Python interpreter that could be started")
    try:
        stacks = os.memfd_create("aorta")
    except OSError as error:
        raise NoDoubleError(f"no process can be started: {error.strerror}") from None
    try:
        until = time.monotonic() + limit_s - LAST_S
        more = {"path": search_path(), "folder": _folder(), "until": until, "stacks": stacks}
        done = runner.run(
            [program, *_flags(), "-c", BOOT + code],
            timeout=limit_s,
            stdin=json.dumps({**told, **more}).encode(),
            pass_fds=(stacks, *pass_fds),
            sweeps=True,
        )
        text = os.pread(stacks, _STACKS, 0).decode("utf-8", "replace")
    finally:
        os.close(stacks)
    if done.outcome in (Outcome.NOT_FOUND, Outcome.DENIED):
        raise NoDoubleError(f"no process can be started: {ending(done)}")
    return Ended(done=done, stack=_stack(text))


def _stack(text: str) -> tuple[tuple[str, int], ...]:
    """Return the calls of the main thread, or of the one that died: the last that ``faulthandler`` wrote."""
    found = _FRAME.finditer(text, max(0, text.rfind(_BEGINS))) if _BEGINS in text else ()
    return tuple((match[1], int(match[2])) for match in found)


def search_path() -> list[str]:
    """Return ``sys.path`` as another process can take it."""
    here = _folder()
    path = (os.path.join(here or "/", entry) for entry in sys.path if isinstance(entry, str))
    return [os.path.normpath(entry) for entry in path if here or entry != "/"]


def _folder() -> str | None:
    with contextlib.suppress(OSError):
        return os.getcwd()
    return None


def _flags() -> list[str]:
    """Return the options by which another interpreter starts as this one did."""
    chosen = {
        "-I": sys.flags.isolated,
        "-E": sys.flags.ignore_environment and not sys.flags.isolated,
        "-s": sys.flags.no_user_site and not sys.flags.isolated,
        "-S": sys.flags.no_site,
        "-B": sys.dont_write_bytecode,
    }
    return [*(option for option, given in chosen.items() if given), *["-O"] * sys.flags.optimize]
