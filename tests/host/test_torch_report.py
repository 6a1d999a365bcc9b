"""The program that asks torch: its answers, the process that it becomes, and what it runs under."""

import importlib.machinery
import json
import os
import signal
import subprocess
import sys
import time
import types
from types import SimpleNamespace

import pytest

from aorta.host import torch_report
from aorta.host.interpreter import FIRST_LINE, program_text
from aorta.host.torch_report import SWITCHES, VERSIONS, error_text, mapped, parts
from tests.parts import pythons
from tests.parts.pages import ROOT
from tests.parts.probing import gone, left_behind

TOLD = dict.fromkeys(VERSIONS) | {"hip": "7.1.2", "debug": False}


def torch(**more):
    """Return an object that answers all; ``more`` are attributes of it."""
    switches = SimpleNamespace(**dict.fromkeys(SWITCHES, lambda: True))
    usual = {
        "__file__": "/sp/torch/__init__.py",
        "__version__": "2.9.1",
        "version": SimpleNamespace(**TOLD),
        "__config__": SimpleNamespace(show=lambda: "PyTorch built with:"),
        "_C": SimpleNamespace(_cuda_getArchFlags=lambda: "gfx90a gfx942", _nccl_version=None),
        "cuda": SimpleNamespace(nccl=SimpleNamespace(version=lambda: (2, 27, 7))),
        "backends": SimpleNamespace(cuda=switches),
    }
    return SimpleNamespace(**{**usual, **more})


def asked(module):
    """Return what was told, and the errors."""
    everything = list(parts(module))
    assert [name for name, _, _ in everything] == [
        "file",
        "version",
        *VERSIONS,
        "arch_flags",
        *SWITCHES,
        "nccl",
        "mapped",
        "config",
        "mapped",
    ]
    errors = {name: error for name, _, error in everything if error}
    return {name: value for name, value, error in everything if not error}, errors


def test_a_torch_that_tells_all():
    told, errors = asked(torch())
    assert errors == {}
    assert told.pop("mapped")
    assert told == {
        **TOLD,
        "file": "/sp/torch/__init__.py",
        "version": "2.9.1",
        "config": "PyTorch built with:",
        "arch_flags": "gfx90a gfx942",
        "nccl": "2.27.7",
        **dict.fromkeys(SWITCHES, True),
    }


def test_what_a_build_does_not_have_is_none_and_no_error():
    bare = torch(_C=SimpleNamespace(), backends=SimpleNamespace(cuda=SimpleNamespace()), __file__=None)
    told, errors = asked(bare)
    assert errors == {}
    assert [told[name] for name in ("arch_flags", "nccl", "file", *SWITCHES)] == [None] * 7
    assert (
        asked(torch(version=SimpleNamespace(git_version="a", hip=None, cuda=None, debug=False)))[0]["rocm"]
        is None
    )


class Raising:
    def __init__(self, error):
        self.__dict__["_error"] = error

    def __getattr__(self, name):
        raise self._error


@pytest.mark.parametrize("error", [RuntimeError("x"), KeyError("x"), SystemExit("x"), KeyboardInterrupt("x")])
def test_whatever_is_raised_costs_one_answer(error):
    told, errors = asked(torch(__config__=Raising(error), version=Raising(error), _C=Raising(error)))
    assert set(errors) == {*VERSIONS, "config", "arch_flags", "nccl"} - {
        name for name in ("rocm", "nccl") if isinstance(error, AttributeError)
    }
    assert {text.partition(":")[0] for text in errors.values()} == {type(error).__name__}
    assert (told["version"], told["flash_sdp_enabled"]) == ("2.9.1", True)


@pytest.mark.parametrize(
    ("more", "name", "words"),
    [
        ({"__version__": 2}, "version", "TypeError: no text but int"),
        ({"__version__": None}, "version", "TypeError: no text but NoneType"),
        ({"__config__": SimpleNamespace(show=lambda: b"x")}, "config", "TypeError: no text but bytes"),
        (
            {"__config__": SimpleNamespace(show=lambda: "x" * (1 << 20) + "y")},
            "config",
            "ValueError: 1048577 characters",
        ),
        ({"version": SimpleNamespace(**{**TOLD, "hip": 7.1})}, "hip", "TypeError: no text but float"),
        ({"cuda": SimpleNamespace(nccl=SimpleNamespace(version=lambda: 2708))}, "nccl", "TypeError: 'int'"),
    ],
)
def test_what_is_no_text_is_no_answer(more, name, words):
    told, errors = asked(torch(**more))
    assert list(errors) == [name]
    assert errors[name].startswith(words)
    assert name not in told


