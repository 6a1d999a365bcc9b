"""torch is there and cannot be imported: its files tell which it is, the reason holds the last line."""

import pytest

from aorta.testing import collect
from tests.parts.torch_builds import PACKAGE, host

CASE = "torch-import-fails-missing-lib"
VERSION, HIP = "2.12.0.dev20260324+rocm7.2", "7.2.53150"
FILES = {f"{PACKAGE}/version.py": f"__version__ = '{VERSION}'\nhip: Optional[str] = '{HIP}'\n"}
ERRORS = (
    "ImportError: librocm_sysdeps_liblzma.so.5: cannot open shared object file: No such file or directory",
    "ImportError: librocprofiler-sdk.so.1: cannot open shared object file: No such file or directory",
    "KeyError: 'libamd_smi.so'",
    "SystemExit: 1",
)
SIGNAL = "its process was ended by SIGSEGV"
ENDS = [
    *(({"imported": False, "error": error}, error, False) for error in ERRORS),
    ({"imported": None, "done": False, "ended": SIGNAL}, SIGNAL, None),
]


def run(section, end):
    return collect(host({}, end=end, files=FILES, metadata=VERSION), section)


@pytest.mark.parametrize(("end", "words", "importable"), ENDS)
def test_the_build_is_told_by_its_files(end, words, importable):
    result = run("pytorch_build", end)
    value = result.value
    assert (value["version"], value["version_source"], value["rocm_local"]) == (VERSION, "version.py", "7.2")
    assert (value["hip_version"], value["importable"]) == (HIP, importable)
    assert words in (value["import_error"] or value["import_ended"])
    assert result.record.status == "partial"
    failed = [reason for reason in result.reasons if reason.kind == "failed"]
    assert failed
    assert all(words in reason.detail for reason in failed)
    assert {"flags.build_settings", "build_flags"} <= {reason.field for reason in failed}


@pytest.mark.parametrize(("end", "words", "_importable"), ENDS)
def test_the_other_sections(end, words, _importable):
    assert run("pytorch_version", end).value == VERSION
    switches = run("pytorch_sdpa", end)
    assert all(words in reason.detail for reason in switches.reasons)
    assert len(switches.reasons) == 4
