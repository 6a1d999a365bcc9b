"""Figures beside a real torch: what a probe costs there, and what becomes of one whose import never ends.

torch 2.13.0 for CPUs, in an environment of its own (``tests/parts/torches.py``); the peer gets the same torch
by PYTHONPATH.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.bench import files
from tests.bench.compare import COMMANDS, timed
from tests.bench.measuring import Figure, Line, NotMeasuredError, bare_environment
from tests.parts import torches

#: Dynamic symbols of the largest library that is to be read in half a second.
SYMBOLS = 300_000
HANGS = "import time\nwhile True:\n    time.sleep(60)\n"
DIES = "import atexit, os\n__version__ = '2.13.0'\natexit.register(os.abort)\n"


def site() -> str:
    """Return the directory of packages that holds torch."""
    told = subprocess.run(
        [torches.python(), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.strip()


def beside(folder: Path, memory: str = "kept") -> dict[str, str]:
    """Return a bare environment with torch on the search path."""
    runtime = folder / memory
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {**bare_environment(folder), "PYTHONPATH": site(), "XDG_RUNTIME_DIR": str(runtime)}


def bare(folder: Path, options: argparse.Namespace) -> Line:
    """A probe beside torch, against the import alone in the same interpreter; digests remembered or not."""
    env, plain = beside(folder), [sys.executable, "-c", "import torch"]
    forgetful = [*COMMANDS["probe"], "--no-digest-cache"]
    for command in (plain, COMMANDS["probe"]):
        timed(command, env)
    over: dict[str, list[float]] = {"remembered": [], "hashed": []}
    imports = []
    for _ in range(options.pairs):
        imports.append(timed(plain, env))
        over["remembered"].append(timed(COMMANDS["probe"], env) - 1.2 * imports[-1])
        over["hashed"].append(timed(forgetful, env) - 1.2 * imports[-1])
    middle = {name: statistics.median(values) for name, values in over.items()}
    told = ", ".join(f"1.2 x import {value:+.2f} s with digests {name}" for name, value in middle.items())
    told += f" (import {statistics.median(imports):.2f} s), {options.pairs} rounds"
    return told, "1.2 x import + 0.15 s", max(middle.values()) <= 0.15


def large(folder: Path, options: argparse.Namespace) -> Line:
    """A large installation beside torch, nothing remembered."""
    env = {**files.environment(folder, "nothing"), "PYTHONPATH": site()}
    took = files.pairs([*COMMANDS["probe"], "--no-digest-cache"], env, options, lambda: None)
    compared = statistics.median(one / other for one, other in took)
    return f"beside torch {compared:.3f} of the peer, {len(took)} pairs", "0.55", compared <= 0.55


def peaks(command: list[str], env: dict[str, str]) -> tuple[int, int]:
    """Return the most memory, in KiB, of a command's own process and of the largest of it and its children."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=env, stdin=quiet, stdout=quiet, stderr=quiet)
    own, over = 0, threading.Event()

    def watch() -> None:
        nonlocal own
        while not over.is_set():
            try:
                status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            except OSError:
                return
            own = max(
                [own, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))]
            )
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    over.set()
    watcher.join()
    return own, used.ru_maxrss


def memory(folder: Path, options: argparse.Namespace) -> Line:
    """Peak resident memory of the largest process, beside torch with ever more packages."""
    if not options.peer:
        raise NotMeasuredError("without --peer there is nothing to compare with")
    whole = Path(site())
    alone = folder / "alone"
    alone.mkdir()
    for entry in whole.iterdir():
        if not entry.name.startswith(("fbgemm_gpu", "torchrec")):
            (alone / entry.name).symlink_to(entry)
    triton = Path(torches.triton_python()).parents[1] / whole.relative_to(whole.parents[2])
    stacks = {
        "torch": f"{alone}",
        "torch, fbgemm and torchrec": f"{whole}",
        "and triton": f"{whole}:{triton}",
    }
    told, middle = [], 1.0
    for stack, path in stacks.items():
        env = {**beside(folder), "PYTHONPATH": path}
        theirs = statistics.median(peaks([*options.peer.split(), *files.PROBE], env)[1] for _ in range(3))
        ours = [peaks(COMMANDS["probe"], env) for _ in range(3)]
        own, most = (statistics.median(pair[index] for pair in ours) / theirs for index in (0, 1))
        told.append(f"{most:.2f} beside {stack} (aorta's own process {own:.2f})")
        middle = most
    return f"peak memory of the peer's: {', '.join(told)}", "0.70", middle <= 0.70


