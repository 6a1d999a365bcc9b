"""library_linkage on this machine: Debian's own ROCm in /usr, and wheel layouts of really built files."""

import glob
import os
import subprocess
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.testing import collect
from tests.parts.elf_files import ORIGIN, built, library
from tests.parts.needs import need
from tests.parts.probing import environment, probe

CLEAN = dict.fromkeys(("ROCM_PATH", "ROCM_HOME", "HIP_PATH", "ROCM_SDK_TARGET_FAMILY", "LD_LIBRARY_PATH"))
SYSTEM = "/usr/lib/x86_64-linux-gnu"
SAMPLED = f"{SYSTEM}/libamdhip64.so"
RPATH = ("-Wl,--disable-new-dtags", f"-Wl,-rpath,{ORIGIN}")
RUNPATH = ("-Wl,--enable-new-dtags", f"-Wl,-rpath,{ORIGIN}")


@pytest.fixture
def linkage():
    """Ask the live host; it reads the search path of modules when it is first asked."""

    def ask(**variables):
        host = LiveHost(env={**CLEAN, **variables})
        try:
            return collect(host, "library_linkage")
        finally:
            host.close()

    return ask


def readelf(option, path):
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    return subprocess.run(
        ["readelf", option, path], capture_output=True, text=True, check=True, env=environ
    ).stdout


def debian():
    need(
        os.path.exists(f"{SAMPLED}.5") and not os.path.exists("/opt/rocm"),
        "Debian's ROCm (apt install hipcc), no other",
    )


def held_by_rocm():
    """Return the real ROCm libraries of the distribution; one package puts its own into /usr/lib."""
    names = ("amdhip64", "hiprtc", "hsa-runtime64", "hsakmt", "amd_comgr", "rocm_smi64")
    places = (SYSTEM, "/usr/lib")
    found = (path for place in places for name in names for path in glob.glob(f"{place}/lib{name}*.so*"))
    return sorted({os.path.realpath(path) for path in found})


def test_debian_packages_of_rocm(linkage):
    debian()
    result = linkage()
    value, census = result.value, result.value["census"]
    tags = [readelf("-d", path) for path in held_by_rocm()]
    assert (census["dirs"][0], census["selection"], census["truncated"]) == (SYSTEM, "rocm_names", False)
    assert census["scanned"] == len(tags) >= 4
    assert census["runpath"] == sum("(RUNPATH)" in text for text in tags)
    assert census["rpath"] == sum("(RPATH)" in text for text in tags) == 0
    assert census["none"] == len(tags) - census["runpath"]
    assert census["unreadable"] == 0
    # Of all the other libraries there nothing is said.
    assert (value["status"], value["rocm_rpath"], result.kinds("rocm_rpath")) == ("ok", None, ["unsupported"])
    assert result.record.status == "ok"


def test_the_sample_of_debian_is_what_readelf_says(linkage):
    debian()
    hip = linkage().value["libraries"][0]
    assert hip["path"] == os.path.realpath(f"{SAMPLED}.5")
    assert f"[{hip['soname']}]" in readelf("-d", hip["path"])
    assert f"Build ID: {hip['build_id']}" in readelf("-n", hip["path"])
    assert (hip["dt_tags"], hip["effective_tag"]) == ([], "none")
    assert [each["path"] for each in linkage().value["libraries"][1:]] == [None] * 4


def test_the_whole_probe_on_debian_packages(tmp_path):
    debian()
    document = probe(tmp_path / "out.json", environment(tmp_path, "/usr/bin:/bin")).document
    linkage, hip, rocm = (document[name] for name in ("library_linkage", "hip", "rocm"))
    assert (rocm["root"], rocm["layout"], rocm["version"]) == ("/usr", "distribution", None)
    assert hip["version"].startswith("5.")
    assert linkage["libraries"][0]["path"] == os.path.realpath(f"{SAMPLED}.5")
    assert (linkage["status"], linkage["rocm_rpath"]) == ("ok", None)
    assert linkage["libraries"][0]["soname"] == "libamdhip64.so.5"
    version = hip["version"].partition("-")[0]
    assert linkage["libraries"][0]["path"].endswith(version)


def package(site, name, **libraries):
    """Make an importable package with libraries in it."""
    home = site / name
    (home / "lib").mkdir(parents=True)
    (home / "__init__.py").touch()
    for soname, words in libraries.items():
        library(
            home / "lib" / soname.replace("__", ".so."), *words, f"-Wl,-soname,{soname.replace('__', '.so.')}"
        )
    return home


def core(site):
    home = package(site, "_rocm_sdk_core", libamdhip64__7=RUNPATH, librocm_smi64__1=())
    (home / ".info").mkdir()
    (home / ".info" / "version").write_text("7.10.0\n")
    return home


def no_other_rocm():
    built()
    need(not os.path.exists("/opt/rocm"), "a machine without /opt/rocm, which comes before wheels")


