"""Mitigations and environments by name: built-in, of plugins, of sidecar files, of the recipe."""

from collections.abc import Mapping

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.recipe.model import Change

LOCAL, VENV, CONTAINER = BOUNDARIES = ("local", "venv", "container")


@frozen
class Mitigation:
    """A change of variables under a name. ``source`` is who defines it."""

    name: str
    change: Change
    source: str = "aorta"


@frozen
class Environment:
    """Where trials run, under a name. ``source`` is who defines it."""

    name: str
    docker: str | None = None
    venv: str | None = None
    buck_target: str | None = None
    emulator: str | None = None
    mirage_profile: str | None = None
    env: Change = attrs.field(factory=Change)
    source: str = "aorta"

    @property
    def boundary(self) -> str:
        """Return what separates a trial from this process: local, venv or container (which wins)."""
        if self.docker is not None:
            return CONTAINER
        return LOCAL if self.venv is None else VENV


@frozen
class Registries:
    """All that can be named."""

    mitigations: Mapping[str, Mitigation]
    environments: Mapping[str, Environment]
