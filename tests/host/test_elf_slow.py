"""ELF files on a file system that may hang, and ELF files and file systems in recordings."""

import io
import json
import os
import time
from pathlib import Path

import pytest

from aorta.host.elf import ElfError
from aorta.host.fake import FakeHost
from aorta.host.live import LiveHost
from aorta.host.protocol import FileSystem, NotRecordedError
from aorta.host.recording import RecordingHost
from aorta.host.replay import open_recording
from aorta.testing import collect
from tests.parts.elf_files import ORIGIN, both_tags, content
from tests.parts.fuse import hanging_mount

LIMIT_S = 1.0
SOON_S = 10


@pytest.fixture
def tree(tmp_path):
    """Make a small ROCm tree."""
    (tmp_path / ".info").mkdir()
    (tmp_path / ".info" / "version").write_text("7.2.0\n")
    (tmp_path / "lib").mkdir()
    for name, kind in {
        "libamdhip64.so.7": "runpath",
        "librccl.so.1": "none",
        "libhipblas.so.3": "rpath",
    }.items():
        (tmp_path / "lib" / name).write_bytes(content(f"{kind}.so"))
    (tmp_path / "lib" / "librccl.so").symlink_to("librccl.so.1")
    (tmp_path / "lib" / "libtext.so").write_text("INPUT(librccl.so)\n")
    return tmp_path


@pytest.fixture
def mount(tree):
    with hanging_mount("fuse_copy.py", str(tree)) as point:
        yield point


@pytest.fixture
def host():
    live = LiveHost(slow_limit_s=LIMIT_S)
    yield live
    live.close()


def helpers():
    """Return the command lines of this process's helper processes."""
    children = [
        child
        for task in os.listdir("/proc/self/task")
        for child in Path(f"/proc/self/task/{task}/children").read_text().split()
    ]
    lines = [Path(f"/proc/{child}/cmdline").read_bytes() for child in children]
    return [line for line in lines if b"\0-I\0-S\0-c\0" in line]


def test_a_library_is_read_through_the_helper(host, mount, tree):
    far = host.elf(f"{mount}/lib/libhipblas.so.3", ".")
    assert len(helpers()) == 1
    assert far == host.elf(f"{tree}/lib/libhipblas.so.3", ".")
    assert far.rpath == ORIGIN
    assert host.elf(f"{mount}/lib/librccl.so").dynamic
    with pytest.raises(ElfError, match="not an ELF file"):
        host.elf(f"{mount}/lib/libtext.so")
    with pytest.raises(FileNotFoundError):
        host.elf(f"{mount}/lib/libnone.so")
    assert host.filesystem(f"{mount}/lib/librccl.so").may_hang
    assert not host.filesystem("/proc/self/stat").may_hang


def test_a_library_that_hangs_is_given_up(host, mount, tree):
    (tree / "lib" / "libhang.so").write_bytes(content("rpath.so"))
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        host.elf(f"{mount}/lib/libhang.so", timeout=0.4)
    with pytest.raises(TimeoutError):
        host.elf(f"{mount}/lib/libhang.so")
    assert time.monotonic() - begun < SOON_S


def section(root):
    host = LiveHost(env={"ROCM_PATH": root, "ROCM_HOME": None}, slow_limit_s=LIMIT_S)
    try:
        return collect(host, "library_linkage")
    finally:
        host.close()


def test_the_section_on_a_slow_mount(mount, tree):
    far, near = section(mount), section(str(tree))
    assert far.value["rocm_rpath"] is near.value["rocm_rpath"] is True
    same = [
        {**each, "path": each["path"] and each["path"].replace(mount, str(tree))}
        for each in far.value["libraries"]
    ]
    assert same == near.value["libraries"]
    assert {**far.value["census"], "dirs": None} == {**near.value["census"], "dirs": None}


