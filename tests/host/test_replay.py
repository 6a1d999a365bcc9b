"""Opening recordings: what a good one means, and how a bad one is refused."""

import errno
import gzip
import json

import pytest

from aorta.host.protocol import DeadMountError, NotRecordedError
from aorta.host.replay import RecordingError, open_recording
from aorta.model.vocabulary import Outcome

HEADER = {
    "recording": 1,
    "aorta": "2.0",
    "created": "2026-02-03T04:05:06Z",
    "world": "closed",
    "redacted": True,
}


def text_of(*lines, **header):
    return "\n".join(json.dumps(line) for line in ({**HEADER, **header}, *lines)) + "\n"


def closed(*lines):
    return open_recording(text_of(*lines))


def strict(*lines):
    return open_recording(text_of(*lines, world="accesses"))


WORLD = (
    {"op": "read", "path": "/etc/os-release", "text": "ID=x\n"},
    {"op": "bytes", "path": "/lib/a.so", "b64": "f0VMRgA="},
    {"op": "stat", "path": "/lib/a.so", "kind": "file", "mode": 0o755},
    {"op": "link", "path": "/lib/b.so", "target": "a.so"},
    {"op": "link", "path": "/proc/1/ns/mnt", "errno": "EACCES"},
    {"op": "link", "path": "/proc/self/ns/mnt", "target": "mnt:[4026531841]"},
    {"op": "read", "path": "/sys/kfd/gpu_id", "errno": "EPERM"},
    {"op": "stat", "path": "/dev/kfd", "kind": "char", "mode": 0o660, "uid": 0, "gid": 44, "device": "511:0"},
    {"op": "stat", "path": "/sys/module/bnxt_en", "kind": "dir", "mode": 0o755},
    {"op": "scan", "path": "/root", "errno": "EACCES"},
    {
        "op": "scan",
        "path": "/run",
        "entries": [{"name": "x", "kind": "socket"}, {"name": "lock", "kind": "dir"}],
    },
    {"op": "stat", "path": "/bad", "errno": "EIO", "error": "bad disk"},
    {"op": "run", "argv": ["/opt/rocm/bin/rocminfo"], "exit": 0, "out": "R\n", "err": ""},
    {"op": "run", "argv": ["slow"], "outcome": "timed_out", "exit": None},
    {"op": "env", "name": "PATH", "value": "/bin"},
    {"op": "env", "name": "HOME", "value": None},
    {"op": "dist", "name": "torch", "found": {"name": "torch", "version": "2.5.1"}},
    {"op": "dist", "name": "jax", "found": None},
    {
        "op": "module",
        "name": "torch",
        "found": {"name": "torch", "origin": "/sp/torch/__init__.py", "locations": ["/sp/torch"]},
    },
    {"op": "observe", "name": "glibc", "value": "glibc 2.35"},
    {"op": "sha256", "path": "/big", "hex": "ab"},
    {"op": "sha256", "path": "/lib/a.so", "errno": "EIO"},
    {"op": "elf", "path": "/big", "value": {"bits": 64, "byte_order": "little", "machine": "EM_X86_64"}},
)


def test_a_closed_world_is_a_whole_machine():
    host = closed(*WORLD)
    assert host.kind == "replay"
    assert host.read_text("/etc/os-release") == "ID=x\n"
    assert host.read_bytes("/lib/../lib/b.so", 4) == b"\x7fELF"
    assert host.stat("/lib/b.so").mode == 0o755
    assert [entry.name for entry in host.scan("/lib")] == ["a.so", "b.so"]
    assert [entry.name for entry in host.scan("/proc")] == ["1", "self"]
    assert host.scan("/sys/module/bnxt_en") == []
    assert [(entry.name, entry.kind) for entry in host.scan("/run")] == [("lock", "dir"), ("x", "socket")]
    assert host.link("/proc/self/ns/mnt") == "mnt:[4026531841]"
    assert host.stat("/dev/kfd").kind == "char"
    assert host.stat("/dev/kfd").gid == 44
    assert host.env_names() == ["PATH"]
    assert host.env("HOME") is None
    assert host.distribution("Torch").version == "2.5.1"
    assert host.distribution("jax") is None
    assert host.module("torch").locations == ("/sp/torch",)
    assert host.observe("glibc", str) == "glibc 2.35"
    assert host.sha256("/big") == "ab"
    assert host.now() == "2026-02-03T04:05:06Z"


