"""torch in this process: read, or imported after a rehearsal that came to no harm; the process stays as it was."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from aorta.host import own_torch
from aorta.host.interpreter import NoInterpreterError
from aorta.host.own_torch import UNASKED

CHILD = {**UNASKED, "how": "child", "imported": True, "done": True, "parts": {"version": "told by the child"}}
HUNG = {
    **CHILD,
    "imported": None,
    "done": False,
    "hung": True,
    "ended": "it did not end in time",
    "parts": {},
}
DIED = {
    **CHILD,
    "imported": None,
    "done": False,
    "ended": "it was ended by SIGABRT",
    "noise": "words",
    "parts": {},
}


class Rehearsal:
    """Gives reports in turn, the last one for ever, and counts how often it was asked."""

    def __init__(self, *reports, takes_s=0.0):
        self.reports, self.takes_s, self.asked = list(reports), takes_s, 0

    def __call__(self, timeout):
        self.asked += 1
        time.sleep(self.takes_s)
        report = self.reports.pop(0) if len(self.reports) > 1 else self.reports[0]
        if isinstance(report, Exception):
            raise report
        return report


@pytest.fixture
def pretend(tmp_path, monkeypatch, request):
    """Return a function that makes a module of a source, which is this process's torch from then on."""
    monkeypatch.setattr(own_torch, "_EARLIER", own_torch._Earlier())
    monkeypatch.syspath_prepend(str(tmp_path))
    names = []

    def make(source="__version__ = '2.9.1'"):
        names.append(f"pretended_{abs(hash(request.node.name))}_{len(names)}")
        (tmp_path / f"{names[-1]}.py").write_text(source)
        monkeypatch.setattr(own_torch, "NAME", names[-1])
        return names[-1]

    yield make
    for name in names:
        sys.modules.pop(name, None)


def ask(rehearse=None, *, may_import=True, timeout=20.0):
    return own_torch.own_torch(may_import=may_import, timeout=timeout, rehearse=rehearse or Rehearsal(CHILD))


def descriptors():
    found = {}
    for name in os.listdir("/proc/self/fd"):
        # Not the one that lists.
        with contextlib.suppress(FileNotFoundError):
            found[name] = os.readlink(f"/proc/self/fd/{name}")
    return found


def test_what_is_loaded_is_read(pretend):
    __import__(pretend())
    rehearsal = Rehearsal(CHILD)
    told = ask(rehearsal, may_import=False)
    assert (told["how"], told["imported"], told["done"], told["parts"]["version"]) == (
        "in_process",
        True,
        True,
        "2.9.1",
    )
    # This one lacks all that could say whether asking for more would start a device.
    assert "AttributeError" in told["errors"]["cxx_flags"]
    assert rehearsal.asked == 0


def test_what_is_not_loaded_is_left_alone(pretend):
    name = pretend()
    assert ask(may_import=False) == UNASKED
    assert name not in sys.modules


def test_it_is_imported_after_a_rehearsal(pretend):
    name = pretend("import os\n__version__ = '2.9.1'\nos.write(1, b'one ')\nos.write(2, b'two')")
    before, threads = descriptors(), threading.enumerate()
    told = ask()
    assert (told["how"], told["imported"], told["parts"]["version"]) == ("in_process", True, "2.9.1")
    assert told["noise"] == "one two"
    assert name in sys.modules
    assert (descriptors(), threading.enumerate()) == (before, threads)


@pytest.mark.parametrize("report", [HUNG, DIED, {**CHILD, "ended": "it was ended by SIGABRT"}])
def test_what_did_harm_is_not_imported_and_not_tried_again(pretend, report):
    name, rehearsal = pretend(), Rehearsal({**report, "noise": "words"})
    assert ask(rehearsal, timeout=0.1) == {**report, "noise": "words"}
    assert ask(rehearsal, timeout=0.0) == {**report, "noise": ""}
    assert rehearsal.asked == 1
    assert name not in sys.modules


def test_who_has_more_patience_tries_again(pretend):
    pretend()
    rehearsal = Rehearsal(HUNG, CHILD, takes_s=0.1)
    assert ask(rehearsal, timeout=0.15)["hung"] is True
    assert ask(rehearsal, timeout=0.15)["hung"] is True
    assert rehearsal.asked == 1
    assert ask(rehearsal, timeout=5)["how"] == "in_process"
    assert rehearsal.asked == 2


