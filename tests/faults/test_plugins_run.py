"""Plugins whose collectors misbehave, by the command: each costs its own section and is named."""

import json
import subprocess
import sys

import pytest

from tests.parts.plugins import (
    DAEMON,
    Machine,
    assert_the_others_say_the_same,
    collecting,
    own_lines,
    plugin_record,
)
from tests.parts.probing import OWN_TO_A_RUN, side_by_side

TWO_MB = "('x' * (2 << 20))"

#: By group: the body of each collector, the status of its record, and what a reason of it says; with a
#: third member, what the module holds before it, or more that is declared.
GROUPS = {
    "values": {
        "nan": ("return float('nan')", "partial", "nan is not a JSON number"),
        "infinity": ("return [float('inf')]", "partial", "inf is not a JSON number"),
        "fifty_mb": (
            "return ['x' * 1_000_000 for _ in range(50)]",
            "partial",
            "characters in all",
        ),
        "hundred_mb": ("return 'x' * (100 << 20)", "failed", "returned too much: "),
        "another_type": ("return ['word']", "failed", "returned list, declared is Site", {"model": "Site"}),
        "wrong_members": ("return Site(word=7)", "partial", "expected str, got int", {"model": "Site"}),
        "cyclic": ("value = {}; value['me'] = value; return value", "partial", "nested deeper than 40"),
        "doubling": ("value = []; value += [value, value]; return value", "partial", "nested deeper than 40"),
        "surrogates": ("return 'x\\ud800y'", "partial", "bytes that are not UTF-8"),
        "long_number": ("return 10 ** 100000", "partial", "a number of more than 64 bits"),
        "bytes": ("return b'x'", "partial", "bytes is not JSON"),
    },
    "objects": {
        "lock": (
            "return threading.Lock()",
            "failed",
            "returned lock, which cannot leave its process: TypeError",
        ),
        "function": ("return lambda: 0", "failed", "which cannot leave its process"),
        "local_class": (
            "class Own: pass\nreturn Own()",
            "failed",
            "returned Own, which cannot leave its process",
        ),
        "other_class": ("return Odd()", "failed", "other_class.Odd is no part of a model"),
        "reduce_raises": ("Odd.__reduce__ = lambda self: 1 / 0\nreturn Odd()", "failed", "ZeroDivisionError"),
        "reduce_exits": (
            "Odd.__reduce__ = lambda self: (os._exit, (3,))\nreturn Odd()",
            "failed",
            "_exit is no part of a model",
        ),
        "reduce_runs": (
            "Odd.__reduce__ = lambda self: (os.system, ('touch ' + __file__ + '.ran',))\nreturn Odd()",
            "failed",
            "system is no part of a model",
        ),
        "state_hangs": (
            "Odd.__setstate__ = lambda self, state: time.sleep(600)\nvalue = Odd()\nvalue.x = 1\nreturn value",
            "failed",
            "Odd is no part of a model",
        ),
        "equal_raises": (
            "Site.__eq__ = Site.__hash__ = lambda *_: 1 / 0\nreturn [Site()]",
            "partial",
            "Site is not JSON",
        ),
        "getattr_raises": (
            "Odd.__getattr__ = lambda *_: 1 / 0\nreturn Odd()",
            "failed",
            "Odd is no part of a model",
        ),
        "getattribute_raises": ("Odd.__getattribute__ = lambda *_: 1 / 0\nreturn Odd()", "failed", ""),
    },
    "ends": {
        "raises": ("raise ValueError('no')", "failed", "ValueError at {own}"),
        "raises_own": ("raise type('Own', (BaseException,), {})", "failed", "Own at {own}"),
        "recurses": ("def deeper(): deeper()\ndeeper()", "failed", "RecursionError at {own}"),
        "exits": ("sys.exit(7)", "failed", "SystemExit at {own}"),
        "interrupts": ("raise KeyboardInterrupt", "failed", "KeyboardInterrupt at {own}"),
        "leaves": ("os._exit(3)", "failed", "ended with exit status 3"),
        "leaves_well": ("os._exit(0)", "failed", "ended without an answer"),
        "aborts": ("os.abort()", "failed", "was ended by SIGABRT at {own}"),
        "crashes": ("ctypes.string_at(1)", "failed", "was ended by SIGSEGV at"),
        "kills": ("os.kill(os.getpid(), signal.SIGKILL)", "failed", "was ended by SIGKILL"),
        "stops": ("os.kill(os.getpid(), signal.SIGSTOP)", "timed_out", "it had 2 s; its process was ended"),
        "no_memory": (
            "resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))\nreturn len(bytearray(1 << 30))",
            "failed",
            "MemoryError at {own}",
        ),
    },
    "hangs": {
        "sleeps": ("time.sleep(600)", "timed_out", "it had 2 s and site.sleeps was at {own}"),
        "c_with_lock": (
            "ctypes.PyDLL(None).sleep(600)",
            "timed_out",
            "it had 2 s and site.c_with_lock was at {own}",
        ),
        "c_without_lock": ("ctypes.CDLL(None).sleep(600)", "timed_out", "was at {own}"),
        "expression": ("re.match('(a*)*b', 'a' * 60)", "timed_out", "was at {own}"),
        "ctx_expression": ("ctx.find('/etc/passwd', '^((.*)*)*:nobody$x')", "timed_out", "was at {own}"),
        "ctx_symbols": ("ctx.elf('/proc/self/exe', '((.*)*)*[$]$x')", "timed_out", "was at {own}"),
        "is_busy": ("while True: pass", "timed_out", "was at {own}"),
        "waits": ("lock = threading.Lock(); lock.acquire(); lock.acquire()", "timed_out", "was at {own}"),
        "catches_all": (
            "while True:\n  try: time.sleep(600)\n  except BaseException: pass",
            "timed_out",
            "was at {own}",
        ),
        "child_hangs": ("subprocess.run(['sleep', '600'])", "timed_out", "was at {own}"),
        "says_much_and_hangs": (
            f"for _ in range(10): sys.stderr.write({TWO_MB})\ntime.sleep(600)",
            "timed_out",
            "was at {own}",
        ),
        "soon_over": ("time.sleep(600)", "timed_out", "it had 0.05 s and", {"timeout_s": 0.05}),
    },
    "surroundings": {
        "prints": (f"print({TWO_MB}); print({TWO_MB}, file=sys.stderr); return 1", "ok", None),
        "writes": (f"os.write(1, b'noise'); os.write(2, {TWO_MB}.encode()); return 1", "ok", None),
        "native": ("c = ctypes.CDLL(None); c.puts(b'noise'); c.fflush(None); return 1", "ok", None),
        "environ": ("os.environ['ROCM_PATH'] = '/no'; os.environ.pop('PATH'); return 1", "ok", None),
        "no_environ": ("os.environ.clear(); return 1", "ok", None),
        "folder": ("os.chdir('/'); os.umask(0o777); return 1", "ok", None),
        "limits": (
            (
                "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\n"
                "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); return 1"
            ),
            "ok",
            None,
        ),
        "interpreter": (
            (
                "sys.path.clear(); sys.stdout = sys.stderr = None; warnings.simplefilter('error')\n"
                "signal.signal(signal.SIGTERM, signal.SIG_IGN); sys.excepthook = None; return 1"
            ),
            "ok",
            None,
        ),
        "closes_streams": ("[os.close(number) for number in range(3)]; return 1", "ok", None),
        "closes_all": ("os.closerange(0, 4096); return 1", "failed", "its process gave no value"),
        "covers_the_wire": (
            (
                "for name in os.listdir('/proc/self/fd'):\n"
                "  try: wire = os.readlink('/proc/self/fd/' + name).startswith('socket')\n"
                "  except OSError: continue\n"
                "  if wire: os.dup2(os.open('/dev/null', os.O_RDWR), int(name))\n"
                "return 1"
            ),
            "failed",
            "its process gave no value",
        ),
        "alarms": (
            (
                "def late(*_): raise TimeoutError\n"
                "signal.signal(signal.SIGALRM, late); signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
                "try: ctx.command(['sleep', '1'])\n"
                "except TimeoutError: pass\n"
                "return ctx.text('/proc/self/comm').value"
            ),
            "failed",
            "DistantError at {own}",
        ),
    },
    "processes": {
        "daemon": ("daemon(); return 1", "ok", None, {"before": DAEMON}),
        "daemon_of_one_that_hangs": (
            "daemon(); time.sleep(600)",
            "timed_out",
            "was at {own}",
            {"before": DAEMON},
        ),
        "copies_itself": ("os.fork(); return ['x' * 900_000] * 2", "ok", None),
        "copy_asks": (
            (
                "if not os.fork():\n  ctx.text('/etc/hostname')\n"
                "time.sleep(0.3); return [ctx.link('/proc/self').ok, ctx.stat('/etc').value.kind]"
            ),
            "ok",
            None,
        ),
        "own_group": (
            "subprocess.Popen(['sleep', '600'], preexec_fn=os.setpgrp); return 1",
            "ok",
            None,
        ),
        "same_session": ("subprocess.Popen(['sleep', '600']); return 1", "ok", None),
        "leaves_a_thread": ("threading.Thread(target=time.sleep, args=(600,)).start(); return 1", "ok", None),
        "leaves_at_exit": (
            (
                "import atexit; atexit.register(time.sleep, 600); threading.Thread(target=time.sleep, args=(600,)).start()\n"
                "return 1"
            ),
            "ok",
            None,
        ),
    },
    "questions": {
        "threads": (
            (
                "seen = []\n"
                "def ask(n):\n"
                "  for _ in range(20): seen.append(ctx.text(f'/proc/{os.getpid()}/none{n}').subject == f'/proc/{os.getpid()}/none{n}')\n"
                "threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]\n"
                "[t.start() for t in threads]; [t.join() for t in threads]\n"
                "return [len(seen), all(seen)]"
            ),
            "ok",
            None,
        ),
        "goes_on": (
            (
                "def ask():\n  while True: ctx.text('/etc/hostname')\n"
                "[threading.Thread(target=ask).start() for _ in range(4)]; time.sleep(0.2); return 1"
            ),
            "ok",
            None,
        ),
        "long_path": ("return ctx.text('x' * (80 << 20)).ok", "failed", "TooLongError at {own}"),
        "odd_path": ("return ctx.text(lambda: 0).ok", "failed", "at {own}"),
        "unknown": ("return ctx.nothing('x')", "failed", "AttributeError at {own}"),
        "unknown_distant": ("return ctx.ask('close')", "failed", "AttributeError at {own}"),
        "reaches_inside": ("return ctx.ask('_shared')", "failed", "AttributeError at {own}"),
        "bad_kind": ("ctx.note('nonsense', 'x', 'y'); return 1", "failed", "ValueError at {own}"),
        "many_notes": (
            "for n in itertools.count(): ctx.note(ReasonKind.FAILED, 'word', f'note {n}')",
            "timed_out",
            # Where it was is not known if the process crashes over telling it.
            "it had 2 s",
        ),
        "some_notes": (
            "[ctx.note(ReasonKind.ABSENT, f'f{n}', 'z' * 9999) for n in range(250)]; return 1",
            "ok",
            "and 50 more reasons",
        ),
        "no_number": ("return ctx.command(['sleep', '600'], timeout=float('nan')).ok", None, None),
        "endless": (
            "return [ctx.command(['sleep', '600'], timeout=float('inf')).kind, ctx.command(['sleep', '601'], timeout=-1).kind]",
            "ok",
            None,
        ),
        "too_much": ("return ctx.data('/proc/self/exe', limit=1 << 40).ok", "failed", "ValueError at {own}"),
        "undeclared": ("return ctx.need(Site)", "failed", "UndeclaredNeedError at {own}"),
        "covers": ("ctx.cover('gpu', 'wrong')", "failed", "ValueError at {own}"),
    },
}

