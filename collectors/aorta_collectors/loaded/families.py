"""Which libraries are of interest, by the names of their files: ROCm's, torch's and those of collectives."""

import functools

#: Names without ``lib`` and ``.so``, by family; an asterisk stands for any text.
FAMILIES = {
    "torch": "torch torch_* c10 c10_* shm caffe2_*",
    "hip": "amdhip64",
    "hiprtc": "hiprtc hiprtc-builtins",
    "hsa": "hsa-runtime64 hsakmt",
    "comgr": "amd_comgr amd_comgr_*",
    "opencl": "amdocl64",
    "rocblas": "rocblas",
    "hipblas": "hipblas",
    "hipblaslt": "hipblaslt",
    "rocsolver": "rocsolver",
    "hipsolver": "hipsolver",
    "rocsparse": "rocsparse",
    "hipsparse": "hipsparse",
    "hipsparselt": "hipsparselt",
    "rocfft": "rocfft rocfft-device-*",
    "hipfft": "hipfft hipfftw",
    "rocrand": "rocrand",
    "hiprand": "hiprand",
    "rocalution": "rocalution rocalution_*",
    "hiptensor": "hiptensor",
    "hipdnn": "hipdnn hipdnn_*",
    "hipfile": "hipfile",
    "rocroller": "rocroller",
    "rocshmem": "rocshmem",
    "miopen": "MIOpen",
    "migraphx": "migraphx migraphx_*",
    "composable_kernel": "device_*_operations",
    "aotriton": "aotriton aotriton_*",
    "rccl": "rccl",
    "rccl_net_plugin": "rccl-net rccl-net-* rccl-anp rccl-anp-*",
    "rccl_tuner_plugin": "rccl-tuner rccl-tuner-*",
    "rccl_profiler_plugin": "rccl-profiler rccl-profiler-*",
    "nccl": "nccl",
    "nccl_net_plugin": "nccl-net nccl-net-*",
    "nccl_tuner_plugin": "nccl-tuner nccl-tuner-*",
    "nccl_profiler_plugin": "nccl-profiler nccl-profiler-*",
    "mscclpp": "mscclpp mscclpp_*",
    "nvshmem": "nvshmem nvshmem_*",
    "rocm_smi": "rocm_smi64 oam",
    "amd_smi": "amd_smi",
    "rocm_core": "rocm-core",
    "rocprofiler": "rocprofiler64 rocprofiler-* roctracer64 hsa-amd-aqlprofile64",
    "roctx": "roctx64 rocprofiler-sdk-roctx",
    "rocm_sysdeps": "rocm_sysdeps_*",
    "magma": "magma magma_*",
    "mpi": "mpi mpi_* mpich mpich_* mpicxx open-rte open-pal pmix",
    "ucx": "ucp uct ucs ucm uct_* ucs_* ucm_*",
    "ucc": "ucc ucc_*",
    "libfabric": "fabric",
    "ibverbs": "ibverbs rdmacm efa mlx4 mlx5 bnxt_re ionic *-rdmav*",
    "gloo": "gloo gloo_*",
    "openmp": "gomp iomp5 omp",
    "cuda": "cuda cudart cublas cublasLt cudnn cudnn_* cufft cufftw curand cusolver cusolverMg cusparse"
    " cusparseLt cupti nvrtc nvrtc-builtins nvJitLink nvToolsExt cufile cufile_rdma nvidia-ml",
}

_HEXADECIMAL = frozenset("0123456789abcdef")


@functools.cache
def _tables() -> tuple[dict[str, str], list[tuple[list[str], str]]]:
    """Return the families of whole names, and those of names with an asterisk, the longest first."""
    words = [(word, family) for family, names in FAMILIES.items() for word in names.split()]
    open_ones = [(word.split("*"), family) for word, family in words if "*" in word]
    open_ones.sort(key=lambda pair: -sum(map(len, pair[0])))
    return {word: family for word, family in words if "*" not in word}, open_ones


def family_of(file: str) -> str | None:
    """Return the family of a library's file name, None for one that is not of interest.

    ``librccl.so.1.0.70200`` is of rccl, and so is ``librccl-1a2b3c4d.so.1``, as wheels rename their own.
    """
    name = base_of(file)
    if name is None:
        return None
    whole, open_ones = _tables()
    found = whole.get(name)
    return found or next((family for parts, family in open_ones if _fits(name, parts)), None)


def base_of(file: str) -> str | None:
    """Return what a library is called: its file name without ``lib``, ``.so`` and what follows, or None."""
    stem, dot, rest = file.partition(".so")
    if not dot or not stem.startswith("lib") or (rest and not rest.startswith(".")):
        return None
    name, dash, digits = stem.removeprefix("lib").rpartition("-")
    return name if dash and len(digits) == 8 and _HEXADECIMAL.issuperset(digits) else stem[3:]


def _fits(name: str, parts: list[str]) -> bool:
    """Tell whether a name holds these parts in order: the first at its start, the last at its end."""
    first, *middle, last = parts
    if not (name.startswith(first) and name.endswith(last) and len(name) > len(first) + len(last)):
        return False
    return all(part in name[len(first) : len(name) - len(last)] for part in middle)
