"""What torch tells and what its files tell, under every end that an import can come to."""

import errno

import pytest

from aorta.model.vocabulary import Coverage
from aorta.testing import Distribution, FakeHost, Module, provide, torch_report
from aorta.testing.hosts import RefusingHost
from aorta_collectors.providers import TorchFacts

VERSION = """from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
__version__ = '2.12.0.dev20260324+rocm7.2'
debug = False
cuda: Optional[str] = None
git_version = 'cf30153c4c131c8164ee7798e5022d810682e2cb'
hip: Optional[str] = '7.2.53150'
"""
PACKAGE = "/sp/torch"
STATIC = {
    "version": "2.12.0.dev20260324+rocm7.2",
    "debug": False,
    "cuda": None,
    "git_version": "cf30153c4c131c8164ee7798e5022d810682e2cb",
    "hip": "7.2.53150",
}


def told(report=None, **host):
    observed = {} if report is None else {"torch": report}
    found = {
        "modules": {"torch": f"{PACKAGE}/__init__.py"},
        "files": {f"{PACKAGE}/version.py": VERSION},
        **host,
    }
    return provide(FakeHost(observed=observed, **found), TorchFacts)


def test_what_is_imported_wins_over_the_file():
    facts = told(torch_report(version="2.13.0", hip=None, config="x"), dirs=[f"{PACKAGE}/lib"]).typed
    assert facts.facts == {**STATIC, "version": "2.13.0", "hip": None, "config": "x"}
    assert (facts.sources["version"], facts.sources["cuda"]) == ("torch", "version.py")
    assert (facts.strategy, facts.importable, facts.gap) == ("child", True, None)
    assert (facts.package, facts.lib_dir) == (PACKAGE, f"{PACKAGE}/lib")
    assert facts.told("config").value == "x"
    assert facts.told("arch_flags").kind == "unsupported"
    assert facts.text("version") == "2.13.0"
    assert facts.text("hip") is None


@pytest.mark.parametrize(
    ("end", "kind", "words", "importable"),
    [
        (
            {"imported": False, "error": "KeyError: 'libamd_smi.so'"},
            "failed",
            "KeyError: 'libamd_smi.so'",
            False,
        ),
        ({"imported": None, "hung": True, "ended": "it did not end in time"}, "timed_out", "timed out", None),
        ({"imported": None, "ended": "it was ended by SIGSEGV"}, "failed", "SIGSEGV", None),
        ({"imported": True, "done": False, "ended": "it was ended by SIGABRT"}, "failed", "SIGABRT", True),
        ({"imported": None, "done": False, "how": "static"}, "not_requested", "not to be imported", None),
    ],
)
def test_ends(end, kind, words, importable):
    facts = told({**torch_report(), "parts": {}, "done": False, **end}).typed
    assert facts.facts == STATIC
    assert (facts.gap.kind, facts.importable) == (kind, importable)
    assert words in facts.gap.detail
    assert facts.told("config").kind == kind
    assert facts.told("hip").value == "7.2.53150"


def test_one_that_a_child_has_no_finder_for_is_not_broken():
    error = "ModuleNotFoundError: No module named 'torch'"
    report = {**torch_report(), "parts": {}, "imported": False, "error": error}
    facts = told(report).typed
    assert (facts.importable, facts.error, facts.gap.kind) == (None, error, "failed")
    assert "does not find it where this one does" in facts.gap.detail
    here = told({**report, "how": "in_process"}).typed
    assert here.importable is False
    of_its_own = told({**report, "error": error.replace("torch", "numpy")}).typed
    assert of_its_own.importable is False


def test_an_error_of_one_part_costs_that_part():
    report = {**torch_report(version="2.13.0"), "errors": {"config": "RuntimeError: no"}}
    facts = told(report).typed
    assert (facts.told("config").kind, facts.gap) == ("failed", None)
    assert "RuntimeError: no" in facts.told("config").detail


