"""The miopen and miopen_catalog sections."""

import errno
import hashlib

import pytest

from aorta.testing import collect
from tests.parts.kernel_trees import ELF, ROOT, header, host

DB = f"{ROOT}/share/miopen/db"
HEADER = f"{ROOT}/include/miopen/version.h"
SYSTEM, USER = "MIOPEN_SYSTEM_DB_PATH", "MIOPEN_USER_DB_PATH"
FILES = {
    HEADER: header("MIOPEN", "3.5.1", "cbc1e5e-dirty"),
    f"{ROOT}/lib/libMIOpen.so.1": ELF + b"mi",
    f"{DB}/gfx942130.HIP.fdb.txt": "a",
    f"{DB}/gfx94250.db.txt": "b",
    f"{DB}/gfx1030_36.db.txt": "c",
    f"{DB}/gfx942.kdb": "d",
    f"{DB}/gfx942_metadata.tn.model": "e",
    f"{DB}/gfx908_ConvAsm1x1U_decoder.ktn.model": "f",
    f"{DB}/README.md": "no member",
}


def sha(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def names(*each):
    return "filenames-sha256:" + hashlib.sha256("\n".join(sorted(each)).encode()).hexdigest()


def run(section, files=None, *, mi=True, **world):
    return collect(host({**(FILES if mi else {}), **(files or {})}, **world), section)


TEXTS = names("gfx942130.HIP.fdb.txt", "gfx94250.db.txt", "gfx1030_36.db.txt")


def test_normal():
    result = run("miopen")
    assert result.value == {
        "rocm_release_tweak": "cbc1e5e-dirty",
        "package_version": "3.5.1",
        "header_path": HEADER,
        "lib_path": f"{ROOT}/lib/libMIOpen.so.1",
        "lib_hash": sha(ELF + b"mi"),
        "kernel_db_dir": DB,
        "kernel_db_revision": TEXTS,
        "other_libraries": [],
    }
    assert result.reasons == ()


def test_a_header_without_tweak():
    result = run("miopen", {HEADER: "\n".join(header("MIOPEN").splitlines()[:3])})
    assert (result.value["rocm_release_tweak"], result.value["package_version"]) == (None, "1.2.1")
    assert result.kinds("rocm_release_tweak") == ["absent"]
    assert result.record.status == "ok"


def test_an_empty_host():
    for section in ("miopen", "miopen_catalog"):
        result = run(section, mi=False, root=False)
        assert result.record.status == "ok", section
        assert set(result.kinds()) == {"absent"}


def test_w13_the_copy_in_torch_has_databases_of_its_own():
    site = "/site/torch"
    result = run(
        "miopen",
        {
            f"{site}/__init__.py": "",
            f"{site}/lib/libMIOpen.so": ELF + b"torch",
            f"{site}/share/miopen/db/gfx90a68.HIP.fdb.txt": "",
        },
        modules={"torch": f"{site}/__init__.py"},
    )
    assert result.value["lib_hash"] == sha(ELF + b"mi")
    assert result.value["other_libraries"] == [
        {
            "path": f"{site}/lib/libMIOpen.so",
            "origin": "torch",
            "kernel_db_dir": f"{site}/share/miopen/db",
            "gfx_arch_coverage": ["gfx90a"],
        }
    ]


def test_catalog():
    result = run("miopen_catalog")
    value, menu = result.value, result.value["menu"]
    assert (value["status"], value["db_dir"], value["db_dir_source"]) == ("ok", DB, "default")
    assert (value["package_version"], value["lib_hash"]) == ("3.5.1", sha(ELF + b"mi"))
    assert value["kernel_db_revision"] == TEXTS
    assert (menu["file_count"], menu["logic_file_count"]) == (6, 4)
    assert {file["suffix"] for file in menu["files"]} == {
        ".fdb.txt",
        ".db.txt",
        ".kdb",
        ".tn.model",
        ".ktn.model",
    }
    assert menu["compute_units"] == {"gfx1030": [36], "gfx942": [80, 304]}
    assert "run time" in value["doc"]


def test_w36_architectures_of_databases():
    assert run("miopen_catalog").value["menu"]["gfx_arch_coverage"] == ["gfx1030", "gfx908", "gfx942"]


def test_the_system_database_of_the_variable():
    result = run(
        "miopen_catalog",
        {"/custom/db/gfx90a6e.HIP.fdb.txt": "x", "/custom/db/gfx90a6e.db.txt": "y"},
        env={SYSTEM: "/custom/db/"},
    )
    value = result.value
    assert (value["db_dir"], value["db_dir_source"], value["menu"]["dir"]) == (
        "/custom/db",
        SYSTEM,
        "/custom/db",
    )
    assert value["kernel_db_revision"] == names("gfx90a6e.HIP.fdb.txt", "gfx90a6e.db.txt")
    assert value["env_overrides"] == {SYSTEM: "/custom/db/", USER: None}
    assert run("miopen", env={SYSTEM: "/custom/db"}).value["kernel_db_revision"] == TEXTS


def test_an_empty_variable_is_none_for_miopen():
    value = run("miopen_catalog", env={SYSTEM: ""}).value
    assert (value["db_dir"], value["db_dir_source"]) == (DB, "default")
    assert value["env_overrides"][SYSTEM] == ""


@pytest.mark.parametrize("place", ["/nonexistent", f"{DB}/gfx942.kdb", "/a:/b"])
def test_a_variable_that_leads_nowhere(place):
    result = run("miopen_catalog", env={SYSTEM: place})
    value = result.value
    assert (value["status"], value["db_dir"], value["db_dir_source"]) == ("partial", place, SYSTEM)
    assert value["kernel_db_revision"] is None
    assert result.kinds("menu") == ["expected"]


def test_w2_an_override_below_a_locked_directory_costs_only_itself():
    result = run("miopen_catalog", locked=["/locked"], env={SYSTEM: "/locked/db"})
    assert result.kinds("menu") == ["denied"]
    assert result.value["package_version"] == "3.5.1"
    assert result.value["env_overrides"][SYSTEM] == "/locked/db"


@pytest.mark.parametrize(
    ("env", "place"),
    [
        ({"HOME": "/home/u"}, "/home/u/.config/miopen"),
        ({USER: "/tmp/mi"}, "/tmp/mi"),
        ({USER: "."}, "/job"),
        ({USER: "~/mi", "HOME": "/home/u"}, "/home/u/mi"),
        ({USER: "", "HOME": "/home/u"}, "/home/u/.config/miopen"),
    ],
)
def test_where_the_users_database_is(env, place):
    result = run(
        "miopen_catalog",
        {f"{place}/gfx942130.ukdb": "x", f"{place}/gfx942130.ufdb.txt": "y"},
        env=env,
        links={"/proc/self/cwd": "/job"},
    )
    assert (result.value["user_db_dir"], result.value["user_db_file_count"]) == (place, 2)


def test_a_users_database_that_cannot_be_read_is_a_note():
    result = run("miopen_catalog", locked=["/tmp/mi"], env={USER: "/tmp/mi"})
    assert result.value["user_db_dir"] == "/tmp/mi"
    assert result.kinds("user_db_file_count") == ["denied"]
    assert result.value["menu"]["status"] == "ok"
    lost = run("miopen_catalog", env={USER: "x"})
    assert lost.kinds("user_db_dir") == ["blocked"]
    homeless = run("miopen_catalog")
    assert homeless.kinds("user_db_dir") == ["absent"]


def test_denied_library():
    result = run("miopen_catalog", {f"{ROOT}/lib/libMIOpen.so.1": errno.EACCES})
    assert result.kinds("lib_hash") == ["denied"]
