"""The composable_kernel section: the installed headers."""

import errno

import pytest

from aorta.testing import collect
from tests.parts.kernel_trees import ROOT, header, host

HEADER, TILE = f"{ROOT}/include/ck/version.h", f"{ROOT}/include/ck_tile/core/config.hpp"
COMMIT = "1c468bac0ba96ca01d8ccbd9e8fb75b78ad41bd5"
TEXT = header("CK", "1.1.0").replace(
    "#define CK_VERSION_TWEAK       dabb6df2b9", f"#define CK_COMMIT_ID {COMMIT}"
)
OPEN = {
    "pytorch_bundled.present",
    "pytorch_bundled.symbol_count",
    "pytorch_use_ck_sdpa",
    "pytorch_use_ck_gemm",
}


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
    assert fields(result, "not_requested") == OPEN
    assert len(result.reasons) == len(OPEN)


def test_an_empty_host():
    result = run(root=False)
    assert set(result.value["system"].values()) == {None}
    assert fields(result, "absent") == {
        f"system.{name}" for name in ("version", "commit", "header_path", "ck_tile_present")
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
