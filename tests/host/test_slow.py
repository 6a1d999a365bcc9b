import errno
import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.host.protocol import DeadMountError
from aorta.host.slow import NotAskedError, SlowFiles
from aorta.model.vocabulary import Outcome
from tests.parts.fuse import hanging_mount
from tests.parts.fuse_hang import SCRIPT
from tests.parts.uncovered import UNCOVERED

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 1.0
#: More than any single answer here needs on a busy machine, less than a hang.
SOON_S = 10


@pytest.fixture
def mount():
    with hanging_mount() as point:
        yield point


@pytest.fixture
def host():
    live = LiveHost(slow_limit_s=LIMIT_S)
    yield live
    live.close()


def helpers(pid="self"):
    """Return the living helper processes of a process."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
            # The command line of a process that has ended is empty.
            if b"\0-I\0-S\0-c\0" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def test_every_operation_goes_through_the_helper(host, mount):
    assert host.slow_points() == [mount]
    assert host.read_text(f"{mount}/ok") == SCRIPT.decode()
    assert host.read_bytes(f"{mount}/ok", 5) == SCRIPT[:5]
    assert host.stat(f"{mount}/ok").size == len(SCRIPT)
    assert host.stat(mount).kind == "dir"
    assert host.link(f"{mount}/out") == "/etc/hostname"
    assert host.stat(f"{mount}/inner", follow=False).kind == "link"
    assert [entry.name for entry in host.scan(f"{mount}/bin")] == ["plain", "tool"]
    assert host.sha256(f"{mount}/ok") == hashlib.sha256(SCRIPT).hexdigest()


def test_errors_come_through(host, mount):
    with pytest.raises(FileNotFoundError) as caught:
        host.stat(f"{mount}/none")
    assert caught.value.filename == f"{mount}/none"
    with pytest.raises(IsADirectoryError):
        host.read_bytes(mount)
    with pytest.raises(OSError) as caught:
        host.link(f"{mount}/ok")
    assert caught.value.errno == errno.EINVAL


def test_links_lead_in_and_out(host, mount, tmp_path):
    (tmp_path / "in").symlink_to(mount)
    (tmp_path / "chain").symlink_to("in/inner")
    assert host.read_text(f"{tmp_path}/in/ok") == SCRIPT.decode()
    assert host.read_text(f"{tmp_path}/chain") == SCRIPT.decode()
    assert host.stat(f"{tmp_path}/chain", follow=False).kind == "link"
    assert host.read_text(f"{mount}/out") == Path("/etc/hostname").read_text()
    assert host.stat(f"{tmp_path}/in/../../etc/hostname") == host.stat("/etc/hostname")
    assert host.slow_mount(f"{tmp_path}/chain") == mount
    assert host.slow_mount(f"{mount}x") is None


def test_local_files_beside_a_slow_mount_stay_local(host, mount):
    assert host.stat("/proc/self/ns/mnt").inode == os.stat("/proc/self/ns/mnt").st_ino
    (entry,) = [one for one in host.scan(os.path.dirname(mount)) if one.name == os.path.basename(mount)]
    assert (entry.kind, entry.inode) == ("dir", 0)
    assert host.read_text("/proc/self/comm")
    with pytest.raises(FileNotFoundError):
        host.stat("/nonesuch/x/y")
    assert helpers() == []


def test_silence_makes_a_mount_dead_for_good(host, mount):
    begun = time.monotonic()
    with pytest.raises(DeadMountError) as caught:
        host.stat(f"{mount}/hang")
    assert (caught.value.mount, caught.value.path) == (mount, f"{mount}/hang")
    assert LIMIT_S <= time.monotonic() - begun < SOON_S
    begun = time.monotonic()
    for operation in (host.stat, host.read_text, host.scan, host.sha256):
        with pytest.raises(DeadMountError):
            operation(f"{mount}/ok")
    assert time.monotonic() - begun < LIMIT_S
    assert host.dead_mounts() == [mount]
    assert host.read_text("/proc/self/comm")


def test_little_patience_is_no_evidence(host, mount):
    with pytest.raises(TimeoutError) as caught:
        host.stat(f"{mount}/slow-0.4", timeout=0.1)
    assert not isinstance(caught.value, DeadMountError)
    assert host.dead_mounts() == []
    assert host.stat(f"{mount}/ok").kind == "file"
    with pytest.raises(DeadMountError):
        host.stat(f"{mount}/hang", timeout=0.5)


def test_a_slow_answer_is_an_answer(mount):
    host = LiveHost(slow_limit_s=SOON_S)
    assert host.stat(f"{mount}/slow-0.3").kind == "file"
    host.close()


def test_everyone_who_waits_keeps_the_own_limit(mount):
    host, took = LiveHost(slow_limit_s=2.0), {}

    def ask(name, timeout):
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            host.stat(f"{mount}/hang", timeout=timeout)
        took[name] = time.monotonic() - begun

    host.stat(f"{mount}/ok")
    first = threading.Thread(target=ask, args=("first", None))
    second = threading.Thread(target=ask, args=("second", 0.3))
    third = threading.Thread(target=ask, args=("third", None))
    first.start()
    time.sleep(0.2)
    second.start()
    third.start()
    for thread in (first, second, third):
        thread.join()
    assert took["second"] < 1.7
    assert took["third"] < 2 + SOON_S
    host.close()


def test_a_helper_that_was_killed_is_replaced(host, mount):
    host.stat(f"{mount}/ok")
    (helper,) = helpers()
    os.kill(helper, 9)
    with pytest.raises(OSError) as caught:
        host.stat(f"{mount}/ok")
    assert caught.value.errno == errno.EIO
    assert host.stat(f"{mount}/ok").kind == "file"
    assert host.dead_mounts() == []


def test_closing_ends_the_helpers(mount):
    host = LiveHost()
    host.stat(f"{mount}/ok")
    host.sha256(f"{mount}/ok")
    assert len(helpers()) == 2
    host.close()
    assert helpers() == []
    with pytest.raises(TimeoutError):
        host.stat(f"{mount}/ok")


@pytest.mark.parametrize("program", ["", "/nonesuch/python", "/bin/true", "/bin/echo"])
def test_without_an_interpreter_nothing_is_asked(mount, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    host = LiveHost()
    for _ in range(2):
        with pytest.raises(NotAskedError, match="may hang"):
            host.stat(f"{mount}/ok")
    assert host.run(["true"], timeout=SOON_S).outcome is Outcome.OK
    assert host.run(["tool"], timeout=SOON_S, path=[f"{mount}/bin"]).outcome is Outcome.NOT_FOUND
    host.close()


def test_a_program_on_a_slow_mount(host, mount, tmp_path):
    done = host.run([f"{mount}/bin/tool"], timeout=SOON_S)
    assert (done.outcome, done.exit_code, done.stdout) == (Outcome.EXIT, 7, "from the mount\n")
    assert host.run(["tool"], timeout=SOON_S, path=[f"{mount}/bin"]).exit_code == 7
    assert host.run([f"{mount}/bin/plain"], timeout=SOON_S).outcome is Outcome.DENIED
    script = tmp_path / "script"
    script.write_text(f"#!{mount}/bin/tool\n")
    script.chmod(0o755)
    assert host.run([str(script)], timeout=SOON_S).exit_code == 7
    script.write_text(f"#!{mount}/nonesuch\n")
    assert host.run([str(script)], timeout=SOON_S).outcome is Outcome.NOT_FOUND


def test_a_program_that_can_not_even_be_loaded(host, mount):
    done = host.run([f"{mount}/hangread"], timeout=LIMIT_S)
    assert done.outcome in {Outcome.TIMED_OUT, Outcome.ABANDONED}


def test_a_tool_in_an_endless_system_call_is_left_behind(host, mount):
    done = host.run(["stat", f"{mount}/hang"], timeout=0.5)
    assert done.outcome is Outcome.ABANDONED
    assert done.elapsed_s < SOON_S


def test_dead_places_are_kept_from_children(mount, tmp_path):
    (tmp_path / "link").symlink_to(mount)
    host = LiveHost(
        slow_limit_s=LIMIT_S,
        env={
            "LD_LIBRARY_PATH": f"{mount}/hang:/opt/lib",
            "PATH": f"{tmp_path}/link/hang:{os.environ['PATH']}",
            "SOME_ROOT": f"{mount}/bin",
            "WORDS": f"{mount}/bin",
            "OTHER": "kept:/also",
        },
    )
    script = 'echo "$LD_LIBRARY_PATH|$SOME_ROOT|$WORDS|$OTHER"; case $PATH in *link*) echo left;; esac'
    done = host.run(["sh", "-c", script], timeout=SOON_S)
    assert done.stdout == "/opt/lib|||kept:/also\n"
    missing = host.run(["nonesuch"], timeout=SOON_S, path=[f"{mount}/bin"])
    assert missing.outcome is Outcome.NOT_FOUND
    assert f"the file system at {mount} did not answer" in missing.detail
    host.close()


def test_places_that_answer_are_kept(host, mount):
    kept = LiveHost(env={"SOME_PATH": f"{mount}/bin:/x", "LD_LIBRARY_PATH": f"{mount}/none"})
    done = kept.run(["sh", "-c", "echo $SOME_PATH $LD_LIBRARY_PATH"], timeout=SOON_S)
    assert done.stdout == f"{mount}/bin:/x {mount}/none\n"
    kept.close()


def test_long_work_is_no_silence(tmp_path):
    """A helper serves any directory, so this needs no mount."""
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(1 << 30)
    point, request = str(tmp_path), {"op": "sha256", "path": str(large), "follow": True}
    files = SlowFiles([point], {}, 0.4)
    begun = time.monotonic()
    digest = files.ask(point, request, None)["value"]
    assert len(digest) == 64
    assert time.monotonic() - begun > 0.4
    with pytest.raises(TimeoutError) as caught:
        files.ask(point, request, 0.3)
    assert not isinstance(caught.value, DeadMountError)
    assert files.dead() == []
    files.close()


WHOLE = """
import sys, threading
from aorta.host.live import LiveHost
mount = sys.argv[1]
host = LiveHost(slow_limit_s=0.5, env={"LD_LIBRARY_PATH": mount + "/hang"})

