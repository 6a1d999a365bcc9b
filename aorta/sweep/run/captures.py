"""The snapshots of a run: one of the host, one of each environment, and one before each trial."""

import os
from collections.abc import Mapping, Sequence

from aorta.instrumentation.environment import DEADLINE_S, deadline_from_environment, registry_of
from aorta.instrumentation.series import Series, Taken
from aorta.instrumentation.switch import sudo_from_environment
from aorta.model.codec import dump, to_json
from aorta.model.frozen import frozen
from aorta.sweep.definitions.registry import Environment
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import PlannedCell
from aorta.sweep.run.store import ENVIRONMENTS
from aorta.sweep.slug import slug


@frozen
class HostChange:
    """How a host is another than it was: in which sections, and its snapshots then and now, as JSON."""

    sections: Sequence[str]
    before: str
    after: str


class Captures:
    """Takes snapshots; where an environment has an interpreter of its own, of that one's packages.

    ``base`` is the environment that trials start from. Raises ValueError for a bad ``AORTA_DEADLINE_S`` or
    ``AORTA_SUDO``.
    """

    def __init__(self, base: Mapping[str, str]) -> None:
        self._base = base
        self._deadline_s = deadline_from_environment(DEADLINE_S)
        self._sudo = sudo_from_environment()
        self._registry = registry_of((), self._deadline_s / 3)
        self._series: dict[str | None, Series] = {}
        self._host: Taken | None = None

    def host(self) -> Taken:
        """Take the snapshot of the host, as this process finds it; the first one is what it was."""
        taken = self._of(None).take(self._base)
        self._host = self._host or taken
        return taken

    def host_change(self) -> HostChange | None:
        """Look at the host anew, taking nothing over; null where it is what it was."""
        before = self._host or self.host()
        series = self._new(None)
        try:
            after = series.take(self._base)
        finally:
            series.close()
        sections = [name for name, digest in before.lasting.items() if after.lasting.get(name) != digest]
        if not sections:
            return None
        return HostChange(sections=sections, before=as_json(before), after=as_json(after))

    def trial(self, environment: Environment, environ: Mapping[str, str]) -> Taken:
        """Take the snapshot of what a trial with this environment runs on."""
        return self._of(environment.python).take(environ)

    def describe(self, cell: PlannedCell) -> Taken:
        """Take the snapshot of a cell's environment by itself, without the cell's mitigations."""
        source = f"environment {cell.environment.name}"
        layers = tuple(layer for layer in cell.layers if layer.source == source)
        return self.trial(cell.environment, environ_under(overlay_of(layers, self._base), self._base))

    def close(self) -> None:
        """End what the snapshots left running."""
        for series in self._series.values():
            series.close()

    def _of(self, python: str | None) -> Series:
        if python not in self._series:
            self._series[python] = self._new(python)
        return self._series[python]

    def _new(self, python: str | None) -> Series:
        return Series(self._registry, python=python, deadline_s=self._deadline_s, sudo=self._sudo)


def as_json(taken: Taken) -> str:
    """Return a whole snapshot as the JSON of a file."""
    return to_json(dump(taken.snapshot))


def described(captures: Captures, cell: PlannedCell) -> str:
    """Return the snapshot of a cell's environment, as JSON."""
    return as_json(captures.describe(cell))


def environment_file(environment: Environment, *names: str) -> str:
    """Return the name of a file of an environment's, relative to the run."""
    return os.path.join(ENVIRONMENTS, slug(environment.name), *names)
