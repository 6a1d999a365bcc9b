"""Importing outside plugins in a process first: one that hangs or dies costs itself, not this process."""

import json
import os
import sys
import time
from collections.abc import Sequence

from aorta.host.interpreter import ending, place_in
from aorta.host.protocol import Completed
from aorta.host.slow import interpreter
from aorta.model.vocabulary import Outcome

#: Tells when the import of each module begins and ends, a line each. What a module prints goes elsewhere.
_PROGRAM = """
import faulthandler, importlib, json, os, sys, time
told = json.loads(sys.stdin.buffer.read())
sys.path[:] = told["path"]
out, stacks = os.dup(1), os.dup(2)
os.dup2(2, 1)
faulthandler.dump_traceback_later(max(0.05, told["until"] - time.monotonic()), exit=True, file=stacks)
def say(word, name):
    os.write(out, (json.dumps([word, name]) + "\\n").encode())
for name in told["modules"]:
    say("begun", name)
    try:
        importlib.import_module(name)
    except BaseException:
        pass
    say("done", name)
os._exit(0)
"""


def rehearse(names: Sequence[str], limit_s: float) -> dict[str, str]:
    """Return what is wrong with those modules whose import does not end, or ends the process.

    What an import merely raises is told by the import itself. Where no process can be started nothing
    is found out.
    """
    from aorta.host.live import LiveHost

    program = interpreter()
    todo = [name for name in dict.fromkeys(names) if name not in sys.modules]
    failures: dict[str, str] = {}
    host = LiveHost()
    try:
        until = time.monotonic() + limit_s
        while todo and program is not None:
            left = max(0.1, until - time.monotonic())
            told = {
                "path": [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)],
                "modules": todo,
                "until": time.monotonic() + left * 0.9,
            }
            done = host.workers().run(
                [program, "-c", _PROGRAM], timeout=left, stdin=json.dumps(told).encode()
            )
            stuck, ended = _heard(done)
            if stuck is None:
                break
            failures[stuck] = _why(done)
            todo = [name for name in todo if name not in (*ended, stuck)]
    finally:
        host.close()
    return failures


def _heard(done: Completed) -> tuple[str | None, list[str]]:
    """Return the module whose import did not end, and those whose did."""
    begun: list[str] = []
    ended: list[str] = []
    for line in done.stdout.splitlines():
        try:
            word, name = json.loads(line)
        except ValueError:
            continue
        (begun if word == "begun" else ended).append(name)
    return next((name for name in begun if name not in ended), None), ended


def _why(done: Completed) -> str:
    place = place_in(done.stderr)
    if place or done.outcome in (Outcome.TIMED_OUT, Outcome.ABANDONED):
        return f"its import does not end{place}"
    return f"its import ends the process: {ending(done)}"
