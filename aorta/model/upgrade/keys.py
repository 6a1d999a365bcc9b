"""What the 1.x line wrote: the keys of 1.17 in their order, and since which version each is there.

In ``KEYS`` an object is a dict of its keys, ``NULLABLE`` marks one that may be null as a whole, a list of
objects is ``[{…}]``, a list of scalars ``[]``, any JSON value ``ANY``, and a scalar None.
"""

from typing import Any

ANY: Any = ...

#: A key of an object that says: null as a whole is one of its 1.x values.
NULLABLE = "?"

Version = tuple[int, int]

LAST: Version = (1, 17)


def _keys(names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split())


_VENDOR = {
    **_keys("present driver_version firmware pkg_version"),
    "rdma_devices": [],
    "links": [_keys("device state netdev")],
}
_GEMM = {
    **_keys("rocm_release_tweak package_version lib_hash kernel_db_revision"),
    **_keys("upstream_commit upstream_commit_matches_tweak"),
    "applied_prs": ANY,
}
_MENU = {
    **_keys("status reason dir logic_file_count file_count"),
    "gfx_arch_coverage": [],
    "files": [_keys("name size suffix is_logic sha256")],
    "combined_content_hash": None,
}
_LIBRARY = _keys("package_version lib_hash kernel_db_revision")
_FLAGS = _keys(
    "USE_FLASH_ATTENTION USE_ROCM_CK_SDPA USE_AOTRITON USE_MEM_EFF_ATTENTION DISABLE_AOTRITON USE_ROCM"
    " USE_CUDA USE_CUDNN USE_MIOPEN USE_FBGEMM USE_FBGEMM_GENAI USE_NCCL USE_MKL USE_MKLDNN USE_OPENMP"
    " USE_KINETO BUILD_TYPE"
)
_SYMBOLS = _keys(
    "pytorch_flash:: mha_fwd_aot mha_fwd_ck _efficient_attention aotriton:: ck_tile::FmhaFwd"
    " ck_tile::FmhaBwd ck_tile::BlockFmha ck_tile::TileFmha group_gemm_ck aiter::"
)

