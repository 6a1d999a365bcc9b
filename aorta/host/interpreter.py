"""Python interpreters asked in processes of their own: this one's double, or another program.

The double gets this process's search path and nothing else of its state (``-I -S``); another program
keeps its own site packages, since they are what is asked about. Either can hang or die: it is ended at
the deadline, and what it told until then counts.
"""

import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from aorta.host import torch_report
from aorta.host.protocol import Completed
from aorta.host.slow import interpreter
from aorta.model.redact import redact
from aorta.model.vocabulary import Outcome

#: Runs a command line with a standard input under a limit in seconds.
Run = Callable[[list[str], bytes, float], Completed]

#: Seconds that another interpreter gets to say what it is.
FACTS_S = 15.0

#: The first line for another program. Old Pythons understand it and tell themselves; a shell that was named
#: in place of one stops at it, before it takes anything for a command.
OLDEST = (3, 8)
FIRST_LINE = (
    f'__import__("sys").version_info >= {OLDEST} or __import__("sys").exit('
    f'"Python {OLDEST[0]}.{OLDEST[1]} or later is needed, not " + __import__("sys").version.split()[0])\n'
    'exec(__import__("sys").argv.pop())'
)

#: The part of an import's time after which it is asked where it is.
LATE = 0.8

_STACK_BEGINS = "(most recent call first):"
_STACK = re.compile(re.escape(_STACK_BEGINS) + r'\s+File "([^"\n]{1,500})", line (\d{1,9})')

#: The most characters kept of what an interpreter printed to standard error, and of an error.
NOISE_LIMIT, ERROR_LIMIT = 4000, 600

#: What is looked at beyond a cut: a part of a secret would not look like one.
MARGIN = 8192

CACHES_IN = "/tmp"  # noqa: S108 - a name nobody can guess, and nothing is made unless a library writes there


