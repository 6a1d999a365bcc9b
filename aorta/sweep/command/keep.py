"""What is kept of a trial: files that it wrote elsewhere, and what its verdict is worth keeping."""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence

from aorta.sweep.files import TrialFiles
from aorta.sweep.recipe.model import Retain

#: What is copied of one trial at most.
MOST_BYTES = 1 << 30
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_CHUNK = 1 << 20


def collect(paths: Sequence[str], files: TrialFiles, environ: Mapping[str, str]) -> list[str]:
    """Copy files that a trial wrote elsewhere into its folder; return notes on what was left out.

    A path may hold variables of the trial's environment and ``*``. Only regular files are taken.
    """
    notes: list[str] = []
    rest = MOST_BYTES
    for path in paths:
        place = _expanded(path, environ)
        if place is None:
            notes.append(f"collect_paths: {path} names a variable that the trial does not have")
            continue
        here = os.path.realpath(files.folder)
        found = [one for one in _matches(place) if not _is_below(one, here)]
        if not found and not _is_below(place, here):
            notes.append(f"collect_paths: nothing was found at {path}")
        for one in found:
            try:
                rest -= _copy(one, files.folder, rest)
            except OSError as error:
                notes.append(f"collect_paths: {one} was left out: {error.strerror or error}")
    return notes


def _expanded(path: str, environ: Mapping[str, str]) -> str | None:
    missing = [name for pair in _VARIABLE.findall(path) if (name := pair[0] or pair[1]) not in environ]
    if missing:
        return None
    return _VARIABLE.sub(lambda match: environ[match[1] or match[2]], path)


def _matches(place: str) -> list[str]:
    if not any(character in place for character in "*?["):
        return [place] if os.path.lexists(place) else []
    import glob

    return sorted(glob.glob(place, recursive=True))


def _is_below(path: str, folder: str) -> bool:
    real = os.path.realpath(path)
    return real == folder or real.startswith(f"{folder}/")


def _copy(path: str, folder: str, most: int) -> int:
    """Copy a regular file and return its size. Raises OSError for anything else, and when it is too large."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as source:
        found = os.fstat(source.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "it is no regular file")
        if found.st_size > most:
            raise OSError(0, f"more than {MOST_BYTES >> 20} MiB would be kept")
        os.makedirs(folder, exist_ok=True)
        rest = found.st_size
        with open(_free_name(os.path.join(folder, os.path.basename(path))), "xb") as target:
            while rest > 0 and (data := source.read(min(_CHUNK, rest))):
                target.write(data)
                rest -= len(data)
    return found.st_size


def _free_name(path: str) -> str:
    name, number = path, 1
    while os.path.lexists(name):
        number += 1
        stem, dot, ending = path.rpartition(".")
        name = f"{stem}-{number}{dot}{ending}" if dot and "/" not in ending else f"{path}-{number}"
    return name


def retain(files: TrialFiles, how: Retain, verdict: str) -> list[str]:
    """Delete what is not kept of a trial with that verdict; return a note on it. The record always stays."""
    level = {"pass": how.on_pass, "fail": how.on_fail}.get(verdict, how.on_error)
    if level == "full":
        return []
    doomed = [files.environ]
    if level == "none":
        doomed += [files.stdout, files.stderr]
    doomed += [
        path
        for path in _all_files(files.folder)
        if level != "summary" or ".summary." not in os.path.basename(path)
    ]
    count = size = 0
    for path in doomed:
        try:
            bytes_ = os.lstat(path).st_size
            os.unlink(path)
        except OSError:
            continue
        count, size = count + 1, size + bytes_
    _remove_empty(files.folder)
    return [f"{count} files, {size} bytes, were not kept (retain: {level})"] if count else []


def _all_files(folder: str) -> list[str]:
    return [
        os.path.join(place, name)
        for place, below, names in os.walk(folder)
        for name in [*names, *_links(place, below)]
    ]


def _links(place: str, names: list[str]) -> Iterator[str]:
    return (name for name in names if os.path.islink(os.path.join(place, name)))


def _remove_empty(folder: str) -> None:
    for place, _, _ in os.walk(folder, topdown=False):
        try:
            os.rmdir(place)
        except OSError:
            continue