@pytest.mark.parametrize("said", ["yes", 1, None])
def test_a_switch_is_on_or_off(said):
    cuda = SimpleNamespace(**dict.fromkeys(SWITCHES, lambda: said))
    _, errors = asked(torch(backends=SimpleNamespace(cuda=cuda)))
    assert errors == dict.fromkeys(SWITCHES, f"TypeError: no bool but {type(said).__name__}")


def test_a_text_of_a_class_of_its_own_is_the_text():
    class Version(str):
        __slots__ = ()

        def __str__(self):
            return "a lie"

    (_, told, _) = next(part for part in parts(torch(__version__=Version("2.9.1"))) if part[0] == "version")
    assert (told, type(told)) == ("2.9.1", str)


class Watched:
    """An object that keeps the names of what was asked of it."""

    def __init__(self, **known):
        self.__dict__.update(_known=known, asked=set())

    def __getattr__(self, name):
        self.asked.add(name)
        return self._known[name]


def test_no_device_is_looked_for():
    usual = torch()
    watched = {"cuda": Watched(nccl=usual.cuda.nccl), "_C": Watched(**vars(usual._C))}
    assert asked(torch(**watched))[1] == {}
    assert watched["cuda"].asked == {"nccl"}
    assert watched["_C"].asked == {"_cuda_getArchFlags", "_nccl_version"}


class Config:
    """Counts how often it is asked for what counts devices."""

    def __init__(self):
        self.shown = 0

    def show(self):
        self.shown += 1
        return "PyTorch built with:"

    def _cxx_flags(self):
        return "-DUSE_ROCM -DUSE_FBGEMM"


@pytest.mark.parametrize(
    ("versions", "cuda", "starts"),
    [
        ({"hip": None, "cuda": None}, {}, False),
        ({"hip": "7.1"}, {"is_initialized": lambda: False}, True),
        ({"hip": None, "cuda": "12.6"}, {"is_initialized": lambda: False}, True),
        ({"hip": "7.1"}, {"is_initialized": lambda: True}, False),
        ({"hip": "7.1"}, {"is_initialized": lambda: 1 / 0}, True),
        ({"hip": "7.1"}, {}, True),
    ],
)
def test_a_bystander_starts_no_gpu_runtime(versions, cuda, starts):
    config = Config()
    nccl = SimpleNamespace(version=lambda: (2, 27, 7))
    module = torch(
        __config__=config,
        version=SimpleNamespace(**{**TOLD, **versions}),
        cuda=SimpleNamespace(nccl=nccl, **cuda),
    )
    told = {name: value for name, value, error in parts(module, bystander=True) if not error}
    assert (config.shown, "config" in told) == ((0, False) if starts else (1, True))
    assert told.get("cxx_flags") == ("-DUSE_ROCM -DUSE_FBGEMM" if starts else None)
    assert told["mapped"]
    assert any(name == "config" for name, _, _ in parts(module))


class Unprintable(Exception):
    def __str__(self):
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ImportError("a\n  b\tc"), "ImportError: a b c"),
        (ValueError(), "ValueError"),
        (Unprintable(), "Unprintable"),
        (OSError(2, "No such file", "x"), "OSError: [Errno 2] No such file: 'x'"),
    ],
)
def test_an_error_is_one_line(error, text):
    assert error_text(error).replace("FileNotFoundError", "OSError") == text


def test_a_long_error_is_cut():
    limit = torch_report.ERROR_LIMIT
    text = error_text(ValueError("word " * 10_000))
    assert text == ("ValueError: " + "word " * limit)[:limit].rpartition(" ")[0]
    assert error_text(ValueError("x" * 10_000_000)) == "ValueError:"
    whole = "ValueError: " + "x" * (limit - 12)
    assert error_text(ValueError("x" * (limit - 12))) == whole
    assert error_text(ValueError("x" * (limit - 12) + " yz")) == whole


