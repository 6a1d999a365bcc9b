import re

import pytest

from aorta_collectors.loaded.families import FAMILIES, base_of, family_of


@pytest.mark.parametrize(
    ("file", "family"),
    [
        ("libtorch_hip.so", "torch"),
        ("libtorch_cpu.so", "torch"),
        ("libc10_hip.so", "torch"),
        ("libtorch_global_deps.so", "torch"),
        ("libamdhip64.so.7.2.70200", "hip"),
        ("libamdhip64-1a2b3c4d.so.7", "hip"),
        ("libhiprtc-builtins.so.7", "hiprtc"),
        ("libhsa-runtime64.so.1", "hsa"),
        ("libamd_comgr.so.3", "comgr"),
        ("libamd_comgr_loader.so.1", "comgr"),
        ("librocblas.so.5", "rocblas"),
        ("libhipblas.so", "hipblas"),
        ("libhipblaslt.so.1", "hipblaslt"),
        ("libMIOpen.so.1.0.70200", "miopen"),
        ("librccl.so.1", "rccl"),
        ("libnccl.so.2", "nccl"),
        ("librccl-net.so", "rccl_net_plugin"),
        ("librccl-net-ofi.so", "rccl_net_plugin"),
        ("librccl-anp.so", "rccl_net_plugin"),
        ("libnccl-net.so", "nccl_net_plugin"),
        ("libnccl-net-ofi.so.0", "nccl_net_plugin"),
        ("librccl-tuner.so", "rccl_tuner_plugin"),
        ("libaotriton_v2.so.0.11.1", "aotriton"),
        ("librocm_smi64.so.1", "rocm_smi"),
        ("libamd_smi.so", "amd_smi"),
        ("librocprofiler-sdk.so.1", "rocprofiler"),
        ("librocprofiler-sdk-roctx.so.1", "roctx"),
        ("libroctx64.so.4", "roctx"),
        ("librocsolver.so.0", "rocsolver"),
        ("libdevice_gemm_operations.so.1", "composable_kernel"),
        ("librocm_sysdeps_numa.so.1", "rocm_sysdeps"),
        ("libmpi.so.40", "mpi"),
        ("libmpi_cxx.so.40", "mpi"),
        ("libucp.so.0", "ucx"),
        ("libuct_ib.so.0", "ucx"),
        ("libfabric.so.1", "libfabric"),
        ("libibverbs.so.1", "ibverbs"),
        ("libmlx5-rdmav34.so", "ibverbs"),
        ("libgloo.so", "gloo"),
        ("libcudart-b5a066d7.so.11.0", "cuda"),
        ("libcublasLt.so.12", "cuda"),
        ("libcudnn_ops.so.9", "cuda"),
    ],
)
def test_of_interest(file, family):
    assert family_of(file) == family


@pytest.mark.parametrize(
    "file",
    [
        "libc.so.6",
        "libtorchvision.so",
        "libtorchbind_test.so",
        "librccl.so-000-gfx950.hsaco",
        "librccl.sofa",
        "rccl.so",
        "librccl",
        "",
        "lib.so",
        "libnccl-netting.so",
        "librccl-anpx.so",
        "libdevice__operation.so",
        "libdevice_operations.so",
        "_C.cpython-311-x86_64-linux-gnu.so",
        "libpython3.11.so.1.0",
    ],
)
def test_of_no_interest(file):
    assert family_of(file) is None


def test_what_a_library_is_called():
    assert base_of("librccl.so.1.0.70200") == "rccl"
    assert base_of("libcudart-b5a066d7.so.11.0") == "cudart"
    assert base_of("libhiprtc-builtins.so.7") == "hiprtc-builtins"
    assert base_of("rccl.so") is None


def test_no_name_stands_twice():
    words = [word for names in FAMILIES.values() for word in names.split()]
    assert len(words) == len(set(words))
    assert all(re.fullmatch(r"[a-z0-9_]+", family) for family in FAMILIES)
