"""The snapshot in a trial's record, as a whole document: a record keeps it without what is null."""

import glob
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from aorta.compare.side import mapping
from aorta.compare.tables import ENVELOPE
from aorta.model.essence import without_nulls
from aorta.model.shape import Shape, empty, shape_of
from aorta.model.snapshot import SCHEMA_COMPAT, Collection
from aorta.model.vocabulary import ReasonKind, Status

#: Where in a run the snapshots are that trials take sections over from.
_SOURCES = ("host_env.json", "environments/*/env.json", "cells/*/trial_000.json")


def is_record(document: Mapping[str, Any]) -> bool:
    """Tell whether a JSON object is the record of a trial."""
    version, env = document.get("schema_version"), document.get("env")
    return type(version) is int and isinstance(env, dict) and {"cell", "trial"} <= document.keys()


def snapshot_in(record: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the snapshot in a trial's record as a document of its version, nulls and all.

    Why something is null stands with sections that were taken over in the snapshot they came from. That is
    looked for in the run that ``path``, the record's, belongs to; where it is not there the document says so.
    """
    from aorta.plugin.discovery import discover

    env = dict(record["env"])
    outside = bool(env.get("extensions"))
    shapes = {name: spec.shape for name, spec in discover(outside=outside).collectors.items()}
    head = {name: env.pop(name, None) for name in ("schema_version", "captured_at")}
    kept = {name: env.pop(name, None) for name in ("partial", "partial_reasons", "collection", "extensions")}
    # A section that is null as a whole stands as null in a record too.
    sections = {name: _member(one, shapes[name]) if name in shapes else one for name, one in env.items()}
    return {
        "schema_version": head["schema_version"],
        "schema_compat": SCHEMA_COMPAT,
        "captured_at": head["captured_at"],
        **sections,
        "partial": kept["partial"],
        "partial_reasons": kept["partial_reasons"] or [],
        "collection": _collection(record["env"], mapping(kept["collection"]), path),
        "extensions": {
            name: _extension(name, one, shapes) for name, one in mapping(kept["extensions"]).items()
        },
    }


def filled(value: Any, shape: Shape) -> Any:
    """Return a JSON value without nulls as its declared type has it: what is missing is null."""
    if value is None:
        return empty(shape)
    if shape.kind == "object" and isinstance(value, dict):
        declared = {name: filled(value.get(name), member) for name, member in shape.fields}
        return {**declared, **{name: one for name, one in value.items() if name not in declared}}
    if shape.kind == "map" and isinstance(value, dict) and shape.item is not None:
        members = {**(empty(shape) or {}), **value}
        return {name: _member(one, shape.item) for name, one in members.items()}
    if shape.kind == "list" and isinstance(value, list) and shape.item is not None:
        return [_member(one, shape.item) for one in value]
    return value


def _member(value: Any, shape: Shape) -> Any:
    return None if value is None else filled(value, shape)


def _extension(name: str, held: Any, shapes: Mapping[str, Shape]) -> Any:
    if name not in shapes or not isinstance(held, dict):
        return held
    return {**held, "data": _member(held.get("data"), shapes[name])}


def _collection(env: Mapping[str, Any], told: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return how the snapshot came about: with a word on each section, and with the reasons taken over."""
    since = _since(told)
    own = _reasons(told)
    there = {_key(reason) for reason in own}
    before = _Before(path)
    for section, time in since.items():
        own += [reason for reason in before.reasons(section, time, env) if _key(reason) not in there]
    names = [name for name in (*env, *mapping(env.get("extensions"))) if name not in ENVELOPE]
    records = {name: {"status": str(Status.REUSED if name in since else Status.OK)} for name in names}
    whole = {**told, "reasons": own, "collectors": records, "providers": {}, "plugins": []}
    made: dict[str, Any] = filled(whole, shape_of(Collection))
    # Of collectors a trial tells no more than this: no times, no commands.
    return {**made, "collectors": records}


def _key(reason: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(reason.get(name) for name in ("section", "kind", "field", "subject", "detail"))


class _Before:
    """The snapshots of a run that a trial's sections may have been taken over from, read when needed."""

    def __init__(self, path: str) -> None:
        self._run = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))
        self._files = (file for name in _SOURCES for file in sorted(glob.glob(name, root_dir=self._run)))
        self._read: list[Mapping[str, Any]] = []

    def reasons(self, section: str, time: str, env: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return why something in a section that was taken over from the snapshot of a time is null."""
        value = _value(env, section)
        for snapshot in self._snapshots():
            if snapshot.get("captured_at") != time or without_nulls(_value(snapshot, section)) != value:
                continue
            collection = mapping(snapshot.get("collection"))
            if section not in _since(collection):
                return [one for one in _reasons(collection) if one.get("section") == section]
        # Whatever made it partial is in every record, so this is no reason to call it that.
        why = f"not asked again; the snapshot of {time}, which has the reason if there is one, is not found"
        return [{"section": section, "kind": str(ReasonKind.NOT_REQUESTED), "field": "", "detail": why}]

    def _snapshots(self) -> Iterator[Mapping[str, Any]]:
        yield from self._read
        for file in self._files:
            try:
                with open(os.path.join(self._run, file), encoding="utf-8") as stream:
                    document = json.load(stream)
            except (OSError, ValueError, RecursionError):
                continue
            snapshot = document.get("env", document) if isinstance(document, dict) else None
            if isinstance(snapshot, dict):
                self._read.append(snapshot)
                yield snapshot


def _value(document: Mapping[str, Any], section: str) -> Any:
    held = mapping(document.get("extensions")).get(section)
    return held.get("data") if isinstance(held, dict) else document.get(section)


def _since(collection: Mapping[str, Any]) -> dict[str, str]:
    """Return the sections that a snapshot has as an earlier one said, with the time of that."""
    reused = mapping(collection.get("reused")).items()
    return {str(name): time for time, names in reused if isinstance(names, list) for name in names}


def _reasons(collection: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    told = collection.get("reasons")
    return [reason for reason in told if isinstance(reason, dict)] if isinstance(told, list) else []
