"""Installed distributions and modules, found without importing anything and through the host."""

import errno
import os
import re
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from typing import Any, Protocol

from aorta.host.protocol import Distribution, Entry, Module, Stat
from aorta.host.search_path import whole_path
from aorta.host.torch_report import editable

_SEPARATORS = re.compile(r"[-_.]+")
_METADATA_FILES = ("METADATA", "PKG-INFO")
_HEADER_BYTES = 1 << 18
_MODULE_SUFFIXES = (*EXTENSION_SUFFIXES, ".py", ".pyc")


class Files(Protocol):
    """What of a host finds packages."""

    def read_bytes(self, path: str, limit: int = ...) -> bytes:
        """Return the first bytes of a file."""

    def scan(self, path: str, *, details: bool) -> list[Entry]:
        """Return the members of a directory."""

    def stat(self, path: str) -> Stat:
        """Return what a path is."""

    def slow_points(self) -> list[str]:
        """Return the mount points that may hang."""

    def slow_mount(self, path: str) -> str | None:
        """Return the mount point, if it may hang, that a path lies on."""


def normalized(name: str) -> str:
    """Return a distribution's name as PEP 503 compares it."""
    return _SEPARATORS.sub("-", name).lower()


class Packages:
    """Looks packages up in ``sys.path``; each of its directories is listed once.

    ``foreign`` tells another interpreter's facts, where packages are those of that one.
    """

    def __init__(self, files: Files, foreign: Callable[[], dict[str, Any]] | None = None) -> None:
        self._files = files
        self._foreign = foreign
        self._lock = threading.Lock()
        self._listed: dict[str, list[tuple[str, str]]] = {}

    def distribution(self, name: str) -> Distribution | None:
        """Return the installed distribution of that name, or None."""
        path = self._foreign()["path"] if self._foreign else _search_path()
        with self._lock:
            return find_distribution(self._files, path, name, self._list)

    def module(self, name: str) -> Module | None:
        """Return where a top-level module would come from, or None."""
        if self._foreign is None:
            return find_module(self._files, _search_path(), name)
        facts = self._foreign()
        if not name.isidentifier():
            return None
        elsewhere = facts["elsewhere"]
        early, *places = (elsewhere or {}).get(name, [False])
        known = Module(name=name, origin=places[0], locations=tuple(places[1:])) if places else None
        if known is not None and early:
            return known
        found = _from_directories(self._files, facts["path"], name)
        found = found or _from_table(self._files, facts["editable"], name) or known
        if found is None and elsewhere is None:
            raise TimeoutError(errno.ETIMEDOUT, "the finders of that interpreter did not answer", name)
        return found

    def _list(self, entry: str) -> list[tuple[str, str]]:
        if entry not in self._listed:
            self._listed[entry] = list_metadata(self._files, entry)
        return self._listed[entry]


def _search_path() -> list[str]:
    return list(dict.fromkeys(os.path.abspath(entry) for entry in whole_path()))


def list_metadata(files: Files, entry: str) -> list[tuple[str, str]]:
    """Return (normalised name, path) of every ``*.dist-info`` and ``*.egg-info`` in a directory."""
    try:
        members = files.scan(entry, details=False)
    except OSError:
        return []
    return [
        (normalized(_name_in(member.name)), f"{entry.rstrip('/')}/{member.name}")
        for member in members
        if member.name.endswith((".dist-info", ".egg-info"))
    ]


def _name_in(directory: str) -> str:
    return directory.rpartition(".")[0].split("-", 1)[0]


def find_distribution(
    files: Files,
    search_path: Sequence[str],
    name: str,
    listing: Callable[[str], list[tuple[str, str]]] | None = None,
) -> Distribution | None:
    """Return the distribution of that name that is found first on ``search_path``, or None.

    A directory that can not be read, or does not answer, is passed over.
    """
    wanted, found = normalized(name), list[Distribution]()
    for entry in search_path:
        listed = listing(entry) if listing else list_metadata(files, entry)
        paths = [path for known, path in listed if known == wanted]
        found += [_read_distribution(files, path) for path in paths]
        if not listed:
            found += _zipped_distributions(files, entry, wanted)
    if not found:
        return None
    first = found[0]
    return Distribution(
        name=first.name,
        version=first.version,
        path=first.path,
        direct_url=first.direct_url,
        others=tuple(one.path for one in found[1:]),
    )


def _read_distribution(files: Files, path: str) -> Distribution:
    headers: dict[str, str] = {}
    for place in [*(f"{path}/{name}" for name in _METADATA_FILES), path]:
        text = _text(files, place)
        if text is not None:
            headers = _headers(text)
            break
    return Distribution(
        name=headers.get("name") or _name_in(path.rpartition("/")[2]),
        version=headers.get("version") or None,
        path=path,
        direct_url=_text(files, f"{path}/direct_url.json"),
    )


