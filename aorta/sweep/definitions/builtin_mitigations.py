"""The mitigations that aorta brings: each a variable that a runtime or a library reads.

None is of a workload's own. A name never changes what it sets, since records name it.
"""

#: Name, what it sets, and what that does.
BUILTIN: tuple[tuple[str, dict[str, str], str], ...] = (
    ("none", {}, "changes nothing: what the others are compared with"),
    ("tf32_off", {"DISABLE_TF32": "1"}, "matrix products keep all bits of float32"),
    ("xnack", {"HSA_XNACK": "1"}, "the GPU repeats an access that faulted (XNACK)"),
    ("gpu_max_hw_queues_2", {"GPU_MAX_HW_QUEUES": "2"}, "a process's streams share two hardware queues"),
    (
        "debug_hip_dynamic_queues_1",
        {"DEBUG_HIP_DYNAMIC_QUEUES": "1"},
        "streams get their hardware queues as they need them (way 1)",
    ),
    (
        "debug_hip_dynamic_queues_2",
        {"DEBUG_HIP_DYNAMIC_QUEUES": "2"},
        "streams get their hardware queues as they need them (way 2)",
    ),
    ("roc_aql_queue_size_1024", {"ROC_AQL_QUEUE_SIZE": "1024"}, "a hardware queue holds 1024 packets"),
    ("hsa_no_sdma", {"HSA_ENABLE_SDMA": "0"}, "copies are done by kernels, not by the SDMA engines"),
    ("hsa_no_scratch_reclaim", {"HSA_NO_SCRATCH_RECLAIM": "1"}, "scratch memory is kept between kernels"),
    ("hsa_disable_cache", {"HSA_DISABLE_CACHE": "1"}, "the GPU's L2 cache is passed by"),
    ("hsa_enable_cache", {"HSA_DISABLE_CACHE": "0"}, "the GPU's L2 cache is used, whatever is set outside"),
    ("roc_signal_pool_16k", {"ROC_SIGNAL_POOL_SIZE": "16384"}, "16,384 signals are made in advance"),
    (
        "gpu_force_blit_copy_128",
        {"GPU_FORCE_BLIT_COPY_SIZE": "128"},
        "copies of up to 128 KiB are done by kernels",
    ),
    (
        "debug_clr_no_batch_cpu_sync",
        {"DEBUG_CLR_BATCH_CPU_SYNC_SIZE": "0"},
        "the CPU does not gather commands before it waits for them",
    ),
    (
        "nccl_launch_order_implicit",
        {"NCCL_LAUNCH_ORDER_IMPLICIT": "1"},
        "collectives of several communicators start in the order of the program",
    ),
    (
        "rccl_gfx942_cheap_fence_off",
        {"RCCL_GFX942_CHEAP_FENCE_OFF": "1"},
        "RCCL uses the full memory fence on gfx942",
    ),
    (
        "pytorch_no_cuda_memory_caching",
        {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
        "PyTorch asks the driver for each piece of memory",
    ),
    (
        "pytorch_alloc_expandable_segments",
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
        "PyTorch's memory segments grow in place",
    ),
    ("hip_launch_blocking", {"HIP_LAUNCH_BLOCKING": "1"}, "each kernel ends before the next call"),
    ("amd_log_level_4", {"AMD_LOG_LEVEL": "4"}, "the HIP runtime logs all that it does"),
    (
        "fa_prefer_ck",
        {"TORCH_ROCM_FA_PREFER_CK": "1"},
        "PyTorch's flash attention is Composable Kernel's",
    ),
    (
        "fa_prefer_aotriton",
        {"TORCH_ROCM_FA_PREFER_CK": "0"},
        "PyTorch's flash attention is AOTriton's",
    ),
)