def attempt(function, *words, **options):
    try:
        return function(*words, **options)
    except OSError as error:
        return type(error).__name__

threads = [threading.Thread(target=attempt, args=(host.stat, f"{mount}/hang")) for _ in range(4)]
for thread in threads:
    thread.start()
print(attempt(host.sha256, f"{mount}/hangread"))
print(attempt(host.read_text, f"{mount}/hang"))
print(host.run(["stat", f"{mount}/hang"], timeout=0.5).outcome)
print(host.run(["echo", "fine"], timeout=20).stdout.strip())
sys.path.insert(0, mount + "/hang")
print(host.distribution("attrs").name, host.module("attrs").name, host.module("nonesuch"))
print(host.dead_mounts() == [mount])
host.close()
"""


def test_a_whole_process_ends_though_the_mount_does_not_answer(mount):
    process = subprocess.Popen(
        [sys.executable, "-c", WHOLE, mount],
        cwd=ROOT,
        env=UNCOVERED,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert out.splitlines() == [
        "DeadMountError",
        "DeadMountError",
        "abandoned",
        "fine",
        "attrs attrs None",
        "True",
    ]


def test_a_process_that_is_killed_leaves_no_helper(mount):
    code = "import sys, time; from aorta.host.live import LiveHost; host = LiveHost(); host.stat(sys.argv[1]); print('ready', flush=True); time.sleep(50)"
    process = subprocess.Popen(
        [sys.executable, "-c", code, f"{mount}/ok"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    (helper,) = helpers(process.pid)
    process.kill()
    process.communicate(timeout=SOON_S)
    until = time.monotonic() + SOON_S
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{helper}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except OSError:
            return
        time.sleep(0.02)
    pytest.fail("the helper is still there")
