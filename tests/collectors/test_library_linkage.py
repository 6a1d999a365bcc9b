"""The library_linkage section: which tag counts, which files are counted, what an absence means."""

import errno
import time

import pytest

from aorta.testing import FakeHost, Module, collect
from aorta_collectors.library_linkage import SAMPLE
from aorta_collectors.tree import rpath
from aorta_collectors.tree.rpath import is_library, is_rocm_library
from tests.parts.elf_files import ORIGIN, both_tags, content, handmade

LIB = "/opt/rocm/lib"
MARKER = {"/opt/rocm/.info/version": "7.2.0\n"}
TORCH = "/venv/lib/python3.11/site-packages/torch"


def libraries(**kinds):
    """Return files of LIB: the name before .so maps to a sample's name, or to bytes."""
    return {
        f"{LIB}/{name}.so": own if isinstance(own, bytes) else content(f"{own}.so")
        for name, own in kinds.items()
    }


def linkage(files=None, *, marker=True, **host):
    return collect(FakeHost(files={**(MARKER if marker else {}), **(files or {})}, **host), "library_linkage")


def of(result, name):
    return next(each for each in result.value["libraries"] if each["name"] == name)


def counts(result, census="census"):
    return [result.value[census][name] for name in ("scanned", "rpath", "runpath", "none", "unreadable")]


def test_each_tag():
    files = {
        f"{LIB}/libamdhip64.so": content("rpath.so"),
        f"{LIB}/libhipblaslt.so": content("runpath.so"),
        f"{LIB}/librocblas.so": both_tags(),
        f"{LIB}/libMIOpen.so": content("named.so"),
        f"{LIB}/librccl.so": content("empty_rpath.so"),
    }
    result = linkage(files)
    value = result.value
    assert (value["status"], value["rocm_rpath"]) == ("ok", True)
    assert value["tags_observed"] == ["none", "rpath", "runpath"]
    told = [(each["dt_tags"], each["effective_tag"], each["search_path"]) for each in value["libraries"]]
    assert told == [
        (["rpath"], "rpath", ORIGIN),
        (["runpath"], "runpath", ORIGIN),
        (["rpath", "runpath"], "runpath", ORIGIN),
        ([], "none", None),
        (["rpath"], "none", None),
    ]
    assert [each["name"] for each in value["libraries"]] == list(SAMPLE)
    assert {each["scope"] for each in value["libraries"]} == {"rocm"}
    assert of(result, "libMIOpen.so")["soname"] == "libnamed.so.5"
    assert len(of(result, "librccl.so")["build_id"]) == 40
    assert value["census"] == {
        "dirs": [LIB],
        "unlistable_dirs": [],
        "selection": "all",
        "scanned": 5,
        "rpath": 1,
        "runpath": 2,
        "none": 2,
        "unreadable": 0,
        "truncated": False,
        "rpath_examples": ["libamdhip64.so"],
    }
    assert result.kinds() == ["absent"]
    assert result.record.status == "ok"


def test_one_rpath_is_enough_and_it_may_be_in_none_of_the_sample():
    """The measured culprit was a library that needs the sampled ones."""
    files = {f"{LIB}/{name}": content("runpath.so") for name in SAMPLE}
    assert linkage(files).value["rocm_rpath"] is False
    result = linkage({**files, f"{LIB}/libhipblas.so.3": content("rpath.so")})
    assert result.value["rocm_rpath"] is True
    assert result.value["census"]["rpath_examples"] == ["libhipblas.so.3"]
    assert {each["effective_tag"] for each in result.value["libraries"]} == {"runpath"}


def test_empty_host():
    result = linkage(marker=False)
    value = result.value
    assert (value["status"], value["rocm_rpath"], value["torch_rpath"], value["tags_observed"]) == (
        "absent",
        None,
        None,
        [],
    )
    assert value["census"]["dirs"] == value["census"]["rpath_examples"] == []
    assert (counts(result), value["census"]["truncated"]) == ([0] * 5, False)
    assert set(value["torch_census"].values()) == {None}
    assert [(each["path"], each["effective_tag"]) for each in value["libraries"]] == [(None, "unknown")] * 5
    assert of(result, "librccl.so")["reason"] == "no ROCm was found"
    assert set(result.kinds()) == {"absent"}
    assert {reason.field for reason in result.reasons} == {"libraries", "rocm_rpath", "torch_rpath"}


