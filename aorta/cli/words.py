"""Types of option values: seconds, and lists of words."""

from collections.abc import Sequence
from typing import Any

import click


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A number of seconds above 0."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; anything else, infinite and NaN included, is a usage error."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < 1e6:
            self.fail(f"{value!r} is no number of seconds above 0", param, ctx)
        return seconds


class SectionSeconds(Seconds):
    """``SECTION=SECONDS``."""

    name = "section=seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the pair."""
        if isinstance(value, tuple):
            return value
        section, equals, seconds = str(value).partition("=")
        if not equals or not section:
            self.fail(f"{value!r} is not SECTION=SECONDS", param, ctx)
        return section, super().convert(seconds, param, ctx)


class Words(click.ParamType):  # type: ignore[type-arg]
    """Words separated by commas, of a fixed vocabulary if one is given."""

    name = "list"

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """Return the words; empty ones are dropped."""
        if not isinstance(value, str):
            return list(value)
        words = [word.strip() for word in value.split(",") if word.strip()]
        unknown = [word for word in words if self._known and word not in self._known]
        if unknown or not words:
            known = f": one or more of {', '.join(self._known)}" if self._known else ""
            self.fail(f"{value!r} is no list of names{known}", param, ctx)
        return words