class NoInterpreterError(OSError):
    """An interpreter that cannot be asked; ``strerror`` says why, without its name."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.strerror = why


class Interpreters:
    """Asks one interpreter: ``program``, or this process's own where that is None.

    ``may_search`` tells whether finders of this process may look at the file system.
    """

    def __init__(
        self,
        run: Run,
        program: str | None = None,
        *,
        limit_s: float = FACTS_S,
        may_search: Callable[[], bool] = lambda: True,
    ) -> None:
        self.program = program
        self._may_search = may_search
        self._limit_s = limit_s
        self._run = run
        self._lock = threading.Lock()
        self._facts: dict[str, Any] = {}
        self._failure = ""
        self._caches: set[str] = set()

    def facts(self) -> dict[str, Any]:
        """Return what another program says of itself (``torch_report.interpreter``), asked once.

        Raises NoInterpreterError when it does not run Python code.
        """
        with self._lock:
            if not self._facts and not self._failure:
                done = self._asked({"ask": "interpreter", **self._place()}, self._limit_s)
                self._facts = _facts(done)
                if self._facts:
                    self._facts["asked"] = self.program
                self._failure = "" if self._facts else f"no usable Python interpreter: {ending(done)}"
        if self._failure:
            raise NoInterpreterError(self._failure)
        return self._facts

    def torch(self, timeout: float) -> dict[str, Any]:
        """Return what torch says of itself in a process that imports it; see ``report``.

        Raises NoInterpreterError where no such process can be started.
        """
        cache = os.path.join(CACHES_IN, f"aorta-{os.urandom(8).hex()}")
        self._caches.add(cache)
        until = time.monotonic() + timeout
        try:
            wish = {"ask": "torch", "cache": cache, **self._place()}
            done = self._asked({**wish, "late_s": LATE * timeout}, timeout)
            if done.outcome in (Outcome.NOT_FOUND, Outcome.DENIED) or self._is_no_python(done):
                raise NoInterpreterError(f"no process can be started to import it: {ending(done)}")
            told = report(done)
            left = until - time.monotonic()
            if self.program is None and told["imported"] is False and left > 0:
                # What the interpreter runs at its start (.pth, sitecustomize) may be what this torch needs.
                again = report(self._asked({**wish, "late_s": LATE * left}, left, bare=False))
                told = again if again["imported"] else told
            return told
        finally:
            self.clean()
            self._caches.discard(cache)

    def _is_no_python(self, done: Completed) -> bool:
        """Tell whether this process's double did not even begin.

        In an application that embeds Python ``sys.executable`` may be that application.
        """
        return self.program is None and done.outcome is Outcome.EXIT and not done.stdout.startswith("\n")

    def clean(self) -> None:
        """Remove what an import has written as its caches."""
        for cache in list(self._caches):
            if os.path.lexists(cache):
                import shutil

                shutil.rmtree(cache, ignore_errors=True)

    def _place(self) -> dict[str, Any]:
        if self.program is not None:
            return {"path": None, "cwd": _working_directory()}
        return {
            "path": [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)],
            "prefix": sys.prefix,
            "editable": torch_report.editable(),
            "elsewhere": torch_report.elsewhere(torch_report.TORCH) if self._may_search() else {},
        }

    def _asked(self, wish: dict[str, Any], timeout: float, *, bare: bool = True) -> Completed:
        program, source = self.program or interpreter(), program_text()
        if program is None or source is None:
            raise NoInterpreterError("no Python interpreter can be started")
        # Another program may be a wrapper that knows "-c" alone.
        bare_words = ["-I", "-S"] if bare else []
        words = ["-c", FIRST_LINE, source] if self.program else [*bare_words, "-c", source]
        return self._run([program, *words], json.dumps(wish).encode(), timeout)


def _working_directory() -> str | None:
    with contextlib.suppress(OSError):
        return os.getcwd()
    return None


def _facts(done: Completed) -> dict[str, Any]:
    """Return an interpreter's answer; an empty one where there is none, or none of the expected shape."""
    facts: dict[str, Any] = {}
    for line in _lines(done):
        if facts and isinstance(line.get("elsewhere"), dict):
            facts["elsewhere"] = _elsewhere(line["elsewhere"])
        told = line.get("interpreter")
        if facts or not isinstance(told, dict):
            continue
        path, editable = told.get("path"), told.get("editable")
        if isinstance(path, list) and isinstance(editable, dict) and isinstance(told.get("version"), str):
            facts = {
                **told,
                "path": [entry for entry in path if isinstance(entry, str)],
                "editable": {name: place for name, place in editable.items() if isinstance(place, str)},
                "elsewhere": None,
            }
    return facts


def _elsewhere(told: dict[str, Any]) -> dict[str, list[Any]]:
    """Return what an interpreter's other finders know, as ``torch_report.elsewhere`` tells it."""
    return {
        name: places
        for name, places in told.items()
        if isinstance(places, list)
        and len(places) > 1
        and isinstance(places[0], bool)
        and all(isinstance(place, str) for place in places[1:])
    }


def program_text() -> str | None:
    """Return the text of the program, also from a zip file; None where only its byte code is there."""
    get_source = getattr(torch_report.__loader__, "get_source", None)
    source = get_source(torch_report.__name__) if get_source else None
    return source if isinstance(source, str) else None


def report(done: Completed) -> dict[str, Any]:
    """Return the report of a process that was asked for torch, however it ended.

    ``how`` is child; ``imported`` true, false or null (it did not come so far); ``error`` the last line
    of a failed import; ``parts`` what was told by name, ``errors`` why not; ``done`` whether all was told;
    ``ended`` how the process ended, an empty text for well; ``hung`` whether it had to be ended;
    ``noise`` what was printed to its standard error and output.
    """
    told: dict[str, Any] = {"how": "child", "imported": None, "error": None, "done": False}
    parts: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for line in _lines(done):
        told |= {key: line[key] for key in ("imported", "error", "done", "interpreter") if key in line}
        part = line.get("part")
        if isinstance(part, list) and len(part) == 3:
            name, value, error = part
            if error:
                errors[str(name)] = str(error)
            else:
                parts[str(name)] = value
    hung = done.outcome in (Outcome.TIMED_OUT, Outcome.ABANDONED) or _ended_late(done, told)
    ended = "" if done.outcome is Outcome.OK and told["done"] else ending(done)
    if hung and not told["done"]:
        ended += place_in(done.stderr)
    return {
        **told,
        "parts": parts,
        "errors": errors,
        "ended": ended,
        "hung": hung,
        "noise": done.stderr,
    }


