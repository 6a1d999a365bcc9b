import os
import random
import signal
import subprocess
import sys
import time

import pytest

import aorta
from tests.parts.fake_tools import make

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def children_with(token):
    """Return the pids of processes whose command line has a token."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if token.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)


@pytest.fixture
def running(cli, environ, tools):
    """Return a function that starts a capture, hanging in a tool of its own."""
    token = f"6{os.getpid()}{time.monotonic_ns() % 1000000}"
    path = tools("hipconfig", f"trap '' TERM; sleep {token} & exec sleep {token}")
    started = []

    def start(*words, module="aorta"):
        process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            cwd=cli.folder,
            env=environ(PATH=path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        wait_for(lambda: children_with(token) or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        return process

    yield start, lambda: children_with(token)
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("aorta", ("env", "probe", "-o", "out.json")),
        ("aorta", ("env", "probe", "-o", "-")),
        ("aorta", ("env", "record", "out.jsonl")),
        ("aorta.instrumentation._probe_main", ("out.json",)),
    ],
)
def test_a_signal_ends_all_in_one_line(cli, running, number, module, words):
    start, children = running
    process = start(*words, module=module)
    begun = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - begun < 5
    assert err == f"aorta: stopped by {signal.Signals(number).name}\n"
    assert process.returncode == CODES[number]
    assert out == ""
    assert [path.name for path in cli.folder.iterdir()] == ["bin"]
    wait_for(lambda: not children(), 5)


def test_an_ignored_signal_stays_ignored(cli, environ, tools):
    path = tools("hipconfig", f"touch {cli.folder}/begun; sleep 1; exit 1")
    process = subprocess.Popen(
        [sys.executable, "-m", "aorta", "env", "probe", "--section", "hip", "-o", "x.json"],
        cwd=cli.folder,
        env=environ(PATH=path),
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    wait_for((cli.folder / "begun").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err.startswith(b"wrote x.json")


HANGING_END = """
import signal, sys, time
from aorta.instrumentation import process
process.LAST_S = 0.3
process.stop_on_signals()
try:
    print("ready", flush=True)
    time.sleep(60)
finally:
    time.sleep(60)
"""


@pytest.mark.parametrize("twice", [False, True])
def test_a_clean_up_that_hangs_does_not_keep_the_process(environ, twice):
    script = HANGING_END.replace("0.3", "30") if twice else HANGING_END
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    if twice:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == (130 if twice else 143)


@pytest.mark.parametrize("at_once", [True, False])
def test_leaving_runs_what_was_registered_and_keeps_the_status(environ, at_once):
    script = (
        "import atexit, sys\n"
        "from aorta.instrumentation.process import leave\n"
        "atexit.register(lambda: print('registered'))\n"
        f"sys.stdout.write('unflushed '); leave(3, at_once={at_once})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ(), capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 3
    assert done.stdout == "unflushed registered\n"


def test_leaving_with_a_thread_that_hangs(environ):
    script = (
        "import threading, time\n"
        "from aorta.instrumentation.process import leave\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "leave(0, at_once=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environ(), timeout=20)
    assert done.returncode == 0


def test_a_status_0_is_not_kept_when_the_output_is_lost(environ):
    script = "import sys\nfrom aorta.instrumentation.process import leave\nprint('lost'); leave(0)\n"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environ(PYTHONUNBUFFERED=""),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=20,
        )
    assert (done.returncode, done.stderr) == (1, b"")


TWICE = """
import os, signal, sys
from aorta.instrumentation import process, write
close = os.close
def interrupted(descriptor):
    close(descriptor)
    os.kill(os.getpid(), signal.SIGTERM)
os.close = interrupted
unlink, asked = os.unlink, []
def late(path):
    if not asked:
        asked.append(path)
        os.kill(os.getpid(), signal.SIGINT)
    unlink(path)
