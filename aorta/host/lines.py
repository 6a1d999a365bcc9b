"""One line of a recording, read: what was asked and what came of it. Every defect is a ValueError."""

import base64
import binascii
import errno
import os
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from aorta.host.elf import Elf, ElfError, untold
from aorta.host.protocol import Completed, DeadMountError, Distribution, Entry, FileSystem, Module, Stat
from aorta.model.vocabulary import Outcome

Line = Mapping[str, Any]
Key = tuple[str | tuple[str, ...], ...]

_KINDS = frozenset(("file", "dir", "link", "char", "block", "fifo", "socket", "other"))
_WORDS: dict[type, str] = {
    str: "a text",
    int: "a number",
    list: "a list",
    dict: "an object",
    bool: "true or false",
}


@attrs.frozen
class Failed:
    """An access that failed; ``error`` makes the exception anew for each raise."""

    line: Line

    def error(self, path: str) -> Exception:
        """Return the exception that the access raised."""
        text, kind = self.line.get("error"), self.line.get("type", "")
        if kind == "DeadMountError":
            return DeadMountError(field(self.line, "mount", str), path)
        name = self.line.get("errno")
        if name is not None:
            number = getattr(errno, name)
            error: Exception = OSError(number, text or os.strerror(number), path)
        elif kind == "UnicodeDecodeError":
            error = UnicodeDecodeError("utf-8", b"\0", 0, 1, str(text))
        elif kind == "ElfError":
            error = ElfError(str(text))
        elif kind == "TimeoutError":
            error = TimeoutError(text)
        elif kind == "OSError":
            error = OSError(text)
        else:
            error = RuntimeError(f"{kind}: {text}" if kind else str(text))
        if self.line.get("not_asked"):
            error.not_asked = True  # type: ignore[attr-defined]
        return error


def field(line: Line, name: str, wanted: type, default: Any = ...) -> Any:
    """Return a member of a line, checked to be of a JSON type."""
    value = line.get(name, default)
    if value is ...:
        raise ValueError(f"{name} is missing")
    if value is default and name not in line:
        return value
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise ValueError(f"{name} must be {_WORDS[wanted]}")
    return value


def texts(line: Line, name: str) -> tuple[str, ...]:
    """Return a member that is a list of texts."""
    values = field(line, name, list)
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(values)


def question(line: Line) -> Key:
    """Return what a line answers, as replaying looks it up."""
    op = field(line, "op", str)
    if op not in _ANSWERS:
        raise ValueError(f"unknown op {op!r}")
    if op == "run":
        argv = texts(line, "argv")
        if not argv:
            raise ValueError("argv is empty")
        return (op, argv)
    if op == "stat":
        return (op, field(line, "path", str), "follow" if field(line, "follow", bool, True) else "itself")
    if op == "scan":
        return (op, field(line, "path", str), "details" if field(line, "details", bool, True) else "names")
    if op == "bytes" and "offset" in line:
        return (op, field(line, "path", str), str(field(line, "offset", int)))
    if op == "elf" and "symbols" in line:
        return (op, field(line, "path", str), field(line, "symbols", str))
    if op == "find":
        return (op, field(line, "path", str), field(line, "pattern", str))
    if op == "env" and "prefix" in line:
        return ("env_names", field(line, "prefix", str))
    if op == "clock":
        return (op,)
    return (op, field(line, "path" if op in _OF_PATHS else "name", str))


def answer(line: Line) -> Any:
    """Return what came of an access: its value, or ``Failed``."""
    if "errno" in line or "error" in line:
        _check_failure(line)
        return Failed(line)
    return _ANSWERS[line["op"]](line)


def _check_failure(line: Line) -> None:
    name = field(line, "errno", str, None)
    if name is not None and name not in _ERRNO_NAMES:
        raise ValueError(f"unknown errno {name!r}")
    field(line, "error", str, "")
    if field(line, "type", str, "") == "DeadMountError":
        field(line, "mount", str)


def _bytes(line: Line) -> bytes:
    try:
        return base64.b64decode(field(line, "b64", str), validate=True)
    except binascii.Error as error:
        raise ValueError(f"b64 is not base 64 ({error})") from error


