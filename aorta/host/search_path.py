"""``sys.path`` without the entries that do not answer, for a process of our own.

An import that finds nothing looks at every entry, and the standard library tries such imports. One
entry on a dead mount would then hang the process for good, before it has read a single fact. This runs
before all else is imported, so it must do with what every interpreter has loaded already.
"""

import contextlib
import os
import signal
import sys
import time

from aorta.host.local_types import LOCAL_TYPES, MOUNTINFO_LIMIT

#: Seconds in which an entry must answer; longer than a busy file server needs for one name.
PATIENCE_S = 1.0

_STEP_S = 0.001

#: What was taken away, with its place in ``sys.path`` as it was.
_left_out: list[tuple[int, str]] = []


def whole_path() -> list[str]:
    """Return ``sys.path`` as the interpreter made it, with what ``guard`` took away."""
    whole = list(sys.path)
    for index, entry in _left_out:
        whole.insert(index, entry)
    return [entry for entry in whole if isinstance(entry, str)]


def guard() -> None:
    """Take entries whose file system does not answer off ``sys.path``; for a process without threads.

    Nothing is asked where no entry lies on a file system that may hang. What the interpreter and
    aorta themselves lie on is not asked: without it nothing works anyhow.
    """
    points = _slow_points()
    if not points:
        return
    needed = {_holder(path, points) for path in (sys.prefix, sys.base_prefix, sys.executable, __file__)}
    asked: dict[str, list[str]] = {}
    for entry in dict.fromkeys(whole_path()):
        point = _holder(entry, points)
        if point is not None and point not in needed:
            asked.setdefault(point, []).append(entry)
    silent = {entry for point in _silent(asked) for entry in asked[point]}
    for index, entry in enumerate(list(sys.path)):
        if entry in silent:
            _left_out.append((index, entry))
    sys.path[:] = [entry for entry in sys.path if entry not in silent]


def _slow_points() -> frozenset[str]:
    """Return the mount points of kinds that may hang, also those that another mount covers."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(MOUNTINFO_LIMIT)
    except OSError:
        return frozenset()
    return parse_slow_points(text)


def parse_slow_points(text: str) -> frozenset[str]:
    """Return the mount points, without the root, in a text of mountinfo whose kind may hang."""
    pairs = (line.partition(" - ") for line in text.split("\n"))
    mounts = ((head.split(" "), tail.split(" ")[0]) for head, mark, tail in pairs if mark)
    points = {_unescaped(fields[4]) for fields, kind in mounts if len(fields) > 4 and kind not in LOCAL_TYPES}
    return frozenset(points) - {"/"}


def _unescaped(text: str) -> str:
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, character)
    return text


def _holder(path: str, points: frozenset[str]) -> str | None:
    """Return the mount point that a path reaches first, its links resolved; None where it stays local."""
    from aorta.host.slow_helper import AWAY, walk

    reached, state = walk("/", path, points.__contains__) if path.startswith("/") else ("", "")
    if state != AWAY:
        return None
    parts = reached.split("/")
    prefixes = ("/".join(parts[:end]) for end in range(2, len(parts) + 1))
    return next(prefix for prefix in prefixes if prefix in points)


def _silent(asked: dict[str, list[str]]) -> list[str]:
    """Return the mount points of which an entry did not answer; they are asked side by side."""
    waiting = {_ask(paths): point for point, paths in asked.items()}
    until = time.monotonic() + PATIENCE_S
    while waiting:
        for process in [one for one in waiting if os.waitpid(one, os.WNOHANG)[0]]:
            del waiting[process]
        if time.monotonic() >= until:
            break
        time.sleep(_STEP_S)
    for process in waiting:
        # It may never end; nobody waits for it.
        os.kill(process, signal.SIGKILL)
    return list(waiting.values())


def _ask(paths: list[str]) -> int:
    """Start a process that looks at paths and ends; return its number."""
    process = os.fork()
    if not process:
        _look_and_end(paths)
    return process


def _look_and_end(paths: list[str]) -> None:
    try:
        os.setsid()
        # Whoever reads our output must not wait for this process.
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                os.close(int(number))
        for path in paths:
            with contextlib.suppress(OSError):
                os.stat(path)
    finally:
        os.kill(os.getpid(), signal.SIGKILL)