def test_each_mapped_file_once(tmp_path, monkeypatch):
    maps = tmp_path / "maps"
    maps.write_bytes(
        b"7f00-7f01 r--p 0 fd:00 12 /lib/libc.so.6\n7f01-7f02 r-xp 1 fd:00 12 /lib/libc.so.6\n"
        b"7f02-7f03 rw-p 0 00:00 0 \n7f03-7f04 rw-p 0 00:00 0 [heap]\n"
        b"7f04-7f05 r--p 0 fd:00 13 /opt/a b\\012c.so (deleted)\n7f05-7f06 r--p 0 fd:00 14 /opt/\xff\x85.so"
    )
    monkeypatch.setattr(torch_report, "MAPS", str(maps))
    assert [line.split(None, 5)[5] for line in mapped()] == [
        "/lib/libc.so.6",
        "/opt/a b\\012c.so (deleted)",
        "/opt/\udcff\udc85.so",
    ]
    monkeypatch.undo()
    assert any(line.endswith(os.path.realpath("/proc/self/exe")) for line in mapped())


def test_editable_installs_are_found(tmp_path):
    for name in ("package", "single"):
        (tmp_path / name).mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "single" / "single.py").write_text("")
    finder = torch_report._Editable(
        {
            "package": str(tmp_path / "package"),
            "single": str(tmp_path / "single" / "single"),
            "gone": "/nowhere",
        }
    )
    assert finder.find_spec("package").submodule_search_locations == [str(tmp_path / "package")]
    assert finder.find_spec("single").origin == f"{tmp_path}/single/single.py"
    assert finder.find_spec("gone") is None
    assert finder.find_spec("unknown") is None


#: On a busy machine a process of the lowest priority ends late.
PATIENT = program_text().replace("ENDING_S = 3\n", "ENDING_S = 30\n")
ALONE, FOREIGN = ("-I", "-S", "-c", PATIENT), ("-c", FIRST_LINE, PATIENT)
#: Seen by what measures coverage.
FILE = (torch_report.__file__,)
#: The module itself, as patient.
MODULE = ("-c", "from aorta.host import torch_report as program; program.ENDING_S = 30; program.main()")


def run(wish, *, program=sys.executable, how=ALONE, env=None, before=None):
    """Run the program itself; return its lines, how it ended and what it printed."""
    done = subprocess.run(
        [program, *how],
        input=json.dumps(wish),
        env=env,
        check=False,
        capture_output=True,
        text=True,
        timeout=40,
        cwd="/",
        preexec_fn=before,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line], done.returncode, done.stderr


def wish(folder, **more):
    return {
        "ask": "torch",
        "cache": str(folder / "cache"),
        "path": [str(folder), *sys.path],
        "prefix": "/somewhere",
        "editable": {},
        "elsewhere": {},
        **more,
    }


STATE = """
import os, resource, signal, sys
__version__ = repr({
    "nice": os.getpriority(os.PRIO_PROCESS, 0), "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
    "oom": open("/proc/self/oom_score_adj").read().strip(), "threads": os.environ["OMP_NUM_THREADS"],
    "cache": os.environ["TRITON_CACHE_DIR"] == os.environ["XDG_CACHE_HOME"], "bytecode": sys.dont_write_bytecode,
    "prefix": sys.prefix, "stdin": os.readlink("/proc/self/fd/0"), "one_stream": os.fstat(1) == os.fstat(2),
    "place": os.getcwd(), "site": "site" in sys.modules,
})
"""


@pytest.mark.parametrize("how", [ALONE, FOREIGN, MODULE])
def test_what_the_process_becomes(tmp_path, how):
    (tmp_path / "torch.py").write_text(STATE)
    paths = f"{ROOT}:{ROOT}/collectors"
    told, code, _ = run(wish(tmp_path), how=how, env={**os.environ, "PYTHONPATH": paths})
    assert code == 0
    assert (told[0], told[-1]) == ({"imported": True}, {"done": True})
    found = dict(line["part"][:2] for line in told if "part" in line)
    assert eval(found["version"]) == {
        "nice": 19,
        "core": 0,
        "oom": "1000",
        "threads": "1",
        "cache": True,
        "bytecode": True,
        "prefix": "/somewhere",
        "stdin": "/dev/null",
        "one_stream": True,
        "place": "/",
        "site": "-S" not in how,
    }
    assert not list(tmp_path.rglob("*.pyc"))


