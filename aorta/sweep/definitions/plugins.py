"""Mitigations and environments of installed plugins: mapping objects of two groups of entry points.

    [project.entry-points."aorta.mitigations"]
    site_fast = "acme_knobs:FAST"          # FAST = {"FAST": "1"}

The entry point's name is the mitigation's. A module is imported in another process first, since an import
may hang or end its process; each that is broken costs itself and leaves a line.
"""

import functools
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from aorta.model.frozen import frozen
from aorta.sweep.definitions.plain import Faults, change_of, environment_of, kind, name_fault
from aorta.sweep.definitions.registry import Environment, Mitigation, environment_as

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MITIGATIONS, ENVIRONMENTS = GROUPS = ("aorta.mitigations", "aorta.environments")
#: The most seconds that importing plugins may take.
LIMIT_S = 10.0


@frozen
class Found:
    """What plugins define, and a line for each that is broken."""

    mitigations: tuple[Mitigation, ...] = ()
    environments: tuple[Environment, ...] = ()
    problems: tuple[str, ...] = ()


def plugins() -> Found:
    """Return what installed plugins define; they are read once in a process."""
    return _found(tuple(sys.path))


@functools.cache
def _found(_path: tuple[str, ...]) -> Found:
    problems: list[str] = []
    points = [point for group in GROUPS for point in _points(group, problems)]
    lost = _lost(points)
    mitigations, environments = [], []
    for point in points:
        about = f"{_source(point)}: entry point {point.name} of {point.group}"
        module = point.value.partition(":")[0].strip()
        value, fault = (None, lost[module]) if module in lost else _loaded(point)
        faults = Faults(about)
        if fault:
            faults.tell("", fault)
        elif wrong := name_fault(point.name):
            faults.tell("", wrong)
        elif not isinstance(value, Mapping):
            faults.tell("", f"must be a mapping, not {kind(value)}")
        elif point.group == MITIGATIONS:
            change = change_of(value, "", faults)
            if not faults.told:
                mitigations.append(Mitigation(name=point.name, change=change, source=_source(point)))
        else:
            place = environment_of(value, "", faults)
            if not faults.told:
                environments.append(environment_as(point.name, place, _source(point)))
        problems += faults.told
    return Found(mitigations=tuple(mitigations), environments=tuple(environments), problems=tuple(problems))


def _points(group: str, problems: list[str]) -> "Iterable[EntryPoint]":
    from aorta.plugin.entry_points import declared

    try:
        # A distribution that is on the path twice declares the same twice.
        return dict.fromkeys(declared(group))
    except Exception as error:
        problems.append(f"entry points of {group} cannot be read: {error}")
        return ()


def _lost(points: "list[EntryPoint]") -> dict[str, str]:
    """Return the modules whose import does not end, or ends the process, each with what it does."""
    if not points:
        return {}
    from aorta.plugin.rehearsal import rehearse

    modules = dict.fromkeys(point.value.partition(":")[0].strip() for point in points)
    return rehearse(list(modules), LIMIT_S)


def _loaded(point: "EntryPoint") -> tuple[Any, str]:
    """Return the object of an entry point, or what is wrong with it."""
    from aorta.plugin.importing import imported
    from aorta.plugin.registry import told

    try:
        return imported(point.load)[0], ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, told(error)


def _source(point: "EntryPoint") -> str:
    """Return the distribution that declares an entry point, else its module."""
    from aorta.plugin.entry_points import owner_of

    return owner_of(point) or point.value.partition(":")[0].strip()