VARIABLES = [
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HSA_XNACK",
    "HSA_KERNARG_POOL_SIZE",
    "HSA_NO_SCRATCH_RECLAIM",
    "HSA_OVERRIDE_GFX_VERSION",
    "HSA_TOOLS_DISABLE_REGISTER",
    "GPU_MAX_HW_QUEUES",
    "AMDGCN_USE_BUFFER_OPS",
    "DISABLE_TF32",
    "PYTORCH_ROCM_ARCH",
    "HIP_LAUNCH_BLOCKING",
    "NCCL_MAX_NCHANNELS",
    "NCCL_P2P_LEVEL",
    "NCCL_IB_HCA",
    "NCCL_SOCKET_IFNAME",
    "RCCL_MSCCL_ENABLE",
    "RCCL_AINIC_ROCE",
    "NCCL_NET_PLUGIN",
    "NCCL_NET",
    "RCCL_CTS_OFFLOAD_ENABLED",
    "NCCL_IB_GID_INDEX",
    "NCCL_IB_ROCE_VERSION_NUM",
    "NCCL_IB_TC",
    "NCCL_IB_FIFO_TC",
    "NCCL_GDR_FLUSH_DISABLE",
    "NCCL_GDRCOPY_ENABLE",
    "NCCL_IB_USE_INLINE",
    "NCCL_IB_PCI_RELAXED_ORDERING",
    "NCCL_IB_QPS_PER_CONNECTION",
    "NCCL_PXN_DISABLE",
    "NCCL_IGNORE_CPU_AFFINITY",
    "NCCL_NET_OPTIONAL_RECV_COMPLETION",
    "RCCL_GDR_FLUSH_GPU_MEM_NO_RELAXED_ORDERING",
    "NCCL_IB_TIMEOUT",
    "NCCL_IB_SL",
    "NCCL_IB_SPLIT_DATA_ON_QPS",
    "NCCL_DMABUF_ENABLE",
    "NCCL_CUMEM_ENABLE",
    "IONIC_LOCKFREE",
    "RCCL_DISABLE_RAIL_TREES",
    "RCCL_LL128_FORCE_ENABLE",
    "NCCL_WORK_FIFO_BYTES",
    "RCCL_GFX9_CHEAP_FENCE_OFF",
    "FBGEMM_NO_JK",
    "FBGEMM_TBE_V2",
    "FBGEMM_TBE_ROCM_HIP_BACKWARD_KERNEL",
    "FBGEMM_BOUNDS_CHECK_INDICES_V2",
    "MIOPEN_SYSTEM_DB_PATH",
    "MIOPEN_USER_DB_PATH",
    "MIOPEN_DEBUG_DISABLE_FIND_DB",
    "MIOPEN_FIND_MODE",
    "TORCH_ROCM_FA_PREFER_CK",
    "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL",
    "TORCH_BLAS_PREFER_HIPBLASLT",
    "TORCH_HIPBLASLT_TUNING_FILE",
    "TORCH_HIPBLASLT_TUNING_OVERRIDE_FILE",
    "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE",
    "PYTORCH_CUDA_ALLOC_CONF",
    "LD_LIBRARY_PATH",
    "HIPBLASLT_TENSILE_LIBPATH",
    "HIPBLASLT_EXT_OP_LIBRARY_PATH",
    "HIPBLASLT_PRELOAD_KERNELS",
    "TENSILE_MAX_DECOMPRESSED_BYTES",
    "ROCBLAS_TENSILE_LIBPATH",
    "ROCBLAS_TENSILE_GEMM_OVERRIDE_PATH",
    "ROCBLAS_USE_HIPBLASLT",
    "ROCBLAS_USE_HIPBLASLT_BATCHED",
    "HIPBLASLT_USE_ROCROLLER",
    "HIPBLASLT_ROCROLLER_NO_CUSTOM_KERNEL",
    "HIPBLASLT_TUNING_OVERRIDE_FILE",
    "HIPBLASLT_OVERRIDE_COMPUTE_TYPE_XF32",
    "ROCBLAS_DEFAULT_ATOMICS_MODE",
    "ROCBLAS_INTERNAL_FP16_ALT_IMPL",
    "ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ",
    "ROCBLAS_INTERNAL_FORCE_VALU_FOR_DGEMM",
    "ROCBLAS_STREAM_ORDER_ALLOC",
    "ROCBLAS_DEVICE_MEMORY_SIZE",
    "ROCBLAS_INTERNAL_TRSM_REG_KERNEL_MEM_LIMIT",
    "TENSILE_SOLUTION_INDEX",
    "TENSILE_SOLUTION_SELECTION_METHOD",
    "TENSILE_EXPERIMENTAL_SELECTION",
    "TENSILE_TAM_SELECTION_ENABLE",
    "TENSILE_NAIVE_SEARCH",
    "TENSILE_METRIC",
    "TENSILE_PREDICTION_LIB",
    "TENSILE_GRIDBASED_KDTREE",
    "TENSILE_GRIDBASED_BATCH_EXP",
    "ANALYTICAL_GEMM_HEURISTICS",
    "ANALYTICAL_GEMM_HEURISTICS_VARIANCE",
    "GRIDBASED_TOPSOLS",
    "TENSILE_STREAMK_DYNAMIC_GRID",
    "TENSILE_STREAMK_FIXED_GRID",
    "TENSILE_STREAMK_MAX_CUS",
    "TENSILE_STREAMK_DATA_PARALLEL",
    "TENSILE_STREAMK_DYNAMIC_WGM",
    "TENSILE_STREAMK_FULL_TILES",
    "TENSILE_STREAMK_GRID_MULTIPLIER",
    "TENSILE_FIXED_WGM",
    "TENSILE_FIXED_WGMXCC",
    "TENSILE_FIXED_WGMXCCCHUNK",
    "TENSILE_DISABLE_STAGGERU",
    "TENSILE_FIXED_STAGGERU",
    "TENSILE_FIXED_STAGGERU_MAPPING",
    "TENSILE_FIXED_STAGGERU_STRIDE_SHIFT",
    "TENSILE_DB2",
    "TENSILE_STREAMK5_FORCE_MODE",
    "TENSILE_STREAMK_TILES",
    "TENSILE_ADAPTIVE_GEMM_NTAB_ALGO",
    "TENSILE_STREAMK_SPLIT",
    "HIPBLASLT_CHECK_NUMERICS",
    "HIPBLASLT_CHECK_NUMERICS_SCAN_EVERY",
    "HIPBLASLT_CHECK_NUMERICS_SCAN_FROM",
    "HIPBLASLT_CHECK_NUMERICS_SCAN_UNTIL",
    "HIPBLASLT_CHECK_NUMERICS_STOP_ON_FIRST",
    "ROCBLAS_CHECK_NUMERICS",
    "ANALYTICAL_GEMM_DEBUG",
    "ORIGAMI_LOG_FILE",
    "HIPBLASLT_LOG_FILE",
    "HIPBLASLT_LOG_LEVEL",
    "HIPBLASLT_LOG_MASK",
    "HIPBLASLT_BENCH_PERF",
    "HIPBLASLT_BENCH_PERF_ALL",
    "HIPBLASLT_BENCH_PRINT_COMMAND",
    "HIPBLASLT_ENABLE_MARKER",
    "TENSILE_ENABLE_MARKER",
    "ROCBLAS_LAYER",
    "ROCBLAS_LOG_PATH",
    "ROCBLAS_LOG_TRACE_PATH",
    "ROCBLAS_LOG_BENCH_PATH",
    "ROCBLAS_LOG_PROFILE_PATH",
    "ROCBLAS_VERBOSE_HIPBLASLT_ERROR",
    "ROCBLAS_VERBOSE_TENSILE_ERROR",
    "TENSILE_DB",
    "TENSILE_ADAPTIVE_GEMM_LOG",
    "TENSILE_AUTO_GSU_ALGO",
    "TENSILE_SOLUTION_SELECTION_TRACE",
    "TENSILE_BENCHMARK",
]

