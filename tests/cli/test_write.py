import errno
import gzip
import json
import os
import stat
import subprocess
import sys
import tempfile

import pytest

from aorta.instrumentation.filekind import NOTHING, OTHER, RECORDING, SNAPSHOT, held_by, held_in
from aorta.instrumentation.write import ForeignFileError, check_writable, replacing, told, write_atomically


def snapshot(**members):
    return json.dumps({"schema_version": "2.0", **members})


def gpus(*serials):
    return snapshot(gpus=[{"unique_id": serial} for serial in serials])


def host(digest):
    return snapshot(host={"machine_digest": digest})


def node(digest, name):
    return snapshot(host={"machine_digest": digest}, launcher={"node": name})


def of_kind(kind):
    return snapshot(collection={"host_kind": kind})


HEADER = '{"recording": 1, "world": "closed"}\n'


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        (gpus("a", "b"), gpus("c"), True),
        (gpus("a", "b"), gpus("b"), False),
        (gpus("a"), gpus(), False),
        (host("1"), host("2"), True),
        (host("1"), host(None), False),
        # nodes of one image have one machine id; not every capture was started by Slurm
        (node("1", "a"), node("1", "b"), True),
        (node("1", "a"), node("2", "a"), True),
        (node("1", "a"), node("1", "a"), False),
        (node("1", "a"), node("1", None), False),
        (node(None, "a"), node("1", "b"), True),
        (snapshot(host=None, gpus=3), gpus("a"), False),
        (of_kind("live"), of_kind("replay"), True),
        (of_kind("replay"), of_kind("live"), True),
        (of_kind("replay"), of_kind("replay"), False),
        ('{"schema_version": "1.17"}', of_kind("live"), False),
        ("", gpus("a"), False),
        (" \n", gpus("a"), False),
        ("not json", gpus("a"), False),
        ("[1]", gpus("a"), False),
        ('{"a": 1}', gpus("a"), False),
        (HEADER, gpus("a"), True),
        (HEADER + '{"op": "clock"}\n', gpus("a"), True),
    ],
)
def test_only_a_snapshot_of_the_same_machine_is_replaced(tmp_path, before, after, refused):
    path = tmp_path / "x.json"
    path.write_text(before)
    if refused:
        with pytest.raises(ForeignFileError):
            write_atomically(str(path), after)
        assert path.read_text() == before
        write_atomically(str(path), after, force=True)
    else:
        write_atomically(str(path), after)
    assert path.read_text() == after
    assert os.listdir(tmp_path) == ["x.json"]


#: Writes a text to a path, but waits each time before a file gets its name.
WRITER = """
import os, sys
from aorta.instrumentation.write import ForeignFileError, write_atomically
def waiting(name):
    function = getattr(os, name)
    def wait(*paths):
        print("ready", flush=True)
        sys.stdin.readline()
        function(*paths)
    setattr(os, name, wait)
waiting("link")
waiting("replace")
try:
    write_atomically(sys.argv[1], sys.argv[2])
except ForeignFileError:
    sys.exit(1)
"""


def both_at_once(environ, path, *texts):
    """Write texts to one path, each when all have found nothing there; return the exit statuses."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), text],
            env=environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for text in texts
    ]
    assert [process.stdout.readline() for process in running] == ["ready\n"] * len(texts)
    for process in running:
        process.communicate("go\n\n", timeout=20)
    return sorted(process.returncode for process in running)


def test_two_hosts_that_write_one_file_at_once(tmp_path, environ):
    """Without a launcher nobody knows of the other; the second notices, and nothing is lost unsaid."""
    texts = [host("1"), host("2")]
    assert both_at_once(environ, tmp_path / "x", *texts) == [0, 1]
    assert (tmp_path / "x").read_text() in texts
    assert os.listdir(tmp_path) == ["x"]


def test_one_host_that_writes_twice_at_once(tmp_path, environ):
    assert both_at_once(environ, tmp_path / "x", host("1"), host("1")) == [0, 0]
    assert os.listdir(tmp_path) == ["x"]


def test_a_file_system_without_hard_links(tmp_path, monkeypatch):
    def no_links(*_paths):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    write_atomically(str(tmp_path / "x"), host("1"))
    assert (tmp_path / "x").read_text() == host("1")
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_mode_is_the_umasks(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_atomically(str(tmp_path / "x"), "{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


def test_an_error_inside_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), replacing(str(tmp_path / "a" / "x")) as stream:
        stream.write("half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path / "a") == []


def test_a_device_is_written_to(tmp_path):
    write_atomically("/dev/null", "{}")
    with pytest.raises(OSError, match="No space"):
        write_atomically("/dev/full", "{}")


def test_check_leaves_nothing_and_makes_nothing(tmp_path):
    check_writable(str(tmp_path / "a" / "b" / "x.json"))
    check_writable("/dev/null")
    assert os.listdir(tmp_path) == []


def test_a_dangling_link_names_the_place_it_points_to(tmp_path):
    (tmp_path / "x").symlink_to("y")
    write_atomically(str(tmp_path / "x"), "{}")
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_told_has_the_path_that_was_asked_for():
    assert told(OSError(28, "No space left on device", "/tmp/.x.tmp"), "env.json") == (
        "cannot write env.json: No space left on device"
    )
    assert told(OSError("odd"), "env.json") == "cannot write env.json: odd"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", NOTHING),
        (b"{ }\n", NOTHING),
        (b"{", OTHER),
        (b"\xff\xfe", OTHER),
        (b"[" * 100000, OTHER),
        (b'{"schema_version": 2}', OTHER),
        (b'{"schema_version": "1.13"}', SNAPSHOT),
        (b'{"recording": 1}', RECORDING),
        (b'\n{"recording": 1}\n{"op"', RECORDING),
        (gzip.compress(b'{"recording": 1}\n' + b"x" * 100000), RECORDING),
        (gzip.compress(b'{"recording": 1}\n' + b"x" * 100000)[:60], RECORDING),
        (gzip.compress(b"x"), OTHER),
        (b"\x1f\x8bnot gzip", OTHER),
    ],
)
def test_what_a_file_holds(data, kind, tmp_path):
    assert held_in(data).kind == kind
    (tmp_path / "x").write_bytes(data)
    assert held_by(str(tmp_path / "x")).kind == kind


def test_what_cannot_be_read_is_not_ours(tmp_path):
    assert held_by(str(tmp_path)).kind == OTHER
    assert held_by(str(tmp_path / "nowhere")).kind == NOTHING


def test_a_directory_without_permission():
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o555)
    was = os.geteuid()
    if was == 0:
        # Root may write anywhere; nobody may not.
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            check_writable(f"{folder}/x")
    finally:
        os.seteuid(was)
        os.rmdir(folder)
