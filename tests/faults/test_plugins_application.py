"""Plugins in an application that captures itself: nothing of it changes, and its threads go on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.plugins import DAEMON, HEAD, Machine, collecting
from tests.parts.probing import side_by_side

#: Does what an application may have done before, captures, and says what has changed of it.
APPLICATION = """
import faulthandler, gc, json, os, signal, sys, threading, time, warnings

def state():
    return {
        "folder": os.getcwd(),
        "environ": dict(os.environ),
        "path": list(sys.path),
        "filters": [str(one) for one in warnings.filters],
        "handlers": {str(int(n)): str(signal.getsignal(n)) for n in signal.valid_signals()},
        "streams": [id(sys.stdout), id(sys.stderr), sys.stdout.fileno()],
        "umask": [line for line in open("/proc/self/status") if line.startswith(("Umask", "SigIgn", "SigBlk"))],
        "limits": open("/proc/self/limits").read(),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "descriptors": sorted(
            f"{n} {os.readlink('/proc/self/fd/' + n)}" for n in os.listdir("/proc/self/fd")
            if os.path.exists("/proc/self/fd/" + n)
        ),
        "children": [open(f"/proc/self/task/{t}/children").read() for t in os.listdir("/proc/self/task")],
        "switch": sys.getswitchinterval(),
        "faulthandler": faulthandler.is_enabled(),
        "profile": [str(sys.gettrace()), str(sys.getprofile()), str(sys.excepthook), gc.isenabled()],
    }

gaps = []
def tick():
    last = time.monotonic()
    while True:
        time.sleep(0.005)
        now = time.monotonic()
        gaps.append(now - last)
        last = now

os.environ["APPLICATION"] = "1"
warnings.simplefilter("ignore", ResourceWarning)
signal.signal(signal.SIGUSR1, lambda *_: None)
threading.Thread(target=tick, name="ticks", daemon=True).start()

from aorta.instrumentation import capture_to

# What every first capture leaves (caches, imports) is there before.
capture_to(sys.argv[1] + ".first", sections=["host"])
time.sleep(0.3)
before = state()
gaps.clear()
begun = time.monotonic()
capture_to(sys.argv[1], plugins=sys.argv[3:], deadline_s=float(sys.argv[2]))
elapsed, longest = time.monotonic() - begun, max(gaps)
until = time.monotonic() + 3
while state() != before and time.monotonic() < until:
    time.sleep(0.05)
