"""Documents of the 1.x line in the form of this version, without a fact that they do not hold.

A step a version turns what was renamed or re-read. What a version did not have yet is null with the
reason ``not_recorded``, whatever a later reader may have put there. Keys that 1.17 does not have, and
blocks younger than the document, are kept in ``extensions["aorta.set_aside"]``, by their path.
"""

import re
from collections.abc import Mapping
from typing import Any

from aorta.model.dump import Dumper
from aorta.model.reason import Reason
from aorta.model.shape import shape_of
from aorta.model.snapshot import SCHEMA_COMPAT, SCHEMA_VERSION, Collection, Snapshot, Tool
from aorta.model.upgrade.blanks import blanks_of
from aorta.model.upgrade.draft import Draft, fill
from aorta.model.upgrade.keys import KEYS, Version
from aorta.model.upgrade.steps import STEPS
from aorta.model.vocabulary import Detail, ReasonKind

SET_ASIDE = "aorta.set_aside"

_PLACE = re.compile(r"([^.\[]*)\.?(.*)", re.DOTALL)
_ENVELOPE = ("schema_version", "captured_at")


def upgraded(document: Mapping[str, Any], version: Version, models: Mapping[str, Any]) -> dict[str, Any]:
    """Return a 1.x document in the form of this version; ``document`` is left as it is.

    ``models`` are the declared types of the sections. Values are taken over unchecked: what is not of
    its type is found when the result is loaded. Credentials are replaced as in a capture.
    """
    dumper = Dumper(Detail.FULL, redacting=True)
    draft = Draft(version=version, sections=dumper.dump(document, shape_of(Any)))
    for problem in dumper.problems:
        place = _PLACE.fullmatch(problem.path)
        section, field = place.groups() if place else ("", problem.path)
        draft.note(problem.kind, section or "collection", field, problem.text)
    for target, step in STEPS:
        if version < target:
            step(draft)
    head = {name: draft.sections.pop(name, None) for name in _ENVELOPE}
    told = {(reason.section, reason.field) for reason in draft.reasons}
    before = len(draft.reasons)
    fill(draft, blanks_of(models), KEYS)
    new = [reason for reason in draft.reasons[before:] if (reason.section, reason.field) not in told]
    snapshot = Snapshot(
        collection=Collection(
            tool=Tool(name=""),
            detail=Detail.FULL if _files_listed(draft) else Detail.COMPACT,
            reasons=(_unrecorded(draft), *_ordered([*draft.reasons[:before], *new], draft)),
            redacted=tuple(sorted(path.removeprefix("env_vars.") for path in dumper.redacted)),
            upgraded_from=draft.named,
        )
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "schema_compat": SCHEMA_COMPAT,
        "captured_at": head["captured_at"],
        **draft.sections,
        "partial": snapshot.partial,
        "partial_reasons": snapshot.partial_reasons,
        "collection": Dumper().dump(snapshot.collection, shape_of(Collection)),
        "extensions": _extensions(draft),
    }


def _unrecorded(draft: Draft) -> Reason:
    text = f"a document of schema {draft.named} does not say which tool made it, nor how each section fared"
    return Reason(section="collection", kind=ReasonKind.NOT_RECORDED, detail=text)


def _ordered(reasons: list[Reason], draft: Draft) -> list[Reason]:
    place = {name: number for number, name in enumerate(draft.sections)}
    return sorted(reasons, key=lambda reason: place.get(reason.section, -1))


def _files_listed(draft: Draft) -> bool:
    """Tell whether a catalog lists its files, as with full detail."""
    menus = [
        draft.object("tensile_catalog", "hipblaslt", "menu"),
        draft.object("tensile_catalog", "rocblas", "menu"),
        draft.object("miopen_catalog", "menu"),
    ]
    return any(isinstance(menu.get("files"), list) for menu in menus)


def _extensions(draft: Draft) -> dict[str, Any]:
    if not draft.aside:
        return {}
    return {SET_ASIDE: {"schema": f"{SET_ASIDE}/1", "data": draft.aside}}