KEYS: dict[str, Any] = {
    **_keys("schema_version captured_at"),
    "host": _keys("kernel_release kernel_version machine glibc_version"),
    "runtime_context": _keys("type python_env venv_path conda_env_name"),
    "container_detected": None,
    "execution_context": _keys("probe_invocation likely_execution_platform"),
    "probe_namespace": None,
    "docker": {NULLABLE: True, **_keys("image digest container_id")},
    "rocm": _keys("version version_dev kmd_version version_source root lib_root root_source layout"),
    "therock": {
        **_keys("status manifest_path rocm_version rocm_package_version the_rock_commit github_run_id"),
        **_keys("github_job gemm_libraries_commit"),
        "submodules": [{**_keys("name url pin_sha"), "patches": ANY}],
    },
    "library_linkage": {
        **_keys("status rocm_rpath"),
        "tags_observed": [],
        "census": {
            "dirs": [],
            "unlistable_dirs": [],
            **_keys("scanned rpath runpath none unreadable truncated"),
            "rpath_examples": [],
        },
        "libraries": [{**_keys("name scope path"), "dt_tags": [], **_keys("effective_tag reason")}],
    },
    "amdgpu_driver": _keys(
        "scope status package_name package_version package_full_name package_manager module_version"
        " module_srcversion kmd_version kfd_device_present kfd_sysfs_present"
    ),
    "hip": _keys("version platform compiler runtime cpp_config"),
    "gpu_arch": {"agent_count": None, "gfx_targets": [], "agent_arch_counts": ANY},
    "nics": {
        "ainic": {
            **_VENDOR,
            "nicctl_version": None,
            "card": _keys("asic host_sw firmware uuid"),
            "profile": _keys("device_config sriov"),
            "dcqcn": _keys("enabled token_bucket_size ai_rate hai_rate cnp_dscp"),
        },
        "broadcom": _VENDOR,
        "cx7": _VENDOR,
    },
    "hipblaslt": _GEMM,
    "rocblas": _GEMM,
    "composable_kernel": {
        "system": _keys("version commit ck_tile_present"),
        "pytorch_bundled": _keys("present symbol_count"),
        **_keys("pytorch_use_ck_sdpa pytorch_use_ck_gemm"),
    },
    "tensile": _keys("package_version kernel_db_combined_hash"),
    "tensile_catalog": {
        **_keys("doc status"),
        "hipblaslt": {**_LIBRARY, "menu": _MENU},
        "rocblas": {**_LIBRARY, "menu": _MENU},
        "combined": _keys("package_version kernel_db_combined_hash"),
    },
    "miopen": {"rocm_release_tweak": None, **_LIBRARY},
    "miopen_catalog": {
        **_keys("doc status"),
        **_LIBRARY,
        **_keys("db_dir db_dir_source"),
        "env_overrides": _keys("MIOPEN_SYSTEM_DB_PATH MIOPEN_USER_DB_PATH"),
        "menu": _MENU,
    },
    "rocfft_catalog": {
        **_keys("doc status"),
        "env_overrides": _keys("ROCFFT_RTC_SYS_CACHE_PATH ROCFFT_RTC_CACHE_PATH"),
        "kernel_cache": _keys("present path source size sha256 reason"),
    },
    "rccl": _keys(
        "version_code version lib_hash net_plugin_mode plugin_path plugin_lib_hash anp_lib_hash net_lib_hash"
    ),
    "triton": _keys("package_version commit"),
    "fbgemm": _keys("package_version commit pytorch_use_fbgemm pytorch_use_fbgemm_genai"),
    "torchrec": _keys("package_version commit source_version source_commit distribution_version"),
    "aiter": {**_keys("package_version package_dist_name commit"), "hsa_tree": ANY},
    "aotriton": _keys(
        "bundled_present bundled_version bundled_lib_hash bundled_images_dir_present installed_prefix"
    ),
    "build_system": _keys("kind buck2_version repo_root revision"),
    "buck_invocation": {
        **_keys("status target context_source"),
        **{name: [] for name in ("mode_files", "config_keys", "modifiers", "option_order")},
        **_keys("context_fingerprint configured_root_target comparison"),
    },
    "library_introspection": [_keys("name source revision target configured_target")],
    "library_introspection_alternates": [_keys("name source revision package_version lib_hash")],
    **_keys("python_version pytorch_version"),
    "pytorch_build": {
        **_keys("git_commit hip_version cuda_version debug install_kind source_path"),
        "submodule_commits": _keys("composable_kernel aiter fbgemm _source"),
        "flags": {
            **dict.fromkeys(("build_settings", "cxx_defines"), ANY),
            **_keys("cxx_flags_raw cuda_flags_raw"),
            "gpu_arch_list": [],
        },
        "build_flags": _FLAGS,
        "binary_introspection": {
            "libtorch_hip_symbol_counts": _SYMBOLS,
            "torch_lib_bundled": {NULLABLE: True, **_keys("libaotriton_v2.so")},
            "cxx_flags_use_defines": {NULLABLE: True, **_keys("USE_ROCM_CK_SDPA USE_ROCM_CK_GEMM")},
        },
        "cmake_cache": {"_source_file": None, "entries": ANY},
        "ninja_hipcc": {**_keys("_source_file _parser _legacy_scripts_scanned"), "targets": ANY},
    },
    "pytorch_sdpa": {
        "backends_enabled": _keys(
            "flash_sdp_enabled mem_efficient_sdp_enabled math_sdp_enabled cudnn_sdp_enabled"
        ),
    },
    "env_vars": dict.fromkeys(VARIABLES),
    "system_health": ANY,
    **_keys("partial"),
    "partial_reasons": [],
}

