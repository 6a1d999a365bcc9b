"""What is known of single fields, by their path: no indices, ``[]`` for any key of a map. Data only."""

#: Keys of a document that are no sections.
ENVELOPE = frozenset(
    {
        "schema_version",
        "schema_compat",
        "captured_at",
        "partial",
        "partial_reasons",
        "collection",
        "extensions",
    }
)

#: The first rows of every comparison: what the runbook looks at before anything else.
TRIAGE = (
    "runtime_context.type",
    "container_detected",
    "probe_namespace",
    "amdgpu_driver.kfd_device_present",
)

#: Groups of sections, the weightiest first; what is in none of them comes last.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("machine", ("gpu_arch", "gpus", "docker")),
    ("driver", ("amdgpu_driver",)),
    ("rocm", ("rocm", "therock", "hip")),
    (
        "libraries",
        (
            "hipblaslt",
            "rocblas",
            "composable_kernel",
            "tensile",
            "miopen",
            "rccl",
            "loaded_libraries",
            "library_linkage",
        ),
    ),
    ("kernels", ("tensile_catalog", "miopen_catalog", "rocfft_catalog")),
    (
        "torch",
        (
            "pytorch_version",
            "pytorch_build",
            "pytorch_sdpa",
            "triton",
            "fbgemm",
            "torchrec",
            "aiter",
            "aotriton",
        ),
    ),
    ("network", ("nics", "nic_devices")),
    ("variables", ("env_vars",)),
    (
        "buck",
        (
            "build_system",
            "buck_invocation",
            "library_introspection",
            "library_introspection_alternates",
        ),
    ),
)
OTHER = "other"

#: Fields that stand in another group than their section.
GROUPED = {
    "execution_context.likely_execution_platform": "buck",
    "execution_context.likely_execution_platform_source": "buck",
}

#: Fields that are copies of others: a catalog repeats what its library's section says.
COPIES = {
    "tensile_catalog.hipblaslt.kernel_db_revision": "hipblaslt.kernel_db_revision",
    "tensile_catalog.hipblaslt.lib_hash": "hipblaslt.lib_hash",
    "tensile_catalog.rocblas.kernel_db_revision": "rocblas.kernel_db_revision",
    "tensile_catalog.rocblas.lib_hash": "rocblas.lib_hash",
    "tensile_catalog.combined.kernel_db_combined_hash": "tensile.kernel_db_combined_hash",
    "miopen_catalog.kernel_db_revision": "miopen.kernel_db_revision",
    "miopen_catalog.lib_hash": "miopen.lib_hash",
    "tensile_catalog.hipblaslt.menu.gfx_targets": "tensile_catalog.hipblaslt.menu.gfx_arch_coverage",
    "tensile_catalog.rocblas.menu.gfx_targets": "tensile_catalog.rocblas.menu.gfx_arch_coverage",
    "miopen_catalog.menu.gfx_targets": "miopen_catalog.menu.gfx_arch_coverage",
    "pytorch_build.version": "pytorch_version",
    "pytorch_build.flags.build_settings.COMMIT_SHA": "pytorch_build.git_commit",
    "rocm.kmd_version": "amdgpu_driver.kmd_version",
}

#: Names and numbers of one machine, boot, container, task or job: they tell two apart and are no difference.
IDENTITY = frozenset(
    {
        "host.boot_id",
        "host.machine_digest",
        "isolation.container_id",
        "isolation.signals.value",
        "docker.container_id",
        "launcher.rank",
        "launcher.local_rank",
        "launcher.group_rank",
        "launcher.node_rank",
        "launcher.node",
        "launcher.job_id",
        "launcher.step_id",
        "launcher.restart_count",
        "launcher.rdzv_id",
        "launcher.master_port",
        "execution_context.markers[].value",
        "gpus.unique_id",
        "gpus.uuid",
        "gpus.kfd_gpu_id",
        "gpus.xgmi_hive_id",
        "nic_devices.node_guid",
        "nics.ainic.card.uuid",
    }
)

#: How the capture went about it, and sentences about what stands beside them.
TELLING = frozenset(
    {
        "execution_context.markers[].proves",
        "execution_context.markers[].limits",
        "tensile_catalog.doc",
        "miopen_catalog.doc",
        "tensile_catalog.hipblaslt.menu.digests",
        "tensile_catalog.rocblas.menu.digests",
        "miopen_catalog.menu.digests",
        "tensile_catalog.hipblaslt.menu.reason",
        "tensile_catalog.rocblas.menu.reason",
        "miopen_catalog.menu.reason",
        "rocfft_catalog.doc",
        "rocfft_catalog.kernel_cache.reason",
        "library_linkage.libraries.reason",
        "loaded_libraries.basis",
        "loaded_libraries.process",
        "loaded_libraries.differs_from.statement",
        "hip.diagnostics",
        "buck_invocation.comparison",
    }
)

#: Where something sits in the machine: said, and no difference.
PLACE = frozenset(
    {
        "gpus.bdf",
        "gpus.pci_device",
        "gpus.kfd_node",
        "gpus.drm_render_minor",
        "gpus.drm_card",
        "gpus.numa_node",
        "nic_devices.bdf",
        "nic_devices.physical_function",
        "nic_devices.numa_node",
        "nic_devices.verbs.uverbs",
    }
)

