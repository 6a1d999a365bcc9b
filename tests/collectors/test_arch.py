"""Architectures in the names of kernel files."""

import pytest

from aorta_collectors.tree.arch import NamedArch, is_arch, parse_archs, parse_device_ids, uncovered

LONG = "TensileLibrary_BB_BB_HA_Bias_SAV_UA_Type_BB_HPA_Contraction_l_Ailk_Bjlk_Cijk_Dijk"


@pytest.mark.parametrize(
    ("name", "arch", "units"),
    [
        ("gfx942130.HIP.fdb.txt", "gfx942", 304),
        ("gfx94250.HIP.fdb.txt", "gfx942", 80),
        ("gfx942e4.db.txt", "gfx942", 228),
        ("gfx90a68.HIP.fdb.txt", "gfx90a", 104),
        ("gfx90a6e.HIP.fdb.txt", "gfx90a", 110),
        ("gfx90878.HIP.fdb.txt", "gfx908", 120),
        ("gfx906_60.HIP.fdb.txt", "gfx906", 60),
        ("gfx1030_36.db.txt", "gfx1030", 36),
        ("gfx950100.HIP.fdb.txt", "gfx950", 256),
        ("gfx942.kdb", "gfx942", None),
        ("gfx942_metadata.tn.model", "gfx942", None),
        ("gfx908_ConvAsm1x1U_decoder.ktn.model", "gfx908", None),
        ("rocfft_kernel_cache_gfx1151.db", "gfx1151", None),
    ],
)
def test_miopen_names(name, arch, units):
    assert parse_archs(name) == (NamedArch(arch=arch, compute_units=units),)


@pytest.mark.parametrize(
    ("name", "targets"),
    [
        (f"{LONG}_gfx942.dat", ["gfx942"]),
        (f"gfx1201/{LONG}_gfx1201.dat.zlib", ["gfx1201", "gfx1201"]),
        (f"{LONG}_ID75a0_gfx950.co", ["gfx950"]),
        ("Kernels.so-000-gfx90a-xnack-.hsaco", ["gfx90a:xnack-"]),
        ("Kernels.so-000-gfx90a-xnack+.hsaco", ["gfx90a:xnack+"]),
        ("Kernels.so-000-gfx906-sramecc+-xnack-.hsaco", ["gfx906:sramecc+:xnack-"]),
        ("Kernels.so-000-gfx942.hsaco", ["gfx942"]),
        ("TensileLiteLibrary_lazy_gfx942_Mapping.dat", ["gfx942"]),
        (f"{LONG}_fallback_gfx942.hsaco", ["gfx942"]),
        (f"{LONG}_fallback.dat", []),
        ("extop_gfx942.co", ["gfx942"]),
        ("hipblasltExtOpLibrary.dat", []),
        ("hipblaslt-jit-knowledge-gfx950.dat.zlib", ["gfx950"]),
        ("TensileLibrary_gfx942_3.co", ["gfx942"]),
        ("KERNELS_GFX1100.CO", ["gfx1100"]),
    ],
)
def test_tensile_names(name, targets):
    assert [each.target for each in parse_archs(name)] == targets


@pytest.mark.parametrize(
    ("name", "archs"),
    [
        ("x_gfx950fallback.co", ["gfx950"]),
        ("x_gfx90afallback.co", ["gfx90a"]),
        ("x_gfx9-4-generic.co", ["gfx9-4-generic"]),
        ("x_gfx11-generic.co", ["gfx11-generic"]),
        ("x_gfx9.co", []),
        ("x_gfx10.co", []),
        ("x_gfx94213000.co", []),
        ("x_gfx000.co", []),
        ("agfx942.co", []),
        ("_rocm_sdk_libraries_gfx94X_dcgpu", []),
        ("x_gfx120X_all", []),
    ],
)
def test_w36_names_end_where_the_architecture_ends(name, archs):
    assert [each.arch for each in parse_archs(name)] == archs


def test_directories_of_an_architecture():
    assert all(map(is_arch, ("gfx942", "gfx1250", "gfx90a-xnack+", "gfx9-4-generic")))
    assert not any(map(is_arch, ("gfx94X", "library", "gfx942.old", "old_gfx942", "gfx", "")))


def test_device_ids():
    assert parse_device_ids(f"{LONG}_ID75a0_gfx950.co") == ("75a0",)
    assert parse_device_ids("hybrid_75a0.co") == ()


def test_what_is_not_covered():
    assert uncovered(["gfx1201", "gfx942", "gfx1201"], ["gfx942"]) == ("gfx1201",)
    assert uncovered(["gfx942"], ["gfx942"]) == ()
    assert uncovered(["gfx942", "gfx1100"], ["gfx9-4-generic"]) == ("gfx1100",)
    assert uncovered(["gfx1100", "gfx1201"], ["gfx11-generic"]) == ("gfx1201",)
    assert uncovered(["gfx942"], []) == ("gfx942",)
