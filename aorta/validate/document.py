"""Reading a file: a document, or why there is none. It neither waits for long nor reads without end."""

import json
import os
import stat
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aorta.model.document import DocumentError, finite, refuse, version_of
from aorta.validate.value import MISSING, plain, shown

#: The largest document that is read, in bytes. A snapshot has less than a thousandth of it.
LIMIT = 256 << 20

#: Seconds that the other end of a pipe may stay silent.
SILENCE_S = 20.0

#: The most characters of a file's name in a line.
NAME = 400

STDIN = "-"

#: Keys of which every snapshot has some, whatever its version.
KEYS = (
    *(
        "schema_version",
        "captured_at",
        "python_version",
        "pytorch_version",
        "pytorch_build",
        "execution_context",
    ),
    *("build_system", "buck_invocation", "library_introspection", "rocm", "partial_reasons"),
)


class UnreadableError(Exception):
    """A file that is no document; the text says why, ``way_out`` what to do."""

    def __init__(self, text: str, way_out: str = "") -> None:
        super().__init__(text)
        self.way_out = way_out


class ForeignError(UnreadableError):
    """A file that holds something else than a snapshot."""


@dataclass(frozen=True, eq=False)
class Document:
    """A snapshot's document: ``file`` is its name in a line.

    ``inode`` tells whether two are one file, ``content`` whether they hold the same; both may be unknown.
    """

    file: str
    data: Mapping[str, Any]
    inode: tuple[int, ...] = ()
    content: tuple[int, ...] = ()

    def at(self, *path: str) -> Any:
        """Return the value at a path; ``MISSING`` where a key is, or what holds it is no object."""
        value: Any = self.data
        for name in path:
            value = value.get(name, MISSING) if isinstance(value, Mapping) else MISSING
        return value

    def listed(self, *path: str) -> list[Any]:
        """Return the list at a path; an empty one where there is none."""
        value = self.at(*path)
        return value if isinstance(value, list) else []

    @property
    def version(self) -> tuple[int, int] | None:
        """Return the schema version; null where it is none."""
        try:
            return version_of(self.data)
        except DocumentError:
            return None

    @property
    def captured(self) -> bool:
        """Tell whether this is a whole capture; an extract does not say when it was made."""
        return isinstance(self.at("captured_at"), str)


def name_of(file: str) -> str:
    """Return a file's name in one line; of a very long one the end."""
    name = plain("standard input" if file == STDIN else file, len(file) + NAME)
    return f"...{name[-NAME:]}" if len(name) > NAME else name


def read(file: str) -> Document:
    """Return the document in a file (``-`` is the standard input). Raises UnreadableError."""
    try:
        data, identity = _standard_input() if file == STDIN else _bytes_of(file)
    except (OSError, ValueError) as error:
        raise UnreadableError(
            f"cannot be read: {getattr(error, 'strerror', None) or plain(str(error))}"
        ) from None
    if len(data) > LIMIT:
        raise _too_large()
    try:
        return Document(name_of(file), _parsed(data), identity, (len(data), hash(data)))
    except MemoryError:
        raise UnreadableError("too large for the memory of this machine") from None


def _standard_input() -> tuple[bytes, tuple[int, ...]]:
    if sys.stdin is None:
        raise OSError(9, os.strerror(9))
    return sys.stdin.buffer.read(LIMIT + 1), ()


def _bytes_of(file: str) -> tuple[bytes, tuple[int, ...]]:
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise UnreadableError("a directory, not a file")
        if about.st_size > LIMIT:
            raise _too_large()
        if stat.S_ISREG(about.st_mode):
            with open(descriptor, "rb", closefd=False) as stream:
                return stream.read(LIMIT + 1), (about.st_dev, about.st_ino)
        return _from_pipe(descriptor), ()
    finally:
        os.close(descriptor)


def _from_pipe(descriptor: int) -> bytes:
    """Return what comes through a pipe or device, such as ``<(command)`` of a shell."""
    parts, size = [], 0
    until = time.monotonic() + SILENCE_S
    while size <= LIMIT:
        try:
            part = os.read(descriptor, 1 << 20)
        except BlockingIOError:
            if time.monotonic() > until:
                raise UnreadableError(f"nothing came through it for {SILENCE_S:.0f} s") from None
            time.sleep(0.005)
            continue
        if not part:
            break
        parts.append(part)
        size += len(part)
        until = time.monotonic() + SILENCE_S
    return b"".join(parts)


def _too_large() -> UnreadableError:
    return UnreadableError(f"larger than {LIMIT >> 20} MiB: no snapshot is")


REPLAY = "make a snapshot of it: aorta env probe --replay RECORDING -o FILE"


def _parsed(data: bytes) -> dict[str, Any]:
    if not data.strip():
        raise UnreadableError("empty", "capture once more")
    if data[:2] == b"\x1f\x8b":
        raise ForeignError("compressed with gzip, as recordings are: no snapshot", REPLAY)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not UTF-8 at byte {error.start}, so no snapshot") from None
    try:
        document = _strict(text)
    except (ValueError, RecursionError) as error:
        if _is_recording(text):
            raise ForeignError("a recording, not a snapshot", REPLAY) from None
        raise UnreadableError(f"not JSON: {plain(str(error), 300)}") from None
    if not isinstance(document, dict):
        raise UnreadableError(f"a JSON {type(document).__name__}, not an object")
    if "recording" in document and "schema_version" not in document:
        raise ForeignError("a recording, not a snapshot", REPLAY)
    if document and not any(key in document for key in KEYS):
        raise ForeignError("JSON of another kind, not a snapshot of aorta")
    return document


def _strict(text: str) -> Any:
    """Parse as ``parse_json`` does, and refuse a name that stands twice: the gate cannot tell which holds."""
    return json.loads(text, parse_constant=refuse, parse_float=finite, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{shown(next(name for name in names if names.count(name) > 1))} stands twice")
    return members


def _is_recording(text: str) -> bool:
    """Tell whether the first of several lines is a recording's."""
    try:
        header = _strict(text.lstrip()[:4096].partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "recording" in header
