"""A kernel module as it is loaded (sysfs) and as it lies on disk (modinfo): two different facts."""

import re
from typing import Any

from aorta.collect import Answer, CommandAnswer, Context, parsed
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.kernel_files import believed

PARAMETER_LIMIT = 400
#: A file of sysfs holds a page at most.
PARAMETER_SIZE = 4097
BUILTIN = "(builtin)"
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+~_-]{0,79}")
_SRCVERSION = re.compile(r"[0-9A-Fa-f]{8,64}")
_FIELD = re.compile(r"([a-z_]{1,30}):[ \t]*(.*)")


def module_version(text: str) -> str:
    """Read a module's version. Raises ValueError for free text, such as a kernel banner."""
    word = text.strip()
    if not _VERSION.fullmatch(word):
        raise ValueError(f"{word[:60]!r} is no module version")
    return word


def srcversion(text: str) -> str:
    """Read a srcversion: hexadecimal digits that change with every rebuild of other source."""
    word = text.strip()
    if not _SRCVERSION.fullmatch(word):
        raise ValueError(f"{word[:60]!r} is no srcversion")
    return word


@frozen
class ModuleFile:
    """What modinfo says of the file on disk."""

    filename: str | None = None
    version: str | None = None
    srcversion: str | None = None
    vermagic: str | None = None
    intree: bool = False

    @property
    def builtin(self) -> bool:
        """Tell whether the module is part of the kernel image."""
        return self.filename == BUILTIN


def parse_modinfo(text: str) -> ModuleFile:
    """Read modinfo's fields, the first of each name. Raises ValueError when there is no file name."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        match = _FIELD.fullmatch(line.rstrip())
        if match is not None:
            fields.setdefault(match[1], match[2].strip())
    if not fields.get("filename"):
        raise ValueError("no filename line")
    version = fields.get("version", "")
    source = fields.get("srcversion", "")
    return ModuleFile(
        filename=fields["filename"],
        version=version if _VERSION.fullmatch(version) else None,
        srcversion=source if _SRCVERSION.fullmatch(source) else None,
        vermagic=fields.get("vermagic") or None,
        intree=fields.get("intree") == "Y",
    )


@frozen
class Loaded:
    """The loaded module. ``loaded`` is None when sysfs cannot tell; values may be missing by kind.

    ``unread`` is why a parameter is missing among ``parameters``.
    """

    loaded: bool | None
    answer: Answer[Any]
    version: Answer[str]
    srcversion: Answer[str]
    parameters: Answer[dict[str, str | None]]
    unloadable: bool | None = None
    unread: Answer[str] | None = None


def read_loaded(ctx: Context, name: str) -> Loaded:
    """Read ``/sys/module/NAME``; the directory of a built-in module has no initstate."""
    place = f"/sys/module/{name}"
    seen = believed(ctx, ctx.stat(place))
    state = ctx.stat(f"{place}/initstate")
    parameters, unread = _parameters(ctx, f"{place}/parameters")
    return Loaded(
        loaded=True if seen.ok else False if seen.absent else None,
        answer=seen,
        version=parsed(ctx.text(f"{place}/version"), module_version),
        srcversion=parsed(ctx.text(f"{place}/srcversion"), srcversion),
        parameters=parameters,
        unloadable=state.ok if seen.ok and (state.ok or state.absent) else None,
        unread=unread,
    )


def _parameters(ctx: Context, place: str) -> tuple[Answer[dict[str, str | None]], Answer[str] | None]:
    """Return the parameters, null where one cannot be read, and why the first of those cannot."""
    listing = ctx.scan(place)
    if listing.kind is not None:
        return Answer(kind=listing.kind, subject=place, detail=listing.detail), None
    names = [entry.name for entry in listing.value or () if entry.kind != "dir"][:PARAMETER_LIMIT]
    read = {name: parsed(ctx.text(f"{place}/{name}", PARAMETER_SIZE), _parameter) for name in names}
    texts = {name: answer.value for name, answer in read.items()}
    unread = next((answer for answer in read.values() if not answer.ok), None)
    return Answer(value=texts, subject=place), unread


def _parameter(text: str) -> str:
    """Read a parameter's value. Raises ValueError for what is no text of a file of sysfs."""
    if len(text) >= PARAMETER_SIZE:
        raise ValueError(f"no parameter: {text[:40]!a}")
    return text.strip()


def read_file(answer: CommandAnswer) -> Answer[ModuleFile]:
    """Read modinfo's answer; "not found" is absent, not failed."""
    done = answer.value
    if answer.kind is ReasonKind.FAILED and done is not None and "not found" in done.stderr:
        return Answer(kind=ReasonKind.ABSENT, subject=answer.subject, detail=answer.detail)
    return parsed(answer, lambda completed: parse_modinfo(completed.stdout))


def same(loaded: Loaded, file: Answer[ModuleFile]) -> bool | None:
    """Tell whether the loaded module is the one on disk; None when nothing decides it.

    Equal versions decide nothing: a rebuild keeps the version and changes the srcversion.
    """
    disk = file.value
    if disk is None:
        return None
    if loaded.srcversion.value and disk.srcversion:
        return loaded.srcversion.value.upper() == disk.srcversion.upper()
    if loaded.version.value and disk.version and loaded.version.value != disk.version:
        return False
    return None
