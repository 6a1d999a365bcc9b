"""What is known of the capture itself: the tool, the user, the command line."""

import os
import sys
import time
from functools import cache
from pathlib import Path

import aorta
from aorta.collect.orchestrator import Orchestrator
from aorta.host.observe import OBSERVATIONS
from aorta.host.protocol import NotRecordedError
from aorta.model.redact import redact
from aorta.model.snapshot import Collection, Tool, User


def envelope(run: Orchestrator) -> Collection:
    """Return the part of ``collection`` that does not come from collectors."""
    live = run.host.kind == "live"
    return Collection(
        tool=tool(),
        detail=run.request.detail,
        deadline_s=run.request.deadline_s,
        elapsed_s=round(time.monotonic() - run.started, 4),
        import_strategy="static",
        host_kind=run.host.kind,
        user=_user(run),
        executable=sys.executable or None if live else None,
        argv=tuple(redact(word) for word in sys.argv) if live else None,
    )


def _user(run: Orchestrator) -> User:
    try:
        seen = run.host.observe("user", OBSERVATIONS["user"])
    except (OSError, NotRecordedError):
        return User()
    return User(uid=seen.get("uid"), root=seen.get("root")) if isinstance(seen, dict) else User()


@cache
def tool() -> Tool:
    """Return which aorta this is; the commit where it runs from a git checkout."""
    return Tool(version=aorta.__version__, revision=_revision())


def _revision() -> str | None:
    root = Path(__file__).resolve().parents[2]
    try:
        head = (root / ".git" / "HEAD").read_text(encoding="ascii").strip()
        if head.startswith("ref: "):
            reference = root / ".git" / os.path.normpath(head[5:])
            head = reference.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return head if len(head) in (40, 64) and all(char in "0123456789abcdef" for char in head) else None
