"""The tensile and tensile_catalog sections: kernels of hipBLASLt and rocBLAS, by name and by content."""

import errno
import hashlib

import pytest

from aorta.testing import Module, collect
from tests.parts.kernel_trees import FILES, ROOT, host

LT_DIR, RB_DIR = f"{ROOT}/lib/hipblaslt/library", f"{ROOT}/lib/rocblas/library"
LT_VAR, RB_VAR = "HIPBLASLT_TENSILE_LIBPATH", "ROCBLAS_TENSILE_LIBPATH"
KFD = "/sys/class/kfd/kfd/topology"


def catalog(files=None, *, detail="full", digests=None, **world):
    return collect(host(files, **world), "tensile_catalog", detail=detail, digests=digests)


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def content(files):
    return "content-sha256:" + sha(
        "\n".join(f"{name}\tsha256:{sha(text)}" for name, text in sorted(files.items()))
    )


def names(*each):
    return "filenames-sha256:" + sha("\n".join(sorted(each)))


def gpu(version):
    return {
        f"{KFD}/nodes/0/gpu_id": "1\n",
        f"{KFD}/nodes/0/name": "ip discovery\n",
        f"{KFD}/nodes/0/properties": f"simd_count 4\ngfx_target_version {version}\n",
    }


def test_normal():
    value = catalog().value
    menu = value["hipblaslt"]["menu"]
    assert value["status"] == "ok"
    assert value["env_overrides"] == {LT_VAR: None, RB_VAR: None}
    assert value["hipblaslt"]["dir_source"] == "default"
    assert {key: menu[key] for key in menu if key not in ("files", "combined_content_hash")} == {
        "status": "ok",
        "reason": None,
        "dir": LT_DIR,
        "layout": "flat",
        "logic_file_count": 1,
        "file_count": 3,
        "gfx_arch_coverage": ["gfx942"],
        "gfx_targets": ["gfx942"],
        "compute_units": None,
        "device_ids": [],
        "digests": "full",
    }
    assert menu["files"][0] == {
        "name": "Kernels.so-000-gfx942.hsaco",
        "size": 1,
        "suffix": ".hsaco",
        "is_logic": False,
        "sha256": f"sha256:{sha('2')}",
        "identity": None,
    }
    files = {path.removeprefix(f"{LT_DIR}/"): text for path, text in FILES.items() if path.startswith(LT_DIR)}
    assert menu["combined_content_hash"] == content(files)
    assert value["combined"]["kernel_db_combined_hash"] == names(
        "hipblaslt/TensileLibrary_lazy_gfx942.dat",
        "hipblaslt/extop_gfx942.co",
        "rocblas/TensileLibrary_lazy_gfx90a.dat",
    )
    assert "menu" in value["doc"] and "run time" in value["doc"]


def test_compact_keeps_counts_and_digests():
    full, compact = catalog().value, catalog(detail="compact").value
    for library in ("hipblaslt", "rocblas"):
        assert compact[library]["menu"].pop("files") is None
        assert full[library]["menu"].pop("files")
    assert compact == full


def test_an_empty_host_is_absent_and_not_partial():
    result = catalog(root=False)
    assert result.record.status == "ok"
    assert set(result.kinds()) == {"absent"}
    assert [result.value[key]["menu"]["status"] for key in ("hipblaslt", "rocblas")] == ["absent"] * 2
    assert result.value["status"] == "absent"
    assert result.value["hipblaslt"]["menu"]["gfx_arch_coverage"] is None
    assert {"hipblaslt.menu", "rocblas.menu", "hipblaslt.uncovered_gpu_archs"} <= {
        reason.field for reason in result.reasons
    }


def test_one_of_two_is_partial():
    files = {path: None for path in FILES if "rocblas" in path}
    value = catalog(files).value
    assert (value["status"], value["rocblas"]["menu"]["status"]) == ("partial", "absent")


def test_an_empty_directory_is_ok():
    files = {path: None for path in FILES if path.startswith(LT_DIR)}
    result = catalog(files, dirs=[LT_DIR])
    menu = result.value["hipblaslt"]["menu"]
    assert (menu["status"], menu["file_count"], menu["logic_file_count"]) == ("ok", 0, 0)
    assert (menu["gfx_arch_coverage"], menu["layout"], menu["files"]) == ([], None, [])
    assert result.value["hipblaslt"]["kernel_db_revision"] is None


def test_m27_the_variable_is_followed_and_said():
    mine = "/scratch/kernels"
    result = catalog({f"{mine}/TensileLibrary_lazy_gfx950.dat": "own"}, env={LT_VAR: f"{mine}//"})
    value = result.value
    assert value["env_overrides"][LT_VAR] == f"{mine}//"
    assert (value["hipblaslt"]["dir_source"], value["rocblas"]["dir_source"]) == (LT_VAR, "default")
    assert value["hipblaslt"]["menu"]["dir"] == mine
    assert value["hipblaslt"]["menu"]["gfx_arch_coverage"] == ["gfx950"]
    assert value["hipblaslt"]["kernel_db_revision"] == names("TensileLibrary_lazy_gfx950.dat")
    assert value["combined"]["kernel_db_combined_hash"] == names(
        "hipblaslt/TensileLibrary_lazy_gfx950.dat", "rocblas/TensileLibrary_lazy_gfx90a.dat"
    )


