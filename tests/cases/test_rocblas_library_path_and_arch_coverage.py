"""Which GPUs each catalog covers, whether this one is among them, and what the variable makes of it."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "rocblas-library-path-and-arch-coverage"
VARIABLE = "ROCBLAS_TENSILE_LIBPATH"
SYSTEM = "/opt/rocm/lib/rocblas/library"
SITE = "/venv/lib/python3.12/site-packages"
WHEEL = f"{SITE}/_rocm_sdk_libraries_gfx120X_all/lib"
FILES = {
    "/opt/rocm/.info/version": "6.4.1\n",
    "/opt/rocm/lib/librocblas.so.4": b"\x7fELF",
    f"{SYSTEM}/TensileLibrary_lazy_gfx90a.dat": "",
    f"{SYSTEM}/TensileLibrary_lazy_gfx942.dat": "",
    f"{SYSTEM}/TensileLibrary_lazy_gfx1100.dat": "",
    f"{WHEEL}/librocblas.so.4": b"\x7fELF",
    f"{WHEEL}/rocblas/library/TensileLibrary_lazy_gfx1201.dat": "",
    "/sys/class/kfd/kfd/topology/nodes/1/gpu_id": "4660\n",
    "/sys/class/kfd/kfd/topology/nodes/1/name": "ip discovery\n",
    "/sys/class/kfd/kfd/topology/nodes/1/properties": "simd_count 128\ngfx_target_version 120001\n",
}
ENV = {"LD_LIBRARY_PATH": "/opt/rocm/rocblas/lib:/opt/rocm/lib"}


def run(section, **env):
    interpreter = {"interpreter": {"prefix": "/venv", "base_prefix": "/usr", "path": [SITE]}}
    return collect(FakeHost(files=FILES, env={**ENV, **env}, observed=interpreter), section)


def test_coverage_of_the_system_catalog():
    entry = run("tensile_catalog").value["rocblas"]
    assert entry["menu"]["gfx_arch_coverage"] == ["gfx1100", "gfx90a", "gfx942"]
    assert (entry["dir_source"], entry["uncovered_gpu_archs"]) == ("default", ["gfx1201"])


def test_coverage_of_the_wheel_catalog():
    assert run("rocblas").value["other_libraries"] == [
        {
            "path": f"{WHEEL}/librocblas.so.4",
            "origin": "wheel",
            "kernel_db_dir": f"{WHEEL}/rocblas/library",
            "gfx_arch_coverage": ["gfx1201"],
        }
    ]


def test_a_trailing_slash_names_the_same_directory():
    plain, named = run("tensile_catalog").value, run("tensile_catalog", **{VARIABLE: f"{SYSTEM}/"}).value
    assert (named["rocblas"]["menu"], named["rocblas"]["dir_source"]) == (plain["rocblas"]["menu"], VARIABLE)
    assert named["env_overrides"][VARIABLE] == f"{SYSTEM}/"


def test_a_variable_that_names_nothing():
    result = run("tensile_catalog", **{VARIABLE: "/nonexistent"})
    menu = result.value["rocblas"]["menu"]
    assert (menu["status"], menu["dir"], menu["gfx_arch_coverage"]) == ("partial", "/nonexistent", None)
    assert result.kinds("rocblas.menu") == ["expected"]


@pytest.mark.parametrize("name", ["ROCBLAS_TENSILE_LIBPATH", "HIPBLASLT_TENSILE_LIBPATH"])
def test_both_variables_are_captured(name):
    assert run("env_vars", **{name: "/x"}).value[name] == "/x"
    assert run("tensile_catalog", **{name: "/x"}).value["env_overrides"][name] == "/x"