def test_what_a_closed_world_lacks_is_not_there():
    host = closed(*WORLD)
    for question in (host.read_text, host.stat, host.scan, host.link, host.sha256):
        with pytest.raises(FileNotFoundError):
            question("/nowhere")
    assert host.run(["rocm-smi"], timeout=1).outcome is Outcome.NOT_FOUND
    assert host.env("LANG") is None
    assert host.module("jax") is None
    for key in ("interpreter", "uname", "ulimits", "user"):
        assert host.observe(key, dict) is None


def test_what_a_closed_world_refuses_is_there():
    host = closed(*WORLD)
    assert host.stat("/sys/kfd/gpu_id").kind == "file"
    assert host.stat("/proc/1/ns/mnt", follow=False).kind == "link"
    assert host.stat("/root").kind == "dir"
    for question in (
        lambda: host.read_text("/sys/kfd/gpu_id"),
        lambda: host.link("/proc/1/ns/mnt"),
        lambda: host.stat("/proc/1/ns/mnt"),
        lambda: host.scan("/root"),
    ):
        with pytest.raises(PermissionError):
            question()
    with pytest.raises(OSError, match="bad disk"):
        host.stat("/bad")
    with pytest.raises(OSError) as caught:
        host.sha256("/lib/a.so")
    assert caught.value.errno == errno.EIO


def test_commands_of_a_closed_world():
    host = closed(*WORLD)
    assert host.run(["rocminfo"], timeout=1, path=["/opt/rocm/bin"]).stdout == "R\n"
    assert host.run(["rocminfo"], timeout=1).outcome is Outcome.NOT_FOUND
    assert host.run(["slow"], timeout=1).outcome is Outcome.TIMED_OUT


def test_strict_answers_say_what_was_recorded():
    host = strict(
        {"op": "read", "path": "/f", "text": "éé"},
        {"op": "read", "path": "/nfs/x", "error": "silent", "type": "DeadMountError", "mount": "/nfs"},
        {"op": "read", "path": "/latin", "error": "invalid start byte", "type": "UnicodeDecodeError"},
        {"op": "stat", "path": "/f", "kind": "file", "size": 4, "new_key_of_a_later_version": 1},
        {"op": "stat", "path": "/o", "error": "odd", "type": "OSError"},
        {"op": "env", "prefix": "N", "names": ["NAME"]},
        {"op": "observe", "name": "x", "error": "plain"},
        {"op": "run", "argv": ["a"], "exit": 3, "elapsed_s": 1.5, "truncated": True},
        {"op": "clock", "now": "2030-01-01T00:00:00Z"},
    )
    assert host.read_text("/f", 3) == "é"
    assert host.stat("/f").size == 4
    assert host.env_names("N") == ["NAME"]
    with pytest.raises(NotRecordedError):
        host.env_names("")
    with pytest.raises(DeadMountError) as caught:
        host.read_text("/nfs/x")
    assert caught.value.mount == "/nfs"
    assert host.dead_mounts() == ["/nfs"]
    with pytest.raises(UnicodeDecodeError, match="invalid start byte"):
        host.read_text("/latin")
    with pytest.raises(OSError, match="odd"):
        host.stat("/o")
    with pytest.raises(RuntimeError, match="plain"):
        host.observe("x", dict)
    done = host.run(["a"], timeout=9)
    assert (done.outcome, done.exit_code, done.elapsed_s, done.truncated) == (Outcome.EXIT, 3, 1.5, True)
    assert host.now() == "2030-01-01T00:00:00Z"
    host.close()


