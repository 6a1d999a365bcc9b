"""What identifies content: digests, each made in one of several ways, and revisions, often abbreviated."""

import re

_DIGEST = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[0-9A-Fa-f]{8,128}")
_REVISION = re.compile(r"[0-9a-f]{7,64}")


def method_of(digest: str) -> str:
    """Return how a digest was made, such as ``filenames-sha256``; an empty text for what is no digest."""
    found = _DIGEST.fullmatch(digest.strip())
    return found[1] if found else ""


def same_revision(one: str, other: str) -> bool | None:
    """Tell whether two revisions are one, of which either may be abbreviated.

    None where one is too short to tell, or no revision. The ``+`` that hg adds to a changed tree is left out.
    """
    first, second = (text.strip().removesuffix("+").lower() for text in (one, other))
    if not (_REVISION.fullmatch(first) and _REVISION.fullmatch(second)):
        return None
    return first.startswith(second) or second.startswith(first)
