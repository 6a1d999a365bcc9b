"""Errors of what a sweep is told to run; each holds all that is wrong, a sentence for each."""

from collections.abc import Iterable


class SweepError(ValueError):
    """Something that is to be run is wrong: ``problems`` has one line for each fault."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class RegistryError(SweepError):
    """A definition of a mitigation or environment is wrong, or a name is taken."""


class PlanError(SweepError):
    """A recipe cannot be carried out as it stands."""
