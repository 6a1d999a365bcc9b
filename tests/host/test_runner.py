import os
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.host.protocol import OUTPUT_LIMIT, Limit, Masked
from aorta.host.runner import loader_of
from aorta.model.vocabulary import Outcome

ROOT = Path(__file__).resolve().parents[2]
LONG_S = 30


@pytest.fixture
def host():
    live = LiveHost()
    yield live
    live.close()


def alive(mark):
    """Return the processes whose command line holds ``mark``; those that only wait to be reaped do not count."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            line = Path(f"/proc/{entry}/cmdline").read_bytes() if entry.isdigit() else b""
            state = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0] if line else "Z"
        except OSError:
            continue
        if mark.encode() in line and state != "Z" and int(entry) != os.getpid():
            found.append(int(entry))
    return found


def gone(mark, within_s=5.0):
    until = time.monotonic() + within_s
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(mark)


def test_a_command_ends(host):
    done = host.run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=LONG_S)
    assert (done.outcome, done.exit_code, done.stdout, done.stderr) == (Outcome.EXIT, 3, "out\n", "err\n")
    assert host.run(["true"], timeout=LONG_S).outcome is Outcome.OK
    assert 0 < done.elapsed_s < LONG_S


def test_its_surroundings(host, monkeypatch):
    monkeypatch.setenv("LANGUAGE", "de")
    script = "pwd; echo $LC_ALL; echo [$LANGUAGE]; cat; ps -o sid= -p $$ | tr -d ' '; echo $$"
    lines = LiveHost().run(["sh", "-c", script], timeout=LONG_S).stdout.split("\n")
    assert lines[:3] == ["/", "C.UTF-8", "[]"]
    assert lines[3] == lines[4]


def test_secrets_are_passed_and_not_shown(host):
    word = Masked("s3cret", "***")
    assert host.run(["sh", "-c", 'test "$1" = s3cret', "sh", word], timeout=LONG_S).outcome is Outcome.OK
    assert host.run(["echo", word], timeout=LONG_S).stdout == "***\n"
    assert "s3cret" not in repr(word)


def test_not_found(host, tmp_path):
    for argv in (["nonesuch-tool"], ["/nonesuch/tool"], [""], [], ["a\0b"]):
        assert host.run(argv, timeout=LONG_S).outcome is Outcome.NOT_FOUND
    script = tmp_path / "script"
    script.write_text("#!/nonesuch/interpreter\n")
    script.chmod(0o755)
    done = host.run([str(script)], timeout=LONG_S)
    assert (done.outcome, done.exit_code) == (Outcome.NOT_FOUND, None)
    assert host.run(["echo", "a\0b"], timeout=LONG_S).outcome is Outcome.NOT_FOUND


def test_not_executable(host, tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o644)
    assert host.run([str(tool)], timeout=LONG_S).outcome is Outcome.DENIED
    assert host.run(["tool"], timeout=LONG_S, path=[str(tmp_path)]).outcome is Outcome.DENIED
    assert host.run([str(tmp_path)], timeout=LONG_S).outcome is Outcome.DENIED
    tool.write_bytes(b"\x7fELF junk")
    tool.chmod(0o755)
    assert host.run([str(tool)], timeout=LONG_S).outcome is Outcome.DENIED


def test_lookup_order(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        tool = tmp_path / name / "some-tool"
        tool.write_text(f"#!/bin/sh\necho {name}\n")
        tool.chmod(0o755)
    (tmp_path / "link").symlink_to(tmp_path / "b" / "some-tool")
    path = os.environ["PATH"]
    host = LiveHost(env={"PATH": f":{tmp_path}/none:{tmp_path}/a:{path}"})
    assert host.run(["some-tool"], timeout=LONG_S, path=[f"{tmp_path}/b"]).stdout == "a\n"
    (tmp_path / "a" / "some-tool").chmod(0)
    assert host.run(["some-tool"], timeout=LONG_S, path=[f"{tmp_path}/b"]).stdout == "b\n"
    assert host.run([f"{tmp_path}/link"], timeout=LONG_S).stdout == "b\n"
    monkeypatch.chdir(tmp_path)
    assert host.run(["b/some-tool"], timeout=LONG_S).stdout == "b\n"


def test_system_directories_are_searched_last():
    host = LiveHost(env={"PATH": "/nonesuch"})
    assert host.run(["chroot", "--version"], timeout=LONG_S).outcome is Outcome.OK


def test_the_deadline_ends_what_ignores_sigterm(host):
    mark = "31.4159261"
    script = f"trap '' TERM; echo begun; sleep {mark} & sleep {mark}"
    done = host.run(["sh", "-c", script], timeout=0.5)
    assert (done.outcome, done.exit_code, done.stdout) == (Outcome.TIMED_OUT, None, "begun\n")
    assert done.elapsed_s < 10
    assert gone(mark)


def test_a_grandchild_that_keeps_the_output_open(host):
    mark = "31.4159262"
    done = host.run(["sh", "-c", f"sleep {mark} & echo begun; exit 4"], timeout=LONG_S)
    assert (done.outcome, done.exit_code, done.stdout) == (Outcome.EXIT, 4, "begun\n")
    assert done.elapsed_s < 10
    assert gone(mark)


def test_a_grandchild_in_a_session_of_its_own_ends_with_what_hangs(host):
    mark = "31.4159264"
    done = host.run(["sh", "-c", f"setsid sh -c 'sleep {mark} & wait' & wait"], timeout=0.5)
    assert done.outcome is Outcome.TIMED_OUT
    assert gone(mark)


def test_a_grandchild_in_a_session_of_its_own_is_told(host):
    mark = "6.28318531"
    escaped = host.run(["sh", "-c", f"setsid -f sleep {mark}; sleep 31"], timeout=0.5)
    assert escaped.outcome is Outcome.ABANDONED
    ended = host.run(["sh", "-c", f"setsid sleep {mark} & exit 0"], timeout=LONG_S)
    assert ended.outcome is Outcome.OK
    assert ended.elapsed_s < 6
    assert gone(mark, within_s=20)


def test_a_child_left_without_open_output_is_ended_too(host):
    mark = "31.4159264"
    assert host.run(["sh", "-c", f"sleep {mark} >&- 2>&- & exit 0"], timeout=LONG_S).outcome is Outcome.OK
    assert gone(mark)


def test_a_child_that_closes_its_output_is_waited_for(host):
    done = host.run(["sh", "-c", "exec >&- 2>&-; sleep 0.3; exit 5"], timeout=LONG_S)
    assert (done.outcome, done.exit_code) == (Outcome.EXIT, 5)


def test_much_output_is_cut(host):
    done = host.run(["head", "-c", "300000000", "/dev/zero"], timeout=LONG_S)
    assert (done.outcome, done.truncated, len(done.stdout)) == (Outcome.OK, True, OUTPUT_LIMIT)


def test_output_that_is_not_text(host):
    done = host.run(["printf", r"a\377b"], timeout=LONG_S)
    assert (done.stdout, done.truncated) == ("a\ufffdb", False)


def test_killed_by_a_signal(host):
    done = host.run(["sh", "-c", "kill -SEGV $$"], timeout=LONG_S)
    assert (done.outcome, done.exit_code) == (Outcome.SIGNAL, -signal.SIGSEGV)


def test_the_limit_may_move(host):
    limit = Limit(time.monotonic() + 0.3)
    timer = threading.Timer(0.1, limit.extend, [time.monotonic() + LONG_S])
    timer.start()
    assert host.run(["sleep", "1"], timeout=limit).outcome is Outcome.OK
    timer.join()


def test_time_that_is_over_starts_nothing(host):
    assert host.run(["true"], timeout=0).outcome is Outcome.TIMED_OUT


def test_closing_ends_what_runs():
    host, mark, answers = LiveHost(), "31.4159265", []
    runs = [
        threading.Thread(target=lambda: answers.append(host.run(["sleep", mark], timeout=LONG_S)))
        for _ in range(4)
    ]
    for run in runs:
        run.start()
    while len(alive(mark)) < len(runs):
        time.sleep(0.02)
    host.close()
    for run in runs:
        run.join(10)
    assert [answer.outcome for answer in answers] == [Outcome.TIMED_OUT] * len(runs)
    assert gone(mark)
    assert host.run(["true"], timeout=LONG_S).outcome is Outcome.TIMED_OUT


def test_the_loaders_complaint_about_preloads_is_left_out():
    host = LiveHost(env={"LD_PRELOAD": "/nonesuch/lib.so"})
    done = host.run(["sh", "-c", "echo mine >&2"], timeout=LONG_S)
    assert done.stderr == "mine\n"


def test_no_descriptor_is_lost(host):
    host.run(["true"], timeout=LONG_S)
    before = len(os.listdir("/proc/self/fd"))
    host.run(["true"], timeout=LONG_S)
    host.run(["sleep", "9"], timeout=0.1)
    host.run(["sh", "-c", "kill -9 $$"], timeout=LONG_S)
    assert len(os.listdir("/proc/self/fd")) == before


def test_side_by_side(host):
    answers = {}
    threads = [
        threading.Thread(
            target=lambda n=n: answers.update(
                {n: host.run(["sh", "-c", f"echo {n}; exit {n}"], timeout=LONG_S)}
            )
        )
        for n in range(32)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: (done.stdout, done.exit_code) for n, done in answers.items()} == {
        n: (f"{n}\n", n) for n in range(32)
    }


IGNORING = """
import signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if sys.argv[1] == "bare":
    sys.executable = ""
