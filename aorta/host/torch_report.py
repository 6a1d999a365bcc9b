"""What torch says of itself: a whole program for a fresh interpreter, and the same questions for this one.

This file is sent to other interpreters as text, so it stays with the standard library and with what
Python 3.8 understands. No device is initialised: no ``torch.cuda.is_available()``, no ``get_arch_list()``,
only attributes, switches, and the text of ``torch.__config__`` (see ``parts``).

The program reads one JSON object on standard input and writes one JSON object a line on what was its
standard output: whatever dies later, what was told stays told. See ``main`` for both.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

#: Of ``torch.version``.
VERSIONS = ("git_version", "hip", "cuda", "rocm", "debug")

#: Functions of ``torch.backends.cuda`` that tell which attention kernels may be chosen at run time.
SWITCHES = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")

MAPS = "/proc/self/maps"

#: What an error may say of itself, in characters. The asking process takes secrets out before it cuts.
ERROR_LIMIT = 8192

#: Caches that programs make when they are imported: they get a place that is removed afterwards.
CACHES = (
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "TRITON_HOME",
    "MIOPEN_USER_DB_PATH",
    "MIOPEN_CUSTOM_CACHE_DIR",
    "AMD_COMGR_CACHE_DIR",
    "AITER_JIT_DIR",
    "XDG_CACHE_HOME",
)

#: Seconds in which the process must end after its last answer; a hanging exit is ended by the kernel.
ENDING_S = 3

#: Seconds that what the import left running is given to be gone once it was killed.
GONE_S = 1

#: Seconds between two looks at whether anybody waits for the answer.
LOOK_S = 1.0

#: The longest text that is told, in characters: one answer must not take the room of the others.
TEXT_LIMIT = 1 << 20

#: What other finders are asked for, and what of it torch is made of.
TORCH = ("torch", "torchgen", "functorch")
PACKAGES = (*TORCH, "triton", "fbgemm_gpu", "torchrec", "aiter", "aiter_meta")

#: Of prctl(2).
SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36


def error_text(error: BaseException) -> str:
    """Return an exception as the last line of a traceback says it, on one line."""
    try:
        said = " ".join(str(error).split())
    except BaseException:
        said = ""
    name = type(error).__name__
    text = name + ": " + said if said else name
    # A part of a secret does not look like one: whole words.
    return text if len(text) <= ERROR_LIMIT else text[: ERROR_LIMIT + 1].rpartition(" ")[0]


def parts(torch: Any, bystander: bool = False) -> Iterator[tuple[str, Any, str]]:
    """Yield what an imported torch says of itself, part by part: name, value, error.

    The text of its configuration counts the devices of a build for GPUs, which starts their runtime; a
    process with that running cannot fork workers that use a GPU. A ``bystander`` does not ask for it where
    the runtime is not running, and for the compiler's flags alone.
    """
    yield _part("file", lambda: _text_or_none(getattr(torch, "__file__", None)))
    yield _part("version", lambda: _text(torch.__version__))
    for name in VERSIONS:
        yield _part(name, functools.partial(_version_of, torch, name))
    yield _part("arch_flags", lambda: _arch_flags(torch))
    for name in SWITCHES:
        yield _part(name, functools.partial(_switch, torch, name))
    yield _part("nccl", lambda: _nccl(torch))
    yield _part("mapped", mapped)
    if bystander and _would_start_devices(torch):
        yield _part("cxx_flags", lambda: _text(torch.__config__._cxx_flags()))
        return
    # Drivers hang: what else there is has been told by now. And they bring libraries.
    yield _part("config", lambda: _text(torch.__config__.show()))
    yield _part("mapped", mapped)


def _would_start_devices(torch: Any) -> bool:
    """Tell whether counting devices would start a runtime that is not running; in doubt it would."""
    try:
        if torch.version.hip is None and torch.version.cuda is None:
            return False
        return torch.cuda.is_initialized() is not True
    except Exception:
        return True


def _part(name: str, ask: Callable[[], Any]) -> tuple[str, Any, str]:
    try:
        return name, ask(), ""
    except BaseException as error:
        # Whatever answers, a SystemExit too, is one answer less and no more.
        return name, None, error_text(error)


def _text(value: Any) -> str:
    """Return a text as a plain one (torch.__version__ is of a class of its own). Raises for anything else."""
    if not isinstance(value, str):
        raise TypeError("no text but " + type(value).__name__)
    if len(value) > TEXT_LIMIT:
        raise ValueError(str(len(value)) + " characters")
    return str.__str__(value)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _version_of(torch: Any, name: str) -> str | bool | None:
    # ``rocm`` is new; the others have been there for ever, and their absence is worth a word.
    value = getattr(torch.version, name, None) if name == "rocm" else getattr(torch.version, name)
    return value if isinstance(value, bool) else _text_or_none(value)


def _arch_flags(torch: Any) -> str | None:
    """Return the architectures that torch was built for; None where this build has no such function."""
    # What torch.cuda.get_arch_list() reads, which looks for a device first and says nothing without one.
    ask = getattr(torch._C, "_cuda_getArchFlags", None)
    return None if ask is None else _text_or_none(ask())


def _nccl(torch: Any) -> str | None:
    """Return the version that the NCCL or RCCL in use says of itself; None for a build without one."""
    if not hasattr(torch._C, "_nccl_version"):
        return None
    return _text(".".join(map(str, torch.cuda.nccl.version())))


def _switch(torch: Any, name: str) -> bool | None:
    ask = getattr(torch.backends.cuda, name, None)
    if ask is None:
        return None
    said = ask()
    if not isinstance(said, bool):
        raise TypeError("no bool but " + type(said).__name__)
    return said


def mapped() -> list[str]:
    """Return one line of ``/proc/self/maps`` for each file that this process has mapped."""
    lines: dict[tuple[str, ...], str] = {}
    with open(MAPS, encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        for line in stream:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                lines.setdefault((fields[3], fields[4], fields[5]), line.rstrip("\n"))
    return list(lines.values())


def interpreter() -> dict[str, Any]:
    """Return the running interpreter's version, paths, search path and editable installs."""
    return {
        **identity(),
        "path": [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str) and entry],
        "editable": editable(),
    }


