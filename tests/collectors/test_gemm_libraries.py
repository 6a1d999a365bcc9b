"""The hipblaslt and rocblas sections, which are of one kind."""

import errno
import hashlib
import json

import pytest

from aorta.testing import Module, collect
from aorta_collectors.tree.gemm import matches, version_code
from tests.parts.kernel_trees import ELF, FILES, LT, RB, ROOT, header, host

PIN = "416eae89dcee3fb1e0c434f795edcf8cef40a80d"
MANIFEST = f"{ROOT}/share/therock/therock_manifest.json"


def sha(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def names(*each):
    return "filenames-sha256:" + hashlib.sha256("\n".join(sorted(each)).encode()).hexdigest()


def run(section="hipblaslt", files=None, **world):
    return collect(host(files, **world), section)


def test_normal():
    result = run()
    assert result.value == {
        "rocm_release_tweak": "dabb6df2b9",
        "tweak_dirty": False,
        "package_version": "1.2.1",
        "version_code": 100201,
        "header_path": LT,
        "lib_path": f"{ROOT}/lib/libhipblaslt.so.1.2.70200",
        "lib_hash": sha(ELF + b"lt"),
        "kernel_db_dir": f"{ROOT}/lib/hipblaslt/library",
        "kernel_db_revision": names("TensileLibrary_lazy_gfx942.dat", "extop_gfx942.co"),
        "upstream_commit": None,
        "upstream_commit_matches_tweak": None,
        "applied_prs": {},
        "other_libraries": [],
    }
    assert [(reason.field, reason.kind) for reason in result.reasons] == [
        ("upstream_commit", "absent"),
        ("upstream_commit_matches_tweak", "absent"),
    ]
    value = run("rocblas").value
    assert (value["package_version"], value["lib_hash"]) == ("5.2.0", sha(ELF + b"rb"))
    assert value["kernel_db_revision"] == names("TensileLibrary_lazy_gfx90a.dat")


@pytest.mark.parametrize("section", ["hipblaslt", "rocblas"])
def test_an_empty_host_has_none_and_is_not_partial(section):
    result = run(section, root=False)
    assert result.record.status == "ok"
    assert set(result.kinds()) == {"absent"}
    assert all(value is None for key, value in result.value.items() if key != "other_libraries")
    assert {reason.field for reason in result.reasons} == {
        name for name, value in result.value.items() if value is None
    }


@pytest.mark.parametrize(
    ("text", "version", "tweak"),
    [
        (header("ROCBLAS", "2.44.0", "4a92c6f1-dirty"), "2.44.0", "4a92c6f1-dirty"),
        (
            header("ROCBLAS", "3.1.0", "b80e4220-dirty") + "#define ROCBLAS_VERSION_COMMIT_ID   \n\n#endif\n",
            "3.1.0",
            "b80e4220-dirty",
        ),
        (header("ROCBLAS", "5.2.0", "0"), "5.2.0", "0"),
        (header("ROCBLAS", "5.2.0", "12345678"), "5.2.0", "12345678"),
        (header("ROCBLAS", "4.2.0", "1234e567"), "4.2.0", "1234e567"),
        (header("ROCBLAS", "4.2.0", '"cbc1e5e"').replace("\n", "\r\n"), "4.2.0", "cbc1e5e"),
    ],
)
def test_tweaks_are_text(text, version, tweak):
    value = run("rocblas", {RB: text}).value
    assert (value["package_version"], value["rocm_release_tweak"]) == (version, tweak)
    assert value["tweak_dirty"] is tweak.endswith("-dirty")


def test_w21_define_in_comment():
    text = "/* #define HIPBLASLT_VERSION_TWEAK old */\n// #define HIPBLASLT_VERSION_MAJOR 9\n" + header(
        "HIPBLASLT"
    )
    value = run(files={LT: text}).value
    assert (value["package_version"], value["rocm_release_tweak"]) == ("1.2.1", "dabb6df2b9")


def test_w21_empty_define_takes_nothing_from_the_next_line():
    result = run(files={LT: header("HIPBLASLT", tweak="") + "extern int x;\n"})
    assert result.value["rocm_release_tweak"] is None
    assert result.value["package_version"] == "1.2.1"
    assert result.kinds("rocm_release_tweak") == ["absent"]


def test_a_header_without_version_is_not_read():
    result = run(files={LT: "#pragma once\n"})
    assert result.value["package_version"] is None
    assert result.value["header_path"] == LT
    assert result.kinds("package_version") == ["unparsed"]


def test_older_places_of_the_header():
    old = f"{ROOT}/include/rocblas/rocblas-version.h"
    value = run("rocblas", {RB: None, old: header("ROCBLAS", "2.40.0")}).value
    assert (value["package_version"], value["header_path"]) == ("2.40.0", old)
    forwarding = run("rocblas", {RB: "#include <x>\n", old: header("ROCBLAS", "2.40.0")}).value
    assert (forwarding["package_version"], forwarding["header_path"]) == ("2.40.0", old)


def test_denied_files_are_denied():
    result = run(
        files={
            LT: errno.EACCES,
            f"{ROOT}/lib/libhipblaslt.so.1.2.70200": errno.EACCES,
        },
        locked=[f"{ROOT}/lib/hipblaslt/library"],
    )
    for field in ("package_version", "rocm_release_tweak", "lib_path", "lib_hash", "kernel_db_revision"):
        assert result.value[field] is None
        assert result.kinds(field) == ["denied"], field


def test_a_root_that_cannot_be_seen_is_not_absent():
    result = run(root=False, files={"/opt": errno.EACCES})
    assert "denied" in result.kinds("lib_hash")
    assert "absent" not in result.kinds("lib_hash")


def test_a_database_that_does_not_list_in_full_has_no_digest():
    library = f"{ROOT}/lib/hipblaslt/library"
    result = run(locked=[f"{library}/gfx950"])
    assert result.value["kernel_db_revision"] is None
    assert result.kinds("kernel_db_revision") == ["denied"]


def test_a_library_without_its_kernels_is_told():
    files = {path: None for path in FILES if "/hipblaslt/library/" in path}
    result = run(files=files)
    assert result.kinds("kernel_db_revision") == ["expected"]
    assert result.value["kernel_db_dir"] is None


def test_an_empty_database_has_no_digest():
    files = {path: None for path in FILES if "/hipblaslt/library/" in path}
    result = run(files=files, dirs=[f"{ROOT}/lib/hipblaslt/library"])
    assert result.value["kernel_db_revision"] is None
    assert result.value["kernel_db_dir"] == f"{ROOT}/lib/hipblaslt/library"
    assert result.kinds("kernel_db_revision") == ["absent"]


def test_a_file_in_the_place_of_the_database():
    files = {path: None for path in FILES if "/hipblaslt/library/" in path}
    result = run(files={**files, f"{ROOT}/lib/hipblaslt/library": "x"})
    assert result.kinds("kernel_db_revision") == ["expected"]


def test_upstream_commit():
    manifest = json.dumps({"submodules": [{"submodule_name": "rocm-libraries", "pin_sha": PIN}]})
    value = run(files={MANIFEST: manifest}).value
    assert (value["upstream_commit"], value["upstream_commit_matches_tweak"]) == (PIN, False)
    same = run(files={MANIFEST: manifest, LT: header("HIPBLASLT", tweak=PIN[:10])}).value
    assert same["upstream_commit_matches_tweak"] is True
    null = run(files={MANIFEST: '{"submodules": [{"submodule_name": "rocm-libraries", "pin_sha": null}]}'})
    assert null.value["upstream_commit"] is None
    assert null.kinds("upstream_commit") == ["absent"]
    broken = run(files={MANIFEST: "{"})
    assert broken.kinds("upstream_commit") == ["unparsed"]


def test_matching():
    assert matches(PIN, PIN[:7].upper()) is True
    assert matches(PIN, "d1b517fc7a") is False
    for tweak in (None, "0", PIN[:8] + "-dirty", PIN, "416eae"):
        assert matches(PIN, tweak) is None
    assert matches(None, "d1b517fc7a") is None


def test_version_codes():
    assert [version_code(text) for text in ("0.8.0", "0.15.0", "1.0.0")] == [800, 1500, 100000]


def test_w13_the_section_is_of_the_root_and_names_the_copy_in_torch():
    site = "/venv/lib/python3.12/site-packages"
    library = f"{site}/torch/lib/hipblaslt/library"
    result = run(
        files={
            f"{site}/torch/__init__.py": "",
            f"{site}/torch/lib/libhipblaslt.so": ELF + b"torch",
            f"{library}/TensileLibrary_lazy_gfx90a.dat": "",
            "/extra/libhipblaslt.so.1": ELF + b"extra",
        },
        modules={"torch": f"{site}/torch/__init__.py"},
        env={"LD_LIBRARY_PATH": f"/extra:{ROOT}/lib"},
    )
    assert result.value["lib_hash"] == sha(ELF + b"lt")
    assert result.value["other_libraries"] == [
        {
            "path": "/extra/libhipblaslt.so.1",
            "origin": "LD_LIBRARY_PATH",
            "kernel_db_dir": None,
            "gfx_arch_coverage": None,
        },
        {
            "path": f"{site}/torch/lib/libhipblaslt.so",
            "origin": "torch",
            "kernel_db_dir": library,
            "gfx_arch_coverage": ["gfx90a"],
        },
    ]


def test_hidden_copies_are_told():
    result = run(files={"/extra": errno.EACCES}, env={"LD_LIBRARY_PATH": "/extra"})
    assert result.value["other_libraries"] is None
    assert result.kinds("other_libraries") == ["denied"]
    asked = run(files={"/etc/ld.so.conf.d/x.conf": "/hidden\n", "/hidden": errno.EACCES})
    assert asked.value["other_libraries"] == []


SITE = "/venv/lib/python3.12/site-packages"
WHEEL = f"{SITE}/_rocm_sdk_libraries_gfx94X_dcgpu"
WHEELS = {
    f"{SITE}/_rocm_sdk_core/.info/version": "7.13.0\n",
    f"{SITE}/_rocm_sdk_core/lib/libamdhip64.so.7": ELF,
    f"{WHEEL}/lib/libhipblaslt.so.1": ELF + b"wheel",
    f"{WHEEL}/lib/hipblaslt/library/gfx942/TensileLibrary_lazy_gfx942.dat.zlib": "",
}
CORE = {"_rocm_sdk_core": Module(name="_rocm_sdk_core", locations=(f"{SITE}/_rocm_sdk_core",))}


def test_w22_libraries_of_a_gpu_family():
    value = run(files=WHEELS, root=False, modules=CORE).value
    assert value["lib_path"] == f"{WHEEL}/lib/libhipblaslt.so.1"
    assert value["lib_hash"] == sha(ELF + b"wheel")
    assert value["kernel_db_dir"] == f"{WHEEL}/lib/hipblaslt/library"
    assert value["kernel_db_revision"] == names("gfx942/TensileLibrary_lazy_gfx942.dat.zlib")
    assert value["other_libraries"] == []


def test_w22_a_second_family_is_another_copy():
    other = f"{SITE}/_rocm_sdk_libraries_gfx950_dcgpu/lib"
    more = {
        f"{other}/libhipblaslt.so.1": ELF + b"950",
        f"{other}/hipblaslt/library/gfx950/TensileLibrary_lazy_gfx950.dat": "",
    }
    value = run(files={**WHEELS, **more}, root=False, modules=CORE).value
    assert value["other_libraries"] == [
        {
            "path": f"{other}/libhipblaslt.so.1",
            "origin": "wheel",
            "kernel_db_dir": f"{other}/hipblaslt/library",
            "gfx_arch_coverage": ["gfx950"],
        }
    ]


def test_debian_puts_a_version_between():
    lib = "/usr/lib/x86_64-linux-gnu"
    value = run(
        "rocblas",
        root=False,
        files={
            "/usr/share/hip/version": "HIP_VERSION_MAJOR=5\n",
            f"{lib}/librocblas.so.0": ELF + b"deb",
            "/usr/include/rocblas/internal/rocblas-version.h": header("ROCBLAS", "2.47.0"),
            f"{lib}/rocblas/2.47.0/library/TensileLibrary_lazy_gfx90a.dat": "",
            f"{lib}/rocblas/2.9.0/library/TensileLibrary_lazy_gfx803.dat": "",
            f"{lib}/rocblas/notes/library/TensileLibrary_lazy_gfx803.dat": "",
        },
    ).value
    assert value["kernel_db_dir"] == f"{lib}/rocblas/2.47.0/library"
    assert (value["package_version"], value["lib_hash"]) == ("2.47.0", sha(ELF + b"deb"))


def test_links_in_the_database():
    library = f"{ROOT}/lib/hipblaslt/library"
    value = run(
        files={"/elsewhere/x_gfx950.dat": "1"},
        links={
            f"{library}/gfx950": "/elsewhere",
            f"{library}/gfx1100": "/nowhere",
            f"{library}/dangling_gfx942.dat": "/nowhere",
        },
    ).value
    assert value["kernel_db_revision"] == names(
        "TensileLibrary_lazy_gfx942.dat", "extop_gfx942.co", "gfx950/x_gfx950.dat", "dangling_gfx942.dat"
    )


@pytest.mark.parametrize(("tweak", "kind"), [("dabb6df2b9-dirty", "unsupported"), (None, "absent")])
def test_why_a_tweak_is_not_compared_with_the_pin(tweak, kind):
    manifest = json.dumps({"submodules": [{"submodule_name": "rocm-libraries", "pin_sha": PIN}]})
    told = header("HIPBLASLT", tweak=tweak) if tweak else header("HIPBLASLT", tweak="x").replace("TWEAK", "T")
    result = run(files={MANIFEST: manifest, LT: told})
    assert result.value["upstream_commit"] == PIN
    assert result.value["upstream_commit_matches_tweak"] is None
    assert result.kinds("upstream_commit_matches_tweak") == [kind]