NAMES = [(group, name) for group, members in GROUPS.items() for name in members]

DEADLINE_S = 50


def member(group, name):
    body, status, text, *more = GROUPS[group][name]
    return body, status, text, (more[0] if more else {})


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("plugins"))
    for group, name in NAMES:
        body, status, _, more = member(group, name)
        # What hangs is waited for, and nothing else should be cut on a busy machine.
        limit = 10 if status in ("ok", "partial", "failed") else 2
        machine.write(name, collecting(name, body, **{"timeout_s": limit, **more}))
    yield machine
    machine.end_daemons()


@pytest.fixture(scope="module")
def probes(machine):
    def run(name):
        return machine.probe(name, list(GROUPS.get(name, ())), deadline_s=DEADLINE_S)

    found = side_by_side(
        {name: lambda name=name: run(name) for name in ("none", "values", "objects", "ends")}
    )
    rest = [name for name in GROUPS if name not in found]
    return found | side_by_side({name: lambda name=name: run(name) for name in rest})


@pytest.mark.parametrize("group", GROUPS)
def test_all_others_say_the_same(probes, group):
    assert probes["none"].document["gpu_arch"]["agent_count"] == 8
    assert_the_others_say_the_same(probes[group], probes["none"], DEADLINE_S)


@pytest.mark.parametrize(("group", "name"), NAMES)
def test_the_section_says_what_happened(machine, probes, group, name):
    done, section = probes[group], f"site.{name}"
    _, status, text, _ = member(group, name)
    assert plugin_record(done, name)["status"] == "loaded"
    record = done.document["collection"]["collectors"][section]
    assert record["plugin"] == name
    said = [reason["detail"] for reason in done.reasons(section=section)]
    if status is not None:
        assert record["status"] == status, said[-4:]
    if status in ("failed", "timed_out"):
        # Models of one word keep their keys.
        assert done.document["extensions"][section]["data"] in (None, {"word": None})
        assert any(f"(plugin {name})" in line for line in said)
    own = own_lines(machine.folder, name)
    if text is not None:
        assert any(text.format(own=own) in line for line in said), said
    if text is not None and "{own}" in text and status == "timed_out":
        assert record["hung_at"].startswith(own)


