"""The commit that a package was built from, as its version or an attribute tells it."""

import functools
import re
from collections.abc import Iterable

#: Attributes by which packages tell their commit, first come first served.
ATTRIBUTES = ("__git_version__", "git_version", "__commit__", "__sha__")


@functools.cache
def _embedded() -> "tuple[re.Pattern[str], ...]":
    return tuple(
        re.compile(rf"[+.](?:\d{{1,9}}\.)?{mark}([0-9a-f]{{7,40}})(?![0-9A-Za-z])", re.IGNORECASE)
        for mark in ("git", "g")
    )


def commit_in_version(version: str) -> str | None:
    """Return the commit in a version such as ``3.5.1+rocm7.2.1.gita272dfa8`` or ``0.1.11.dev32+g9a469a608``.

    What setuptools_scm and others put there has a mark: without ``git`` or ``g`` nothing is a commit.
    """
    found = (pattern.search(version[:400]) for pattern in _embedded())
    return next((match[1].lower() for match in found if match), None)


def commit_in_text(text: str) -> str | None:
    """Return the commit that an attribute tells: a bare one, or one in a version; a tag or a word is none."""
    if re.fullmatch(r"[0-9A-Fa-f]{7,40}", text):
        return text.lower()
    return commit_in_version(text)


def bare_commit(version: str) -> str | None:
    """Return a commit without a mark behind a version's plus sign: ``1.8.0a0+0123abc``.

    Eight digits, with or without a ``d``, are the date of a tree with uncommitted changes.
    """
    for part in re.split(r"[.\-_]", version[:400].partition("+")[2]):
        if re.fullmatch(r"[0-9A-Fa-f]{7,40}", part) and not re.fullmatch(r"[dD]?[0-9]{8}", part):
            return part.lower()
    return None


def first_commit(texts: Iterable[str | None]) -> str | None:
    """Return the first commit that one of several attributes tells."""
    return next((commit for text in texts if text and (commit := commit_in_text(text))), None)