def _text(files: Files, path: str) -> str | None:
    """Return the start of a file. Old descriptions are not always UTF-8; what is told here always is."""
    try:
        return files.read_bytes(path, _HEADER_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def _headers(text: str) -> dict[str, str]:
    """Return the one-line headers of a metadata text by lower-case name; the first of each counts."""
    headers: dict[str, str] = {}
    for line in text.split("\n"):
        if not line.strip():
            break
        key, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            headers.setdefault(key.strip().lower(), value.strip())
    return headers


def _zipped_distributions(files: Files, entry: str, wanted: str) -> Iterator[Distribution]:
    if files.slow_mount(entry) is not None or not _is(files, entry, "file"):
        return
    import importlib.metadata

    for found in importlib.metadata.distributions(name=wanted, path=[entry]):
        headers = _headers(found.read_text("METADATA") or found.read_text("PKG-INFO") or "")
        yield Distribution(
            name=headers.get("name") or wanted,
            version=headers.get("version") or None,
            path=str(getattr(found, "_path", entry)).rstrip("/"),
            direct_url=found.read_text("direct_url.json"),
        )


def find_module(files: Files, search_path: Sequence[str], name: str) -> Module | None:
    """Return where a top-level module would be imported from, or None; nothing is executed.

    The import system is asked only where no file system can hang, since it looks for itself.
    """
    if not name.isidentifier():
        return None
    if not files.slow_points():
        known, module = _from_import_system(name)
        if known:
            return module
    return _from_loaded(name) or _from_directories(files, search_path, name) or _from_editable(files, name)


def _from_import_system(name: str) -> tuple[bool, Module | None]:
    """Return whether the import system gave an answer, and the answer."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        return False, None
    return True, None if spec is None else _from_spec(name, spec)


def _from_loaded(name: str) -> Module | None:
    try:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        return None if spec is None else _from_spec(name, spec)
    except Exception:
        # A module can be any object.
        return None


def _from_spec(name: str, spec: Any) -> Module:
    locations = tuple(str(place) for place in spec.submodule_search_locations or ())
    origin = spec.origin if getattr(spec, "has_location", False) else None
    return Module(name=name, origin=origin, locations=locations)


def _from_directories(files: Files, search_path: Sequence[str], name: str) -> Module | None:
    namespace = []
    for entry in search_path:
        base = f"{entry.rstrip('/')}/{name}"
        found = _module_at(files, base) or _module_in_file(files, entry, name)
        if found is None:
            continue
        if found.origin is not None:
            return found
        namespace.append(base)
    return Module(name=name, locations=tuple(namespace)) if namespace else None


def _module_at(files: Files, base: str) -> Module | None:
    """Return the module or package whose path without suffix is ``base``; None if there is none."""
    name = base.rpartition("/")[2]
    is_directory = _is(files, base, "dir")
    if is_directory:
        for suffix in _MODULE_SUFFIXES:
            if _is(files, f"{base}/__init__{suffix}", "file"):
                return Module(name=name, origin=f"{base}/__init__{suffix}", locations=(base,))
    for suffix in _MODULE_SUFFIXES:
        if _is(files, f"{base}{suffix}", "file"):
            return Module(name=name, origin=f"{base}{suffix}")
    return Module(name=name, locations=(base,)) if is_directory else None


def _module_in_file(files: Files, entry: str, name: str) -> Module | None:
    """Return a module of a zip file on the search path; of local files only."""
    if files.slow_mount(entry) is not None or not _is(files, entry, "file"):
        return None
    spec = PathFinder.find_spec(name, [entry])
    return None if spec is None else _from_spec(name, spec)


def _is(files: Files, path: str, kind: str) -> bool:
    try:
        return files.stat(path).kind == kind
    except OSError:
        return False


def _from_editable(files: Files, name: str) -> Module | None:
    """Look into the tables of setuptools' finders for editable installs; they are not called."""
    return _from_table(files, editable(), name)


def _from_table(files: Files, table: Mapping[str, str], name: str) -> Module | None:
    place = table.get(name)
    if place is None:
        return None
    return _module_at(files, place.removesuffix("/__init__.py").removesuffix(".py"))


def zipped(files: Files, path: str, limit: int) -> bytes:
    """Return the first bytes of a member of a zip file, whose path goes on behind the file's.

    Raises OSError: NotADirectoryError where there is no zip file on the way, or none that can be read here.
    """
    import zipfile

    place = path
    while place not in ("/", "") and not _is(files, place, "file"):
        place = place.rpartition("/")[0]
    if place in ("/", "") or files.slow_mount(place) is not None:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    try:
        with zipfile.ZipFile(place) as archive, archive.open(path[len(place) + 1 :]) as member:
            return member.read(limit)
    except KeyError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, zlib.error) as error:
        raise OSError(errno.EIO, f"{type(error).__name__} in {place}", path) from None
