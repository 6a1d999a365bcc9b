"""Versions of Python packages, compared as package managers do."""

import functools
import re


@functools.cache
def _version() -> "re.Pattern[str]":
    number = r"[0-9]{1,60}"
    return re.compile(
        rf"v?(?:{number}!)?{number}(?:\.{number}){{0,30}}"
        rf"(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?:{number})?)?"
        rf"(?:-{number}|[-_.]?(?:post|rev|r)[-_.]?(?:{number})?)?"
        rf"(?:[-_.]?dev[-_.]?(?:{number})?)?"
        r"(?:\+[a-z0-9]{1,80}(?:[-_.][a-z0-9]{1,80}){0,30})?",
        re.IGNORECASE,
    )


def is_version(text: str) -> bool:
    """Tell whether a text is a version by PEP 440; ``Unknown`` and thousands of digits are none."""
    return _version().fullmatch(text.strip()) is not None


def same_version(one: str, other: str) -> bool:
    """Tell whether two versions are one: ``1.4`` and ``1.4.0``, ``1.4.0-1`` and ``1.4.0.post1``."""
    if one == other:
        return True
    from packaging.version import Version

    try:
        return Version(one) == Version(other)
    except ValueError:
        return False


def public(version: str) -> str:
    """Return a version without its local part, which builders add."""
    return version.partition("+")[0]