def test_wheels(tmp_path, monkeypatch, linkage):
    no_other_rocm()
    home = core(tmp_path)
    math = package(
        tmp_path, "_rocm_sdk_libraries", librocblas__5=RUNPATH, libhipblas__3=RPATH, librccl__1=RUNPATH
    )
    for shim in ("rocm_sdk", "rocm_sdk_core", "rocm_sdk_libraries"):
        package(tmp_path, shim)
    (math / "lib" / "libtext.so").write_text("INPUT(librccl.so.1)\n")
    deeper = math / "lib" / "rocm_sysdeps" / "lib"
    deeper.mkdir(parents=True)
    library(deeper / "libdeeper.so", *RPATH)
    monkeypatch.syspath_prepend(str(tmp_path))
    result = linkage()
    value, census = result.value, result.value["census"]
    assert census["dirs"] == [f"{math}/lib", f"{home}/lib"]
    assert [census[name] for name in ("selection", "scanned", "rpath", "runpath", "none", "unreadable")] == [
        "all",
        6,
        1,
        3,
        1,
        1,
    ]
    assert census["rpath_examples"] == ["libhipblas.so.3"]
    assert (value["status"], value["rocm_rpath"], value["tags_observed"]) == (
        "ok",
        True,
        ["none", "rpath", "runpath"],
    )
    told = {
        each["name"]: (each["path"], each["effective_tag"], each["soname"]) for each in value["libraries"]
    }
    assert told["libamdhip64.so"] == (f"{home}/lib/libamdhip64.so.7", "runpath", "libamdhip64.so.7")
    assert told["librocblas.so"] == (f"{math}/lib/librocblas.so.5", "runpath", "librocblas.so.5")
    assert told["libMIOpen.so"] == (None, "unknown", None)
    (math / "lib" / "libhipblas.so.3").unlink()
    assert linkage().value["rocm_rpath"] is False


def test_wheels_by_family(tmp_path, monkeypatch, linkage):
    """The libraries of each family lie in a package of its own; those of all are counted."""
    no_other_rocm()
    home = core(tmp_path)
    one = package(tmp_path, "_rocm_sdk_libraries_gfx94X_dcgpu", librocblas__5=RUNPATH)
    other = package(tmp_path, "_rocm_sdk_libraries_gfx950_dcgpu", librocblas__5=RPATH, libMIOpen__1=())
    monkeypatch.syspath_prepend(str(tmp_path))
    value = linkage(ROCM_SDK_TARGET_FAMILY="gfx94X-dcgpu").value
    assert value["census"]["dirs"] == [f"{one}/lib", f"{other}/lib", f"{home}/lib"]
    assert (value["census"]["scanned"], value["rocm_rpath"]) == (5, True)
    assert value["libraries"][2]["path"] == f"{one}/lib/librocblas.so.5"
    assert value["libraries"][3]["path"] == f"{other}/lib/libMIOpen.so.1"
    value = linkage(ROCM_SDK_TARGET_FAMILY="gfx950-dcgpu").value
    assert value["libraries"][2]["effective_tag"] == "rpath"


def test_libraries_put_in_place_of_those_of_a_wheel(tmp_path, monkeypatch, linkage):
    """People replace files of a wheel by links to their own build."""
    no_other_rocm()
    core(tmp_path)
    math = package(tmp_path, "_rocm_sdk_libraries", librocblas__5=RPATH)
    mine = tmp_path / "mine"
    mine.mkdir()
    library(mine / "librocblas.so.5.9", *RUNPATH)
    library(mine / "librocblas.so.5.10", *RUNPATH, "-Wl,-soname,librocblas.so.5")
    (math / "lib" / "librocblas.so.5").unlink()
    (math / "lib" / "librocblas.so.5").symlink_to(mine / "librocblas.so.5.10")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = linkage()
    assert result.value["libraries"][2]["path"] == str(mine / "librocblas.so.5.10")
    assert (result.value["rocm_rpath"], result.value["census"]["scanned"]) == (False, 3)


def test_torch_beside_wheels(tmp_path, monkeypatch, linkage):
    no_other_rocm()
    core(tmp_path)
    torch = package(tmp_path, "torch", libtorch_hip__=RUNPATH, libc10_hip__=RUNPATH, libgomp__1=RPATH)
    for name in ("libtorch_hip", "libc10_hip"):
        (torch / "lib" / f"{name}.so.").rename(torch / "lib" / f"{name}.so")
    (torch / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    value = linkage().value
    assert (value["rocm_rpath"], value["torch_rpath"]) == (False, True)
    assert value["torch_census"]["rpath_examples"] == ["libgomp.so.1"]
    assert value["libraries"][-1]["path"] == f"{torch}/lib/libtorch_hip.so"


def test_the_whole_probe_on_wheels(tmp_path):
    no_other_rocm()
    site = tmp_path / "site"
    home = core(site)
    package(site, "_rocm_sdk_libraries_gfx94X_dcgpu", librocblas__5=RPATH)
    env = environment(tmp_path, "/usr/bin:/bin")
    env["PYTHONPATH"] += f":{site}"
    linkage = probe(tmp_path / "out.json", env).document["library_linkage"]
    assert (linkage["status"], linkage["rocm_rpath"]) == ("ok", True)
    assert linkage["census"]["dirs"][-1] == f"{home}/lib"
    # What a second probe remembers is the same, and a changed file is read again.
    assert probe(tmp_path / "again.json", env).document["library_linkage"] == linkage
    place = site / "_rocm_sdk_libraries_gfx94X_dcgpu" / "lib" / "librocblas.so.5"
    was = place.stat()
    library(place, *RUNPATH)
    os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert probe(tmp_path / "other.json", env).document["library_linkage"]["rocm_rpath"] is False
    assert Path(place).stat().st_mtime_ns == was.st_mtime_ns
