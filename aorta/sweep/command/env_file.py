"""The file of variables that a command may be given, as ``docker run --env-file`` reads it."""

import os
from collections.abc import Mapping


class EnvFileError(ValueError):
    """A variable cannot stand in such a file; the text names it and never says its value."""


def write_env_file(path: str, overlay: Mapping[str, str | None]) -> None:
    """Write the variables that an overlay sets, in the order of their names, for the owner alone.

    One that the overlay takes away is not in it. Raises EnvFileError before anything is written, and
    OSError.
    """
    lines = []
    for name, value in sorted(overlay.items()):
        if not name or "=" in name or _breaks(name):
            raise EnvFileError(f"{name!r} is no name of a variable that a file can hold")
        if value is None:
            continue
        if _breaks(value):
            raise EnvFileError(
                f"the value of {name} has a line break or a NUL, which no file of variables holds"
            )
        lines.append(f"{name}={value}\n")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(handle, "wb") as file:
        os.fchmod(handle, 0o600)
        file.write(os.fsencode("".join(lines)))


def _breaks(text: str) -> bool:
    return any(character in text for character in "\n\r\0")
