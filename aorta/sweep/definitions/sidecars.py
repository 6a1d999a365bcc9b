"""Sidecar files: mitigations and environments in a JSON file of their own.

{"version": 1,
 "mitigations": {"fast": {"FAST": "1"}, "lean": {"set": {…}, "unset": [NAME], "prepend": {…}}},
 "environments": {"nightly": {"venv": "/opt/nightly", "env": {…}}}}
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from aorta.model.frozen import frozen
from aorta.model.text import printable
from aorta.sweep.definitions.plain import Faults, change_of, environment_of, kind, name_fault, not_known
from aorta.sweep.errors import RegistryError
from aorta.sweep.recipe.model import Change, EnvironmentRecipe

VERSION = 1
_KEYS = ("version", "mitigations", "environments")
#: A file that is larger is something else.
LIMIT = 16 * 1024 * 1024

T = TypeVar("T")


@frozen
class Sidecar:
    """What one file defines. ``source`` is how its definitions are said to be its: ``sidecar:NAME``."""

    path: str
    mitigations: Mapping[str, Change] = attrs.field(factory=dict)
    environments: Mapping[str, EnvironmentRecipe] = attrs.field(factory=dict)

    @property
    def source(self) -> str:
        """Return the owner of these definitions."""
        return f"sidecar:{os.path.basename(self.path)}"


def read_sidecars(paths: Sequence[str]) -> tuple[Sidecar, ...]:
    """Return what files define. Raises RegistryError with every fault of all of them.

    Two files of one name are refused: their definitions would be told apart by nothing.
    """
    faults: list[str] = []
    known: dict[str, str] = {}
    sidecars = []
    for path in paths:
        base = os.path.basename(path)
        if base in known:
            faults.append(
                f"{printable(path)}: {printable(known[base])} has the same name; rename one of them, "
                "since their definitions are told apart by it"
            )
            continue
        known[base] = path
        sidecar, told = _read(path)
        sidecars.append(sidecar)
        faults += told
    if faults:
        raise RegistryError(faults)
    return tuple(sidecars)


def _read(path: str) -> tuple[Sidecar, list[str]]:
    faults = Faults(path)
    document = _document(path, faults)
    if document is None:
        return Sidecar(path=path), faults.told
    if "version" not in document:
        faults.tell("version", f"is missing; it must be {VERSION}")
    elif type(document["version"]) is not int or document["version"] != VERSION:
        faults.tell("version", f"must be the number {VERSION}")
    for name in document:
        if name not in _KEYS:
            faults.tell(name, not_known(name, _KEYS))
    sidecar = Sidecar(
        path=path,
        mitigations=_named(document, "mitigations", change_of, faults),
        environments=_named(document, "environments", environment_of, faults),
    )
    return sidecar, faults.told


def _named(
    document: Mapping[str, Any], key: str, made: Callable[[object, str, Faults], T], faults: Faults
) -> dict[str, T]:
    found = document.get(key, {})
    if not isinstance(found, Mapping):
        faults.tell(key, f"must be an object of names, not {kind(found)}")
        return {}
    for name in found:
        fault = name_fault(name)
        if fault is not None:
            faults.tell(key, fault)
    return {name: made(value, f"{key}.{name}", faults) for name, value in found.items()}


def _document(path: str, faults: Faults) -> Mapping[str, Any] | None:
    import json

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for name, value in pairs:
            if name in kept:
                faults.tell("", f"{printable(name)!r} stands twice in one object")
            kept[name] = value
        return kept

    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read(LIMIT + 1)
        if len(text) > LIMIT:
            faults.tell("", f"is larger than {LIMIT // 1024**2} MiB, no file of definitions")
            return None
        document = json.loads(text, object_pairs_hook=once)
    except OSError as error:
        faults.tell("", f"cannot be read: {error.strerror or error}")
        return None
    except json.JSONDecodeError as error:
        faults.tell("", f"line {error.lineno}, column {error.colno}: no JSON: {error.msg}")
        return None
    except (ValueError, RecursionError) as error:
        faults.tell("", f"no JSON: {printable(str(error))}")
        return None
    if not isinstance(document, dict):
        faults.tell("", f"must be an object, not {kind(document)}")
        return None
    return document
