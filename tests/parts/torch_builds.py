"""Made-up builds of torch as a fake host has them: report, version file, libraries."""

from aorta.testing import Distribution, FakeHost, torch_report

SITE = "/venv/lib/python3.12/site-packages"
PACKAGE = f"{SITE}/torch"
LIB = f"{PACKAGE}/lib"
FLAGS = "-D_GLIBCXX_USE_CXX11_ABI=1 -DNDEBUG -DUSE_KINETO -DLIBKINETO_NOXPUPTI=ON -DUSE_FBGEMM -O2 -Wall"

#: The configuration text of a build for ROCm.
CONFIG = f"""PyTorch built with:
  - GCC 11.2
  - C++ Version: 201703
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - CPU capability usage: AVX512
  - HIP Runtime 7.2.26015
  - ROCm 7.2.0
  - MIOpen 3.5.1
  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, CXX_COMPILER=/opt/rh/bin/c++, CXX_FLAGS= {FLAGS}, \
LAPACK_INFO=mkl, TORCH_VERSION=2.9.1, USE_CUDA=OFF, USE_CUDNN=OFF, USE_MKL=ON, USE_NCCL=1, USE_ROCM=ON, \

"""
#: The same of a build for CPUs.
CPU_CONFIG = """PyTorch built with:
  - GCC 13.3
  - CPU capability usage: AVX2
  - Build settings: BUILD_TYPE=Release, CXX_FLAGS= -DNDEBUG, TORCH_VERSION=2.9.1, USE_CUDA=0, USE_ROCM=OFF, \

"""
VERSION = "2.9.1+rocm7.2.0.git7e1940d4"
COMMIT = "7e1940d4e10fcd2ec2dfc2f52965403a2e645444"
HIP = "7.2.26015-fc0010cf6a"
ROCM = {
    "version": VERSION,
    "git_version": COMMIT,
    "hip": HIP,
    "cuda": None,
    "rocm": "7.2.0",
    "debug": False,
    "file": f"{PACKAGE}/__init__.py",
    "config": CONFIG,
    "arch_flags": "gfx942 gfx950",
    "flash_sdp_enabled": True,
    "mem_efficient_sdp_enabled": True,
    "math_sdp_enabled": False,
    "cudnn_sdp_enabled": True,
}
CPU = {
    **ROCM,
    "version": "2.9.1+cpu",
    "hip": None,
    "rocm": None,
    "config": CPU_CONFIG,
    "arch_flags": None,
}


def version_file(version, **others):
    """Return the text of a ``torch/version.py``."""
    lines = [f"__version__ = {version!r}", "debug = False", f"git_version = {COMMIT!r}"]
    lines += [f"{name}: Optional[str] = {value!r}" for name, value in others.items()]
    return "\n".join(["from typing import Optional", "", *lines, ""])


def host(parts=None, *, end=None, files=None, metadata=VERSION, observed=True, dirs=(LIB,), **world):
    """Return a host with a torch that tells ``parts``; ``end`` are fields of the report of its import."""
    report = {**torch_report(**(ROCM if parts is None else parts)), **(end or {})}
    found = {f"{PACKAGE}/version.py": "", **(files or {})}
    distributions = {}
    if metadata is not None:
        path = f"{SITE}/torch-{metadata}.dist-info"
        distributions = {"torch": Distribution(name="torch", version=metadata, path=path)}
    return FakeHost(
        files=found,
        dirs=list(dirs),
        modules={"torch": f"{PACKAGE}/__init__.py"},
        distributions={**distributions, **world.pop("distributions", {})},
        observed={"torch": report} if observed else {},
        **world,
    )