from aorta.host.live import LiveHost
host = LiveHost()
for argv in (["true"], ["sh", "-c", "echo said; exit 3"], ["sh", "-c", "kill -9 $$"], ["/etc/hostname"],
             ["sleep", "30"]):
    done = host.run(argv, timeout=1 if argv[0] == "sleep" else 30)
    print(done.outcome, done.exit_code, done.stdout.strip())
host.close()
"""


def ignoring(mode):
    done = subprocess.run(
        [sys.executable, "-c", IGNORING, mode],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_exit_statuses_survive_an_application_that_ignores_sigchld():
    assert ignoring("supervised") == [
        "ok 0 ",
        "exit 3 said",
        "signal -9 ",
        "denied None ",
        "timed_out None ",
    ]


def test_without_an_interpreter_a_lost_status_is_not_made_up():
    assert ignoring("bare") == [
        "exit None ",
        "exit None said",
        "exit None ",
        "denied None ",
        "timed_out None ",
    ]


def test_the_loader_of_a_program():
    assert loader_of(b"#! /usr/bin/env python\n") == "/usr/bin/env"
    assert loader_of(b"#!/bin/sh -e") == "/bin/sh"
    assert loader_of(b"#!\n") == ""
    assert loader_of(b"") == loader_of(b"\x7fELF\x02\x01") == loader_of(b"MZ") == ""
    assert loader_of(Path(sys.executable).read_bytes()[:4096]).startswith("/lib")
    cut = bytearray(64)
    cut[:6], cut[32:40], cut[54:58] = b"\x7fELF\x02\x01", struct.pack("<Q", 60), struct.pack("<HH", 56, 9)
    assert loader_of(bytes(cut)) == ""