def stand_in(folder: Path, source: str) -> str:
    """Make a torch of a given text; return the directory to search."""
    package = folder / "stand-in/torch"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(source, encoding="utf-8")
    (package / "version.py").write_text(
        "__version__ = '2.13.0+rocm7.2'\nhip = '7.2.53150'\n", encoding="utf-8"
    )
    return str(package.parent)


def _probed(folder: Path, source: str, *options: str) -> tuple[float, dict[str, object], str]:
    """Return seconds, document and standard error of a probe beside a stand-in."""
    target = folder / "env.json"
    env = {**bare_environment(folder), "PYTHONPATH": stand_in(folder, source)}
    started = time.perf_counter()
    done = subprocess.run(
        [COMMANDS["probe"][0], "env", "probe", "--quiet", "-o", str(target), *options],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.perf_counter() - started
    return took, json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}, done.stderr


def hanging(folder: Path, _: argparse.Namespace) -> Line:
    """An import that never ends, from the command line and in a program; limit 6 s each."""
    took, document, errors = _probed(folder, HANGS, "--deadline", "6")
    program = (
        "import sys\nfrom aorta.instrumentation import capture_to\n"
        f"print(capture_to({str(folder / 'own.json')!r}, deadline_s=6).partial)\n"
    )
    root = Path(__file__).parents[2]
    env = {
        **bare_environment(folder),
        "PYTHONPATH": f"{stand_in(folder, HANGS)}:{root}:{root}/collectors",
    }
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, check=False, timeout=60
    )
    inside = time.perf_counter() - started
    ok = max(took, inside) <= 7 and document.get("pytorch_version") == "2.13.0+rocm7.2" and not errors
    ok = ok and done.returncode == 0 and (folder / "own.json").exists()
    told = f"an import that hangs: the command took {took:.2f} s, a program {inside:.2f} s"
    return told, "deadline of 6 s, file written, static facts", ok


def dying(folder: Path, _: argparse.Namespace) -> Line:
    """A torch that aborts after it has told all."""
    _, document, errors = _probed(folder, DIES)
    reasons = document.get("partial_reasons")
    texts = " ".join(map(str, reasons)) if isinstance(reasons, list) else ""
    ok = document.get("pytorch_version") == "2.13.0" and "SIGABRT" in texts and not errors
    return f"a torch that aborts at its end: {texts[:120]!r}", "payload kept, the signal named", ok


def symbols(folder: Path, __: argparse.Namespace) -> Line:
    """A library with 300,000 dynamic symbols, half of them candidates, counted as a capture does."""
    from aorta.host.live import LiveHost
    from aorta_collectors.providers.torch_symbols import COMPOSABLE_KERNEL, MARKERS
    from aorta_collectors.pytorch.symbols import count, wanted

    library = folder / "libtorch_hip.so"
    source = folder / "symbols.s"
    lines = []
    for number in range(SYMBOLS):
        space = ("N2at6native", "N7ck_tile", "N13pytorch_flash", "N5torch3jit")[number % 4]
        name = f"function_{number:06}"
        lines.append(
            f".globl _Z{space}{len(name)}{name}EPKfNS_6TensorE\n_Z{space}{len(name)}{name}EPKfNS_6TensorE:"
        )
    source.write_text("\n".join([".text", *lines, "ret"]) + "\n", encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", str(library), str(source)], check=True)
    host, markers = LiveHost(), (*MARKERS, COMPOSABLE_KERNEL)
    took = []
    for _ in range(3):
        started = time.perf_counter()
        found = count(host.elf(str(library), wanted(markers)).symbols, markers)
        took.append(time.perf_counter() - started)
    host.close()
    ok = found["pytorch_flash::"] == SYMBOLS // 4 and statistics.median(took) <= 0.5
    return f"{SYMBOLS} dynamic symbols in {statistics.median(took):.2f} s", "0.5 s", ok


FIGURES: dict[str, Figure] = {
    "torch_bare": bare,
    "torch_large": large,
    "torch_memory": memory,
    "torch_hangs": hanging,
    "torch_dies": dying,
    "symbols": symbols,
}
