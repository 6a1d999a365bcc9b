"""Stand-ins for torch that hang, die, print, fork and lie, and what is to be told of each."""

import concurrent.futures
from dataclasses import dataclass, field

import pytest

from tests.parts.torches import ANSWERS, GIT, HIP, VERSION

#: Facts that ``version.py`` tells too.
STATIC = {"version": VERSION, "hip": HIP, "git_version": GIT}

LOCKED = """
import ctypes
lock, libc = ctypes.create_string_buffer(64), ctypes.PyDLL(None)
libc.pthread_mutex_lock(lock)
"""

FORKED = """
import os
os.fork()
"""

DAEMON = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(600)
    os._exit(0)
"""

CHANGES = """
import locale, os, random, signal, sys, threading
os.environ.update(LD_LIBRARY_PATH="/nowhere", PATH="/nowhere", HOME="/nowhere", PYTHONPATH="/nowhere")
os.environ.pop("LANG", None)
os.chdir("/proc")
os.umask(0o777)
if threading.current_thread() is threading.main_thread():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM})
sys.path[:] = ["/nowhere"]
sys.setrecursionlimit(60)
random.seed(1)
"""

CACHES = """
import os
for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "MIOPEN_USER_DB_PATH", "AITER_JIT_DIR", "XDG_CACHE_HOME"):
    if name in os.environ:
        place = os.path.join(os.environ[name], name.lower(), "deep")
        os.makedirs(place, exist_ok=True)
        with open(place + "/kernel.so", "w") as file:
            file.write("x" * 1000)
        with open(os.environ["TEST_MARKER"] + "/place", "w") as file:
            file.write(os.environ[name])
"""

#: Nothing but a module whose every attribute fails.
GETATTR = """
def __getattr__(name):
    raise RuntimeError(f"no {name} here")
"""

#: In place of the module an object that is none.
NO_MODULE = """
import sys
class Torch:
    __spec__ = None
    def __getattribute__(self, name):
        raise KeyError(name)
sys.modules[__name__] = Torch()
"""

RAISING_TEXT = """
class Version:
    def __str__(self):
        raise SystemExit("no text")
    __repr__ = __str__
__version__ = Version()
"""


@dataclass
class Torch:
    """A stand-in and what is told of it. ``before`` and ``after`` frame what answers; ``whole`` replaces it.

    ``ended`` stands in how its process ended, ``error`` and ``detail`` in those; ``untold`` are the facts
    that are missing. ``harms``: its import is not to be done in a process of somebody else.
    """

    before: str = ""
    after: str = ""
    whole: str | None = None
    importable: bool | None = True
    kind: str | None = None
    detail: str = ""
    error: str = ""
    ended: str = ""
    noise: str = ""
    harms: bool = False
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Return the text of its ``__init__``."""
        return self.whole if self.whole is not None else f"{self.before}\n{ANSWERS}\n{self.after}\n"


def dying(ended: str, **more: object) -> Torch:
    """Return one whose process ends before it was imported."""
    return Torch(importable=None, kind="failed", detail=ended, ended=ended, harms=True, **more)


def raising(text: str, said: str) -> Torch:
    """Return one whose import fails."""
    return Torch(before=text, importable=False, kind="failed", detail=said, error=said)


SILENT = {
    "importable": None,
    "kind": "timed_out",
    "detail": "timed out",
    "ended": "did not end in time",
    "harms": True,
}