def test_files_plain_and_gzipped(tmp_path):
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.write_text(text_of(*WORLD) + "\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed, str(packed)):
        assert open_recording(path).env("PATH") == "/bin"
    with pytest.raises(FileNotFoundError):
        open_recording(tmp_path / "none")


BAD_LINES = {
    "no object": "[1]",
    "no JSON": "{",
    "NaN": '{"op": "observe", "name": "x", "value": NaN}',
    "deep": '{"op": "observe", "name": "x", "value": ' + "[" * 100_000 + "}",
    "no op": {"path": "/x"},
    "unknown op": {"op": "write", "path": "/x"},
    "no path": {"op": "read", "text": "x"},
    "path is no text": {"op": "read", "path": 1, "text": "x"},
    "no text": {"op": "read", "path": "/x"},
    "half a surrogate": '{"op": "read", "path": "/x", "text": "\\ud800"}',
    "no base 64": {"op": "bytes", "path": "/x", "b64": "?"},
    "unknown errno": {"op": "read", "path": "/x", "errno": "EWHAT"},
    "errno is no text": {"op": "read", "path": "/x", "errno": 13},
    "dead mount without mount": {"op": "read", "path": "/x", "error": "e", "type": "DeadMountError"},
    "unknown kind": {"op": "stat", "path": "/x", "kind": "door"},
    "no kind": {"op": "stat", "path": "/x"},
    "size is a truth": {"op": "stat", "path": "/x", "kind": "file", "size": True},
    "follow is no truth": {"op": "stat", "path": "/x", "kind": "file", "follow": 1},
    "entries are no list": {"op": "scan", "path": "/x", "entries": {}},
    "entry is no object": {"op": "scan", "path": "/x", "entries": ["a"]},
    "entry with a slash": {"op": "scan", "path": "/x", "entries": [{"name": "a/b", "kind": "file"}]},
    "argv is no list": {"op": "run", "argv": "lspci", "exit": 0},
    "argv is empty": {"op": "run", "argv": [], "exit": 0},
    "argv of numbers": {"op": "run", "argv": [1], "exit": 0},
    "no ending": {"op": "run", "argv": ["a"]},
    "unknown outcome": {"op": "run", "argv": ["a"], "outcome": "fine"},
    "exit is a text": {"op": "run", "argv": ["a"], "exit": "0"},
    "env without value": {"op": "env", "name": "A"},
    "env is a number": {"op": "env", "name": "A", "value": 1},
    "names are no list": {"op": "env", "prefix": "A", "names": "A"},
    "dist without found": {"op": "dist", "name": "x"},
    "dist without name": {"op": "dist", "name": "x", "found": {}},
    "module with bad locations": {"op": "module", "name": "x", "found": {"name": "x", "locations": [1]}},
    "observation without value": {"op": "observe", "name": "x"},
    "no time": {"op": "clock"},
}


@pytest.mark.parametrize("name", BAD_LINES)
@pytest.mark.parametrize("world", ["closed", "accesses"])
def test_a_bad_line_is_named(tmp_path, name, world):
    line = BAD_LINES[name]
    path = tmp_path / "bad.jsonl"
    path.write_text(
        text_of({"op": "env", "name": "A", "value": "x"}, world=world)
        + (line if isinstance(line, str) else json.dumps(line))
        + "\n"
    )
    with pytest.raises(RecordingError) as caught:
        open_recording(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}, line 3: ")
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", 'no "recording"'),
        ('{"op": "read", "path": "/x", "text": ""}', 'no "recording"'),
        (text_of(recording=2), "newer"),
        (text_of(recording=0), "no recording format 0"),
        (text_of(recording="1"), "recording must be a number"),
        (text_of(recording=True), "recording must be a number"),
        (text_of(world="open"), "unknown world 'open'"),
        (text_of(world=None), "world must be a text"),
        (text_of(created=1), "created must be a text"),
    ],
)
def test_a_bad_first_line_is_refused(text, said):
    with pytest.raises(RecordingError, match="line 1") as caught:
        open_recording(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", b"\xff\xfe{}", b"\x1f\x8b\x08cut", gzip.compress(b"\xff")],
    ids=["empty", "blank", "no UTF-8", "cut gzip", "packed junk"],
)
def test_files_that_are_no_recording(tmp_path, data):
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"x\.jsonl"):
        open_recording(path)


def test_an_error_of_a_text_names_it():
    with pytest.raises(RecordingError, match="^recording, line 2: unknown op"):
        closed({"op": "fly"})


def test_a_recording_error_is_a_value_error():
    assert issubclass(RecordingError, ValueError)
