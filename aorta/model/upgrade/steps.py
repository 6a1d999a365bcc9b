"""The steps from one version to the next that change what is there; those that only add need none.

A step turns what its version renamed or re-read into the new form. It never says what the document does
not: where the new form asks for more than the old one held, that is null.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from aorta.model.sections import ORDER
from aorta.model.upgrade.blanks import nothing
from aorta.model.upgrade.draft import Draft, set_aside
from aorta.model.upgrade.keys import ANY, KEYS, Version
from aorta.model.vocabulary import ReasonKind

#: What a 1.x capture kept when it failed as a whole; all else in such a document is a constant.
_KEPT = (
    *("schema_version", "captured_at", "python_version", "container_detected", "probe_namespace"),
    *("execution_context", "rocm", "buck_invocation", "partial", "partial_reasons"),
)
_FAILED = "collect_env: "

_CONFIGURATION = re.compile(r"\s+\([^()]*\)$")


def names_of_1_1(draft: Draft) -> None:
    """Rename: the tweak of a library was called its commit, the file list's digest a Tensile revision."""
    for section in ("hipblaslt", "rocblas", "miopen"):
        library = draft.object(section)
        for old, new in (("commit", "rocm_release_tweak"), ("tensile_yaml_revision", "kernel_db_revision")):
            if old in library and new not in library:
                library[new] = library.pop(old)
    host = draft.object("host")
    if isinstance(host.get("glibc_version"), str):
        host["glibc_version"] = host["glibc_version"].removeprefix("glibc ")


def targets_of_1_6(draft: Draft) -> None:
    """Split the target of a Buck library: its configuration has a key of its own."""
    entries = draft.sections.get("library_introspection")
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        target = entry.get("target") if isinstance(entry, dict) else None
        if not isinstance(target, str) or "configured_target" in entry:
            continue
        entry["target"] = _CONFIGURATION.sub("", target)
        entry["configured_target"] = target if entry["target"] != target else None
        if entry["configured_target"] is None:
            draft.note(
                ReasonKind.NOT_RECORDED,
                "library_introspection",
                f"[{number}].configured_target",
                f"the target of schema {draft.named} carries no configuration",
            )


def only_what_was_recorded(draft: Draft) -> None:
    """Set aside what the document's own version did not have, and what a failed capture asserts."""
    # Which variables a document names is its own affair.
    set_aside(draft, {**KEYS, "env_vars": ANY})
    failed = [line for line in _lines(draft) if line.startswith(_FAILED)]
    if not failed:
        return
    for name in [name for name in draft.sections if name not in _KEPT]:
        del draft.sections[name]
        if name in ORDER:
            text = f"the capture failed as a whole and kept nothing of it: {failed[-1][len(_FAILED) :]}"
            draft.note(ReasonKind.NOT_RECORDED, name, "", text)


def meanings_of_2_0(draft: Draft) -> None:
    """Turn values whose meaning changed into null, or into the new word."""
    rocm = draft.object("rocm")
    if rocm.get("root_source") == "none" and rocm.get("layout") == "classic":
        rocm["layout"] = "none"
    bundled = draft.object("composable_kernel", "pytorch_bundled")
    if bundled.get("present") is False and bundled.get("symbol_count", 0) is None:
        bundled["present"] = None
        text = "1.x says false also where it could not count the symbols"
        draft.note(ReasonKind.NOT_RECORDED, "composable_kernel", "pytorch_bundled.present", text)
    for vendor in KEYS["nics"]:
        _spell_out(draft.object("nics", vendor), "present", KEYS["nics"][vendor], unless=True)
    _spell_out(draft.object("build_system"), "kind", KEYS["build_system"], unless="buck2")
    _unasked_of_buck(draft)
    unnamed = draft.object("runtime_context").get("type") == "baremetal"
    isolated = draft.sections.get("container_detected") is not False
    if unnamed and isolated and draft.sections.get("docker", "") is None:
        text = "1.x records nothing of a container whose runtime it does not name"
        draft.note(ReasonKind.NOT_RECORDED, "docker", "", text)


def _unasked_of_buck(draft: Draft) -> None:
    """Take back an empty list of libraries where no query succeeded: 1.x writes one also for that."""
    status = draft.object("buck_invocation").get("status")
    kind = ReasonKind.NOT_REQUESTED if status == "not_requested" else ReasonKind.NOT_RECORDED
    for section in ("library_introspection", "library_introspection_alternates"):
        if draft.sections.get(section) == [] and status != "success":
            draft.sections[section] = None
            text = (
                f"1.x writes an empty list also where there is no answer, and the query's status is {status}"
            )
            draft.note(kind, section, "", text)


def _spell_out(block: dict[str, Any], name: str, keys: Mapping[str, Any], *, unless: Any) -> None:
    """Give a block for which 1.x writes one key, since there is nothing to tell, its other keys as null."""
    if name in block and block[name] != unless:
        for key, below in keys.items():
            block.setdefault(key, nothing(below))


def reasons_of_2_0(draft: Draft) -> None:
    """Turn the prose of ``partial_reasons`` into reasons; each line stays as it was, without a kind."""
    lines, partial = draft.sections.pop("partial_reasons", []), draft.sections.pop("partial", False)
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        draft.aside["partial_reasons"] = lines
        draft.note(ReasonKind.UNPARSED, "collection", "", "partial_reasons is not a list of texts")
        lines = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    for line in lines:
        where, _, text = line.partition(": ")
        section, _, field = where.partition(".")
        if text and section in ORDER:
            draft.note(ReasonKind.UNSPECIFIED, section, field, text)
        else:
            draft.note(ReasonKind.UNSPECIFIED, "collection", "", line)
    if partial is not False and not lines:
        draft.note(ReasonKind.UNSPECIFIED, "collection", "", "the document says partial, and not why")


def _lines(draft: Draft) -> list[str]:
    lines = draft.sections.get("partial_reasons")
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


#: In their order; a step is for the documents that are older than its version.
STEPS: tuple[tuple[Version, Callable[[Draft], None]], ...] = (
    ((1, 1), names_of_1_1),
    ((1, 6), targets_of_1_6),
    ((2, 0), only_what_was_recorded),
    ((2, 0), meanings_of_2_0),
    ((2, 0), reasons_of_2_0),
)
