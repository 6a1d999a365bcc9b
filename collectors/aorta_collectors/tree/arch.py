"""GPU architectures in the names of kernel files: ``gfx942130`` is gfx942 with 304 compute units."""

import functools
import re
from collections.abc import Iterable

from aorta.model.frozen import frozen


@frozen
class NamedArch:
    """One architecture in a name. ``features`` are texts such as ``xnack+``; ``compute_units`` MIOpen's."""

    arch: str
    features: tuple[str, ...] = ()
    compute_units: int | None = None

    @property
    def target(self) -> str:
        """Return the target as the compiler writes it, e.g. ``gfx90a:xnack+``."""
        return ":".join((self.arch, *self.features))


@functools.cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of one architecture.

    Up to gfx9 a name has three digits, from gfx10 on four: what follows them is never part of it.
    """
    return re.compile(
        r"(?<![0-9a-z])"
        r"(gfx(?:[1-9][0-9]?(?:-[0-9]{1,2})?-generic|[6-9][0-9a-f]{2}|1[0-9][0-9a-f]{2}))"
        r"(?:"
        r"((?:[-:](?:xnack|sramecc)[+-]){1,2})"
        r"|([0-9a-f]{2,3})(?![0-9a-z])"
        r"|_([0-9]{1,2})(?=\.|\Z)"
        r"|[a-z]{3,40}(?![0-9a-z])"
        r"|(?![0-9a-z])"
        r")"
    )


@functools.cache
def _device_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<![0-9a-z])id([0-9a-f]{4})(?![0-9a-z])")


def parse_archs(name: str) -> tuple[NamedArch, ...]:
    """Return the architectures in a file's name, in order; what is like one and is none is left out."""
    lower = name.lower()
    if "gfx" not in lower:
        return ()
    found: list[NamedArch] = []
    for part in lower.split("/"):
        at = part.find("gfx")
        if at >= 0:
            found += _in_tail(part[max(0, at - 1) :])
    return tuple(found)


@functools.lru_cache(4096)
def _in_tail(tail: str) -> tuple[NamedArch, ...]:
    """Return the architectures in the end of a name; thousands of files have the same few ends."""
    return tuple(map(_named, _pattern().finditer(tail)))


def is_arch(name: str) -> bool:
    """Tell whether a directory's whole name is an architecture."""
    return _pattern().fullmatch(name.lower()) is not None


def parse_device_ids(name: str) -> tuple[str, ...]:
    """Return the PCI device ids that a kernel file is made for: 75a0 of ``…_ID75a0_gfx950.co``."""
    lower = name.lower()
    return tuple(_device_pattern().findall(lower)) if "id" in lower else ()


def _named(match: re.Match[str]) -> NamedArch:
    arch, features, many, few = match.groups()
    units = int(many, 16) if many else int(few) if few else None
    return NamedArch(
        arch=arch,
        features=tuple(re.findall(r"[a-z]+[+-]", features)) if features else (),
        compute_units=units,
    )


def uncovered(present: Iterable[str], covered: Iterable[str]) -> tuple[str, ...]:
    """Return the architectures that none of the covered ones serves; a generic one serves its generation."""
    known = set(covered)
    generic = {name[: 5 if name[3] == "1" else 4] for name in known if name.endswith("-generic")}
    return tuple(
        sorted({arch for arch in present if arch not in known and not arch.startswith(tuple(generic))})
    )