@pytest.mark.parametrize("report", [DIED, {**CHILD, "hung": True, "ended": "it was ended by SIGALRM"}])
def test_patience_is_no_help_against_a_crash(pretend, report):
    pretend()
    rehearsal = Rehearsal(report)
    for timeout in (0.1, 100):
        assert ask(rehearsal, timeout=timeout)["ended"] == report["ended"]
    assert rehearsal.asked == 1


def test_what_takes_most_of_the_time_is_not_done_twice(pretend):
    name = pretend()
    assert ask(Rehearsal(CHILD, takes_s=0.2), timeout=0.3) == CHILD
    assert name not in sys.modules


@pytest.mark.parametrize(
    "report",
    [
        NoInterpreterError("no Python interpreter can be started"),
        {**CHILD, "imported": False, "error": "ImportError"},
    ],
)
def test_what_only_this_process_can_import(pretend, report):
    name = pretend()
    assert ask(Rehearsal(report))["parts"]["version"] == "2.9.1"
    assert name in sys.modules


@pytest.mark.parametrize(
    "source", ["raise KeyError('x')", "raise SystemExit('x')", "raise KeyboardInterrupt('x')"]
)
def test_an_import_that_fails(pretend, source):
    pretend(source)
    told = ask(Rehearsal({**CHILD, "imported": False, "error": "the child's"}))
    assert (told["how"], told["imported"], told["done"], told["parts"]) == ("in_process", False, True, {})
    assert told["error"].endswith(("Error: 'x'", "Exit: x", "Interrupt: x"))


def test_one_that_fails_on_this_thread_alone_is_importable(pretend):
    pretend("import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_DFL)")
    told = ask()
    assert (told["how"], told["imported"], told["error"], told["parts"]) == (
        "child",
        True,
        None,
        CHILD["parts"],
    )
    assert told["ended"].startswith(
        "its import into this process failed: ValueError: signal only works in main thread"
    )


def test_an_import_that_hangs_is_waited_for_once(pretend, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr(own_torch, "GATE", gate, raising=False)
    pretend("from aorta.host import own_torch\nown_torch.GATE.wait()\n__version__ = '2.9.1'")
    rehearsal = Rehearsal(CHILD)
    before = descriptors()
    first = ask(rehearsal, timeout=0.5)
    assert (first["how"], first["imported"], first["hung"]) == ("in_process", None, True)
    assert first["ended"].startswith("it did not end in time, it was at /")
    assert descriptors() == before
    begun = time.monotonic()
    second = ask(rehearsal, timeout=30)
    assert time.monotonic() - begun < 10
    assert second["ended"].startswith("it hangs since an earlier capture, it was at /")
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "aorta imports torch"]
    assert thread.daemon
    gate.set()
    thread.join(20)
    assert ask(rehearsal)["parts"]["version"] == "2.9.1"
    assert rehearsal.asked == 1


def test_what_the_application_prints_meanwhile_is_not_taken(pretend, capfd):
    pretend("import os\nos.write(2, b'heard')")
    stop = threading.Event()
    worker = threading.Thread(target=stop.wait)
    worker.start()
    try:
        assert ask()["noise"] == ""
    finally:
        stop.set()
        worker.join()
    assert capfd.readouterr().err == "heard"


def test_one_that_is_just_being_imported_is_waited_for(pretend):
    """By another thread, or by the very module that takes the snapshot."""
    name = pretend()
    spec = type("Spec", (), {"_initializing": True})()
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__spec__ = spec
    rehearsal = Rehearsal(CHILD)
    assert ask(rehearsal, may_import=False) == UNASKED
    told = ask(rehearsal, timeout=1)
    assert (rehearsal.asked, told["how"]) == (0, "in_process")


def test_a_module_can_be_any_object(pretend):
    class Torch:
        def __getattribute__(self, name):
            raise RuntimeError(name)

    sys.modules[pretend()] = Torch()
    told = ask()
    assert (told["how"], told["imported"]) == ("in_process", True)
    assert set(told["parts"]) == {"mapped"}


def test_two_captures_at_once(pretend):
    pretend()
    with own_torch._EARLIER.lock:
        told = ask(timeout=0.05)
    assert (told["how"], told["imported"], told["hung"]) == ("in_process", None, True)
    assert "another capture" in told["ended"]


TAKES_ONE = """
import json, sys, time
from aorta.instrumentation import environment
def take():
    begun = time.monotonic()
    taken = environment.capture(sections=["pytorch_build"], deadline_s=40, import_torch=True)
    (reason,) = [each for each in taken.collection.reasons if each.field == "importable"]
    print(json.dumps([taken.partial, reason.kind, reason.detail, time.monotonic() - begun]))
take()
__version__ = "2.9.1"
"""