@pytest.mark.parametrize("group", GROUPS)
def test_no_process_is_left(machine, probes, group):
    assert probes[group].code == 0
    assert machine.left_by(group) == {}


def test_what_they_say_is_as_ever(probes):
    def data(group, name):
        return probes[group].document["extensions"][f"site.{name}"]["data"]

    assert data("processes", "copies_itself") == ["x" * 900_000] * 2
    assert data("processes", "copy_asks") == [True, "dir"]
    assert data("questions", "threads") == [160, True]
    assert data("questions", "endless") == ["timed_out", "timed_out"]


def test_nothing_that_was_sent_has_run(machine, probes):
    assert probes["objects"].code == 0
    assert not (machine.folder / "reduce_runs.py.ran").exists()


def test_standard_output_holds_the_document_alone(machine):
    names = [*GROUPS["surroundings"], "daemon", "copies_itself"]
    done = subprocess.run(
        [sys.executable, "-m", "aorta", "env", "probe", "-o", "-"],
        env={**machine.env, "AORTA_PLUGINS": ",".join(names)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert OWN_TO_A_RUN <= json.loads(done.stdout).keys()


def test_the_end_of_the_capture_is_no_fault_of_the_plugin(machine):
    machine.write("has_long", collecting("has_long", "time.sleep(600)", timeout_s=600))
    done = machine.probe("long", ["has_long"], "--section", "site.has_long", deadline_s=6)
    assert done.code == 0
    assert done.elapsed_s < 30
    (reason,) = done.reasons(section="site.has_long")
    own = own_lines(machine.folder, "has_long")
    assert reason["kind"] == "budget"
    assert reason["detail"].startswith(f"the capture had 6 s and site.has_long was at {own}")
