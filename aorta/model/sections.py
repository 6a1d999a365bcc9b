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


_BUILD_FLAGS = _keys(
    "USE_FLASH_ATTENTION USE_ROCM_CK_SDPA USE_AOTRITON USE_MEM_EFF_ATTENTION DISABLE_AOTRITON USE_ROCM"
    " USE_CUDA USE_CUDNN USE_MIOPEN USE_FBGEMM USE_FBGEMM_GENAI USE_NCCL USE_MKL USE_MKLDNN USE_OPENMP"
    " USE_KINETO BUILD_TYPE"
)
_SYMBOLS = _keys(
    "pytorch_flash:: mha_fwd_aot mha_fwd_ck _efficient_attention aotriton:: ck_tile::FmhaFwd"
    " ck_tile::FmhaBwd ck_tile::BlockFmha ck_tile::TileFmha group_gemm_ck aiter::"
)

#: Sections that no collector makes yet, in their failure shape.
UNBUILT: dict[str, Any] = {
    "triton": _keys("package_version commit"),
    "fbgemm": _keys("package_version commit pytorch_use_fbgemm pytorch_use_fbgemm_genai"),
    "torchrec": _keys("package_version commit source_version source_commit distribution_version"),
    "aiter": _keys("package_version package_dist_name commit hsa_tree"),
    "aotriton": _keys(
        "bundled_present bundled_version bundled_lib_hash bundled_images_dir_present installed_prefix"
    ),
    "build_system": {"kind": None},
    "buck_invocation": _keys(
        "status target context_source mode_files config_keys modifiers option_order context_fingerprint"
        " configured_root_target comparison"
    ),
    "library_introspection": None,
    "library_introspection_alternates": None,
    "pytorch_version": None,
    "pytorch_build": {
        **_keys("git_commit hip_version cuda_version debug install_kind source_path"),
        "submodule_commits": _keys("composable_kernel aiter fbgemm _source"),
        "flags": _keys("build_settings cxx_defines cxx_flags_raw cuda_flags_raw gpu_arch_list"),
        "build_flags": _BUILD_FLAGS,
        "binary_introspection": {
            "libtorch_hip_symbol_counts": _SYMBOLS,
            "torch_lib_bundled": _keys("libaotriton_v2.so"),
            "cxx_flags_use_defines": _keys("USE_ROCM_CK_SDPA USE_ROCM_CK_GEMM"),
        },
        "cmake_cache": _keys("_source_file entries"),
        "ninja_hipcc": _keys("_source_file _parser _legacy_scripts_scanned targets"),
    },
    "pytorch_sdpa": {
        "backends_enabled": _keys(
            "flash_sdp_enabled mem_efficient_sdp_enabled math_sdp_enabled cudnn_sdp_enabled"
        ),
    },
}