def _text(line: Line) -> str:
    text: str = field(line, "text", str)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("text holds half a surrogate pair") from None
    return text


def _numbers(line: Line, kind: type[Any]) -> dict[str, Any]:
    names = [one.name for one in attrs.fields(kind) if one.name not in ("kind", "name")]
    return {name: field(line, name, int, 0) for name in names}


def _kind(line: Line) -> str:
    kind: str = field(line, "kind", str)
    if kind not in _KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    return kind


def _stat(line: Line) -> Stat:
    return Stat(kind=_kind(line), **_numbers(line, Stat))


def _entries(line: Line) -> list[Entry]:
    return [_entry(member) for member in field(line, "entries", list)]


def _entry(member: Any) -> Entry:
    if not isinstance(member, dict):
        raise ValueError("a member of entries must be an object")  # noqa: TRY004 - a defect of the file
    name = field(member, "name", str)
    if not name or "/" in name:
        raise ValueError(f"{name!r} can not be in a directory")
    return Entry(name=name, kind=_kind(member), **_numbers(member, Entry))


def _completed(line: Line) -> Completed:
    code = None if line.get("exit") is None else field(line, "exit", int)
    ending = Outcome.OK if code == 0 else Outcome.SIGNAL if (code or 0) < 0 else Outcome.EXIT
    word = field(line, "outcome", str, str(ending))
    if word not in list(Outcome):
        raise ValueError(f"unknown outcome {word!r}")
    if code is None and "outcome" not in line:
        raise ValueError("neither exit nor outcome is given")
    elapsed = line.get("elapsed_s", 0)
    if isinstance(elapsed, int) and abs(elapsed) > 1 << 53:
        raise ValueError("elapsed_s is beyond all measure")
    return Completed(
        outcome=Outcome(word),
        exit_code=code,
        stdout=field(line, "out", str, ""),
        stderr=field(line, "err", str, ""),
        elapsed_s=float(elapsed) if isinstance(elapsed, (int, float)) else 0.0,
        truncated=field(line, "truncated", bool, False),
        detail=field(line, "detail", str, ""),
    )


def _or_null(line: Line, name: str, wanted: type) -> Any:
    if name in line and line[name] is None:
        return None
    return field(line, name, wanted)


def _environment(line: Line) -> Any:
    return list(texts(line, "names")) if "prefix" in line else _or_null(line, "value", str)


def _distribution(line: Line) -> Distribution | None:
    found = _or_null(line, "found", dict)
    if found is None:
        return None
    return Distribution(
        name=field(found, "name", str),
        version=field(found, "version", str, None),
        path=field(found, "path", str, ""),
        direct_url=field(found, "direct_url", str, None),
        others=texts({"others": found.get("others", [])}, "others"),
    )


def _module(line: Line) -> Module | None:
    found = _or_null(line, "found", dict)
    if found is None:
        return None
    return Module(
        name=field(found, "name", str),
        origin=field(found, "origin", str, None),
        locations=texts({"locations": found.get("locations", [])}, "locations"),
    )


def _elf(line: Line) -> Elf:
    value = field(line, "value", dict)
    for name in ("needed", "symbols"):
        if name in value:
            texts(value, name)
    return untold(value)


def _filesystem(line: Line) -> FileSystem:
    return FileSystem(kind=field(line, "kind", str, ""), may_hang=field(line, "may_hang", bool, False))


def _observed(line: Line) -> Any:
    if "value" not in line:
        raise ValueError("value is missing")
    return line["value"]


_OF_PATHS = frozenset(("read", "bytes", "link", "stat", "scan", "sha256", "elf", "filesystem", "find"))
_ERRNO_NAMES = frozenset(name for name in vars(errno) if name.startswith("E"))
_ANSWERS: dict[str, Callable[[Line], Any]] = {
    "read": _text,
    "bytes": _bytes,
    "link": lambda line: field(line, "target", str),
    "stat": _stat,
    "scan": _entries,
    "sha256": lambda line: field(line, "hex", str),
    "elf": _elf,
    "find": lambda line: texts(line, "value"),
    "filesystem": _filesystem,
    "run": _completed,
    "env": _environment,
    "dist": _distribution,
    "module": _module,
    "observe": _observed,
    "clock": lambda line: field(line, "now", str),
}
