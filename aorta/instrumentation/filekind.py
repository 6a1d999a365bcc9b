"""What a file holds: a snapshot, a recording, nothing, or something that aorta did not write."""

import json
from typing import Any, NamedTuple

NOTHING, SNAPSHOT, RECORDING, OTHER = "nothing", "snapshot", "recording", "other"

#: Bytes of a compressed file that are enough for the first line of a recording.
HEAD = 4096


class Held(NamedTuple):
    """The kind of a file's content; ``document`` is the JSON object of a snapshot."""

    kind: str
    document: dict[str, Any] | None = None


def held_in(data: bytes) -> Held:
    """Tell what the bytes of a file are; a recording may be gzipped."""
    if not data.strip():
        return Held(NOTHING)
    if _is_header(_object(_first_line(data))):
        return Held(RECORDING)
    document = _object(data)
    if document == {}:
        # A placeholder: there is nothing in it to lose.
        return Held(NOTHING)
    if document is not None and isinstance(document.get("schema_version"), str):
        return Held(SNAPSHOT, document)
    return Held(OTHER)


def held_by(path: str) -> Held:
    """Tell what the file at ``path`` is; one that is there and cannot be read is something else."""
    try:
        with open(path, "rb") as stream:
            return held_in(stream.read())
    except FileNotFoundError:
        return Held(NOTHING)
    except OSError:
        return Held(OTHER)


def _first_line(data: bytes) -> bytes:
    if data[:2] == b"\x1f\x8b":
        import zlib

        try:
            # 16 more: with the header of gzip.
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, HEAD)
        except zlib.error:
            return b""
    return data.lstrip().partition(b"\n")[0]


def _is_header(line: dict[str, Any] | None) -> bool:
    return line is not None and "recording" in line


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
