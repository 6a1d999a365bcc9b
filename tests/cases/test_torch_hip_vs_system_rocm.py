"""torch brings ROCm libraries of its own beside an older installed ROCm: both are told, and which one counts."""

import pytest

from aorta.testing import collect
from tests.parts.torch_builds import LIB, ROCM, host

CASE = "torch-hip-vs-system-rocm"
HIP, VERSION = "7.0.51831-a3e329ad8", "2.9.0a0+gitb425573"
BUNDLED = ("libamdhip64.so", "librccl.so", "libhipblaslt.so")
FILES = {
    "/opt/rocm/.info/version": "6.4.1-83\n",
    "/opt/rocm/lib/libhipblaslt.so.0": b"\x7fELF system",
    **{f"{LIB}/{name}": b"\x7fELF torch" for name in BUNDLED},
}
MAPPED = [
    f"7f0000000000-7f0000001000 r-xp 00000000 08:01 {number} {LIB}/{name}"
    for number, name in enumerate(BUNDLED, 1)
]
PARTS = {**ROCM, "version": VERSION, "hip": HIP, "rocm": None, "mapped": MAPPED}


def section(name):
    return collect(host(PARTS, files=FILES, metadata=VERSION), name).value


def test_both_are_told_and_neither_fills_the_other():
    assert section("rocm")["version"].startswith("6.4.1")
    build = section("pytorch_build")
    assert (build["hip_version"], build["rocm_version"], build["rocm_local"]) == (HIP, None, None)
    assert (build["version"], build["git_local"], build["lib_dir"]) == (VERSION, "b425573", LIB)


def test_the_installed_library_names_the_other_one():
    value = section("hipblaslt")
    assert value["lib_path"] == "/opt/rocm/lib/libhipblaslt.so.0"
    others = [(other["path"], other["origin"]) for other in value["other_libraries"]]
    assert others == [(f"{LIB}/libhipblaslt.so", "torch")]


@pytest.mark.parametrize("name", BUNDLED)
def test_what_an_import_of_torch_maps_is_what_it_brings(name):
    (found,) = [each for each in section("loaded_libraries") if each["path"] == f"{LIB}/{name}"]
    assert (found["origin"], found["basis"]) == ("torch_bundled", "observed")
