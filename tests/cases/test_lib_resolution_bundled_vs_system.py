"""One name, three hosts: the wheel's own copy, the system's, and none."""

import pytest

from aorta.testing import FakeHost, collect, torch_report
from tests.parts.loaded_files import elf, maps

CASE = "lib-resolution-bundled-vs-system"
SITE = "/opt/python/cp312-cp312/lib/python3.12/site-packages"
TORCH, ROCM = f"{SITE}/torch", "/opt/rocm-7.2.1"
SYSTEM, BUNDLED = f"{ROCM}/lib/librocm_smi64.so.1.0.70201", f"{TORCH}/lib/librocm_smi64.so"
MODULES = {"torch": f"{TORCH}/__init__.py"}
ROOT = {f"{ROCM}/.info/version": "7.2.1\n", SYSTEM: elf("librocm_smi64.so.1")}
LINKS = {"/opt/rocm": "rocm-7.2.1", f"{ROCM}/lib/librocm_smi64.so.1": "librocm_smi64.so.1.0.70201"}
CONFIGURED = {"/etc/ld.so.conf.d/rocm.conf": f"{ROCM}/lib\n"}


def torch_needing(name):
    python = elf("libtorch_python.so", [name], runpath="$ORIGIN")
    return {f"{TORCH}/version.py": "", f"{TORCH}/lib/libtorch_python.so": python}


def smi(files, path=None):
    """Return the entry of the library and all reasons, observed where a path is mapped, else predicted."""
    told = torch_report(how="child")
    report = told if path is None else torch_report(mapped=maps(path).splitlines())
    host = FakeHost(files, links=LINKS, modules=MODULES, observed={"torch": report})
    result = collect(host, "loaded_libraries", import_strategy="child")
    return [each for each in result.value if each["library"] == "rocm_smi"], result


@pytest.mark.parametrize("observed", [True, False])
def test_a_the_system_s(observed):
    files = {**torch_needing("librocm_smi64.so.1"), **ROOT, **CONFIGURED}
    (entry,), result = smi(files, SYSTEM if observed else None)
    assert (entry["path"], entry["origin"], entry["soname"]) == (SYSTEM, "rocm_root", "librocm_smi64.so.1")
    assert (entry["basis"], result.record.status) == ("observed" if observed else "predicted", "ok")
    assert "7f00" not in repr(result.value)


@pytest.mark.parametrize("observed", [True, False])
def test_b_the_wheel_s(observed):
    files = {**torch_needing("librocm_smi64.so"), **ROOT, **CONFIGURED, BUNDLED: elf("librocm_smi64.so")}
    (entry,), _ = smi(files, BUNDLED if observed else None)
    assert (entry["path"], entry["origin"], entry["soname"]) == (BUNDLED, "torch_bundled", "librocm_smi64.so")
    assert entry["other_copies"] == [{"path": SYSTEM, "origin": "rocm_root"}]


def test_c_none():
    found, result = smi(torch_needing("librocm_smi64.so.1"))
    assert found == []
    (reason,) = [each for each in result.reasons if each.subject == "librocm_smi64.so.1"]
    assert (reason.kind, reason.field) == ("absent", "")
    assert "nowhere where the loader looks" in reason.detail


def test_a_wheel_that_lacks_its_copy_takes_the_system_s_only_under_the_very_name():
    """The wheel's torch asks for .so, the system's development link would answer, its .so.1 does not."""
    files = {**torch_needing("librocm_smi64.so"), **ROOT, **CONFIGURED}
    assert smi(files)[0] == []