def test_the_installed_kernels_stay_what_the_library_section_is_of():
    fake = host({"/k/TensileLibrary_lazy_gfx950.dat": ""}, env={LT_VAR: "/k"})
    assert collect(fake, "hipblaslt").value["kernel_db_dir"] == LT_DIR


@pytest.mark.parametrize(
    ("value", "files", "words"),
    [
        ("/nonexistent", {}, "names /nonexistent, which is not there"),
        ("", {}, "is set to nothing"),
        ("/a:/b", {"/a/x_gfx942.dat": "", "/b/x_gfx942.dat": ""}, "one directory, not a list"),
        ("/a/file", {"/a/file": ""}, "a file, no directory"),
    ],
)
def test_a_variable_that_leads_nowhere(value, files, words):
    result = catalog(files, env={RB_VAR: value})
    entry = result.value["rocblas"]
    assert entry["dir_source"] == RB_VAR
    assert (entry["menu"]["status"], entry["kernel_db_revision"]) == ("partial", None)
    assert words in entry["menu"]["reason"]
    assert entry["menu"]["dir"] == (value or None)
    assert result.kinds("rocblas.menu") == ["expected"]
    assert result.value["status"] == "partial"
    assert result.value["combined"]["kernel_db_combined_hash"] is None


def test_w2_a_variable_below_a_locked_directory():
    result = catalog(locked=["/locked"], env={LT_VAR: "/locked/kernels"})
    assert result.record.status == "partial"
    assert result.kinds("hipblaslt.menu") == ["denied"]
    assert LT_VAR in result.value["hipblaslt"]["menu"]["reason"]
    assert result.value["rocblas"]["menu"]["status"] == "ok"


def test_a_relative_variable_counts_from_the_working_directory():
    result = catalog(
        {"/job/kernels/x_gfx942.dat": ""}, env={LT_VAR: "kernels"}, links={"/proc/self/cwd": "/job"}
    )
    assert result.value["hipblaslt"]["menu"]["dir"] == "/job/kernels"
    assert result.value["env_overrides"][LT_VAR] == "kernels"
    gone = catalog(env={LT_VAR: "kernels"}, links={"/proc/self/cwd": "/job (deleted)"})
    assert gone.kinds("hipblaslt.menu") == ["expected"]
    unknown = catalog(env={LT_VAR: "kernels"})
    assert unknown.kinds("hipblaslt.menu") == ["blocked"]


def test_nested_and_compressed():
    files = {path: None for path in FILES if path.startswith(LT_DIR)}
    files |= {
        f"{LT_DIR}/gfx950/TensileLibrary_lazy_gfx950.dat": "a",
        f"{LT_DIR}/gfx1250/TensileLibrary_lazy_gfx1250.dat.zlib": "b",
        f"{LT_DIR}/gfx1250/Kernels.so-000-gfx1250.hsaco": "c",
        f"{LT_DIR}/TensileManifest.txt": "list",
        f"{LT_DIR}/other/x.dat": "not looked at",
        f"{LT_DIR}/gfx1250/deeper/x.dat": "not looked at",
        f"{LT_DIR}/README.md": "no member",
    }
    menu = catalog(files).value["hipblaslt"]["menu"]
    assert (menu["layout"], menu["gfx_arch_coverage"]) == ("nested", ["gfx1250", "gfx950"])
    assert (menu["file_count"], menu["logic_file_count"]) == (4, 2)
    assert {file["name"]: file["suffix"] for file in menu["files"]} == {
        "TensileManifest.txt": ".txt",
        "gfx1250/Kernels.so-000-gfx1250.hsaco": ".hsaco",
        "gfx1250/TensileLibrary_lazy_gfx1250.dat.zlib": ".dat.zlib",
        "gfx950/TensileLibrary_lazy_gfx950.dat": ".dat",
    }
    mixed = catalog({**files, f"{LT_DIR}/TensileLibrary_lazy_gfx90a.dat": "d"}).value["hipblaslt"]["menu"]
    assert mixed["layout"] == "mixed"


def test_targets_and_devices():
    files = {
        f"{RB_DIR}/Kernels.so-000-gfx90a-xnack+.hsaco": "",
        f"{RB_DIR}/Kernels.so-000-gfx90a-xnack-.hsaco": "",
        f"{RB_DIR}/TensileLibrary_x_ID75a0_gfx950.co": "",
    }
    menu = catalog(files).value["rocblas"]["menu"]
    assert menu["gfx_arch_coverage"] == ["gfx90a", "gfx950"]
    assert menu["gfx_targets"] == ["gfx90a", "gfx90a:xnack+", "gfx90a:xnack-", "gfx950"]
    assert menu["device_ids"] == ["75a0"]