def shown(report: dict[str, Any], hide: Callable[[str], str]) -> dict[str, Any]:
    """Return a report as it is told: secrets taken out by ``hide``, and long texts cut after that."""
    return {
        **report,
        "error": hide(str(report["error"]))[:ERROR_LIMIT] if report["error"] else None,
        "ended": hide(report["ended"]),
        "errors": {name: hide(text)[:ERROR_LIMIT] for name, text in report["errors"].items()},
        "noise": noise(report["noise"], hide),
    }


def place_in(stacks: str) -> str:
    """Return where the main thread was, by the last of the stacks that ``faulthandler`` wrote."""
    found = _STACK.match(stacks, max(0, stacks.rfind(_STACK_BEGINS)))
    return f", it was at {found[1]}:{found[2]}" if found is not None else ""


def _ended_late(done: Completed, told: dict[str, Any]) -> bool:
    return bool(told["done"]) and done.outcome is Outcome.SIGNAL and done.exit_code == -signal.SIGALRM


def _lines(done: Completed) -> Iterator[dict[str, Any]]:
    for text in done.stdout.splitlines():
        # The last line may be cut, and another program prints what it likes.
        with contextlib.suppress(ValueError, RecursionError):
            # No answer holds a number, and one of a million digits would take for ever.
            line = json.loads(text, parse_int=lambda _: None) if text.startswith("{") else None
            if isinstance(line, dict):
                yield line


def ending(done: Completed) -> str:
    """Return in a few words how a process ended that should have ended well."""
    if done.outcome is Outcome.SIGNAL and done.exit_code is not None:
        number = -done.exit_code
        known = {each.value: each.name for each in signal.Signals}
        return f"it was ended by {known.get(number, f'signal {number}')}"
    if done.outcome is Outcome.EXIT and done.exit_code is not None:
        said = redact(_telling(done.stderr)[:MARGIN])[:200]
        return f"it ended with exit status {done.exit_code}" + (f" ({said})" if said else "")
    if done.outcome in (Outcome.NOT_FOUND, Outcome.DENIED):
        missing = done.outcome is Outcome.NOT_FOUND
        text = "it is not there" if missing else "it cannot be executed"
        return f"{text} ({done.detail})" if done.detail else text
    words = {
        Outcome.TIMED_OUT: "it did not end in time",
        Outcome.ABANDONED: "it did not end in time, and not when it was killed",
        Outcome.OK: "it ended without an answer",
    }
    return words.get(done.outcome) or done.detail or str(done.outcome)


def _telling(stderr: str) -> str:
    """Return the line that says most: the first, but the last of a traceback."""
    # A program that is no Python may quote the line that it was given.
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and "__import__" not in line]
    traced = any(line.startswith("Traceback (most recent call last)") for line in lines)
    return (lines[-1] if traced else lines[0]) if lines else ""


def noise(text: str, hide: Callable[[str], str]) -> str:
    """Return the start and the end of a long text, without secrets."""
    if len(text) <= NOISE_LIMIT:
        return hide(text)
    half = NOISE_LIMIT // 2
    head, tail = hide(text[: half + MARGIN])[:half], hide(text[-half - MARGIN :])[-half:]
    return f"{head}\n… {len(text) - 2 * half} characters …\n{tail}"
