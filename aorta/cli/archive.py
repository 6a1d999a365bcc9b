"""The content of the single-file aorta: an archive that Python runs as a program.

Taken from the running installation: aorta itself, and of the distributions that it requires on any
supported Python all pure Python files, their metadata and their licences. Extension modules stay out, so
the same file serves every Python version; each of these distributions works without its own.
"""

import io
import os
import zipfile
from collections.abc import Iterator
from importlib import metadata, resources
from typing import Any

from aorta.model.frozen import frozen
from aorta.plugin.discovery import BUILTIN

SHEBANG = b"#!/usr/bin/env python3\n"

#: The Python versions that the file is for, oldest first.
PYTHONS = ("3.10", "3.11", "3.12", "3.13")

METHOD = zipfile.ZIP_DEFLATED

_METADATA = (".dist-info", ".egg-info")

#: What is kept of a distribution's metadata: what it is, who wrote it, under which licence.
_KEPT = ("metadata", "pkg-info", "licen", "copying", "notice", "authors")

#: Files for one version of Python or one machine.
_NOT_PURE = {".pyc", ".pyo", ".so", ".pyd"}

#: The oldest time that an archive can hold: the real ones would make each file another one.
_TIME = (1980, 1, 1, 0, 0, 0)

#: Read by every Python that a machine may call python3, also by those that are too old for the rest.
MAIN = '''\
"""Runs aorta, which lies in this file with all that it needs."""
import sys

OLDEST = %s

if sys.version_info < OLDEST:
    found = sys.version.split()[0]
    sys.stderr.write("aorta needs Python %%d.%%d or newer; this is %%s\\n" %% (OLDEST + (found,)))
    sys.exit(2)

try:
    from aorta.cli import main
except KeyboardInterrupt:
    sys.exit(130)

if __name__ == "__main__":
    main()
'''


class IncompleteError(Exception):
    """The running installation does not hold what belongs into the file; the message says what."""


@frozen
class Archive:
    """The single-file aorta: its bytes, and the oldest Python that it runs on and why no older one."""

    content: bytes
    oldest: str
    why: str


def archive() -> Archive:
    """Return the file; the same installation gives the same bytes. Raises IncompleteError, OSError."""
    members = dict(_own())
    distributions, oldest, why = _required()
    for distribution in distributions:
        members |= _files_of(distribution)
    main = MAIN % (tuple(map(int, oldest.split("."))),)
    members["__main__.py"] = main.encode("ascii")
    return Archive(content=_zipped(members), oldest=oldest, why=why)


def _zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    stream.write(SHEBANG)
    with zipfile.ZipFile(stream, "w") as file:
        for name in sorted(members):
            member = zipfile.ZipInfo(name, _TIME)
            member.compress_type = METHOD
            member.create_system = 3
            member.external_attr = 0o100644 << 16
            file.writestr(member, members[name])
    return stream.getvalue()


def _own() -> Iterator[tuple[str, bytes]]:
    """Yield aorta's packages, which an editable installation records no files of."""
    for package in ("aorta", *sorted({name.partition(".")[0] for name in BUILTIN})):
        root = resources.files(package)
        if not isinstance(root, os.PathLike):
            raise IncompleteError("this aorta runs from an archive itself; copy that")
        yield from _tree(root, package)


def _tree(folder: Any, place: str) -> Iterator[tuple[str, bytes]]:
    for member in folder.iterdir():
        name = f"{place}/{member.name}"
        # An editable installation is a checkout: editors and people leave other files there.
        if member.is_symlink() or not member.name.isascii() or member.name.startswith((".", "__pycache__")):
            continue
        if member.is_dir():
            yield from _tree(member, name)
        elif member.is_file() and (member.suffix == ".py" or member.name == "py.typed"):
            yield name, member.read_bytes()


def _required() -> tuple[list[metadata.Distribution], str, str]:
    """Return the distributions, the oldest Python for which all are here, and why for no older one.

    What only an older Python than the running one requires may be missing: the file is for newer ones then.
    """
    found: dict[str, metadata.Distribution] = {}
    oldest = ""
    for python in reversed(PYTHONS):
        try:
            found |= _closure(python)
        except IncompleteError as error:
            if not oldest:
                raise
            return _sorted(found), oldest, str(error)
        oldest = python
    return _sorted(found), oldest, ""


def _sorted(found: dict[str, metadata.Distribution]) -> list[metadata.Distribution]:
    return [found[name] for name in sorted(found)]


def _closure(python: str) -> dict[str, metadata.Distribution]:
    """Return by name what aorta requires, directly or not, on one version of Python."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    place = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    found: dict[str, metadata.Distribution] = {}
    todo = ["aorta"]
    while todo:
        name = canonicalize_name(todo.pop())
        if name in found:
            continue
        found[name] = _installed(name)
        wishes = map(Requirement, found[name].requires or ())
        todo += [wish.name for wish in wishes if wish.marker is None or wish.marker.evaluate(place)]
    return found


def _installed(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise IncompleteError(f"the package {name} is not installed (pip install {name})") from None


def _files_of(distribution: metadata.Distribution) -> dict[str, bytes]:
    name = distribution.metadata["Name"]
    if distribution.files is None:
        raise IncompleteError(f"nothing records which files belong to the package {name}; pip would")
    # The modules of aorta itself may lie elsewhere.
    wanted = _is_about if name == "aorta" else _is_pure
    return {file.as_posix(): file.read_binary() for file in distribution.files if wanted(file)}


def _is_pure(file: metadata.PackagePath) -> bool:
    top = file.parts[0]
    if top.endswith(_METADATA):
        return _is_about(file)
    return top not in ("..", "/") and file.suffix not in _NOT_PURE


def _is_about(file: metadata.PackagePath) -> bool:
    top, *inner = file.parts
    return top.endswith(_METADATA) and bool(inner) and inner[0].lower().startswith(_KEPT)
