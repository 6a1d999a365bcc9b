"""The compact table of a machine. A value that is not known has a row that says so."""

from collections import Counter
from collections.abc import Iterator

from aorta.cli.buck_notes import buck_rows
from aorta.cli.library_notes import library_rows
from aorta.cli.nic_notes import nics_row
from aorta.cli.plain import Document
from aorta.cli.torch_notes import torch_row
from aorta.model.text import count_of, listed

UNKNOWN = "-"


def overview(known: Document) -> Iterator[tuple[str, str]]:
    """Yield the rows, each a label and its text."""
    yield (
        "captured",
        _joined(known.text("captured_at"), f"schema {known.text('schema_version')}", _tool(known)),
    )
    yield "host", _joined(known.text("host.machine"), _cpu(known), _memory(known))
    yield (
        "OS",
        _joined(
            known.text("host.distribution.pretty_name"), _prefixed("glibc ", known.text("host.glibc_version"))
        ),
    )
    yield "kernel", _joined(known.text("host.kernel_release"))
    yield "python", _joined(known.text("python_version"), _python_env(known))
    yield "isolation", _isolation(known)
    yield "ROCm", _rocm(known)
    yield "HIP", _joined(known.text("hip.version"), known.text("hip.platform"))
    yield "driver", _driver(known)
    yield "GPUs", _gpus(known)
    nics = nics_row(known)
    if nics is not None:
        yield "NICs", nics or UNKNOWN
    yield "RCCL", _rccl(known)
    for name, text in library_rows(known):
        yield name, text or UNKNOWN
    yield "torch", torch_row(known) or UNKNOWN
    yield "launcher", _launcher(known)
    yield from buck_rows(known)
    plugins = [f"{section} {record.get('status')}" for section, record in known.records() if "." in section]
    if plugins:
        yield "extensions", listed(plugins, 8)
    missing = [section for section, record in known.records() if record.get("status") == "not_requested"]
    if missing:
        yield "not collected", listed(missing, 8)


def _joined(*texts: str) -> str:
    return ", ".join(text for text in texts if text) or UNKNOWN


def _prefixed(prefix: str, text: str) -> str:
    return prefix + text if text else ""


def _tool(known: Document) -> str:
    version = known.text("collection.tool.version")
    elapsed = known.get("collection.elapsed_s")
    took = f" in {elapsed:.2f} s" if isinstance(elapsed, float) else ""
    return f"aorta {version}{took}" if version else ""


def _cpu(known: Document) -> str:
    cores = known.get("host.cpu.logical")
    return _joined(
        known.text("host.cpu.model"), count_of(cores, "CPU") if isinstance(cores, int) else ""
    ).strip("-")


def _memory(known: Document) -> str:
    size = known.get("host.memory_bytes")
    return f"{size / 2**30:.0f} GiB" if isinstance(size, int) else ""


def _python_env(known: Document) -> str:
    kind = known.text("runtime_context.python_env")
    return " ".join(
        text
        for text in (
            kind,
            known.text("runtime_context.venv_path"),
            known.text("runtime_context.conda_env_name"),
        )
        if text
    )


def _isolation(known: Document) -> str:
    detected = known.get("isolation.container")
    if detected is None:
        detected = known.get("container_detected")
    if detected is None:
        return UNKNOWN
    if detected is False:
        return "none seen"
    runtime = known.text("isolation.runtime") or known.text("runtime_context.type")
    return _joined(
        runtime if runtime not in ("", "none", "baremetal") else "container",
        known.text("isolation.orchestrator"),
        known.text("docker.image"),
    )


def _rocm(known: Document) -> str:
    root = known.text("rocm.root")
    version = known.text("rocm.version")
    if not version and known.text("rocm.root_source") in ("", "none", "unknown"):
        return UNKNOWN
    return _joined(version or "version unknown", root, known.text("rocm.layout"))


def _driver(known: Document) -> str:
    status = known.text("amdgpu_driver.status")
    loaded = known.text("amdgpu_driver.loaded_version") or known.text("amdgpu_driver.kmd_version")
    package = known.text("amdgpu_driver.package_full_name")
    return _joined(_prefixed("amdgpu ", loaded) or status, package)


def _gpus(known: Document) -> str:
    gpus = known.get("gpus")
    if isinstance(gpus, list) and gpus:
        names = Counter(
            " ".join(str(part) for part in (gpu.get("marketing_name"), gpu.get("gfx_target")) if part)
            or "GPU"
            for gpu in known.members("gpus")
        )
        return listed([f"{number} x {name}" for name, number in names.items()], 4)
    count = known.get("gpu_arch.agent_count")
    targets = known.get("gpu_arch.gfx_targets")
    if isinstance(count, int) and isinstance(targets, list):
        return f"{count} x {', '.join(str(target) for target in targets)}"
    return "none (AMD)" if known.text("collection.coverage.gpu") == "absent" else UNKNOWN


def _rccl(known: Document) -> str:
    version = known.text("rccl.version")
    library = known.text("rccl.lib_path") or known.text("rccl.lib_hash")
    if not version and not library:
        places = [known.kinds("rccl", field) for field in ("lib_path", "header_path")]
        return "none" if places == [{"absent"}, {"absent"}] else UNKNOWN
    plugin = _prefixed("net plugin ", known.text("rccl.net_plugin_mode"))
    return _joined(version or "version unknown", plugin)


def _launcher(known: Document) -> str:
    rank, size = known.text("launcher.rank"), known.text("launcher.world_size")
    place = f"rank {rank} of {size}" if rank and size else ""
    return _joined(
        known.text("launcher.kind"),
        place,
        known.text("launcher.node"),
        _prefixed("job ", known.text("launcher.job_id")),
    )
