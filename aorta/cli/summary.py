"""What a reader wants to know of a document first: what is unusual, then an overview.

Works on the plain document alone and never fails for what it finds there, whatever version wrote it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aorta.cli.overview import overview
from aorta.cli.plain import Document, clean, count_of, listed

#: The most lines about reasons of one kind.
SHOWN = 4


class Summary(NamedTuple):
    """``unusual`` are sentences, ``rows`` are labels with their texts; all fit to be printed."""

    unusual: list[str]
    rows: list[tuple[str, str]]


def summarize(document: Mapping[str, Any]) -> Summary:
    """Return the summary of a document."""
    known = Document(document)
    unusual = [clean(text) for text in (*_machine(known), *_settings(known), *_software(known))]
    unusual += [clean(text) for text in (*_reasons(known), *_plugins(known))]
    return Summary(list(dict.fromkeys(unusual)), [(label, clean(text)) for label, text in overview(known)])


def _machine(known: Document) -> Iterator[str]:
    gpu = known.text("collection.coverage.gpu")
    launcher = known.text("launcher.kind")
    in_job = launcher not in ("", "none") or bool(known.text("launcher.job_id"))
    if gpu == "absent" and not in_job:
        yield "no GPU and no job: is this a login node?"
    elif gpu == "absent":
        yield f"no GPU was seen in this job ({launcher or known.text('launcher.job_id')})"
    elif gpu == "unknown" and known.ran("gpus"):
        yield "whether there is a GPU could not be seen"
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


def _settings(known: Document) -> Iterator[str]:
    override = known.text("env_vars.HSA_OVERRIDE_GFX_VERSION")
    if override:
        yield f"HSA_OVERRIDE_GFX_VERSION={override}: the runtime is told a GPU target in place of its own"
    preload = known.text("env_vars.LD_PRELOAD")
    if preload:
        yield f"LD_PRELOAD={preload}"


def _software(known: Document) -> Iterator[str]:
    installed, built = known.text("hip.version"), known.text("pytorch_build.hip_version")
    if installed and built and installed.split(".")[:2] != built.split(".")[:2]:
        yield f"HIP {installed} is installed, torch was built with HIP {built}"
    for name, what in (("enumerator_agrees", "rocm_agent_enumerator"), ("runtime_agrees", "the HSA runtime")):
        if known.get(f"gpu_arch.{name}") is False:
            yield f"{what} and the kernel's topology name different GPUs"


def _reasons(known: Document) -> Iterator[str]:
    """Yield what makes the document partial: contradictions in full, the others by their kind."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for kind, where, text in known.partial_reasons():
        groups.setdefault(kind, []).append((where, text))
    for where, text in groups.pop("expected", []):
        yield f"{where}: {text}"
    for kind, members in groups.items():
        if len(members) <= SHOWN:
            yield from (f"{kind}: {where}: {text}" if where else f"{kind}: {text}" for where, text in members)
            continue
        places = listed([where or text for where, text in members], SHOWN)
        yield f"{kind}: {count_of(len(members), 'reason')}: {places}"


def _plugins(known: Document) -> Iterator[str]:
    for plugin in known.members("collection.plugins"):
        if plugin.get("status") == "failed":
            yield f"the plugin {plugin.get('name')} was left out: {plugin.get('detail')}"
