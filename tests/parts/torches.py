"""A real torch in a virtual environment of its own, and folders that only look like one.

The environment takes 1 GB, so it lies in the user's cache and serves all clones. It is made where tests may
install: with CI=true or AORTA_TEST_INSTALL=1. Otherwise what needs it is left out.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.parts import pythons
from tests.parts.needs import need
from tests.parts.system import may_install

#: What torch's wheel is for.
PYTHON = "3.11"

#: aorta's own needs, and coverage, by which the tests follow child processes.
OWN = ("attrs", "cattrs", "click", "coverage>=7.10", "packaging", "pluggy", "pyelftools", "pyyaml", "rich")
TORCH = ("torch==2.13.0", "numpy==2.4.6", "fbgemm-gpu-cpu==1.8.0")
#: torchrec asks for a fbgemm of another name.
ALONE = ("torchrec==1.8.0",)
TORCHREC = ("tensordict==0.15.3", "torchmetrics==1.0.3", "pyre-extensions==0.0.32", "tqdm", "iopath==0.1.10")
TRITON = ("triton==3.9.0",)

COMPLETE = "complete"

#: Where the environments lie. Read once, since tests change these variables.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "aorta-tests"


def python() -> str:
    """Return an interpreter with torch 2.13 for CPUs, fbgemm, torchrec and what aorta needs, not aorta."""
    return environment(f"torch-2.13.0-py{PYTHON}", (*OWN, *TORCH, *TORCHREC), ALONE)


def triton_python() -> str:
    """Return an interpreter with triton, without torch. It takes 1 GB."""
    return environment(f"triton-3.9.0-py{PYTHON}", (*OWN, *TRITON))


def environment(name: str, packages: Sequence[str], alone: Sequence[str] = ()) -> str:
    """Return the interpreter of a virtual environment; make it first where that is allowed.

    ``alone`` are packages without what they need. Skips, or fails in CI, where there is none.
    """
    folder, content = CACHE / name, "\n".join([*packages, *alone])
    if not _is_complete(folder, content):
        need(may_install(), f"a real torch in {folder}; to add it: AORTA_TEST_INSTALL=1 make test")
        base = pythons.python(PYTHON)
        with _locked(CACHE / f"{name}.lock"):
            if not _is_complete(folder, content):
                _make(folder, base, packages, alone)
                (folder / COMPLETE).write_text(content)
    return str(folder / "bin" / "python")


def _is_complete(folder: Path, content: str) -> bool:
    with contextlib.suppress(OSError):
        return (folder / COMPLETE).read_text() == content and (folder / "bin" / "python").exists()
    return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, whatever ends it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(folder: Path, base: str, packages: Sequence[str], alone: Sequence[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    made = str(folder / "bin" / "python")
    pip = [made, "-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check"]
    commands = [
        [base, "-m", "venv", str(folder)],
        [*pip, *packages],
        *([[*pip, "--no-deps", *alone]] if alone else []),
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE_"))}
    for command in commands:
        done = subprocess.run(command, check=False, env=env, capture_output=True, text=True)
        if done.returncode:
            pytest.fail(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    # Side by side, unlike pip's own. Some files of torch are for later versions of Python.
    compiling = [made, "-m", "compileall", "-q", "-q", "-j", "0", str(folder / "lib")]
    subprocess.run(compiling, check=False, env=env, stdout=subprocess.DEVNULL)


#: The source of a stand-in that tells all that aorta asks of a torch.
ANSWERS = """
from types import SimpleNamespace as _Names
from torch import version

__version__ = version.__version__
__config__ = _Names(show=lambda: "PyTorch built with:\\n  - GCC 9.3\\n  - Build settings: USE_ROCM=ON, \\n")
_C = _Names(_cuda_getArchFlags=lambda: "gfx90a gfx942", _nccl_version=lambda: (2, 27, 7))
cuda = _Names(nccl=_Names(version=lambda: (2, 27, 7)))
backends = _Names(
    cuda=_Names(
        flash_sdp_enabled=lambda: True,
        mem_efficient_sdp_enabled=lambda: True,
        math_sdp_enabled=lambda: True,
        cudnn_sdp_enabled=lambda: False,
    )
)
"""

VERSION, HIP, GIT = "2.9.1+rocm7.1.0", "7.1.25424-4179531dcd", "d38164a545b4a4e4e0cf73ce67173f70574890b6"


def stand_in(
    folder: Path,
    source: str = ANSWERS,
    *,
    version: str = VERSION,
    version_module: str | None = None,
    files: Mapping[str, bytes] | None = None,
    metadata: bool = True,
) -> str:
    """Make a package that calls itself torch; return the directory for PYTHONPATH that holds it.

    ``source`` is its ``__init__``, ``version_module`` its ``version``; ``files`` lie in its ``lib``.
    """
    package = Path(folder) / "torch"
    (package / "lib").mkdir(parents=True)
    (package / "__init__.py").write_text(source)
    text = f"__version__ = {version!r}\ndebug = False\ncuda = None\ngit_version = {GIT!r}\nhip = {HIP!r}\n"
    (package / "version.py").write_text(text if version_module is None else version_module)
    for name, content in (files or {}).items():
        (package / "lib" / name).write_bytes(content)
    if metadata:
        info = Path(folder) / f"torch-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    return str(folder)


def main() -> int:
    """Make the environment, where that is allowed, and tell where it is; or that it is left out."""
    try:
        print(triton_python() if sys.argv[1:] == ["triton"] else python())
    except (pytest.skip.Exception, pytest.fail.Exception) as error:
        print(f"left out: {error}")
        return 1 if may_install() else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