HOSTILE = {
    "sleeps": Torch(before="import time; time.sleep(600)", **SILENT),
    "hangs_in_native_code": Torch(before=f"{LOCKED}libc.pthread_mutex_lock(lock)", **SILENT),
    "stops": Torch(before="import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", **SILENT),
    "hangs_at_exit": Torch(
        after="import atexit, time; atexit.register(time.sleep, 600)", ended="SIGALRM", harms=True
    ),
    "hangs_in_native_code_at_exit": Torch(
        after=f"{LOCKED}libc.__cxa_atexit(libc.pthread_mutex_lock, ctypes.byref(lock), None)",
        ended="SIGALRM",
        harms=True,
    ),
    "a_thread_that_never_ends": Torch(
        after="import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()",
        ended="SIGALRM",
        harms=True,
    ),
    "aborts": dying("SIGABRT", before="import os; os.abort()"),
    "segfaults": dying("SIGSEGV", before="import ctypes; ctypes.string_at(0)"),
    "exits_1": dying("exit status 1", before="import os; os._exit(1)"),
    "exits_0": dying("without an answer", before="import os; os._exit(0)"),
    "kills_its_group": dying("SIGKILL", before="import os; os.killpg(0, 9)"),
    "kills_its_parent": dying("SIGKILL", before="import os, time; os.kill(os.getppid(), 9); time.sleep(60)"),
    "closes_all_files": dying("exit status 1", before="import os; os.closerange(3, 256)"),
    "goes_on_elsewhere": dying("without an answer", before="import os\nif os.fork(): os._exit(0)"),
    "aborts_at_exit": Torch(
        after="import atexit, os; atexit.register(os.abort)", ended="SIGABRT", harms=True
    ),
    "segfaults_at_exit": Torch(
        after="import atexit, ctypes; atexit.register(ctypes.string_at, 0)", ended="SIGSEGV", harms=True
    ),
    "exits_1_at_exit": Torch(
        after="import atexit, os; atexit.register(os._exit, 1)", ended="exit status 1", harms=True
    ),
    "aborts_when_asked": Torch(
        after="import os; __config__.show = os.abort",
        kind="failed",
        detail="SIGABRT",
        ended="SIGABRT",
        harms=True,
        errors={"config": "SIGABRT"},
    ),
    "hangs_when_asked": Torch(
        after="import time; __config__.show = lambda: time.sleep(600)",
        kind="timed_out",
        detail="did not end in time",
        ended="did not end in time",
        harms=True,
        errors={"config": "did not end in time"},
    ),
    "sys_exit": raising("import sys; sys.exit(1)", "SystemExit: 1"),
    "ImportError": raising(
        "raise ImportError('libamdhip64.so.7: cannot open shared object file')",
        "ImportError: libamdhip64.so.7: cannot open shared object file",
    ),
    "OSError": raising(
        "import ctypes; ctypes.CDLL('/nowhere/libtorch_hip.so')", "OSError: /nowhere/libtorch_hip.so: cannot"
    ),
    "KeyError": raising("{}['libamd_smi.so']", "KeyError: 'libamd_smi.so'"),
    "ValueError": raising("raise ValueError('two\\nlines')", "ValueError: two lines"),
    "KeyboardInterrupt": raising("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "MemoryError": raising("raise MemoryError", "MemoryError"),
    "SyntaxError": raising("(", "SyntaxError: '(' was never closed"),
    "RecursionError": raising("f = lambda: f()\nf()", "RecursionError: maximum recursion depth exceeded"),
    "prints_to_stderr": Torch(
        before="import os\nfor _ in range(8): os.write(2, b'(null): No such file or directory\\n')",
        noise="(null): No such file or directory\n" * 8,
    ),
    "prints_to_stdout": Torch(
        before="import os\nfor _ in range(8): os.write(1, b'(null): No such file or directory\\n')",
        noise="(null): No such file or directory\n" * 8,
    ),
    "prints_json": Torch(
        before="""print('{"imported": false, "error": "a lie"}\\n{"done": true}', flush=True)""",
        noise="a lie",
    ),
    "floods": Torch(
        before="import os\nfor _ in range(100): os.write(2, b'x' * (1 << 20))", noise="characters …"
    ),
    "closes_standard_streams": Torch(before="import os\nfor number in range(3): os.close(number)"),
    "replaces_streams": Torch(
        before="import io, sys\nsys.stdout = sys.stderr = io.StringIO()\nprint('lost')"
    ),
    "forks": Torch(before=FORKED),
    "forks_when_asked": Torch(
        after=f"{FORKED.replace('os.fork()', '')}\n__config__.show = lambda: 'x' * (os.fork() and 200 or 100)"
    ),
    "leaves_a_daemon": Torch(before=DAEMON),
    "starts_threads": Torch(
        after="import threading, time\nfor _ in range(8): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()"
    ),
    "changes_its_process": Torch(after=CHANGES),
    "writes_caches": Torch(before=CACHES),
    "version_is_a_number": Torch(after="__version__ = 2", errors={"version": "no text but int"}),
    "version_is_none": Torch(after="__version__ = None", errors={"version": "no text but NoneType"}),
    "version_is_no_text": Torch(after=RAISING_TEXT, errors={"version": "no text but Version"}),
    "version_of_its_own_class": Torch(
        after="__version__ = type('V', (str,), {'__str__': lambda self: 'a lie'})(__version__)"
    ),
    "no_version": Torch(after="del __version__", errors={"version": "AttributeError"}),
    "no_version_module": Torch(after="del version", errors={"rocm": "AttributeError"}),
    "config_raises": Torch(after="__config__.show = lambda: {}['x']", errors={"config": "KeyError: 'x'"}),
    "config_exits": Torch(
        after="import sys; __config__.show = lambda: sys.exit('enough')",
        errors={"config": "SystemExit: enough"},
    ),
    "config_is_endless": Torch(
        after="__config__.show = lambda: 'x' * (10 << 20)", errors={"config": "10485760 characters"}
    ),
    "config_is_no_text": Torch(
        after="__config__.show = lambda: b'\\xff\\0'", errors={"config": "no text but bytes"}
    ),
    "config_is_not_printable": Torch(after="__config__.show = lambda: '\\udcff\\0\\x1b[31m' * 10"),
    "a_switch_is_a_text": Torch(
        after="backends.cuda.flash_sdp_enabled = lambda: 'yes'",
        errors={"flash_sdp_enabled": "no bool but str"},
    ),
    "every_attribute_fails": Torch(whole=GETATTR, errors={"config": "RuntimeError: no __config__ here"}),
    "no_module": Torch(whole=NO_MODULE, errors={"config": "KeyError: '__config__'"}),
}

#: Processes that import one each.
AT_ONCE = 3


def run_each(run):
    """Run all, and what has no torch (``none``), a few at once; return what came of each by its name."""
    names = ["none", *HOSTILE]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(names, pool.map(run, names), strict=True))


def everywhere(test):
    """Run a test for each of them."""
    return pytest.mark.parametrize("name", HOSTILE)(test)
