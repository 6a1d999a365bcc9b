"""Mitigations and environments by name: built-in, of plugins, of sidecar files, of the recipe."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

from aorta.model.frozen import frozen
from aorta.sweep.errors import RegistryError
from aorta.sweep.recipe.model import PLACES, PROBE, Change, EnvironmentRecipe, Recipe

if TYPE_CHECKING:
    from aorta.sweep.definitions.sidecars import Sidecar

LOCAL, VENV, CONTAINER = BOUNDARIES = ("local", "venv", "container")

#: Who defines what aorta brings, and what a recipe holds.
OWN, RECIPE = "aorta", "recipe"

NOTHING = Change()

LIST_MITIGATIONS = "aorta sweep list-mitigations"
LIST_ENVIRONMENTS = "aorta sweep list-environments"


@frozen
class Mitigation:
    """A change of variables under a name. ``source`` is who defines it, ``summary`` what it does."""

    name: str
    change: Change
    source: str = OWN
    summary: str = ""


@frozen
class Environment:
    """Where trials run, under a name. ``source`` is who defines it, ``summary`` what it is."""

    name: str
    docker: str | None = None
    venv: str | None = None
    buck_target: str | None = None
    emulator: str | None = None
    mirage_profile: str | None = None
    env: Change = NOTHING
    source: str = OWN
    summary: str = ""

    @property
    def boundary(self) -> str:
        """Return what separates a trial from this process: local, venv or container (which wins)."""
        if self.docker is not None:
            return CONTAINER
        return LOCAL if self.venv is None else VENV

    @property
    def folder(self) -> str | None:
        """Return the path of the virtual environment; a relative one lies in the current directory."""
        return None if self.venv is None else os.path.abspath(os.path.expanduser(self.venv))

    @property
    def python(self) -> str | None:
        """Return the path of the virtual environment's interpreter."""
        return None if self.folder is None else os.path.join(self.folder, "bin", "python")


@frozen
class Registries:
    """All that can be named. ``problems`` tell of plugins that define nothing because they are broken."""

    mitigations: Mapping[str, Mitigation]
    environments: Mapping[str, Environment]
    problems: tuple[str, ...] = ()

    def mitigation(self, name: str) -> Mitigation:
        """Return a mitigation. Raises RegistryError with what may be meant."""
        found = self.mitigations.get(name)
        if found is None:
            _unknown("mitigation", name, self.mitigations, LIST_MITIGATIONS)
        return found

    def environment(self, name: str) -> Environment:
        """Return an environment. Raises RegistryError with what may be meant."""
        found = self.environments.get(name)
        if found is None:
            _unknown("environment", name, self.environments, LIST_ENVIRONMENTS)
        return found


Defined = TypeVar("Defined", Mitigation, Environment)


def registries(sidecars: Sequence[str] = (), recipe: Recipe | None = None) -> Registries:
    """Return what sidecar files, a recipe, aorta and installed plugins define.

    ``sidecars`` are paths. Without a recipe all is read; with one, plugins are looked for only when it
    names what nobody else defines, or when it or a sidecar defines something whose name may be taken.
    Raises RegistryError for what is wrong in a sidecar, and for a name that is defined twice: but a
    definition of the recipe may repeat one that is known, and those of a recipe that aorta wrote beside a
    run (with ``resolved``) win.
    """
    files = _files(sidecars)
    mitigations, environments = _builtin()
    problems: tuple[str, ...] = ()
    taken: list[str] = []
    if _wants_plugins(recipe, bool(files), mitigations, environments):
        from aorta.sweep.definitions.plugins import plugins

        found = plugins()
        problems = found.problems
        _add(mitigations, found.mitigations, taken)
        _add(environments, found.environments, taken)
    for file in files:
        _add(mitigations, [_mitigation(*one, file.source) for one in file.mitigations.items()], taken)
        _add(environments, [environment_as(*one, file.source) for one in file.environments.items()], taken)
    if recipe is not None:
        replays = recipe.resolved is not None
        own = [_mitigation(*one, RECIPE) for one in recipe.mitigations.items()]
        places = [environment_as(*one, RECIPE) for one in recipe.environments.items()]
        _add_own(mitigations, own, taken, replays=replays)
        _add_own(environments, places, taken, replays=replays)
    if taken:
        raise RegistryError(taken)
    return Registries(mitigations=mitigations, environments=environments, problems=problems)


