"""The composable_kernel section: the installed headers."""

import errno

import pytest

from aorta.testing import collect
from tests.parts import cxx_library, elf_files, torch_builds
from tests.parts.kernel_trees import ROOT, header, host

HEADER, TILE = f"{ROOT}/include/ck/version.h", f"{ROOT}/include/ck_tile/core/config.hpp"
COMMIT = "1c468bac0ba96ca01d8ccbd9e8fb75b78ad41bd5"
TEXT = header("CK", "1.1.0").replace(
    "#define CK_VERSION_TWEAK       dabb6df2b9", f"#define CK_COMMIT_ID {COMMIT}"
)
NO_TORCH = {"pytorch_bundled", "pytorch_use_ck_sdpa", "pytorch_use_ck_gemm"}


def run(files=None, **world):
    return collect(host(files, **world), "composable_kernel")


def fields(result, kind):
    return {reason.field for reason in result.reasons if reason.kind == kind}


def test_normal():
    result = run({HEADER: TEXT, TILE: ""})
    assert result.value["system"] == {
        "version": "1.1.0",
        "commit": COMMIT,
        "header_path": HEADER,
        "ck_tile_present": True,
    }
    assert result.value["pytorch_bundled"] == {"present": None, "symbol_count": None}
    assert fields(result, "absent") == NO_TORCH
    assert len(result.reasons) == len(NO_TORCH)


def test_an_empty_host():
    result = run(root=False)
    assert set(result.value["system"].values()) == {None}
    assert fields(result, "absent") == {
        *(f"system.{name}" for name in ("version", "commit", "header_path", "ck_tile_present")),
        *NO_TORCH,
    }
    assert result.record.status == "ok"


def test_only_ck_tile():
    result = run({TILE: ""})
    assert result.value["system"]["ck_tile_present"] is True
    assert result.value["system"]["version"] is None
    assert run({HEADER: TEXT}).value["system"]["ck_tile_present"] is False


@pytest.mark.parametrize(
    ("commit", "value", "kind"),
    [
        ("", None, "absent"),
        ("unknown", None, "unparsed"),
        ("abc", None, "unparsed"),
        ("ABCDEF0", "abcdef0", None),
    ],
)
def test_commits(commit, value, kind):
    result = run({HEADER: TEXT.replace(COMMIT, commit)})
    assert result.value["system"]["commit"] == value
    assert result.kinds("system.commit") == ([kind] if kind else [])


def test_a_header_without_version():
    result = run({HEADER: "\n"})
    assert result.kinds("system.version") == ["unparsed"]


def test_w2_denied():
    result = run({HEADER: errno.EACCES}, locked=[f"{ROOT}/include/ck_tile"])
    assert fields(result, "denied") == {
        f"system.{name}" for name in ("version", "commit", "header_path", "ck_tile_present")
    }
    assert result.value["system"]["ck_tile_present"] is None


def with_torch(*arguments, files=None, **world):
    """Return the section beside a torch, with the installed headers."""
    tree = {f"{ROOT}/.info/version": "7.2.0\n", HEADER: TEXT, TILE: "", **(files or {})}
    return collect(torch_builds.host(*arguments, files=tree, **world), "composable_kernel")


LIBRARY = f"{torch_builds.LIB}/libtorch_hip.so"


def test_a_torch_that_holds_it():
    names = cxx_library.printed_symbols()
    result = with_torch(files={LIBRARY: cxx_library.built().read_bytes()})
    number = sum("ck::" in name.replace("block::", "").replace("stack::", "") for name in names)
    assert result.value["pytorch_bundled"] == {"present": True, "symbol_count": number}
    assert number > 10
    assert (result.value["pytorch_use_ck_sdpa"], result.value["pytorch_use_ck_gemm"]) == (False, False)
    assert result.reasons == ()


def test_a_torch_built_with_both_options():
    config = torch_builds.CONFIG.replace("-DNDEBUG", "-DUSE_ROCM_CK_SDPA -DUSE_ROCM_CK_GEMM")
    result = with_torch(
        {**torch_builds.ROCM, "config": config}, files={LIBRARY: cxx_library.built().read_bytes()}
    )
    assert (result.value["pytorch_use_ck_sdpa"], result.value["pytorch_use_ck_gemm"]) == (True, True)


def test_a_torch_for_cpus():
    result = with_torch(torch_builds.CPU)
    assert result.value["pytorch_bundled"] == {"present": None, "symbol_count": None}
    assert result.kinds("pytorch_bundled") == ["absent"]
    assert result.value["pytorch_use_ck_sdpa"] is False
    assert result.record.status == "ok"


def test_a_configuration_without_flags():
    result = with_torch({**torch_builds.CPU, "config": "PyTorch built with:\n"})
    assert result.value["pytorch_use_ck_sdpa"] is None
    assert result.kinds("pytorch_use_ck_sdpa") == ["absent"]


@pytest.mark.parametrize(
    "end",
    [
        {"imported": False, "error": "OSError: libamdhip64.so.7: cannot open"},
        {"imported": None, "hung": True, "done": False, "ended": "it did not end in 45 s"},
        {"imported": None, "done": False, "ended": "it was ended by SIGSEGV"},
    ],
)
def test_the_headers_are_told_whatever_torch_does(end):
    result = with_torch({}, end=end, dirs=())
    assert result.value["system"] == {
        "version": "1.1.0",
        "commit": COMMIT,
        "header_path": HEADER,
        "ck_tile_present": True,
    }
    assert result.value["pytorch_bundled"] == {"present": None, "symbol_count": None}
    assert {reason.field for reason in result.reasons} == NO_TORCH
    assert {reason.kind for reason in result.reasons} == {"timed_out" if end.get("hung") else "failed"}


def test_a_library_without_a_symbol_of_it():
    library = elf_files.content("none.so")
    assert with_torch(files={LIBRARY: library}).value["pytorch_bundled"] == {
        "present": False,
        "symbol_count": 0,
    }


def test_a_library_that_may_not_be_read():
    result = with_torch(files={LIBRARY: errno.EACCES})
    assert result.kinds("pytorch_bundled") == ["denied"]
    assert result.value["pytorch_bundled"]["present"] is None
