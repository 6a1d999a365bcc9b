"""What torch says of itself: a whole program for a fresh interpreter, and the same questions for this one.

This file is sent to other interpreters as text, so it stays with the standard library and with what
Python 3.8 understands. Nothing in it starts a device: no ``torch.cuda.is_available()``, no
``get_arch_list()``, only attributes, the text of ``torch.__config__`` and switches.

The program reads one JSON object on standard input and writes one JSON object a line on what was its
standard output: whatever dies later, what was told stays told. See ``main`` for both.
"""

from __future__ import annotations

import functools
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

#: Of ``torch.version``.
VERSIONS = ("git_version", "hip", "cuda", "rocm", "debug")

#: Functions of ``torch.backends.cuda`` that tell which attention kernels may be chosen at run time.
SWITCHES = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")

MAPS = "/proc/self/maps"

#: What an error may say of itself, in characters.
ERROR_LIMIT = 600

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


def error_text(error: BaseException) -> str:
    """Return an exception as the last line of a traceback says it, on one line."""
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = ""
    name = type(error).__name__
    return (name + ": " + said if said else name)[:ERROR_LIMIT]


def parts(torch: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield what an imported torch says of itself, part by part."""
    yield _part("file", lambda: _text(getattr(torch, "__file__", None)))
    yield _part("version", lambda: _text(torch.__version__))
    for name in VERSIONS:
        yield _part(name, functools.partial(_version_of, torch, name))
    yield _part("config", lambda: _text(torch.__config__.show()))
    yield _part("arch_flags", lambda: _arch_flags(torch))
    for name in SWITCHES:
        yield _part(name, functools.partial(_switch, torch, name))
    yield _part("nccl", lambda: _nccl(torch))
    yield _part("mapped", mapped)


def _part(name: str, ask: Callable[[], Any]) -> tuple[str, Any, str]:
    try:
        return name, ask(), ""
    except Exception as error:
        return name, None, error_text(error)


def _text(value: Any) -> str | None:
    # torch.__version__ is a text of a class of its own.
    return None if value is None else str(value)


def _version_of(torch: Any, name: str) -> str | bool | None:
    # ``rocm`` is new; the others have been there for ever, and their absence is worth a word.
    value = getattr(torch.version, name, None) if name == "rocm" else getattr(torch.version, name)
    return value if isinstance(value, bool) else _text(value)


def _arch_flags(torch: Any) -> str | None:
    """Return the architectures that torch was built for; None where this build has no such function."""
    # What torch.cuda.get_arch_list() reads, which looks for a device first and says nothing without one.
    ask = getattr(torch._C, "_cuda_getArchFlags", None)
    return None if ask is None else _text(ask())


def _nccl(torch: Any) -> str | None:
    """Return the version that the NCCL or RCCL in use says of itself; None for a build without one."""
    if not hasattr(torch._C, "_nccl_version"):
        return None
    return ".".join(map(str, torch.cuda.nccl.version()))


def _switch(torch: Any, name: str) -> bool | None:
    ask = getattr(torch.backends.cuda, name, None)
    if ask is None:
        return None
    said = ask()
    if not isinstance(said, bool):
        raise TypeError(name + " gave " + type(said).__name__)
    return said


def mapped() -> list[str]:
    """Return one line of ``/proc/self/maps`` for each file that this process has mapped."""
    lines: dict[tuple[str, ...], str] = {}
    with open(MAPS, encoding="utf-8", errors="surrogateescape") as stream:
        for line in stream:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                lines.setdefault((fields[3], fields[4], fields[5]), line.rstrip("\n"))
    return list(lines.values())


def interpreter() -> dict[str, Any]:
    """Return the running interpreter's version, paths, search path and editable installs."""
    return {
        "version": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "path": [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str) and entry],
        "editable": editable(),
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
    import resource

    os.nice(19)
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    try:
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("1000")
    except OSError:
        pass
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.update(dict.fromkeys(CACHES, wish["cache"]))
    sys.dont_write_bytecode = True


def _place(wish: dict[str, Any]) -> None:
    """Search for modules where the asking interpreter does; without ``path`` where this one does."""
    if wish.get("path") is None:
        sys.path[:] = [entry for entry in sys.path if entry]
        return
    sys.path[:] = wish["path"]
    sys.prefix = sys.exec_prefix = wish["prefix"]
    if wish["editable"]:
        sys.meta_path.append(_Editable(wish["editable"]))


def _be_over() -> None:
    """End what the import has started and left running, and let the rest of this process's life be short."""
    import signal

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.alarm(ENDING_S)
    todo = [os.getpid()]
    while todo:
        parent = todo.pop()
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
            found = []
            for task in tasks:
                with open(f"/proc/{parent}/task/{task}/children") as stream:
                    found += [int(word) for word in stream.read().split()]
            todo += found
            for child in found:
                os.kill(child, signal.SIGKILL)
        except OSError:
            continue


def main() -> None:
    """Answer one question.

    Standard input: ``{"ask": "torch" | "interpreter", "cache": DIRECTORY, "path": [...] | null,
    "prefix": TEXT, "editable": {...}}``. Answer, a line each: ``{"interpreter": {...}}``, or for torch
    ``{"imported": true}`` or ``{"imported": false, "error": TEXT}``; ``{"part": [NAME, VALUE, ERROR]}``;
    ``{"done": true}``.
    """
    own = os.getpid()
    wish = json.load(sys.stdin)
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    # What torch prints must not get between the lines.
    os.dup2(2, 1)

    def tell(line: dict[str, Any]) -> None:
        data = (json.dumps(line) + "\n").encode("ascii")
        # A copy made by fork() has this code too, but nothing to tell.
        while data and os.getpid() == own:
            data = data[os.write(out, data) :]

    if wish["ask"] == "interpreter":
        _place(wish)
        tell({"interpreter": interpreter()})
        return
    _settle(wish)
    _place(wish)
    try:
        torch = __import__("torch")
    except BaseException as error:
        tell({"imported": False, "error": error_text(error)})
        torch = None
    if os.getpid() != own:
        os._exit(0)
    if torch is not None:
        tell({"imported": True})
        for part in parts(torch):
            tell({"part": part})
    tell({"done": True})
    _be_over()


if __name__ == "__main__":
    main()