def test_a_process_that_ignores_and_blocks_signals(tmp_path):
    """As children of some launchers do: the guard still learns how torch ended."""

    def before():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGABRT, signal.SIGALRM})

    (tmp_path / "torch.py").write_text("import os; os.abort()")
    told, code, _ = run(wish(tmp_path), how=FILE, before=before)
    assert (told, code) == ([], -signal.SIGABRT)
    (tmp_path / "torch.py").write_text("import atexit, time; atexit.register(time.sleep, 60)")
    told, code, _ = run(wish(tmp_path), how=FILE, before=before)
    assert (told[-1], code) == ({"done": True}, -signal.SIGALRM)


def test_an_editable_torch(tmp_path):
    (tmp_path / "source" / "torch").mkdir(parents=True)
    (tmp_path / "source" / "torch" / "__init__.py").write_text("__version__ = '2.9.1+git'")
    told, _, _ = run(wish(tmp_path, editable={"torch": str(tmp_path / "source" / "torch")}))
    assert {"part": ["version", "2.9.1+git", ""]} in told


FINDER = """
import importlib.util, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "aiter":
            raise KeyError(name)
        if name in FOUND:
            file, places = FOUND[name]
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)
"""


@pytest.mark.parametrize("early", [True, False])
def test_a_torch_of_another_finder(tmp_path, monkeypatch, early):
    """As scikit-build-core has it: one package of two directories, sources and what was built of them."""
    source, built = tmp_path / "source" / "torch", tmp_path / "built" / "torch"
    source.mkdir(parents=True)
    built.mkdir(parents=True)
    (source / "__init__.py").write_text("from torch.built import __version__; import torchgen")
    (built / "built.py").write_text("__version__ = '2.13.0a0'")
    (tmp_path / "torchgen.py").write_text("")
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "torch.py").write_text("__version__ = 'of the search path'; import torchgen")
    scope = {
        "FOUND": {
            "torch": (str(source / "__init__.py"), [str(source), str(built)]),
            "torchgen": (str(tmp_path / "torchgen.py"), None),
        },
        "__name__": "finding",
    }
    exec(FINDER, scope)
    monkeypatch.setattr(sys, "meta_path", [importlib.machinery.PathFinder])
    sys.meta_path.insert(0 if early else 1, scope["Finder"]())
    found = torch_report.elsewhere(("torch", "torchgen", "aiter", "none"))
    assert found == {
        "torch": [early, str(source / "__init__.py"), str(source), str(built)],
        "torchgen": [early, str(tmp_path / "torchgen.py")],
    }
    monkeypatch.undo()
    told, _, _ = run(wish(tmp_path / "path", elsewhere=found))
    version = "2.13.0a0" if early else "of the search path"
    assert {"part": ["version", version, ""]} in told
    (tmp_path / "path" / "torch.py").unlink()
    told, _, _ = run(wish(tmp_path / "path", elsewhere=found))
    assert {"part": ["version", "2.13.0a0", ""]} in told


def test_python_s_own_finders_and_setuptools_are_not_asked(monkeypatch):
    home = types.ModuleType("finder_of_an_editable_install")
    home.MAPPING = {"torch": "/src/torch"}
    monkeypatch.setitem(sys.modules, home.__name__, home)
    finder = type("Finder", (), {"__module__": home.__name__, "find_spec": lambda *_: 1 / 0})
    monkeypatch.setattr(sys, "meta_path", [*map(_own, sys.meta_path), finder()])
    assert torch_report.elsewhere(("json",)) == {}


