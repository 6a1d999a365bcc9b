"""Version texts of ROCm and of a torch build: what a file, a wheel or a package calls itself."""

import re

from aorta.model.frozen import frozen

_ROCM = re.compile(r"\d{1,4}(?:\.\d{1,9}){1,3}(?:[-+~._A-Za-z][0-9A-Za-z.+~_-]{0,80})?")
_BUILD = re.compile(r"(\d{1,4}(?:\.\d{1,9}){1,3})-(\d{1,9}(?:[~.][0-9A-Za-z.~]{1,30})?)")
_RELEASE = re.compile(r"\d{1,4}(?:\.\d{1,9}){1,3}(?!\d)")
_LOCAL_ROCM = re.compile(
    r"rocm(\d{1,4}(?:\.\d{1,9}){1,3}(?:(?:a|b|rc)\d{1,12}|\.dev\d{1,9})?)"
    r"(?:[.-]([0-9a-f]{6,40})(?![0-9A-Za-z]))?"
)
_LOCAL_GIT = re.compile(r"(?<![0-9A-Za-z])git([0-9a-f]{6,40})(?![0-9A-Za-z])")
_ASSIGNED = re.compile(
    r"""^(\w{1,40})[ \t]*(?::[^=\n]{0,80})?=[ \t]*(?:'([^'\n]{0,200})'|"([^"\n]{0,200})")\s*(?:\#.*)?$""",
    re.MULTILINE,
)


def parse_rocm_version(text: str) -> str:
    """Return the version in a marker file such as ``.info/version``, without surrounding blanks.

    ``6.2.0-66``, ``7.2.0`` and ``10.1.0a20260811`` are kept as they stand. Raises ValueError for a
    blank text and for one that is no version.
    """
    stripped = text.strip()
    if not stripped:
        raise ValueError("the file is blank")
    if not _ROCM.fullmatch(stripped):
        raise ValueError(f"{stripped[:60]!r} is no version")
    return stripped


def split_build(version: str) -> tuple[str, str | None]:
    """Split ``6.2.0-66`` into release and build number; a nightly or plain version has no build number."""
    match = _BUILD.fullmatch(version)
    return (match[1], match[2]) if match else (version, None)


def release_numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, e.g. (7, 2, 0) of ``7.2.0-43``; empty when there are none."""
    match = _RELEASE.match(version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


@frozen
class TorchVersion:
    """The parts of ``torch.__version__``. All but ``base`` are null where the text does not name them.

    ``local`` is what follows the plus sign. A version without a ROCm part says nothing about ROCm.
    """

    base: str
    local: str | None = None
    rocm: str | None = None
    git: str | None = None


def parse_torch_version(text: str) -> TorchVersion:
    """Split a torch version such as ``2.8.0+rocm7.0.1.lw.git54d0a7ad``."""
    base, plus, local = text.strip().partition("+")
    if not plus:
        return TorchVersion(base=base)
    rocm, git = _LOCAL_ROCM.search(local[:200]), _LOCAL_GIT.search(local[:200])
    commit = git[1] if git else rocm[2] if rocm else None
    return TorchVersion(base=base, local=local or None, rocm=rocm[1] if rocm else None, git=commit)


def parse_assignments(text: str) -> dict[str, str]:
    """Return the texts that a generated ``version.py`` assigns, by name; what is None is left out."""
    return {name: single or double for name, single, double in _ASSIGNED.findall(text)}
