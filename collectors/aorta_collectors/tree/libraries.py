"""Shared libraries on disk: which file a name means, and where the loader looks."""

import bisect
import itertools
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Any

from aorta.collect import Answer, Context, Entry
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.observations import machine
from aorta_collectors.tree.links import resolve

_NUMBERS = re.compile(r"\.\d{1,9}(?:\.\d{1,9}){0,5}")
_SCRIPT = re.compile(rb"(?:INPUT|GROUP|OUTPUT_FORMAT)[ \t]*\(")
_ROCM = (
    r"lib(?:amdhip64|amdocl64|amd_comgr\w*|amd_smi|device_\w+_operations"
    r"|hip(?:blas|cub|dnn|fft|file|rand|rtc|solver|sparse|tensor)[\w-]*"
    r"|hsa-(?:amd-|runtime)\w+|hsakmt|MIOpen|migraphx[\w-]*|openvx|rccl[\w-]*"
    r"|roc(?:al|blas|decode|fft|jpeg|m[_-]|prof|rand|roller|shmem|solver|sparse|tracer|tx|wmma)[\w-]*"
    r"|rocm|rocalution\w*)\.so(?:\.|$)"
)
DEFAULT_DIRS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


def is_library(name: str) -> bool:
    """Tell whether a name is a shared library's; ``Kernels.so-000-gfx950.hsaco`` holds GPU code."""
    return name.endswith(".so") or ".so." in name


def is_rocm_library(name: str) -> bool:
    """Tell whether a name is that of a library known to be ROCm's."""
    return is_library(name) and re.match(_ROCM, name) is not None


def by_version(entries: Sequence[Entry], name: str) -> list[str]:
    """Return the files of a listing (sorted by name) that may stand for a library, best first.

    The bare name (``librccl.so``), then versioned ones by number (5.10 before 5.9), then odd ones.
    """
    # A library directory of a distribution has thousands of names, and is asked for dozens of them.
    first = bisect.bisect_left(entries, name, key=lambda entry: entry.name)
    rest = itertools.islice(entries, first, None)
    near = itertools.takewhile(lambda entry: entry.name.startswith(name), rest)
    files = (entry.name for entry in near if entry.kind != "dir")
    related = [each for each in files if each == name or each[len(name)] == "."]
    return sorted(related, key=lambda each: _rank(each.removeprefix(name)), reverse=True)


def _rank(suffix: str) -> tuple[int, tuple[int, ...], str]:
    if not suffix:
        return (2, (), "")
    if _NUMBERS.fullmatch(suffix):
        return (1, tuple(int(part) for part in suffix[1:].split(".")), "")
    return (0, (), suffix)


def pick(ctx: Context, directories: Iterable[str], name: str) -> Answer[str]:
    """Return the real path of the library file that ``name`` means in the first directory that has it.

    Dangling links and linker scripts are passed over. Whatever refuses to be read ends the search
    with its reason: another file's facts would be false.
    """
    for directory in directories:
        listed = ctx.scan(directory)
        if listed.value is None:
            if listed.absent:
                continue
            return listed.failure
        for found in by_version(listed.value, name):
            real = _library(ctx, posixpath.join(directory, found))
            if not real.absent:
                return real
    return Answer(
        kind=ReasonKind.ABSENT, subject=name, detail=f"{name} is in none of the library directories"
    )


def _library(ctx: Context, path: str) -> Answer[str]:
    real = resolve(ctx, path)
    if real.value is None:
        return real
    start = ctx.data(real.value, 1024)
    if start.value is None:
        return start.failure
    if not start.value.startswith(b"\x7fELF") and _SCRIPT.search(start.value):
        return Answer(kind=ReasonKind.ABSENT, subject=path, detail=f"{path}: a linker script")
    return Answer(value=real.value, subject=path)


def search_path(ctx: Context, variable: str = "LD_LIBRARY_PATH") -> list[str]:
    """Return the absolute directories of a colon-separated variable, each once."""
    entries = (ctx.env(variable) or "").replace(";", ":").split(":")
    return list(dict.fromkeys(posixpath.normpath(entry) for entry in entries if entry.startswith("/")))


@frozen
class LoaderDirs:
    """Where the loader looks by itself; ``trouble`` is the answer that may hide further places."""

    places: tuple[str, ...]
    trouble: Answer[Any] | None = None


def configured_dirs(ctx: Context) -> LoaderDirs:
    """Return the directories that ``/etc/ld.so.conf.d`` adds, then the loader's own."""
    triplet = f"{machine(ctx)}-linux-gnu"
    place = "/etc/ld.so.conf.d"
    listed = ctx.scan(place)
    names = [entry.name for entry in listed.value or () if entry.name.endswith(".conf")]
    texts = [ctx.text(path) for path in ("/etc/ld.so.conf", *(posixpath.join(place, name) for name in names))]
    added = [posixpath.normpath(each) for answer in texts for each in _directories(answer.value or "")]
    asked: list[Answer[Any]] = [listed, *texts]
    failed = [answer for answer in asked if not (answer.ok or answer.absent)]
    places = dict.fromkeys([*added, f"/lib/{triplet}", f"/usr/lib/{triplet}", *DEFAULT_DIRS])
    return LoaderDirs(places=tuple(places), trouble=failed[0] if failed else None)


def _directories(text: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line.startswith("/")]