after = state()
changed = {name: [before[name], after[name]] for name in before if before[name] != after[name]}
print(json.dumps({"changed": changed, "elapsed": elapsed, "longest": longest}))
"""

#: A representative of each kind: what its collector does.
BODIES = {
    "app_raises": "raise ValueError('no')",
    "app_leaves": "os._exit(3)",
    "app_aborts": "os.abort()",
    "app_crashes": "ctypes.string_at(1)",
    "app_c_with_lock": "ctypes.PyDLL(None).sleep(600)",
    "app_c_without_lock": "ctypes.CDLL(None).sleep(600)",
    "app_expression": "ctx.find('/etc/passwd', '^((.*)*)*:nobody$x')",
    "app_prints": "print('noise'); os.write(1, b'noise'); os.write(2, b'noise'); return 1",
    "app_changes": "os.environ.clear(); os.chdir('/'); os.umask(0o777); sys.path.clear(); return 1",
    "app_closes": "os.closerange(0, 4096); return 1",
    "app_daemon": "daemon(); return 1",
    "app_thread": "threading.Thread(target=time.sleep, args=(600,)).start(); return 1",
    "app_copies": "os.fork(); return 1",
    "app_much": "return 'x' * (100 << 20)",
    "app_signals": "[signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; os.kill(os.getppid(), 0); return 1",
    "app_limits": "resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)); return 1",
    "app_odd": "Odd.__reduce__ = lambda self: (os._exit, (3,)); return Odd()",
}

IMPORTS = {
    "app_import_exits": "os._exit(3)",
    "app_import_hangs": "ctypes.PyDLL(None).sleep(600)",
    "app_import_thread": "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
    "app_import_daemon": DAEMON + "daemon()",
    "app_import_changes": (
        "os.environ['X'] = '1'; os.chdir('/'); os.umask(0o777); sys.path.append('/no'); warnings.simplefilter('error')\n"
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN); sys.excepthook = print; sys.stdout = None"
    ),
}

HOOKS = {
    "app_hook_hangs": "ctypes.PyDLL(None).sleep(600)",
    "app_hook_leaves": "os._exit(3)",
    "app_hook_changes": "os.environ.clear(); os.chdir('/'); return ['X']",
}

GROUPS = {"run": list(BODIES), "found": [*IMPORTS, *HOOKS]}

DEADLINE_S = 50


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("application"))
    for name, body in BODIES.items():
        machine.write(name, collecting(name, body, before=DAEMON))
    for name, text in IMPORTS.items():
        machine.write(name, HEAD + text + "\n" + collecting(name, "return 1"))
    for name, body in HOOKS.items():
        machine.write(name, f"{HEAD}\n@env_names\ndef names():\n    {body}\n")
    yield machine
    machine.end_daemons()


@pytest.fixture(scope="module")
def captures(machine):
    def run(name, plugins):
        target = machine.folder / f"app-{name}.json"
        done = subprocess.run(
            [sys.executable, "-c", APPLICATION, str(target), str(DEADLINE_S), *plugins],
            env={**machine.env, "TEST_MARKER": machine.marker(name)},
            cwd=machine.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
        )
        assert done.returncode == 0, done.stderr
        return done, json.loads(target.read_text())

    plain = side_by_side({"none": lambda: run("none", [])})
    return plain | side_by_side(
        {name: lambda name=name: run(name, GROUPS[name]) for name in GROUPS},
    )


def said(captures, group):
    done, _ = captures[group]
    # What a module prints when it is imported into an application is printed, and no more than that.
    return json.loads(done.stdout)


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_of_the_application_changes(captures, group):
    assert said(captures, "none")["changed"] == {}
    assert said(captures, group)["changed"] == {}


@pytest.mark.parametrize("group", GROUPS)
def test_its_threads_go_on(captures, group):
    assert said(captures, group)["elapsed"] < DEADLINE_S + 0.5
    # A busy machine delays a tick; a lock of the interpreter that is held for seconds is another matter.
    assert said(captures, group)["longest"] < 1.0


@pytest.mark.parametrize("group", GROUPS)
def test_all_other_sections_are_the_same(captures, group):
    _, whole = captures["none"]
    _, made = captures[group]
    own = {"captured_at", "collection", "env_vars", "extensions", "partial", "partial_reasons"}
    assert {name: made[name] for name in made.keys() - own} == {
        name: whole[name] for name in whole.keys() - own
    }


def test_each_is_told(captures):
    made = captures["run"][1]["collection"]["collectors"]
    wanted = {
        **dict.fromkeys(("raises", "leaves", "aborts", "crashes", "closes", "much", "odd"), "failed"),
        **dict.fromkeys(("c_with_lock", "c_without_lock", "expression"), "timed_out"),
        **dict.fromkeys(("prints", "changes", "daemon", "thread", "copies", "signals", "limits"), "ok"),
    }
    assert {name: made[f"site.app_{name}"]["status"] for name in wanted} == wanted
    found = captures["found"][1]["collection"]
    status = {one["name"]: one["status"] for one in found["plugins"]}
    assert {name: status[name] for name in IMPORTS} == {
        **dict.fromkeys(IMPORTS, "failed"),
        "app_import_changes": "loaded",
    }
    told = [one["detail"] for one in found["reasons"] if one["section"] == "collection"]
    for name in ("app_hook_hangs", "app_hook_leaves"):
        assert [line for line in told if f"the plugin {name} adds by aorta_env_names is left out" in line]


@pytest.mark.parametrize("group", GROUPS)
def test_no_process_is_left(machine, captures, group):
    assert captures[group]
    assert machine.left_by(group) == {}


MANY = """
import os, sys, threading, time
from aorta.instrumentation import capture
from aorta.model.codec import dump