def _files(paths: Sequence[str]) -> "tuple[Sidecar, ...]":
    if not paths:
        return ()
    from aorta.sweep.definitions.sidecars import read_sidecars

    return read_sidecars(paths)


def environment_as(name: str, one: EnvironmentRecipe, source: str, summary: str = "") -> Environment:
    """Return an environment that ``source`` defines under a name."""
    return Environment(
        name=name,
        **{field: getattr(one, field) for field in PLACES},
        env=one.env,
        source=source,
        summary=summary,
    )


def _mitigation(name: str, change: Change, source: str) -> Mitigation:
    return Mitigation(name=name, change=change, source=source)


def _builtin() -> tuple[dict[str, Mitigation], dict[str, Environment]]:
    from aorta.sweep.definitions.builtin_environments import BUILTIN as ENVIRONMENTS
    from aorta.sweep.definitions.builtin_mitigations import BUILTIN as MITIGATIONS

    mitigations = {
        name: Mitigation(name=name, change=Change(set=sets), summary=summary)
        for name, sets, summary in MITIGATIONS
    }
    environments = {
        name: environment_as(name, EnvironmentRecipe(**fields, env=Change()), OWN, summary)
        for name, fields, summary in ENVIRONMENTS
    }
    return mitigations, environments


def _wants_plugins(
    recipe: Recipe | None,
    files: bool,
    mitigations: Mapping[str, Mitigation],
    environments: Mapping[str, Environment],
) -> bool:
    """Tell whether plugins are looked for: it costs the import of what they are declared with."""
    if recipe is None or files:
        return True
    if recipe.resolved is None and (recipe.mitigations or recipe.environments):
        return True
    changes = {*recipe.mitigation_axis, *recipe.diagnostic_axis} if recipe.mode == PROBE else set()
    changes |= {name for cell in recipe.cells for name in cell.mitigations}
    places = {cell.environment for cell in recipe.cells if isinstance(cell.environment, str)}
    return bool(
        changes - mitigations.keys() - recipe.mitigations.keys()
        or places - environments.keys() - recipe.environments.keys()
    )


def _add(known: dict[str, Defined], new: Sequence[Defined], taken: list[str]) -> None:
    for one in new:
        other = known.setdefault(one.name, one)
        if other is not one:
            taken.append(f"{_told_twice(one, other)}; rename one of them")


def _add_own(known: dict[str, Defined], new: Sequence[Defined], taken: list[str], *, replays: bool) -> None:
    """Add what the recipe defines."""
    for one in new:
        other = known.get(one.name)
        if other is None or replays:
            known[one.name] = one
        elif not _is_same(one, other):
            taken.append(f"{_told_twice(one, other)}, and differently; rename one of them")


def _is_same(one: Mitigation | Environment, other: Mitigation | Environment) -> bool:
    from aorta.model.frozen import evolve

    return bool(evolve(one, source="", summary="") == evolve(other, source="", summary=""))


def _told_twice(one: Mitigation | Environment, other: Mitigation | Environment) -> str:
    what = type(one).__name__.lower()
    return f"{what} {one.name}: {one.source} and {other.source} both define it"


def _of_variable(name: str, known: Mapping[str, object]) -> str:
    """Return what to do in place of a variable's name."""
    if not (name.isupper() and name.isidentifier()):
        return ""
    from aorta.sweep.recipe.values import defined_as

    setting = [
        each.name for each in known.values() if isinstance(each, Mitigation) and name in each.change.set
    ]
    there = f"{name} is set by {', '.join(setting[:4])}; " if setting else ""
    return f"{there}{defined_as(name)}; "


def _unknown(what: str, name: str, known: Mapping[str, object], command: str) -> NoReturn:
    import difflib

    from aorta.model.text import printable

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}? " if near else _of_variable(name, known)
    raise RegistryError([f"no {what} is called {printable(name)!r}: {hint}{command} shows all"])
