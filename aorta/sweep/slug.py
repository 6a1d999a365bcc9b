"""``slug``: a text as a name of a directory."""

#: File systems take 255 bytes; what is added to a name needs room too.
LONGEST = 120


def slug(text: str) -> str:
    """Return a text with ``_`` for what a name of a directory had better not hold; never ``.`` or ``..``.

    A long one is cut and ends in a digest of the whole, so that two long texts have two names.
    """
    import re

    kept = re.sub(r"[^A-Za-z0-9_.-]+", "_", text)
    if len(kept) > LONGEST:
        from hashlib import blake2b

        digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
        kept = f"{kept[: LONGEST - len(digest) - 1]}-{digest}"
    return kept if kept.strip(".") else "_"