def test_the_section_where_a_library_hangs(mount, tree):
    """The library with RPATH comes after the one that hangs, so nobody knows of it."""
    (tree / "lib" / "libhang.so").write_bytes(content("none.so"))
    (tree / "lib" / "libhipblas.so.3").rename(tree / "lib" / "libz.so")
    begun = time.monotonic()
    result = section(mount)
    assert time.monotonic() - begun < SOON_S
    assert (result.value["status"], result.value["rocm_rpath"]) == ("ok", None)
    assert result.value["census"]["truncated"] is True
    assert "timed_out" in result.kinds("rocm_rpath")
    assert result.record.status == "partial"


QUESTIONS = {
    "elf": lambda host: host.elf("/lib/libx.so"),
    "elf with symbols": lambda host: host.elf("/lib/libx.so", "^chosen"),
    "elf by a link": lambda host: host.elf("/lib/link.so"),
    "both tags": lambda host: host.elf("/lib/both.so"),
    "no dynamic segment": lambda host: host.elf("/lib/object.o"),
    "no ELF file": lambda host: host.elf("/lib/text.so"),
    "a damaged one": lambda host: host.elf("/lib/cut.so"),
    "missing": lambda host: host.elf("/lib/missing.so"),
    "refused": lambda host: host.elf("/lib/refused.so"),
    "a directory": lambda host: host.elf("/lib"),
    "local": lambda host: host.filesystem("/lib/libx.so"),
    "network": lambda host: host.filesystem("/net/deep/file"),
    "nowhere": lambda host: host.filesystem("/nowhere"),
}


def machine():
    return FakeHost(
        files={
            "/lib/libx.so": content("rpath.so"),
            "/lib/both.so": both_tags(),
            "/lib/object.o": content("object.o"),
            "/lib/text.so": "INPUT(libx.so)",
            "/lib/cut.so": content("rpath.so")[:3000],
            "/lib/refused.so": 13,
            "/net/deep/file": "x",
        },
        links={"/lib/link.so": "libx.so"},
        filesystems={"/": "ext4", "/net": "nfs4"},
    )


def outcome(question, host):
    try:
        return question(host)
    except (OSError, ElfError) as error:
        return type(error), getattr(error, "errno", None), str(error)


def recorded(*questions):
    file = io.StringIO()
    recorder = RecordingHost(machine(), file)
    answers = [outcome(question, recorder) for question in questions]
    recorder.close()
    return file.getvalue(), answers


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_replay_answers_as_the_host_did(name):
    text, (answer,) = recorded(QUESTIONS[name])
    assert answer == outcome(QUESTIONS[name], machine())
    assert outcome(QUESTIONS[name], open_recording(text)) == answer


def test_the_recording_holds_no_bytes_of_the_library():
    text, (found,) = recorded(QUESTIONS["elf with symbols"])
    (line,) = [json.loads(each) for each in text.splitlines()][1:]
    assert (line["op"], line["path"], line["symbols"]) == ("elf", "/lib/libx.so", "^chosen")
    assert found.symbols == ("chosen_one", "chosen_two")
    assert len(text) < 1500


def test_what_was_not_asked_is_not_known():
    text, _ = recorded(QUESTIONS["elf"], QUESTIONS["local"])
    replayed = open_recording(text)
    for name in ("elf with symbols", "both tags", "network"):
        with pytest.raises(NotRecordedError):
            QUESTIONS[name](replayed)


def test_kinds_of_file_systems():
    assert QUESTIONS["network"](machine()) == FileSystem(kind="nfs4", may_hang=True)
    assert QUESTIONS["local"](machine()) == FileSystem(kind="ext4", may_hang=False)


def test_the_section_replayed_says_the_same(tree):
    file = io.StringIO()
    live = LiveHost(env={"ROCM_PATH": str(tree), "ROCM_HOME": None})
    recorder = RecordingHost(live, file)
    first = collect(recorder, "library_linkage")
    recorder.close()
    again = collect(open_recording(file.getvalue()), "library_linkage")
    assert again.value == first.value
    assert first.value["rocm_rpath"] is True
    assert again.reasons == first.reasons