def test_a_root_that_could_not_be_seen():
    result = linkage({"/opt/rocm": errno.EACCES}, marker=False)
    value = result.value
    assert (value["status"], value["rocm_rpath"], value["tags_observed"]) == ("unknown", None, None)
    assert set(value["census"].values()) == {None}
    assert {"denied"} == set(result.kinds("rocm_rpath")) == set(result.kinds("libraries"))


def test_a_directory_that_would_not_list_withholds_false():
    result = linkage({LIB: errno.EACCES})
    assert (result.value["status"], result.value["rocm_rpath"]) == ("unreadable", None)
    census = result.value["census"]
    assert {name: value for name, value in census.items() if value is not None} == {"unlistable_dirs": [LIB]}
    assert result.value["tags_observed"] is None
    assert result.kinds("rocm_rpath") == ["denied"]
    more = {f"{LIB}/librccl.so": content("none.so"), "/opt/rocm/lib64": errno.EACCES}
    result = linkage(more)
    assert (result.value["status"], result.value["rocm_rpath"]) == ("ok", None)
    assert result.value["census"]["unlistable_dirs"] == ["/opt/rocm/lib64"]
    result = linkage({**more, f"{LIB}/libx.so": content("rpath.so")})
    assert result.value["rocm_rpath"] is True
    assert (result.kinds("rocm_rpath"), result.kinds("census")) == ([], ["denied"])


def test_an_empty_library_directory():
    result = linkage(dirs=[LIB])
    assert (result.value["status"], result.value["rocm_rpath"]) == ("absent", None)
    assert result.kinds("rocm_rpath") == ["absent"]
    assert result.record.status == "ok"


def test_linker_scripts_and_damaged_files_withhold_nothing():
    data = content("rpath.so")
    files = {
        f"{LIB}/librccl.so": content("none.so"),
        f"{LIB}/libMIOpen.so": "/* GNU ld script */\nINPUT(libMIOpen.so.1)\n",
        f"{LIB}/libMIOpen.so.1": content("runpath.so"),
        f"{LIB}/libcut.so": data[:3000],
        f"{LIB}/libobject.so": content("object.o"),
        f"{LIB}/libforbidden.so": errno.EACCES,
    }
    result = linkage(files)
    assert counts(result) == [6, 0, 1, 1, 4]
    assert (result.value["rocm_rpath"], result.value["census"]["truncated"]) == (False, False)
    # The sample is the file whose digest the other sections tell.
    assert of(result, "libMIOpen.so")["path"] == f"{LIB}/libMIOpen.so.1"
    assert set(result.kinds()) == {"absent"}


def test_a_damaged_sample_is_unknown_and_never_none():
    for bad, words in (
        (content("rpath.so")[:3000], "truncated"),
        (content("object.o"), "without a dynamic segment"),
        (b"garbage", "not an ELF file"),
    ):
        result = linkage({f"{LIB}/librccl.so.1.0.70200": bad, f"{LIB}/libother.so": content("none.so")})
        rccl = of(result, "librccl.so")
        assert (rccl["path"], rccl["dt_tags"], rccl["effective_tag"]) == (
            f"{LIB}/librccl.so.1.0.70200",
            None,
            "unknown",
        )
        assert words in rccl["reason"]
        assert "unparsed" in result.kinds("libraries")


def test_nothing_could_be_read():
    result = linkage({f"{LIB}/libx.so": "text", f"{LIB}/liby.so": content("object.o")})
    assert (result.value["status"], result.value["rocm_rpath"], result.value["tags_observed"]) == (
        "unreadable",
        None,
        [],
    )
    assert result.kinds("rocm_rpath") == ["unparsed"]
    result = linkage({f"{LIB}/librccl.so": errno.EACCES})
    assert (result.value["status"], result.value["rocm_rpath"]) == ("unreadable", None)
    assert result.kinds("rocm_rpath") == ["denied"]


