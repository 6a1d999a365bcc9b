"""``slug``: a text as a name of a directory."""

#: Longer names would leave no room in a path for what is added to them.
LONGEST = 100


def slug(text: str) -> str:
    """Return a text with ``_`` for what a name of a directory had better not hold; never ``.`` or ``..``."""
    import re

    kept = re.sub(r"[^A-Za-z0-9_.-]+", "_", text)[:LONGEST]
    return kept if kept.strip(".") else "_"
