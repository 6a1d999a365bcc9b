"""What is known of the capture itself: the tool, the user, the command line."""

import os
import sys
import time
from functools import cache

import aorta
from aorta.collect.orchestrator import Orchestrator
from aorta.host.observe import OBSERVATIONS
from aorta.model.redact import redact_argv
from aorta.model.snapshot import Collection, Tool, User


def envelope(run: Orchestrator) -> Collection:
    """Return the part of ``collection`` that does not come from collectors."""
    live = run.host.kind == "live"
    return Collection(
        tool=tool(),
        detail=run.request.detail,
        deadline_s=run.request.deadline_s,
        elapsed_s=round(time.monotonic() - run.started, 4),
        import_strategy=_strategy(run),
        host_kind=run.host.kind,
        user=_user(run),
        executable=sys.executable or None if live else None,
        python=run.request.python or (None if live else _recorded_python(run)),
        argv=_argv(run) if live else None,
    )


def _argv(run: Orchestrator) -> tuple[str, ...] | None:
    """Return the words of this process without secrets; a program that embeds Python may have none."""
    words = getattr(sys, "argv", None)
    return redact_argv(run.request.buck_context.masked(words)) if isinstance(words, list) else None


def _strategy(run: Orchestrator) -> str:
    """Return how torch was asked; whoever asks it is known by name, as all collectors are."""
    asked = run.results.get("TorchFacts")
    word = getattr(asked.value, "strategy", None) if asked is not None else None
    return word if isinstance(word, str) else "static"


def _recorded_python(run: Orchestrator) -> str | None:
    """Return the interpreter that a recording was made of, where that was another than aorta's own."""
    try:
        seen = run.host.observe("interpreter", OBSERVATIONS["interpreter"])
    except Exception:
        return None
    asked = seen.get("asked") if isinstance(seen, dict) else None
    return asked if isinstance(asked, str) else None


def _user(run: Orchestrator) -> User:
    try:
        seen = run.host.observe("user", OBSERVATIONS["user"])
    except Exception:
        # Whatever this host is, the snapshot is written.
        return User()
    return User(uid=seen.get("uid"), root=seen.get("root")) if isinstance(seen, dict) else User()


@cache
def tool() -> Tool:
    """Return which aorta this is; the commit where it runs from a git checkout."""
    return Tool(version=aorta.__version__, revision=_revision())


def _revision() -> str | None:
    git = os.path.join(os.path.dirname(__file__), "..", "..", ".git")
    head = _line(os.path.join(git, "HEAD"))
    if head.startswith("ref: "):
        head = _line(os.path.join(git, head[5:]))
    return head if len(head) in (40, 64) and not head.strip("0123456789abcdef") else None


def _line(path: str) -> str:
    try:
        with open(path, encoding="ascii") as stream:
            return stream.readline().strip()
    except (OSError, ValueError):
        return ""