def _own(finder):
    return finder if getattr(finder, "__module__", "").startswith("_frozen") else object()


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13"])
def test_old_and_new_interpreters(tmp_path, version):
    program = pythons.python(version)
    (tmp_path / "torch.py").write_text("__version__ = '2.9.1'")
    env = {"PATH": os.defpath, "PYTHONPATH": f"{tmp_path.name}:", "PYTHONWARNINGS": "error"}
    told, code, errors = run(
        {"ask": "interpreter", "path": None, "cwd": str(tmp_path.parent)},
        program=program,
        how=FOREIGN,
        env=env,
    )
    assert (code, errors) == (0, "")
    facts = told[0]["interpreter"]
    assert facts["version"].startswith(f"{version}.")
    assert facts["implementation"] == "cpython"
    assert facts["path"][:2] == [str(tmp_path), str(tmp_path.parent)]
    assert "" not in facts["path"]
    torch_wish = {"ask": "torch", "cache": str(tmp_path / "cache"), "path": None, "cwd": str(tmp_path.parent)}
    told, code, errors = run(torch_wish, program=program, how=FOREIGN, env=env)
    assert (code, errors) == (0, "")
    assert told[0] == {"imported": True}
    assert {"part": ["version", "2.9.1", ""]} in told
    assert told[-1] == {"done": True}


def test_this_interpreter_tells_of_itself(tmp_path):
    env = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    env |= {"PYTHONPATH": f"{tmp_path}:relative"}
    told, code, errors = run({"ask": "interpreter", "path": None, "cwd": "/some/where"}, how=FILE, env=env)
    assert (code, errors) == (0, "")
    facts = told[0]["interpreter"]
    assert {str(tmp_path), "/some/where/relative"} <= {*facts["path"]}
    assert (facts["prefix"], facts["executable"]) == (sys.prefix, sys.executable)
    told, _, _ = run(
        {"ask": "interpreter", "path": ["/a"], "prefix": "/b", "editable": {"c": "/d"}}, how=FILE, env=env
    )
    assert (told[0]["interpreter"]["path"], told[0]["interpreter"]["prefix"]) == (["/a"], "/b")
    assert told[1] == {"elsewhere": {}}


LEAVING = """
import os, time
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(60)
__version__ = "2.9.1"
"""


def test_what_torch_leaves_behind_ends_with_it(tmp_path):
    (tmp_path / "torch.py").write_text(LEAVING)
    begun = time.monotonic()
    told, code, _ = run(wish(tmp_path), how=FILE)
    # Whoever keeps the output open keeps this test.
    assert time.monotonic() - begun < 30
    assert (told[-1], code) == ({"done": True}, 0)


KILLED = """
import subprocess, sys, time
asked = subprocess.Popen([sys.executable, *{how!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
asked.stdin.write({wish!r}.encode())
asked.stdin.close()
print("asked", flush=True)
time.sleep(600)
"""


def test_nothing_is_left_of_one_whose_asker_was_killed(tmp_path):
    (tmp_path / "torch.py").write_text(
        f"{LEAVING}\nopen({str(tmp_path / 'there')!r}, 'w')\ntime.sleep(600)\n"
    )
    marker = f"TEST_MARKER={tmp_path}"
    program = KILLED.format(how=FILE, wish=json.dumps(wish(tmp_path)))
    env = {**os.environ, "TEST_MARKER": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE) as asker:
        assert asker.stdout.readline() == b"asked\n"
        until = time.monotonic() + 30
        while not (tmp_path / "there").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert len(left_behind(marker)) > 2
        asker.kill()
    assert gone(marker, within_s=10) == {}


def test_without_room_for_a_second_process_there_is_no_guard(tmp_path):
    (tmp_path / "torch.py").write_text("__version__ = '2.9.1'")
    refuse = "import os\ndef fork():\n    raise BlockingIOError(11, 'no more')\nos.fork = fork\n"
    code = f"{refuse}exec(compile(open({torch_report.__file__!r}).read(), {torch_report.__file__!r}, 'exec'))"
    told, code, errors = run(wish(tmp_path), how=("-c", code))
    assert (told[-1], code, errors) == ({"done": True}, 0, "")


def test_a_failed_import_is_told(tmp_path):
    (tmp_path / "torch.py").write_text("raise KeyError('libamd_smi.so')")
    told, code, _ = run(wish(tmp_path), how=FILE)
    assert (told, code) == ([{"imported": False, "error": "KeyError: 'libamd_smi.so'"}, {"done": True}], 0)


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
def test_an_interpreter_that_is_too_old_says_so(version):
    told, code, errors = run({"ask": "interpreter"}, program=pythons.python(version), how=FOREIGN)
    assert (told, code) == ([], 1)
    assert errors.startswith(f"Python 3.8 or later is needed, not {version}.")
    assert len(errors.splitlines()) == 1
