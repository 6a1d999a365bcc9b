"""gfx targets: how the kernel writes them and how the tools print them."""

import re
from collections.abc import Iterator

import attrs

from aorta.model.frozen import frozen

_TARGET = re.compile(r"(gfx(?:[1-9][0-9]?[0-9a-f]{2}|[1-9][0-9]?(?:-[0-9]{1,2})?-generic))((?::[a-z]+[+-])*)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HEX_DIGIT_LIMIT = 16
_LARGEST = 999_999


@frozen
class Target:
    """One target as a tool prints it, e.g. ``gfx942:sramecc+:xnack-``; ``features`` maps sramecc to ``+``."""

    base: str
    features: dict[str, str] = attrs.field(factory=dict)

    @property
    def generic(self) -> bool:
        """Tell whether this is a target for several chips (``gfx9-4-generic``), which is no device."""
        return self.base.endswith("-generic")

    @property
    def text(self) -> str:
        """Return the target with its features."""
        return ":".join([self.base, *(f"{name}{state}" for name, state in self.features.items())])


def plain(text: str) -> str:
    """Return a tool's text without its colour codes."""
    return _COLOUR.sub("", text)


def parse_target(text: str) -> Target | None:
    """Read one target; None for anything else, ``gfx000`` (the CPU) and over-long tokens included."""
    match = _TARGET.fullmatch(text.strip())
    if match is None:
        return None
    features = {word[:-1]: word[-1] for word in match[2].split(":") if word}
    return Target(base=match[1], features=features)


def parse_targets(text: str) -> Iterator[Target]:
    """Yield the devices of a listing, one line each; noise, CPUs and generic targets are left out."""
    for line in plain(text).splitlines():
        target = parse_target(line)
        if target is not None and not target.generic:
            yield target


def names_any(text: str) -> bool:
    """Tell whether a listing names any agent at all, the CPU's ``gfx000`` and generic ones included."""
    return any(line.strip().startswith("gfx") for line in plain(text).splitlines())


def decode_target_version(number: int) -> str | None:
    """Return the target of KFD's decimal ``gfx_target_version`` (90402 is gfx942); None for 0.

    Major is written in decimal, minor and stepping as one hexadecimal digit each. Raises ValueError
    for a number that stands for no target.
    """
    if number == 0:
        return None
    major, minor, step = number // 10000, number // 100 % 100, number % 100
    if not 0 < number <= _LARGEST or not major or minor >= _HEX_DIGIT_LIMIT or step >= _HEX_DIGIT_LIMIT:
        raise ValueError(f"gfx_target_version {number} stands for no target")
    return f"gfx{major}{minor:x}{step:x}"