@pytest.mark.parametrize("report", [7, {}, [], {"parts": 1, "errors": 2, "imported": "yes"}])
def test_a_report_that_is_none(report):
    facts = told(report).typed
    assert facts.facts == STATIC
    assert facts.gap is not None


def test_nobody_to_ask():
    assert told().typed.gap.kind == "unsupported"


def test_no_torch():
    result = provide(FakeHost(), TorchFacts)
    assert (result.typed.installed, result.typed.gap.kind) == (False, "absent")
    assert result.coverage["torch"] is Coverage.ABSENT


def test_metadata_alone_is_no_torch():
    host = FakeHost(
        distributions={"torch": Distribution(name="torch", version="2.9.1", path="/sp/torch.dist-info")}
    )
    result = provide(host, TorchFacts)
    assert (result.typed.installed, result.coverage["torch"]) == (False, Coverage.ABSENT)
    assert "2.9.1" in result.typed.gap.detail


def test_a_directory_called_torch_is_no_torch():
    host = FakeHost(modules={"torch": Module(name="torch", locations=("/data/torch",))})
    result = provide(host, TorchFacts)
    assert (result.typed.installed, result.coverage["torch"]) == (False, Coverage.ABSENT)
    assert "/data/torch" in result.typed.gap.detail


@pytest.mark.parametrize(("error", "kind"), [(errno.EACCES, "denied"), (errno.EIO, "failed")])
def test_a_directory_that_may_not_be_looked_into_can_be_a_package(error, kind):
    host = FakeHost(
        modules={"torch": Module(name="torch", locations=("/data/torch", "/sp/torch"))},
        files={"/sp/torch": error},
    )
    result = provide(host, TorchFacts)
    assert (result.typed.installed, result.typed.gap.kind) == (False, kind)
    assert result.coverage["torch"] is Coverage.UNKNOWN
    assert "/sp/torch" in result.typed.gap.detail


def test_a_search_path_that_this_user_may_not_look_into_is_named():
    host = FakeHost(
        observed={"interpreter": {"path": ["/sp", "/root/sp", 7]}},
        files={"/root/sp": errno.EACCES},
    )
    result = provide(host, TorchFacts)
    assert (result.typed.gap.kind, result.coverage["torch"]) == ("absent", Coverage.ABSENT)
    assert result.typed.gap.detail.endswith("this interpreter, which may not look into /root/sp")


@pytest.mark.parametrize("file", ["/data/torch.py", "/data/torch.cpython-311-x86_64-linux-gnu.so"])
def test_a_single_file_has_no_neighbours(file):
    neighbours = {"/data/version.py": "__version__ = '0.1'\n", "/data/lib/libtorch.so": ""}
    facts = told(
        {"how": "static", "imported": None, "done": False},
        modules={"torch": Module(name="torch", origin=file)},
        files={file: "", **neighbours},
    ).typed
    assert (facts.installed, facts.package) == (True, file)
    assert (facts.text("version"), facts.lib_dir, facts.gap.kind) == (None, None, "not_requested")


def test_a_link_tree_keeps_its_libraries_elsewhere():
    line = "7f10-7f20 r-xp 0 08:01 5 /buck-out/tree/libs/libtorch_cpu.so.2"
    facts = told(torch_report(mapped=[line, 5]), files={"/buck-out/tree/libs/libtorch_cpu.so.2": ""}).typed
    assert facts.lib_dir == "/buck-out/tree/libs"
    assert told(torch_report(mapped=[line])).typed.lib_dir is None


def test_a_search_that_fails_is_unknown():
    class Broken(RefusingHost):
        def module(self, name):
            raise OSError(errno.EIO, "Input/output error")

    result = provide(Broken(), TorchFacts)
    assert result.coverage["torch"] is Coverage.UNKNOWN
    assert result.typed.gap.kind in ("failed", "denied")
