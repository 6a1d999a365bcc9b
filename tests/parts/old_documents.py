"""Documents of the 1.x line, and where their values stand in a document of this version."""

import json
from pathlib import Path

from aorta.model.codec import Codec
from aorta.plugin.discovery import discover

FOLDER = Path(__file__).resolve().parents[1] / "documents"
VERSIONS = ("1.0", "1.9", "1.13", "1.17", "1.17-node")

ENVELOPE = {
    "schema_version",
    "schema_compat",
    "captured_at",
    "partial",
    "partial_reasons",
    "collection",
    "extensions",
}

#: The names of 1.0 by those of today.
RENAMED = {
    "hipblaslt.rocm_release_tweak": "hipblaslt.commit",
    "hipblaslt.kernel_db_revision": "hipblaslt.tensile_yaml_revision",
}


def old(version):
    """Return a fresh document of a version."""
    return json.loads((FOLDER / f"{version}.json").read_text())


def models():
    """Return the declared types of the built-in sections."""
    return {name: spec.model for name, spec in discover(outside=False).collectors.items()}


def codec():
    """Return a codec of the built-in sections."""
    return Codec(models())


def leaves(value, path=""):
    """Yield the values below a document that hold nothing further, each with its path."""
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for number, member in enumerate(value):
            yield from leaves(member, f"{path}[{number}]")
    else:
        yield path, value


def facts(document):
    """Return the values of the sections that say something, by their path."""
    sections = {name: value for name, value in document.items() if name not in ENVELOPE}
    return {path: value for path, value in leaves(sections) if value is not None}


def invented(before, after):
    """Return what a later document says that an earlier one does not, by its path.

    An object of which all was set aside is still there.
    """
    known, objects = facts(before), set(_objects(before))
    return {
        path: value
        for path, value in facts(after).items()
        if not same(value, known.get(path, known.get(_formerly(path))))
        and not (value == {} and {path, _formerly(path)} & objects)
        and (path, value) != ("rocm.layout", "none")
    }


def _formerly(path):
    for new, name in RENAMED.items():
        if path.startswith(new):
            return name + path[len(new) :]
    return path


def _objects(value, path=""):
    members = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        members = enumerate(value)
    if isinstance(value, dict):
        yield path
    for name, member in members:
        below = f"{path}[{name}]" if isinstance(value, list) else f"{path}.{name}" if path else name
        yield from _objects(member, below)


def same(one, other):
    """Tell whether two JSON values are the same; 1 is not true."""
    return type(one) is type(other) and one == other
