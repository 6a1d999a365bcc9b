"""The version of a loaded library, where something says it: torch about what it uses, or the file's name."""

import functools
import posixpath
import re


@functools.cache
def _config() -> re.Pattern[str]:
    line = r"^[ \t]*-[ \t]+(HIP Runtime|MIOpen)[ \t]+(\d{1,4}(?:\.\d{1,9}){1,3})[ \t]*$"
    return re.compile(line, re.MULTILINE | re.ASCII)


@functools.cache
def _suffix() -> re.Pattern[str]:
    return re.compile(r"\.so\.(\d{1,9}(?:\.\d{1,9}){1,5})", re.ASCII)


def parse_library_versions(text: str) -> dict[str, str]:
    """Return by family what ``torch.__config__.show()`` says of libraries; what it says twice is left out."""
    told: dict[str, set[str]] = {}
    for name, version in _config().findall(text[:1_000_000]):
        told.setdefault({"HIP Runtime": "hip", "MIOpen": "miopen"}[name], set()).add(version)
    return {family: versions.pop() for family, versions in told.items() if len(versions) == 1}


def parse_suffix(path: str) -> str | None:
    """Return the version at the end of a file's name: 1.0.70200 of ``librccl.so.1.0.70200``.

    A single number is the interface's, as in ``librccl.so.1``: it says which programs fit, not which
    release it is. So does none.
    """
    name = posixpath.basename(path)
    found = _suffix().fullmatch(name, name.find(".so."))
    return found[1] if found is not None else None