def test_sonames_are_numbers():
    result = linkage(
        {f"{LIB}/librocblas.so.5.9": content("none.so"), f"{LIB}/librocblas.so.5.10": content("runpath.so")}
    )
    assert of(result, "librocblas.so")["path"] == f"{LIB}/librocblas.so.5.10"
    assert of(result, "librocblas.so")["effective_tag"] == "runpath"


def test_each_real_file_is_counted_once():
    links = {
        f"{LIB}/librccl.so": "librccl.so.1",
        f"{LIB}/librccl.so.1": "librccl.so.1.0.70200",
        f"{LIB}/libaway.so": "../elsewhere/libaway.so.2",
        f"{LIB}/libagain.so": "./librccl.so.1.0.70200",
        f"{LIB}/libabsolute.so": f"{LIB}/librccl.so.1.0.70200",
        f"{LIB}/libdangling.so": "nowhere.so",
        f"{LIB}/libloop.so": "libloop.so",
        f"{LIB}/libdirectory.so": "hipblaslt",
        f"{LIB}/libnull.so": "/dev/null",
        f"{LIB}/libplain.so": "plain",
        "/opt/rocm/lib64": "lib",
    }
    files = {
        f"{LIB}/librccl.so.1.0.70200": content("none.so"),
        "/opt/rocm/elsewhere/libaway.so.2": content("rpath.so"),
        f"{LIB}/plain": content("runpath.so"),
        f"{LIB}/hipblaslt/libdeeper.so": content("rpath.so"),
    }
    result = linkage(files, links=links, nodes={"/dev/null": "c"})
    assert counts(result) == [3, 1, 1, 1, 0]
    assert result.value["census"]["rpath_examples"] == ["libaway.so.2"]
    assert result.value["census"]["dirs"] == [LIB]


def test_device_code_is_no_library():
    files = {
        f"{LIB}/librccl.so.1": content("none.so"),
        f"{LIB}/Kernels.so-000-gfx950.hsaco": content("rpath.so"),
        f"{LIB}/librccl.sox": content("rpath.so"),
        f"{LIB}/librccl.a": content("rpath.so"),
    }
    assert counts(linkage(files)) == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("name", "library", "rocm"),
    [
        ("libamdhip64.so", True, True),
        ("libamdhip64.so.7.2.70200", True, True),
        ("libMIOpen.so.1", True, True),
        ("libhsa-runtime64.so.1", True, True),
        ("libhsa-amd-aqlprofile64.so.1", True, True),
        ("libhiprtc-builtins.so", True, True),
        ("librocm_smi64.so.1", True, True),
        ("librocm-core.so.1", True, True),
        ("librocprofiler-register.so.0", True, True),
        ("librccl-net.so", True, True),
        ("libamd_comgr.so.2", True, True),
        ("libhipblaslt-d.so.0", True, True),
        ("libroctx64.so.4", True, True),
        # SuiteSparse, a database, a graphics driver, a dialogue toolkit: none of it is ROCm's.
        ("libamd.so.2", True, False),
        ("librocksdb.so.7.8", True, False),
        ("libdrm_amdgpu.so.1", True, False),
        ("libhippo.so", True, False),
        ("libOpenCL.so.1", True, False),
        ("xlibamdhip64.so", True, False),
        ("Kernels.so-000-gfx950.hsaco", False, False),
        ("libamdhip64.a", False, False),
        ("libamdhip64.so-gdb.py", False, False),
    ],
)
def test_names(name, library, rocm):
    assert (is_library(name), is_rocm_library(name)) == (library, rocm)


