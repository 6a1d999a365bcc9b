"""The rank that was lost in a trial, in lines: how it ended, and where it was then."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aorta.cli.plain import clean
from aorta.model.redact import redact

#: The most lines of a traceback, and the most characters of each.
LINES, LONG = 8, 200

#: How faulthandler heads the stack of a thread, which it tells with the innermost frame first.
_STACK = "(most recent call first)"


def lost_lines(path: str) -> list[str]:
    """Return what a trial's record tells of the rank that was lost; nothing where it tells of none."""
    try:
        with open(path, encoding="utf-8") as stream:
            record = json.load(stream)
        lost = record["lost"]
        head = f"lost: rank {lost['rank']} on {lost['node']}{_how(lost)}: {lost.get('reason') or lost['end']}"
        traceback = lost.get("traceback") or ""
        lines = [head, *(f"  {line[:LONG]}" for line in _telling(traceback.splitlines()))]
        return [clean(redact(line)) for line in lines]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _how(lost: Mapping[str, Any]) -> str:
    signal, phase = lost.get("signal"), lost.get("phase")
    return (f", {signal}" if signal else "") + (f", in {phase}" if phase else "")


def _telling(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a traceback that are nearest to the end: its last ones, or a stack's innermost.

    Of several threads the main one stands last.
    """
    heads = [number for number, line in enumerate(lines) if _STACK in line]
    if heads:
        kept = lines[heads[-1] : heads[-1] + LINES]
        return [*kept, "  …"] if heads[-1] + LINES < len(lines) else kept
    return ["  …", *lines[-LINES:]] if len(lines) > LINES else lines
