"""The order of the sections in the document, and the shapes of those that no collector makes yet.

Every key of the 1.x line up to 1.17 stands in every document. A section without a collector stands
there in its failure shape: all keys, nested objects kept, every leaf null.
"""

from typing import Any

ORDER = (
    "host",
    "runtime_context",
    "container_detected",
    "isolation",
    "execution_context",
    "probe_namespace",
    "docker",
    "launcher",
    "rocm",
    "therock",
    "library_linkage",
    "amdgpu_driver",
    "hip",
    "gpu_arch",
    "gpus",
    "nics",
    "nic_devices",
    "hipblaslt",
    "rocblas",
    "composable_kernel",
    "tensile",
    "tensile_catalog",
    "miopen",
    "miopen_catalog",
    "rocfft_catalog",
    "rccl",
    "triton",
    "fbgemm",
    "torchrec",
    "aiter",
    "aotriton",
    "loaded_libraries",
    "build_system",
    "buck_invocation",
    "library_introspection",
    "library_introspection_alternates",
    "python_version",
    "pytorch_version",
    "pytorch_build",
    "pytorch_sdpa",
    "env_vars",
    "system_health",
)


def _keys(names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split())


#: Sections that no collector makes yet, in their failure shape.
UNBUILT: dict[str, Any] = {
    "build_system": {"kind": None},
    "buck_invocation": _keys(
        "status target context_source mode_files config_keys modifiers option_order context_fingerprint"
        " configured_root_target comparison"
    ),
    "library_introspection": None,
    "library_introspection_alternates": None,
}