def test_more_files_than_are_read(monkeypatch):
    monkeypatch.setattr(rpath, "FILE_LIMIT", 3)
    files = {f"{LIB}/lib{number}.so": content("none.so") for number in range(4)}
    result = linkage(files)
    assert (result.value["census"]["truncated"], result.value["census"]["scanned"]) == (True, 3)
    assert result.value["rocm_rpath"] is None
    assert result.kinds("rocm_rpath") == ["failed"]
    assert linkage({name: files[name] for name in list(files)[:3]}).value["rocm_rpath"] is False
    early = linkage({**files, f"{LIB}/lib0.so": content("rpath.so")})
    assert early.value["rocm_rpath"] is True


def test_the_limit_is_that_of_the_1_x_line():
    assert (rpath.FILE_LIMIT, rpath.EXAMPLE_LIMIT) == (4096, 12)


def test_examples_are_twelve_at_most():
    result = linkage({f"{LIB}/lib{number:02}.so": content("rpath.so") for number in range(15)})
    assert result.value["census"]["rpath"] == 15
    assert result.value["census"]["rpath_examples"] == [f"lib{number:02}.so" for number in range(12)]


def test_other_classes_are_read_too():
    result = linkage({f"{LIB}/libold.so": handmade(32, "<"), f"{LIB}/libbig.so": handmade(64, ">")})
    assert counts(result) == [2, 2, 0, 0, 0]


def torch(**files):
    named = {f"{TORCH}/lib/{name}.so": content(f"{kind}.so") for name, kind in files.items()}
    return {**named, f"{TORCH}/__init__.py": ""}


def test_torch_has_its_own_verdict():
    """Wheels bring ROCm along: what LD_LIBRARY_PATH can do there is another question."""
    files = {f"{LIB}/librccl.so": content("runpath.so"), **torch(libtorch_hip="runpath", librccl="rpath")}
    result = linkage(files, modules={"torch": f"{TORCH}/__init__.py"})
    value = result.value
    assert (value["rocm_rpath"], value["torch_rpath"]) == (False, True)
    assert (counts(result), counts(result, "torch_census")) == ([1, 0, 1, 0, 0], [2, 1, 1, 0, 0])
    assert value["torch_census"]["dirs"] == [f"{TORCH}/lib"]
    assert value["tags_observed"] == ["runpath"]
    hip = of(result, "libtorch_hip.so")
    assert (hip["scope"], hip["path"], hip["effective_tag"]) == (
        "pytorch",
        f"{TORCH}/lib/libtorch_hip.so",
        "runpath",
    )


def test_torch_alone_is_something_that_was_read():
    result = linkage(torch(libtorch_hip="rpath"), marker=False, modules={"torch": f"{TORCH}/__init__.py"})
    assert (result.value["status"], result.value["rocm_rpath"], result.value["torch_rpath"]) == (
        "ok",
        None,
        True,
    )


def test_torch_for_something_else_is_not_counted():
    result = linkage(torch(libtorch_cuda="rpath"), marker=False, modules={"torch": f"{TORCH}/__init__.py"})
    assert (result.value["status"], result.value["torch_rpath"]) == ("absent", None)
    assert set(result.value["torch_census"].values()) == {None}
    assert of(result, "libtorch_hip.so")["path"] is None
    assert result.kinds("torch_rpath") == ["absent"]
    assert result.record.status == "ok"


def test_torch_without_a_library_directory():
    result = linkage({f"{TORCH}/__init__.py": ""}, modules={"torch": f"{TORCH}/__init__.py"})
    assert [each["scope"] for each in result.value["libraries"]] == ["rocm"] * 5
    assert result.kinds("torch_rpath") == ["absent"]
    namespace = linkage(modules={"torch": Module(name="torch")})
    assert namespace.kinds("torch_rpath") == ["absent"]


def test_a_torch_directory_that_would_not_list():
    result = linkage(
        {f"{TORCH}/__init__.py": "", f"{TORCH}/lib": errno.EACCES}, modules={"torch": f"{TORCH}/__init__.py"}
    )
    assert (result.value["torch_rpath"], result.kinds("torch_rpath")) == (None, ["denied"])
    assert result.value["torch_census"]["unlistable_dirs"] == [f"{TORCH}/lib"]