def identity() -> dict[str, Any]:
    """Return the running interpreter's version and paths."""
    return {
        "version": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
    }


def editable() -> dict[str, str]:
    """Return where setuptools' finders for editable installs lead: packages and modules by name."""
    found: dict[str, str] = {}
    for finder in sys.meta_path:
        home = sys.modules.get(getattr(finder, "__module__", ""))
        mapping = getattr(home, "MAPPING", None)
        if isinstance(mapping, dict):
            found.update(
                (name, place)
                for name, place in mapping.items()
                if isinstance(name, str) and isinstance(place, str)
            )
    return found


def elsewhere(names: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return what other finders than Python's own know: ``[EARLY, FILE, *LOCATIONS]`` by name.

    Those of editable installs by scikit-build-core, meson-python and ``editables``, and of link trees. EARLY:
    the finder stands before the search path. Nothing is imported; setuptools' finders are in ``editable``.
    """
    from importlib.machinery import PathFinder

    found: dict[str, list[Any]] = {}
    early = PathFinder in sys.meta_path
    for finder in list(sys.meta_path):
        if finder is PathFinder:
            early = False
            continue
        home = getattr(finder, "__module__", "")
        if home.startswith("_frozen_importlib") or isinstance(
            getattr(sys.modules.get(home), "MAPPING", None), dict
        ):
            continue
        for name in names:
            # A finder is any program.
            with contextlib.suppress(Exception):
                spec = finder.find_spec(name, None)
                if name not in found and spec is not None and spec.has_location and spec.origin:
                    places = [os.path.abspath(place) for place in spec.submodule_search_locations or ()]
                    found[name] = [early, os.path.abspath(spec.origin), *places]
    return found


class _Elsewhere:
    """Finds what ``elsewhere`` told."""

    def __init__(self, found: dict[str, list[Any]], early: bool) -> None:
        self._found = {name: places for name, (first, *places) in found.items() if first is early}

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        if name not in self._found:
            return None
        from importlib.util import spec_from_file_location

        file, *places = self._found[name]
        return spec_from_file_location(name, file, submodule_search_locations=places or None)


class _Editable:
    """Finds the packages of editable installs, as the finders of the asking interpreter would."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        from importlib.util import spec_from_file_location

        place = self._places.get(name)
        if place is None:
            return None
        for file in (os.path.join(place, "__init__.py"), place + ".py", place):
            if os.path.isfile(file):
                return spec_from_file_location(name, file)
        return None


def _settle(wish: dict[str, Any]) -> None:
    """Become a process that is in nobody's way and leaves nothing behind."""
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
        os.nice(19)
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("1000")
    except (ImportError, OSError, ValueError):
        pass
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.update(dict.fromkeys(CACHES, wish["cache"]))
    sys.dont_write_bytecode = True


def _place(wish: dict[str, Any]) -> None:
    """Search for modules where the asking interpreter does; without ``path`` where this one does."""
    if wish.get("path") is None:
        moved = _relative_to(wish["cwd"]) if wish.get("cwd") else {}
        sys.path[:] = [moved.get(_from_root(entry), entry) for entry in sys.path if entry]
        return
    sys.path[:] = wish["path"]
    sys.prefix = sys.exec_prefix = wish["prefix"]
    if wish["editable"]:
        sys.meta_path.append(_Editable(wish["editable"]))
    if wish.get("elsewhere"):
        sys.meta_path.insert(0, _Elsewhere(wish["elsewhere"], early=True))
        sys.meta_path.append(_Elsewhere(wish["elsewhere"], early=False))


def _relative_to(folder: str) -> dict[str, str]:
    """Return where relative entries of PYTHONPATH lead that this process, in ``/``, took for others."""
    text = os.environ.get("PYTHONPATH", "")
    entries = [entry for entry in text.split(os.pathsep) if not os.path.isabs(entry)] if text else []
    return {_from_root(entry): os.path.normpath(os.path.join(folder, entry)) for entry in entries}


def _from_root(entry: str) -> str:
    # abspath() keeps two slashes at the start.
    return "/" + os.path.abspath(entry).lstrip("/")


def _stand_guard() -> None:
    """Return in a process of our own; this one waits for it, ends what it has left, and ends as it did."""
    import warnings

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _prctl(SET_CHILD_SUBREAPER, 1)
    guard, asking = os.getpid(), os.getppid()
    with warnings.catch_warnings():
        # A thread of a sitecustomize has nothing to do with what follows.
        warnings.simplefilter("ignore")
        try:
            worker = os.fork()
        except OSError:
            # No more processes for this user: then without a guard.
            return
    if not worker:
        _prctl(SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(0)
        return
    _end_with(asking)
    while True:
        process, status = os.waitpid(-1, 0)
        if process == worker:
            break
    _end_all_below(guard)
    if os.WIFSIGNALED(status):
        _end_by(os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _end_with(asking: int) -> None:
    """Let this process look from time to time whether the one that asks is there, and end with it.

    That one can be killed, and then nobody ends an import that hangs.
    """
    guard = os.getpid()

    def look(_number: int, _frame: Any) -> None:
        if os.getppid() != asking:
            _end_all_below(guard)
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, LOOK_S, LOOK_S)


def _prctl(option: int, value: int) -> None:
    """Ask the kernel for something that is good to have, where that is possible."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_by(number: int) -> None:
    """End this process by a signal."""
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def _kill_below(process: int) -> None:
    """Kill the children of a process and theirs."""
    todo = [process]
    while todo:
        parent = todo.pop()
        try:
            found = []
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as stream:
                    found += [int(word) for word in stream.read().split()]
            todo += found
            for child in found:
                os.kill(child, signal.SIGKILL)
        except OSError:
            continue


def _end_all_below(own: int) -> None:
    """Kill what is left below this process until nothing is, and reap it."""
    until = time.monotonic() + GONE_S
    while time.monotonic() < until:
        _kill_below(own)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _be_over() -> None:
    """End what the import has started and left running, and let the rest of this process's life be short."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.alarm(ENDING_S)
    _kill_below(os.getpid())


class _Answers:
    """What was the standard output. What torch prints must not get between the lines."""

    def __init__(self) -> None:
        self._own = os.getpid()
        self._out = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        # A sitecustomize may have begun a line.
        os.write(self._out, b"\n")

    def tell(self, line: dict[str, Any]) -> None:
        """Write a line. A copy of this process that torch has made has nothing to tell, and ends here."""
        if os.getpid() != self._own:
            os._exit(0)
        data = (json.dumps(line) + "\n").encode("ascii")
        while data:
            data = data[os.write(self._out, data) :]


def main() -> None:
    """Answer one question.

    Standard input: ``{"ask": "torch" | "interpreter", "cache": DIRECTORY, "path": [...] | null,
    "prefix": TEXT, "editable": {...}, "elsewhere": {...}, "cwd": DIRECTORY, "late_s": SECONDS}``;
    after ``late_s`` all stacks go to standard error. Answer, a line each:
    ``{"interpreter": {...}}`` and ``{"elsewhere": {...}}``, or for torch ``{"imported": true}`` or
    ``{"imported": false, "error": TEXT}``; ``{"part": [NAME, VALUE, ERROR]}``; ``{"done": true}``.
    """
    wish = json.load(sys.stdin)
    if wish["ask"] == "interpreter":
        answers = _Answers()
        _place(wish)
        answers.tell({"interpreter": interpreter()})
        # Finders are anybody's, and may never answer.
        answers.tell({"elsewhere": elsewhere(PACKAGES)})
        return
    _settle(wish)
    _stand_guard()
    answers = _Answers()
    _place(wish)
    if wish.get("late_s"):
        # An import that hangs tells where: the watchdog needs no lock that it could hold.
        faulthandler.dump_traceback_later(wish["late_s"], file=2)
    try:
        torch = __import__("torch")
    except BaseException as error:
        answers.tell({"imported": False, "error": error_text(error)})
    else:
        answers.tell({"imported": True})
        for part in parts(torch):
            answers.tell({"part": part})
    answers.tell({"done": True})
    faulthandler.cancel_dump_traceback_later()
    _be_over()


if __name__ == "__main__":
    main()
