import errno
import hashlib
import os
import re
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.host.protocol import Host
from tests.parts.uncovered import UNCOVERED

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def host():
    live: Host = LiveHost()
    yield live
    live.close()


def test_reads_are_limited(host, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"x" * 300_000)
    assert host.read_bytes(str(file)) == b"x" * 300_000
    assert host.read_bytes(str(file), 7) == b"x" * 7
    assert host.read_bytes(str(file), 0) == b""
    assert len(host.read_bytes(str(file), 200_000)) == 200_000


def test_text_is_strict_but_a_cut_character_is_left_out(host, tmp_path):
    file = tmp_path / "file"
    file.write_text("aä", encoding="utf-8")
    assert host.read_text(str(file)) == "aä"
    assert host.read_text(str(file), 2) == "a"
    file.write_bytes(b"a\xff")
    with pytest.raises(UnicodeDecodeError):
        host.read_text(str(file))
    file.write_bytes(b"a\xc3")
    with pytest.raises(UnicodeDecodeError):
        host.read_text(str(file))


def test_files_of_the_kernel_are_read_though_they_have_no_size(host):
    assert host.read_text("/proc/sys/kernel/ostype") == "Linux\n"
    assert len(host.read_bytes("/proc/self/mountinfo")) == len(Path("/proc/self/mountinfo").read_bytes())


def test_what_is_not_a_file_is_refused_without_opening_it(host, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, number in ((fifo, errno.EINVAL), ("/dev/null", errno.EINVAL), (tmp_path, errno.EISDIR)):
        for operation in (host.read_bytes, host.read_text, host.sha256):
            with pytest.raises(OSError) as caught:
                operation(str(path))
            assert (caught.value.errno, caught.value.filename) == (number, str(path))


def test_errors_are_those_of_the_system(host, tmp_path):
    with pytest.raises(FileNotFoundError):
        host.stat(str(tmp_path / "none"))
    with pytest.raises(NotADirectoryError):
        host.read_bytes("/etc/hostname/x")
    with pytest.raises(OSError) as caught:
        host.link("/etc/hostname")
    assert caught.value.errno == errno.EINVAL
    with pytest.raises(OSError):
        host.stat("/etc/\0x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError) as caught:
        host.stat(str(tmp_path / "loop"))
    assert caught.value.errno == errno.ELOOP


def test_stat_and_link(host, tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"12345")
    file.chmod(0o640)
    link.symlink_to("file")
    found = host.stat(str(link))
    raw = os.stat(file)
    assert (found.kind, found.size, found.mode) == ("file", 5, 0o640)
    assert (found.mtime_ns, found.inode, found.dev) == (raw.st_mtime_ns, raw.st_ino, raw.st_dev)
    assert host.stat(str(link), follow=False).kind == "link"
    assert host.link(str(link)) == "file"
    assert host.stat("/dev/null").kind == "char"
    assert host.stat("/").kind == "dir"


def test_scan_is_sorted_and_follows_nothing(host, tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_bytes(b"12")
    (tmp_path / "c").symlink_to("/nonesuch")
    os.mkfifo(tmp_path / "d")
    assert [(entry.name, entry.kind) for entry in host.scan(str(tmp_path))] == [
        ("a", "file"),
        ("b", "dir"),
        ("c", "link"),
        ("d", "fifo"),
    ]
    assert host.scan(str(tmp_path))[0].size == 2


def test_names_that_are_not_utf8(host, tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("x")
    (entry,) = host.scan(str(tmp_path))
    assert entry.name == "\udcff"
    assert host.read_text(f"{tmp_path}/{entry.name}") == "x"


def test_digest(host, tmp_path):
    file = tmp_path / "file"
    content = os.urandom(400_000)
    file.write_bytes(content)
    assert host.sha256(str(file)) == hashlib.sha256(content).hexdigest()
    with pytest.raises(TimeoutError):
        host.sha256(str(file), timeout=0)


def test_relative_paths(host, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("here")
    assert host.read_text("file") == "here"


def test_environment_is_that_of_the_start_with_an_overlay(monkeypatch):
    monkeypatch.setenv("AORTA_TEST_A", "a")
    monkeypatch.setenv("AORTA_TEST_B", "b")
    monkeypatch.setitem(os.environ, "AORTA_TEST_D", "\udcff\udcfe")
    host = LiveHost(env={"AORTA_TEST_B": None, "AORTA_TEST_C": "c"})
    monkeypatch.setenv("AORTA_TEST_A", "changed")
    assert host.env_names("AORTA_TEST_") == ["AORTA_TEST_A", "AORTA_TEST_C", "AORTA_TEST_D"]
    assert (host.env("AORTA_TEST_A"), host.env("AORTA_TEST_B")) == ("a", None)
    assert host.env("AORTA_TEST_D") == "\udcff\udcfe"
    assert (
        host.run(["sh", "-c", "echo $AORTA_TEST_A $AORTA_TEST_B $AORTA_TEST_C"], timeout=30).stdout == "a c\n"
    )


def test_clocks_and_observations(host):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", host.now())
    assert host.monotonic() <= host.monotonic()
    assert host.observe("key", lambda: {"a": 1}) == {"a": 1}
    assert host.dead_mounts() == []
    assert host.kind == "live"


def test_magic_links_of_proc_are_read_though_their_text_leads_nowhere(host):
    assert stat.S_ISREG(os.stat("/proc/self/ns/mnt").st_mode)
    assert host.stat("/proc/self/ns/mnt").inode == os.stat("/proc/self/ns/mnt").st_ino


def test_importing_is_cheap():
    heavy = [
        "asyncio",
        "multiprocessing",
        "importlib.metadata",
        "concurrent.futures",
        "torch",
        "email",
    ]
    code = f"import sys, aorta.host.live; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=UNCOVERED,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stdout == "[]\n"


def test_it_works_from_a_zip_file(tmp_path):
    archive = tmp_path / "app.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for source in (ROOT / "aorta").rglob("*.py"):
            file.write(source, source.relative_to(ROOT))
    code = (
        "import aorta.host.slow as slow; from aorta.host.live import LiveHost; import aorta;"
        "assert 'app.zip' in aorta.__file__; assert 'def serve' in slow.helper_source();"
        "print(LiveHost().read_text('/proc/sys/kernel/ostype'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(archive)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "Linux\n\n"), done.stderr
