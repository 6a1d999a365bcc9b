"""What a reader wants to know of a document first: what is unusual, then an overview.

Works on the plain document alone and never fails for what it finds there, whatever version wrote it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aorta.cli.gpu_notes import gpu_notes
from aorta.cli.library_notes import library_notes
from aorta.cli.nic_notes import nic_notes
from aorta.cli.overview import overview
from aorta.cli.plain import Document, clean
from aorta.cli.torch_notes import no_import, torch_notes
from aorta.model.sections import ORDER
from aorta.model.text import count_of, listed

#: The most lines about reasons of one kind.
SHOWN = 4


class Summary(NamedTuple):
    """What to show, all of it fit to be printed.

    ``head`` says whether the document is partial, ``unusual`` are sentences, ``rows`` labels with their text.
    """

    head: str
    unusual: list[str]
    rows: list[tuple[str, str]]


def summarize(document: Mapping[str, Any]) -> Summary:
    """Return the summary of a document."""
    known = Document(document)
    notes = (gpu_notes, nic_notes, _machine, _software, torch_notes, library_notes, _reasons)
    lines = (*_lacks(known), *(line for each in notes for line in each(known)))
    unusual = list(dict.fromkeys(clean(text) for text in lines))
    return Summary(_head(known), unusual, [(label, clean(text)) for label, text in overview(known)])


def _lacks(known: Document) -> Iterator[str]:
    """Yield what every snapshot has and this one has not; other versions name their parts otherwise."""
    lost = [name for name in ORDER if not known.has(name)]
    if known.text("schema_version").startswith("2."):
        lost = [name for name in ("collection", "collection.collectors") if not known.has(name)][:1] + lost
    elif len(lost) < len(ORDER):
        return
    if lost:
        yield f"not a whole snapshot, it lacks {listed(lost, SHOWN)}"


def _head(known: Document) -> str:
    partial, reasons = known.get("partial"), len(list(known.partial_reasons()))
    if partial is True or reasons:
        head = f"PARTIAL: {count_of(reasons, 'reason')}"
    else:
        head = "partial: no" if partial is False else "partial: not said"
    return f"{head}, replay of a recording" if known.text("collection.host_kind") == "replay" else head


def _machine(known: Document) -> Iterator[str]:
    for mount in known.dead_mounts():
        yield f"the file system at {mount} did not answer; nothing on it was read"
    if known.get("isolation.container") is True and not known.text("docker.image") and known.ran("docker"):
        runtime = known.text("isolation.runtime") or known.text("runtime_context.type")
        named = f" ({runtime})" if runtime not in ("", "none", "baremetal") else ""
        yield f"in a container{named} of unknown image: its launcher can say it in AORTA_DOCKER_IMAGE"
    if known.get("amdgpu_driver.kfd_device_present") is True and (
        known.get("amdgpu_driver.kfd_device_accessible") is False
    ):
        error = known.text("amdgpu_driver.kfd_open_error")
        yield f"/dev/kfd is there and cannot be opened{f' ({error})' if error else ''}"
    if known.get("amdgpu_driver.loaded_matches_disk") is False:
        loaded = known.text("amdgpu_driver.loaded_version") or known.text("amdgpu_driver.loaded_srcversion")
        disk = known.text("amdgpu_driver.module_version") or known.text("amdgpu_driver.module_srcversion")
        names = f"the loaded amdgpu ({loaded or '?'}) is not the installed one ({disk or '?'})"
        yield f"{names}: not yet rebooted?"


def _software(known: Document) -> Iterator[str]:
    preload = known.text("env_vars.LD_PRELOAD")
    if preload:
        yield f"LD_PRELOAD={preload}"
    if known.text("hip.platform") == "nvidia" and known.text("collection.coverage.rocm") == "seen":
        root = known.text("rocm.root")
        yield f"HIP's platform is nvidia, and there is an AMD ROCm{f' at {root}' if root else ''}"


def _told_already(known: Document) -> str:
    """Return what all fields that torch would have told say, once its import has a line of its own."""
    if known.get("pytorch_build.importable") is False:
        return known.text("pytorch_build.import_error")
    return no_import(known)


def _reasons(known: Document) -> Iterator[str]:
    """Yield what makes the document partial: contradictions in full, the others by their kind.

    What has the same cause stands together, with all its places.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    told = _told_already(known)
    for kind, where, text in known.partial_reasons():
        if told and told in text:
            continue
        groups.setdefault(kind, {}).setdefault(text, []).append(where)
    for text, places in groups.pop("expected", {}).items():
        yield f"{listed(places, SHOWN)}: {text}"
    for kind, causes in groups.items():
        if len(causes) <= SHOWN:
            for text, places in causes.items():
                where = listed([place for place in places if place], SHOWN)
                yield f"{kind}: {where}: {text}" if where else f"{kind}: {text}"
            continue
        members = [(where, text) for text, places in causes.items() for where in places]
        shown = listed([where or text for where, text in members], SHOWN)
        yield f"{kind}: {count_of(len(members), 'reason')}: {shown}"