#: The places that are younger than 1.0, by the version that brought them. Variables are not listed: a
#: document names those that it asked for.
_BROUGHT: dict[Version, str] = {
    (1, 1): "host gpu_arch rocblas composable_kernel tensile miopen rccl triton fbgemm aiter aotriton"
    " pytorch_build",
    (1, 2): "pytorch_build.flags pytorch_build.build_flags pytorch_build.binary_introspection"
    " aiter.package_dist_name aiter.commit",
    (1, 3): "build_system",
    (1, 4): "library_introspection library_introspection_alternates",
    (1, 5): "pytorch_build.cmake_cache pytorch_build.ninja_hipcc aiter.hsa_tree pytorch_sdpa",
    (1, 7): "nics rccl.net_plugin_mode rccl.plugin_path rccl.plugin_lib_hash rccl.anp_lib_hash"
    " rccl.net_lib_hash",
    (1, 8): "triton.commit fbgemm.commit",
    (1, 9): "tensile_catalog miopen_catalog rocfft_catalog",
    (1, 10): "amdgpu_driver",
    (1, 11): "container_detected execution_context",
    (1, 12): "probe_namespace",
    (1, 13): "buck_invocation",
    (1, 14): "torchrec",
    (1, 15): "torchrec.source_version torchrec.source_commit torchrec.distribution_version",
    (1, 16): "therock rocm.version_source rocm.root rocm.lib_root rocm.root_source rocm.layout"
    " hipblaslt.upstream_commit hipblaslt.upstream_commit_matches_tweak rocblas.upstream_commit"
    " rocblas.upstream_commit_matches_tweak",
    (1, 17): "library_linkage",
}

#: The same by place.
SINCE: dict[str, Version] = {
    place: version for version, places in _BROUGHT.items() for place in places.split()
}