def one():
    made = dump(capture(plugins=["app_fine", "app_leaves"], sections=["site.app_fine", "site.app_leaves"]))
    assert made["extensions"]["site.app_fine"]["data"] == "fine", made["partial_reasons"]
    assert made["collection"]["collectors"]["site.app_leaves"]["status"] == "failed"

def counts():
    children = [open(f"/proc/self/task/{t}/children").read() for t in os.listdir("/proc/self/task")]
    return len(os.listdir("/proc/self/fd")), threading.active_count(), "".join(children)

one()
before = counts()
for _ in range(int(sys.argv[1])):
    one()
until = time.monotonic() + 3
while before != counts() and time.monotonic() < until:
    time.sleep(0.05)
print(before == counts(), before, counts())
"""


def test_many_captures_keep_nothing(machine):
    machine.write("app_fine", collecting("app_fine", "return 'fine'"))
    done = subprocess.run(
        [sys.executable, "-c", MANY, "40"],
        env=machine.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True"), done.stdout


WITHOUT = """
import sys
{before}
from aorta.instrumentation import capture
from aorta.model.codec import dump
made = dump(capture(plugins=["app_fine_too"], sections=["site.app_fine_too"]))
print(made["extensions"]["site.app_fine_too"]["data"], made["collection"]["collectors"]["site.app_fine_too"]["status"])
print([one["kind"] for one in made["collection"]["reasons"] if "ran in this process" in one["detail"]])
"""


@pytest.mark.parametrize(
    ("before", "own"),
    [
        ("", True),
        ("sys.frozen = True", False),
        ("sys.executable = None", False),
        ("sys.executable = ''", False),
        ("sys.executable = '/nowhere/python'", False),
        ("sys.executable = '/bin/false'", False),
        (
            "import os, tempfile; f = tempfile.mkdtemp(); os.chdir(f); os.rmdir(f); sys.path.insert(0, '')",
            True,
        ),
        ("import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)", True),
        ("sys.path[:] = [*sys.path, None, b'x', '/nowhere', 'relative']", True),
    ],
)
def test_where_no_process_can_be_had_it_runs_here(machine, before, own):
    machine.write("app_fine_too", collecting("app_fine_too", "return os.getpid() != int(os.environ['OWN'])"))
    program = f"import os; os.environ['OWN'] = str(os.getpid())\n{WITHOUT.format(before=before)}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=machine.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    status, told = done.stdout.splitlines()
    assert status == f"{own} ok"
    # Where there is no interpreter at all that is known before, and the machine's own.
    known = own or "executable = None" in before or "''" in before or "frozen" in before
    assert told == str([] if known else ["unsupported"])


@pytest.mark.parametrize("option", ["-I", "-S", "-E", "-s", "-B", "-O", "-X dev"])
def test_it_runs_as_this_interpreter_does(machine, option):
    machine.write(
        "app_flags", collecting("app_flags", "return str(sys.flags.isolated) + str(sys.flags.no_site)")
    )
    site = [path for path in sys.path if "site-packages" in path]
    root = Path(__file__).resolve().parents[2]
    places = [str(machine.folder), str(root), str(root / "collectors"), *site]
    program = (
        f"import sys; sys.path[:0] = {places!r}\n"
        "from aorta.instrumentation import capture\nfrom aorta.model.codec import dump\n"
        "made = dump(capture(plugins=['app_flags'], sections=['site.app_flags']))\n"
        "wanted = str(sys.flags.isolated) + str(sys.flags.no_site)\n"
        "print(made['extensions']['site.app_flags']['data'] == wanted, made['partial_reasons'])"
    )
    done = subprocess.run(
        [sys.executable, *option.split(), "-c", program],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "True []\n", done.stderr
