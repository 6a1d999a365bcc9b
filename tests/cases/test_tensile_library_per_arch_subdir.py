"""Kernel files one directory deeper, some compressed, are found, counted and told as such."""

from aorta.testing import FakeHost, Module, collect

CASE = "tensile-library-per-arch-subdir"
SITE = "/venv/lib/python3.12/site-packages"
LIBRARY = f"{SITE}/_rocm_sdk_libraries/lib/hipblaslt/library"
WORLD = {
    f"{SITE}/_rocm_sdk_core/.info/version": "7.13.0\n",
    f"{SITE}/_rocm_sdk_core/lib/libamdhip64.so.7": b"\x7fELF",
    f"{SITE}/_rocm_sdk_libraries/lib/libhipblaslt.so.1": b"\x7fELF",
    f"{LIBRARY}/gfx950/TensileLibrary_lazy_gfx950.dat": "a",
    f"{LIBRARY}/gfx1250/TensileLibrary_lazy_gfx1250.dat.zlib": "b",
    f"{LIBRARY}/gfx1250/Kernels.so-000-gfx1250.hsaco": "c",
}


def run(section, files=WORLD):
    module = Module(name="_rocm_sdk_core", locations=(f"{SITE}/_rocm_sdk_core",))
    return collect(FakeHost(files=files, modules={"_rocm_sdk_core": module}), section).value


def test_the_library_is_there():
    value = run("hipblaslt")
    assert value["kernel_db_dir"] == LIBRARY
    assert value["kernel_db_revision"].startswith("filenames-sha256:")


def test_layout_and_coverage_are_told():
    menu = run("tensile_catalog")["hipblaslt"]["menu"]
    assert set(menu["gfx_arch_coverage"]) == {"gfx950", "gfx1250"}
    assert (menu["layout"], menu["logic_file_count"], menu["file_count"]) == ("nested", 2, 3)
    assert menu["combined_content_hash"].startswith("content-sha256:")


def test_a_compressed_file_counts_for_the_revision():
    without = {path: text for path, text in WORLD.items() if not path.endswith(".zlib")}
    assert run("hipblaslt", without)["kernel_db_revision"] != run("hipblaslt")["kernel_db_revision"]


def test_the_flat_place_is_told_apart():
    flat = {path.replace("/gfx950/", "/").replace("/gfx1250/", "/"): text for path, text in WORLD.items()}
    assert run("tensile_catalog", flat)["hipblaslt"]["menu"]["layout"] == "flat"
