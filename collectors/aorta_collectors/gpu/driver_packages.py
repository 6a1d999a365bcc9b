"""The packages that a kernel driver can come from: dpkg, rpm and dkms."""

import re
from collections.abc import Iterable, Iterator

from aorta.collect import CommandAnswer, Completed
from aorta.model.frozen import frozen

FAMILIES = ("amdgpu-dkms", "amdgpu-kmod")
KMOD_GLOB = "kmod-*amdgpu*"

DPKG_STATE_FORMAT = "-f=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n"
DPKG_FORMAT = "-f=${Package}\t${Version}\n"
RPM_FORMAT = "%{NAME}\t%{VERSION}-%{RELEASE}\t%{ARCH}\n"

_WORD = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+~:_-]{0,199}")
_STATE = re.compile(r"[a-zA-Z][a-zA-Z][ a-zA-Z]?")
_INSTALLED = "i"
_BOTTLEROCKET = re.compile(r"kmod-[0-9][0-9A-Za-z._-]{0,80}-amdgpu")
_DKMS_NEW = re.compile(
    r"([^,/\s]{1,60})/([^,:\s]{1,80})(?:, ([^,\s]{1,100}), ([^,:\s]{1,20}))?: ([a-z-]{1,20})(.*)"
)
_DKMS_OLD = re.compile(
    r"([^,/\s]{1,60}), ([^,:\s]{1,80})(?:, ([^,\s]{1,100}), ([^,:\s]{1,20}))?: ([a-z-]{1,20})(.*)"
)
_NOTE = re.compile(r"\(([^()]{1,160})\)")


@frozen
class Package:
    """One installed driver package. ``state`` is dpkg's abbreviation, null where it was not told."""

    family: str
    name: str
    version: str
    manager: str
    arch: str | None = None
    state: str | None = None

    @property
    def full_name(self) -> str:
        """Return ``name=version`` for dpkg, name-version-release.arch for rpm."""
        if self.manager == "dpkg":
            return f"{self.name}={self.version}"
        return f"{self.name}-{self.version}" + (f".{self.arch}" if self.arch else "")


def family_of(name: str) -> str | None:
    """Return the driver family of a package name; None for firmware, headers and others."""
    if any(word in name for word in ("firmware", "headers", "debug")):
        return None
    if _BOTTLEROCKET.fullmatch(name):
        return "amdgpu-kmod"
    return next((family for family in FAMILIES if name == family or name.startswith(f"{family}-")), None)


def parse_dpkg(text: str, *, states: bool = True) -> tuple[list[Package], list[str]]:
    """Read dpkg-query rows: the installed driver packages, and ``name state`` of half-installed ones.

    With ``states`` a row is state, name, version, architecture, and only a second letter ``i`` counts
    (``rc`` is removed, ``iU`` unpacked). Without, name and version: an empty version is not installed.
    """
    found: list[Package] = []
    unfinished: list[str] = []
    for cells in _rows(text, 3 if states else 2):
        word = cells.pop(0) if states else ""
        name, version, *rest = cells
        family = family_of(name)
        if family is None or not _WORD.fullmatch(version):
            continue
        if states and not (_STATE.fullmatch(word) and word[1] == _INSTALLED):
            if word[1:2] not in ("c", "n"):
                unfinished.append(f"{name} {word}")
            continue
        arch = rest[0] if rest and rest[0] else None
        found.append(
            Package(family=family, name=name, version=version, manager="dpkg", arch=arch, state=word or None)
        )
    return found, unfinished


def parse_rpm(text: str) -> list[Package]:
    """Read rpm rows of name, version-release and architecture."""
    packages = []
    for name, version, *rest in _rows(text, 2):
        family = family_of(name)
        if family is not None and _WORD.fullmatch(version):
            arch = rest[0] if rest and rest[0] else None
            packages.append(Package(family=family, name=name, version=version, manager="rpm", arch=arch))
    return packages


def _rows(text: str, least: int) -> Iterator[list[str]]:
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) >= least:
            yield cells


def choose(packages: Iterable[Package], release: str | None) -> Package | None:
    """Return the package to name: the one built for the running kernel, else the first by family."""
    ordered = sorted(packages, key=lambda package: FAMILIES.index(package.family))
    running = [package for package in ordered if release and _for_kernel(package.name, release)]
    return next(iter(running or ordered), None)


def _for_kernel(name: str, release: str) -> bool:
    return release.replace("-", "_") in name.replace("-", "_")


@frozen
class DkmsRow:
    """One line of ``dkms status``; kernel and arch are null before a build."""

    module: str
    version: str
    state: str
    kernel: str | None = None
    arch: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def warning(self) -> str | None:
        """Return dkms's warning, e.g. that built and installed module differ."""
        return next((note for note in self.notes if note.upper().startswith("WARNING")), None)


def checked_dkms(done: Completed) -> Completed:
    """Return an answer of ``dkms status`` that is blank or has a row. Raises ValueError for any other."""
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if lines and not any(_DKMS_NEW.fullmatch(line) or _DKMS_OLD.fullmatch(line) for line in lines):
        raise ValueError(f"no row of dkms but {lines[0][:100]!a}")
    return done


def parse_dkms(text: str, module: str = "amdgpu") -> list[DkmsRow]:
    """Read the rows of one module, in the old comma form and the new slash form."""
    rows = []
    for line in text.splitlines():
        match = _DKMS_NEW.fullmatch(line.strip()) or _DKMS_OLD.fullmatch(line.strip())
        if match is None or match[1] != module:
            continue
        notes = tuple(note.strip() for note in _NOTE.findall(match[6]))
        rows.append(
            DkmsRow(
                module=match[1], version=match[2], state=match[5], kernel=match[3], arch=match[4], notes=notes
            )
        )
    return rows


def garbled(answer: CommandAnswer) -> str | None:
    """Return the first line of an answer that is no list of packages at all, None for one that is."""
    lines = [line for line in answer.stdout.splitlines() if line.strip()]
    return lines[0].strip()[:100] if lines and not any(_rows(answer.stdout, 2)) else None


def answered(answer: CommandAnswer) -> bool:
    """Tell whether dpkg-query or rpm answered, if only that no package matches (dpkg's exit status 1)."""
    done = answer.value
    return (answer.ok and garbled(answer) is None) or (
        done is not None and done.exit_code == 1 and "no packages found" in done.stderr
    )
