"""Libraries that a real process has really loaded, and a real torch."""

import hashlib
import json
import os
import subprocess
import sys

from aorta.host.live import LiveHost
from aorta.testing import collect
from aorta_collectors.loaded.prediction import predict
from tests.parts import torches
from tests.parts.elf_files import library
from tests.parts.loaded_files import asked

#: Loads what it is told to, and takes a snapshot each time that it is asked for one.
PROGRAM = """
import ctypes, json, os, sys
from aorta.instrumentation import capture
from aorta.model.codec import dump

kept = []
for line in sys.stdin:
    word, *paths = json.loads(line)
    if word == "load":
        kept += [ctypes.CDLL(path) for path in paths]
    elif word == "remove":
        os.remove(paths[0])
    elif word == "replace":
        os.rename(*paths)
    else:
        document = dump(capture(sections=["loaded_libraries"], import_torch=False, cache=False))
        print(json.dumps(document), flush=True)
"""


def told(tmp_path, *steps, **variables):
    """Return the documents that a program makes of these steps."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("ROCM_", "NCCL_", "LD_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="".join(json.dumps([str(word) for word in step]) + "\n" for step in steps),
        env={**clean, **variables},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def named(folder, name, soname, *words):
    """Build a library whose build id is of its own, since its options are."""
    folder.mkdir(parents=True, exist_ok=True)
    library(folder / name, f"-Wl,-soname,{soname}", *words)
    return folder / name


def digest(path):
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def build_id(path):
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    text = subprocess.run(
        ["readelf", "-n", path], capture_output=True, text=True, check=True, env=environ
    ).stdout
    return text.partition("Build ID: ")[2].split()[0]


def root(folder):
    """Make a ROCm root with an RCCL and a HIP."""
    (folder / ".info").mkdir(parents=True)
    (folder / ".info" / "version").write_text("7.2.0\n")
    rccl = named(folder / "lib", "librccl.so.1.0.70200", "librccl.so.1", "-Wl,-rpath,/rocm")
    (folder / "lib" / "librccl.so.1").symlink_to(rccl.name)
    (folder / "lib" / "librccl.so").symlink_to("librccl.so.1")
    return rccl


def test_w13_a_process_with_two_copies_of_which_one_is_removed_and_one_replaced(tmp_path):
    installed = root(tmp_path / "rocm")
    first = named(tmp_path / "a", "librccl.so.1", "librccl.so.1", "-Wl,-rpath,/a")
    second = named(tmp_path / "b", "librccl.so.1", "librccl.so.other", "-Wl,-rpath,/b")
    hip = named(tmp_path / "a", "libamdhip64.so.7.2.70200", "libamdhip64.so.7")
    newer = named(tmp_path / "c", "newer.so", "librccl.so.1", "-Wl,-rpath,/c")
    before, after = told(
        tmp_path,
        ("load", first, second, hip),
        ("capture",),
        ("remove", hip),
        ("replace", newer, second),
        ("capture",),
        ROCM_PATH=str(tmp_path / "rocm"),
    )
    entries = {each["path"]: each for each in before["loaded_libraries"]}
    assert list(entries) == [str(hip), str(first), str(second)]
    assert entries[str(first)]["digest"] == digest(first)
    assert entries[str(first)]["build_id"] == build_id(first)
    assert (entries[str(first)]["soname"], entries[str(first)]["process"]) == ("librccl.so.1", "self")
    assert entries[str(second)]["soname"] == "librccl.so.other"
    assert entries[str(hip)]["version"] == "7.2.70200"
    assert {each["basis"] for each in entries.values()} == {"observed"}
    assert {each["origin"] for each in entries.values()} == {"other"}
    assert entries[str(first)]["differs_from"]["statement"] == (
        f"this process has mapped {first}; the rccl of the ROCm root is {installed}, which has another content"
    )
    assert {"path": str(installed), "origin": "rocm_root"} in entries[str(first)]["other_copies"]
    entries = {each["path"]: each for each in after["loaded_libraries"]}
    assert {path: (each["deleted"], each["replaced"]) for path, each in entries.items()} == {
        str(first): (False, None),
        str(second): (True, True),
        str(hip): (True, False),
    }
    assert (entries[str(second)]["digest"], entries[str(hip)]["build_id"]) == (None, None)
    assert after["partial"] is False
    reasons = [each for each in after["collection"]["reasons"] if each["field"] == "digest"]
    assert sorted(each["subject"] for each in reasons) == sorted([str(hip), str(second)])


def test_what_is_loaded_later_is_in_the_next_snapshot(tmp_path):
    """RCCL opens its network plugin with the first collective."""
    rccl = named(tmp_path / "lib", "librccl.so.1", "librccl.so.1")
    plugin = named(tmp_path / "lib", "librccl-net.so", "librccl-net.so")
    before, after = told(
        tmp_path,
        ("load", rccl),
        ("capture",),
        ("load", plugin),
        ("capture",),
        LD_LIBRARY_PATH=str(tmp_path / "lib"),
    )
    assert [each["library"] for each in before["loaded_libraries"]] == ["rccl"]
    assert [each["library"] for each in after["loaded_libraries"]] == ["rccl", "rccl_net_plugin"]
    assert after["loaded_libraries"][1]["digest"] == digest(plugin)


def test_links_and_copies_of_the_root_s_library(tmp_path):
    installed = root(tmp_path / "rocm")
    copy = tmp_path / "copy" / "librccl.so.1"
    copy.parent.mkdir()
    copy.write_bytes(installed.read_bytes())
    hard = tmp_path / "hard" / "librccl.so.1"
    hard.parent.mkdir()
    os.link(installed, hard)
    variables = {"ROCM_PATH": str(tmp_path / "rocm")}
    for path, described in (
        (tmp_path / "rocm" / "lib" / "librccl.so", None),
        (hard, None),
        (copy, str(installed)),
    ):
        (document,) = told(tmp_path, ("load", path), ("capture",), **variables)
        (entry,) = document["loaded_libraries"]
        assert entry["path"] == os.path.realpath(path)
        assert entry["differs_from"]["path"] == described
    assert entry["differs_from"]["same_content"] is True


def test_a_torch_whose_rccl_is_not_the_root_s(tmp_path):
    installed = root(tmp_path / "rocm")
    site = torches.stand_in(tmp_path / "site")
    bundled = named(tmp_path / "site" / "torch" / "lib", "librccl.so", "librccl.so.1", "-Wl,-rpath,$ORIGIN")
    (document,) = told(
        tmp_path,
        ("load", bundled),
        ("capture",),
        ROCM_PATH=str(tmp_path / "rocm"),
        PYTHONPATH=f"{os.environ.get('PYTHONPATH', '')}:{site}",
    )
    (entry,) = document["loaded_libraries"]
    assert (entry["path"], entry["origin"], entry["basis"]) == (str(bundled), "torch_bundled", "observed")
    assert entry["differs_from"]["path"] == str(installed)


def test_the_log_of_this_very_process(tmp_path):
    rccl = named(tmp_path / "lib", "librccl.so.1", "librccl.so.1")
    (tmp_path / "all.log").write_text(f"RCCL version : 2.27.7-HEAD:9a0e6a1\nLibrccl path : {rccl}\n")
    (document,) = told(tmp_path, ("load", rccl), ("capture",), NCCL_DEBUG_FILE=str(tmp_path / "all.log"))
    assert document["loaded_libraries"][0]["banners"][0]["commit"] == "9a0e6a1"


def real(strategy, python, **request):
    host = LiveHost(python=python)
    try:
        return collect(host, "loaded_libraries", import_strategy=strategy, **request)
    finally:
        host.close()


def test_a_real_torch_and_what_was_predicted_of_it():
    python = torches.python()
    seen = real("child", python)
    guessed = real("child", python, import_torch=False)
    assert seen.record.status == guessed.record.status == "ok"
    assert {each["process"] for each in seen.value} == {"torch_child"}
    assert {each["basis"] for each in guessed.value} == {"predicted"}
    same = ("library", "path", "soname", "build_id", "digest", "origin")
    assert [[each[name] for name in same] for each in seen.value] == [
        [each[name] for name in same] for each in guessed.value
    ]
    names = {os.path.basename(each["path"]) for each in seen.value}
    assert {"libtorch_cpu.so", "libtorch_python.so", "libc10.so"} <= names
    assert {each["origin"] for each in seen.value} == {"torch_bundled"}
    cpu = next(each for each in seen.value if each["path"].endswith("libtorch_cpu.so"))
    assert cpu["build_id"] == build_id(cpu["path"])


def test_what_the_dynamic_linker_itself_would_find_for_a_real_torch():
    """``ldd`` is the linker's own word on each library that torch's extension needs."""
    python = torches.python()
    host = LiveHost(python=python)
    try:
        package = host.module("torch").locations[0]
        told = asked(host, lambda ctx: predict(ctx, package))
    finally:
        host.close()
    extension = next(path for path in told.paths if "/_C." in path)
    text = subprocess.run(["ldd", extension], capture_output=True, text=True, check=True).stdout
    expected = {os.path.realpath(line.split()[2]) for line in text.splitlines() if " => /" in line}
    assert expected <= set(told.paths)
    assert told.troubles == ()