os.unlink = late
process.stop_on_signals()
write.check_writable(sys.argv[1])
"""


def test_two_signals_at_the_worst_moments_leave_no_file(tmp_path, environ):
    """The first while the trial file is there, the second just before it is taken away."""
    done = subprocess.run(
        [sys.executable, "-c", TWICE, str(tmp_path / "x.json")],
        env=environ(),
        stderr=subprocess.PIPE,
        timeout=30,
    )
    assert done.returncode == 130
    assert os.listdir(tmp_path) == []


def test_a_signal_at_any_moment_leaves_no_file(cli, environ):
    for number in range(12):
        process = subprocess.Popen(
            [sys.executable, "-m", "aorta", "env", "probe", "--section", "python_version", "-o", "x.json"],
            cwd=cli.folder,
            env=environ(),
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(0.06 + number * 0.02)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        assert process.returncode in (0, 143, -signal.SIGTERM)
        told = "aorta: stopped by SIGTERM\n"
        # The signal may come when the file is written, and before the process has ended.
        assert err in ("", "wrote x.json\n", told, f"wrote x.json\n{told}")
        assert [path.name for path in cli.folder.iterdir()] in ([], ["x.json"])


LATE = """
import os, signal
from aorta.instrumentation import process
process.stop_on_signals()
process._await_commands = lambda: os.kill(os.getpid(), signal.SIGTERM)
process.leave(0)
"""


def test_a_signal_while_leaving_is_no_traceback(environ):
    done = subprocess.run([sys.executable, "-c", LATE], env=environ(), stderr=subprocess.PIPE, timeout=30)
    assert (done.returncode, done.stderr) == (143, b"")


PACKAGE = os.path.dirname(aorta.__file__)
SCRIPT = "import sys\nfrom aorta.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
ENTRIES = {
    "module": ("-m", "aorta", "env", "probe", "-o", "-"),
    "script": ("bin-aorta", "env", "probe", "-o", "-"),
    "probe_main": ("-m", "aorta.instrumentation._probe_main"),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_interrupt_at_any_moment_shows_no_frame_of_aorta(cli, environ, entry):
    """What Python prints before it runs the first line of aorta is its own."""
    (cli.folder / "bin-aorta").write_text(SCRIPT)
    for number in range(40):
        process = subprocess.Popen(
            [sys.executable, *ENTRIES[entry]],
            cwd=cli.folder,
            env=environ(covered=False, PATH="/nowhere"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Every second one in the first moments, where it is about imports.
        time.sleep(random.uniform(0, 0.3 if number % 2 else 0.08))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert f'File "{PACKAGE}' not in err, err
        if "Traceback" not in err and "Error" not in err:
            assert err in ("", "aorta: stopped by SIGINT\n")
            assert process.returncode in (0, 130, -signal.SIGINT)


TURNED = """
import os, signal, sys
class Wrapped:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        os.getpid()
def run(arguments):
    if arguments == ["wrapped"]:
        type("Owner", (), {"member": Wrapped()})
    if arguments == ["dropped"]:
        Dropped()
    if arguments == ["caught"]:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except BaseException:
            return 0
from aorta.instrumentation.process import leave, stoppable
leave(stoppable(run, sys.argv[1:]))
"""


@pytest.mark.parametrize("how", ["wrapped", "dropped", "caught"])
def test_a_signal_that_another_error_took_the_place_of(environ, how):
    done = subprocess.run(
        [sys.executable, "-c", TURNED, how], env=environ(), stderr=subprocess.PIPE, text=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (143, "aorta: stopped by SIGTERM\n")


def with_variable(value):
    """Return the processes that inherited a value in their environment, and have not ended."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if value.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


def test_a_second_signal_ends_at_once_and_leaves_no_tool_behind(cli, environ, tmp_path):
    path = make(tmp_path / "host")
    for number in range(20):
        token = f"aorta-test-{os.getpid()}-{number}"
        process = subprocess.Popen(
            [sys.executable, "-m", "aorta", "env", "probe", "-o", "-"],
            cwd=cli.folder,
            env=environ(covered=False, PATH=path, TOOLS_DELAY_S="30", TOKEN=token),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        # The process itself is one of them, and then the first tools that it starts.
        least = 2 + number % 4
        wait_for(lambda token=token, least=least: len(with_variable(token)) >= least)
        process.send_signal(signal.SIGTERM)
        time.sleep(random.uniform(0, 0.002))
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        _, err = process.communicate(timeout=30)
        assert time.monotonic() - begun < 15
        assert process.returncode == 143
        assert err in ("", "aorta: stopped by SIGTERM\n")
        wait_for(lambda token=token: not with_variable(token), 1)