SHARED = "/usr/lib/x86_64-linux-gnu"


def distribution(**files):
    return {
        "/usr/share/hip/version": "HIP_VERSION_MAJOR=5\n",
        f"{SHARED}/libssl.so.3": content("rpath.so"),
        f"{SHARED}/librocksdb.so.7": content("rpath.so"),
        **{f"{SHARED}/{name}.so.5": content(f"{kind}.so") for name, kind in files.items()},
    }


def test_a_directory_of_the_whole_distribution():
    """Of other software nothing is said, and so neither is that all of ROCm's was read."""
    result = linkage(distribution(libamdhip64="none", libMIOpen="runpath"), marker=False)
    census = result.value["census"]
    assert (census["selection"], counts(result)) == ("rocm_names", [2, 0, 1, 1, 0])
    assert (result.value["status"], result.value["rocm_rpath"]) == ("ok", None)
    assert result.kinds("rocm_rpath") == ["unsupported"]
    assert result.record.status == "ok"
    found = linkage(distribution(libamdhip64="none", librocblas="rpath"), marker=False)
    assert (found.value["rocm_rpath"], found.value["census"]["rpath_examples"]) == (True, ["librocblas.so.5"])


@pytest.mark.parametrize("root", ["/usr", "/usr/local", "/venv", "/opt/link-to-usr"])
def test_a_named_root_that_is_shared(root):
    files = {f"{root}/lib/libamdhip64.so": content("none.so"), f"{root}/lib/libpng.so": content("rpath.so")}
    links = {}
    if root.startswith("/opt"):
        files, links = {name.replace(root, "/usr"): text for name, text in files.items()}, {root: "/usr"}
    result = linkage(
        files,
        marker=False,
        links=links,
        env={"ROCM_PATH": root},
        observed={"interpreter": {"prefix": "/venv", "base_prefix": "/usr"}},
    )
    assert (result.value["census"]["selection"], counts(result)) == ("rocm_names", [1, 0, 0, 1, 0])
    assert result.value["rocm_rpath"] is None


class Failing(FakeHost):
    """A host on which the tables of some files can not be read."""

    def elf(self, path, symbols=None, *, timeout=None):
        if "hang" in path:
            time.sleep(min(timeout, 5) if "wait" in path else 0)
            raise TimeoutError(f"{path}: no answer")
        if "broken" in path:
            raise OSError(errno.EIO, "bad disk", path)
        return super().elf(path, symbols, timeout=timeout)


@pytest.mark.parametrize(("name", "kind"), [("libhang.so", "timed_out"), ("libbroken.so", "failed")])
def test_a_file_that_does_not_answer_withholds_false(name, kind):
    files = {**MARKER, f"{LIB}/{name}": content("none.so"), f"{LIB}/librccl.so": content("none.so")}
    result = collect(Failing(files=files), "library_linkage")
    assert (result.value["status"], result.value["rocm_rpath"]) == ("ok", None)
    assert (counts(result), result.value["census"]["truncated"]) == ([2, 0, 0, 1, 1], True)
    assert result.kinds("rocm_rpath") == [kind]
    found = collect(Failing(files={**files, f"{LIB}/liba.so": content("rpath.so")}), "library_linkage")
    assert found.value["rocm_rpath"] is True


def test_when_the_time_is_over_what_was_seen_is_told():
    names = ("libamdhip64", "libwait-hang", *(f"libz{number}" for number in range(50)))
    files = {**MARKER, **{f"{LIB}/{name}.so": content("none.so") for name in names}}
    result = collect(Failing(files=files), "library_linkage", timeouts={"library_linkage": 2})
    assert (result.value["status"], result.value["rocm_rpath"]) == ("ok", None)
    assert (counts(result), result.value["census"]["truncated"]) == ([2, 0, 0, 1, 1], True)
    assert result.kinds("rocm_rpath") == ["timed_out"]
