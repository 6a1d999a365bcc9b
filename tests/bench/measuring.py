"""What the figures have in common: running aorta, and a ratio to the peer."""

import argparse
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.bench.compare import COMMANDS, timed
from tests.parts.fake_tools import basic_path

ROOT = Path(__file__).resolve().parent.parent.parent

Line = tuple[str, str, bool]
Figure = Callable[[Path, argparse.Namespace], Line]


class NotMeasuredError(Exception):
    """A figure that cannot be measured here; the text says why."""


def found(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise NotMeasuredError(f"the output has no {pattern}: {text[-200:]!r}")
    return match.groups()


def python(
    *words: object,
    program: object = sys.executable,
    env: dict[str, str] | None = None,
    path: str | None = None,
    cwd: Path = ROOT,
) -> "subprocess.CompletedProcess[str]":
    """Run a Python program, by default this interpreter with aorta's sources."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/collectors"} if env is None else dict(env)
    if path is not None:
        environment["PYTHONPATH"] = path
    command = [str(program), *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def aorta(*words: object) -> "subprocess.CompletedProcess[str]":
    return python("-m", "aorta", *words)


def bare_environment(folder: Path) -> dict[str, str]:
    return {"PATH": basic_path(folder / "basic"), "HOME": str(folder), "LANG": "C.UTF-8"}


def ratio(
    what: str,
    case: str,
    arguments: list[str],
    env: dict[str, str],
    options: argparse.Namespace,
    limit: float,
    pairs: int | None = None,
) -> Line:
    if not options.peer:
        raise NotMeasuredError("without --peer there is nothing to compare with")
    commands = {"peer": [*options.peer.split(), *arguments], "aorta": COMMANDS[case]}
    if pairs is None:
        for command in commands.values():
            timed(command, env)
    ratios = []
    for number in range(pairs or options.pairs):
        order = list(commands) if number % 2 == 0 else list(commands)[::-1]
        took = {name: timed(commands[name], env) for name in order}
        ratios.append(took["aorta"] / took["peer"])
    ratio = statistics.median(ratios)
    return f"{what} {ratio:.3f} of the peer, {len(ratios)} pairs", f"{limit:.2f}", ratio <= limit
