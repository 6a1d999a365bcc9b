"""Switches of the environment: variables that say yes or no."""

import os

YES = ("1", "true", "yes", "on")
NO = ("", "0", "false", "no", "off")


def sudo_from_environment() -> bool:
    """Tell whether ``AORTA_SUDO`` allows privileged commands. Raises ValueError for no yes or no."""
    text = os.environ.get("AORTA_SUDO", "")
    word = text.strip().lower()
    if word not in (*YES, *NO):
        raise ValueError(f"AORTA_SUDO is {text[:60]!r}: one of {', '.join(YES)} or {', '.join(NO[1:])}")
    return word in YES