def test_a_snapshot_that_the_import_itself_takes(tmp_path):
    """The import would wait for the snapshot, and the snapshot for the import."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(TAKES_ONE)
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-c", "import torch"],
        env={**os.environ, "PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    partial, kind, detail, seconds = json.loads(done.stdout)
    assert (partial, kind) == (True, "timed_out")
    assert "waits for this snapshot" in detail
    assert seconds < 10


#: Forks while a capture's import of torch is at ``WHERE``: rehearsed, or going on in this process.
FORKS = """
import json, os, sys, threading, time
from aorta.host import own_torch

def ask(rehearse):
    begun = time.monotonic()
    told = own_torch.own_torch(may_import=True, timeout=20, rehearse=rehearse)
    return [told["how"], told["imported"], told["hung"], told["ended"], time.monotonic() - begun]

there, gate = threading.Event(), threading.Event()
sys.torch_is_there, sys.torch_may_go_on = there.set, gate.wait
def rehearse(_):
    if WHERE == "rehearsal":
        sys.torch_is_there()
        sys.torch_may_go_on()
    return REPORT
thread = threading.Thread(target=ask, args=(rehearse,))
thread.start()
there.wait()
child = os.fork()
if not child:
    sys.torch_is_there = sys.torch_may_go_on = lambda: None
    print(json.dumps(ask(lambda _: REPORT)), flush=True)
    os._exit(0)
os.waitpid(child, 0)
gate.set()
thread.join()
print(json.dumps(ask(rehearse)))
"""


@pytest.mark.parametrize("where", ["rehearsal", "import"])
def test_a_process_that_is_forked_meanwhile(tmp_path, where):
    """What threads of the parent hold is not waited for in the child, which has none of them."""
    source = "import sys\nsys.torch_is_there()\nsys.torch_may_go_on()\n__version__ = '2.9.1'\n"
    (tmp_path / "torch.py").write_text(source)
    program = f"WHERE, REPORT = {where!r}, {CHILD!r}\n{FORKS}"
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    child, parent = map(json.loads, done.stdout.splitlines())
    assert child[4] < 5
    assert parent[:4] == ["in_process", True, False, ""]
    if where == "rehearsal":
        assert child[:4] == ["in_process", True, False, ""]
    else:
        assert child[:3] == ["in_process", None, True]
        assert "forked while torch was being imported" in child[3]


def test_no_more_threads(pretend, monkeypatch):
    pretend()

    def refuse(_):
        raise RuntimeError("can't start new thread")

    size = threading.stack_size()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        told = ask()
    assert (told["imported"], told["ended"]) == (None, "RuntimeError: can't start new thread")
    assert threading.stack_size() == size
    rehearsal = Rehearsal(CHILD)
    assert ask(rehearsal)["imported"] is True
    assert rehearsal.asked == 1


def test_the_stack_is_deep_enough_whatever_the_application_has_set(pretend):
    pretend(
        "def deep(n):\n    return n and deep(n - 1)\nimport re\nre.compile('(' * 90 + ')' * 90)\ndeep(900)"
    )
    threading.stack_size(1 << 16)
    try:
        assert ask()["imported"] is True
        assert threading.stack_size() == 1 << 16
    finally:
        threading.stack_size(0)


@pytest.mark.parametrize("closed", [(), (1,), (2,), (1, 2)])
def test_closed_streams_stay_closed(closed):
    kept = {number: os.dup(number) for number in (1, 2)}
    said = []
    try:
        for number in closed:
            os.close(number)
        with own_torch.quiet(said):
            for number in {1, 2} - {*closed}:
                os.write(number, b"words")
        states = {number: os.path.exists(f"/proc/self/fd/{number}") for number in (1, 2)}
    finally:
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)
    assert states == {number: number not in closed for number in (1, 2)}
    assert "".join(said) == "words" * (2 - len(closed))


def test_of_a_flood_both_ends_are_kept():
    said = []
    with own_torch.quiet(said):
        os.write(2, b"start" + b"x" * (1 << 20) + b"end")
    assert (said[0][:5], said[0][-3:]) == ("start", "end")
    assert len(said[0]) == 2 * own_torch.SAID_BYTES
    said = []
    with own_torch.quiet(said):
        os.write(2, b"\xff\0" * 40000)
    assert said == ["\ufffd\0" * 40000]