#: Measured sizes that differ by a little between equal machines.
MEASURED = frozenset({"host.memory_bytes", "host.swap_bytes", "host.numa.nodes.memory_bytes"})

#: Revisions, which one document may abbreviate.
REVISIONS = frozenset(
    {
        "build_system.revision",
        "library_introspection.revision",
        "pytorch_build.git_commit",
        "composable_kernel.system.commit",
        "triton.commit",
        "fbgemm.commit",
        "torchrec.commit",
        "aiter.commit",
    }
)

#: Always said, and no difference: it is another one on each machine and in each container.
SAID = frozenset({"probe_namespace"})

#: Lists whose order counts: what is looked at first, or given first, wins.
ORDERED = frozenset(
    {
        "rocm.lib_roots",
        "buck_invocation.mode_files",
        "buck_invocation.config_keys",
        "buck_invocation.modifiers",
        "buck_invocation.option_order",
    }
)

#: What the members of a list are known by: fields that count together.
KEYS: dict[str, tuple[str, ...]] = {
    "host.numa.nodes": ("node",),
    "isolation.signals": ("name", "source"),
    "rocm.candidates": ("root",),
    "therock.submodules": ("name",),
    "library_linkage.libraries": ("scope", "name"),
    "amdgpu_driver.dkms": ("version", "kernel"),
    "gpus": ("bdf",),
    "nics.ainic.links": ("device",),
    "nics.broadcom.links": ("device",),
    "nics.cx7.links": ("device",),
    "nic_devices": ("rdma_device", "netdev"),
    "nic_devices.interfaces": ("name",),
    "nic_devices.ports": ("port",),
    "hipblaslt.other_libraries": ("path",),
    "rocblas.other_libraries": ("path",),
    "miopen.other_libraries": ("path",),
    "rccl.other_libraries": ("path",),
    "tensile_catalog.hipblaslt.menu.files": ("name",),
    "tensile_catalog.rocblas.menu.files": ("name",),
    "miopen_catalog.menu.files": ("name",),
    "rocfft_catalog.arch_caches": ("arch",),
    "triton.providers": ("name",),
    "fbgemm.providers": ("name",),
    "torchrec.providers": ("name",),
    "aiter.providers": ("name",),
    "loaded_libraries": ("library", "path"),
    "loaded_libraries.other_copies": ("path",),
    "buck_invocation.mode_file_contents": ("mode", "path"),
    "library_introspection": ("name", "target"),
    "library_introspection_alternates": ("name", "source"),
}

#: Lists in which one and the same thing may stand several times.
REPEATING = frozenset({"isolation.signals"})

#: Of a path in these keys the name of the file counts, without the version behind it.
NAMED_BY_FILE = frozenset({"loaded_libraries"})

#: Lists whose members stand for one another by their place when as many are called otherwise.
BY_PLACE = frozenset({"gpus", "nic_devices", "nic_devices.interfaces"})

#: Fields of which one stands for the other: where one of two is set, the null of the other says nothing.
ALTERNATIVES = (("sha256", "identity"), ("combined_sha256", "combined_identity"))

#: Sections in which a Buck configuration's hash may follow a label.
CONFIGURED = frozenset(
    {"buck_invocation", "library_introspection", "library_introspection_alternates", "execution_context"}
)

#: What stands in the place of a secret: two of them say nothing of what they hide.
REDACTED = frozenset({"[redacted]"})
#: Words by which a value says that it is not known.
UNKNOWN_WORDS = REDACTED | {"unknown", "unreadable"}

#: Fields that 1.x and 2.0 fill differently on one machine.
CHANGED = frozenset(
    {
        "runtime_context.python_env",
        "runtime_context.venv_path",
        "runtime_context.conda_env_name",
        "rocm.root_source",
        "rocm.layout",
        "rocm.version_source",
        "hipblaslt.kernel_db_revision",
        "rocblas.kernel_db_revision",
        "miopen.kernel_db_revision",
        "tensile.kernel_db_combined_hash",
        "tensile_catalog.status",
        "tensile_catalog.hipblaslt.kernel_db_revision",
        "tensile_catalog.hipblaslt.menu",
        "tensile_catalog.rocblas.kernel_db_revision",
        "tensile_catalog.rocblas.menu",
        "tensile_catalog.combined.kernel_db_combined_hash",
        "miopen_catalog.status",
        "miopen_catalog.kernel_db_revision",
        "miopen_catalog.menu",
        "rocfft_catalog",
        "composable_kernel.pytorch_bundled",
        "pytorch_build.binary_introspection.libtorch_hip_symbol_counts",
        "pytorch_build.install_kind",
        "pytorch_build.flags.gpu_arch_list",
        "pytorch_build.ninja_hipcc",
        "aiter.hsa_tree",
        "library_linkage.rocm_rpath",
    }
)

#: Variables that hold paths, one behind the other.
PATH_VARIABLES = frozenset(
    {
        "PATH",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "LIBRARY_PATH",
        "PYTHONPATH",
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "PKG_CONFIG_PATH",
        "CMAKE_PREFIX_PATH",
    }
)