def test_a_dangling_link_and_a_denied_file_stay_visible():
    result = catalog(
        {f"{LT_DIR}/denied_gfx942.dat": errno.EACCES}, links={f"{LT_DIR}/gone_gfx942.co": "/nowhere"}
    )
    menu = result.value["hipblaslt"]["menu"]
    listed = {file["name"]: file["sha256"] for file in menu["files"]}
    assert listed["denied_gfx942.dat"] is None
    assert listed["gone_gfx942.co"] is None
    assert (menu["file_count"], menu["status"], menu["combined_content_hash"]) == (5, "partial", None)
    assert result.kinds("hipblaslt.menu.combined_content_hash") == ["denied"]
    assert "denied_gfx942.dat" in menu["reason"]


def test_a_part_of_a_listing_is_not_the_whole():
    result = catalog(locked=[f"{LT_DIR}/gfx950"])
    menu = result.value["hipblaslt"]["menu"]
    for key in ("combined_content_hash", "file_count", "logic_file_count", "gfx_arch_coverage", "layout"):
        assert menu[key] is None, key
    assert menu["status"] == "partial"
    assert len(menu["files"]) == 3
    assert result.kinds("hipblaslt.menu") == ["denied"]
    assert result.value["combined"]["kernel_db_combined_hash"] is None


def test_digests_by_identity():
    menu = catalog(digests="identity").value["hipblaslt"]["menu"]
    assert menu["digests"] == "identity"
    assert menu["combined_content_hash"].startswith("content-identity-sha256:")
    assert all(file["sha256"] is None and file["identity"].startswith("identity:") for file in menu["files"])


def test_no_digests_wanted():
    result = catalog(digests="none")
    menu = result.value["hipblaslt"]["menu"]
    assert (menu["digests"], menu["status"], menu["reason"]) == ("none", "ok", None)
    assert (menu["file_count"], menu["combined_content_hash"]) == (3, None)
    assert result.kinds("hipblaslt.menu.combined_content_hash") == ["not_requested"]
    assert result.record.status == "ok"


def test_whether_the_gpu_is_covered():
    assert catalog(gpu(90402)).value["hipblaslt"]["uncovered_gpu_archs"] == []
    value = catalog(gpu(120001)).value
    assert value["hipblaslt"]["uncovered_gpu_archs"] == ["gfx1201"]
    assert value["rocblas"]["uncovered_gpu_archs"] == ["gfx1201"]
    overridden = catalog(gpu(100301), env={"HSA_OVERRIDE_GFX_VERSION": "10.3.0"})
    assert overridden.value["rocblas"]["uncovered_gpu_archs"] is None
    assert overridden.kinds("rocblas.uncovered_gpu_archs") == ["unsupported"]
    assert catalog(gpu(90402), env={LT_VAR: "/none"}).kinds("hipblaslt.uncovered_gpu_archs") == ["blocked"]


def test_an_unseen_root_is_not_absent():
    result = catalog(locked=["/opt"], root=False)
    assert result.value["status"] == "partial"
    assert result.kinds("hipblaslt.menu") == ["denied"]


# The tensile section


def tensile(files=None, **world):
    return collect(host(files, **world), "tensile")


def test_tensile_package_from_its_metadata():
    assert tensile(distributions={"Tensile": "4.43.0"}).value["package_version"] == "4.43.0"


def test_tensile_package_from_its_text_never_imported():
    place = "/site/Tensile/__init__.py"
    module = {"Tensile": Module(name="Tensile", origin=place, locations=("/site/Tensile",))}
    assert tensile({place: '__version__ = "4.33.0"\n'}, modules=module).value["package_version"] == "4.33.0"
    assert tensile({place: "import os\n"}, modules=module).kinds("package_version") == ["unparsed"]
    assert tensile({place: errno.EACCES}, modules=module).kinds("package_version") == ["denied"]
    assert tensile().kinds("package_version") == ["absent"]


def test_tensile_names_of_both_libraries():
    value = tensile().value["kernel_db_combined_hash"]
    assert value == catalog().value["combined"]["kernel_db_combined_hash"]
    only = tensile({path: None for path in FILES if "rocblas" in path}).value
    assert only["kernel_db_combined_hash"] == names(
        "hipblaslt/TensileLibrary_lazy_gfx942.dat", "hipblaslt/extop_gfx942.co"
    )


def test_tensile_without_names():
    empty = tensile({path: None for path in FILES if "/library/" in path}, dirs=[LT_DIR, RB_DIR])
    assert empty.value["kernel_db_combined_hash"] is None
    assert empty.kinds("kernel_db_combined_hash") == ["absent"]
    denied = tensile(locked=[RB_DIR])
    assert denied.kinds("kernel_db_combined_hash") == ["denied"]
