"""Figures of hashing: a large installation, read for the first time, remembered, cold, and once more.

The tree is made once, in ``$AORTA_BENCH_TREE`` where that is set (4.7 GB), else in the temporary directory.
"""

import argparse
import functools
import hashlib
import json
import os
import queue
import shutil
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.bench import rocm_tree
from tests.bench.compare import COMMANDS, timed
from tests.bench.measuring import ROOT, Figure, Line, NotMeasuredError, found, python, ratio
from tests.faults.test_laptop import calls_in
from tests.parts.fake_tools import basic_path, make

PROBE = ["env", "probe", "-o", "/dev/null"]
CHUNK = 128 * 1024


@functools.cache
def tree() -> Path:
    """Return the large installation, made at the first call."""
    named = os.environ.get("AORTA_BENCH_TREE")
    root = Path(named) if named else Path(tempfile.gettempdir(), "aorta-bench-large")
    if not (root / ".whole").exists():
        shutil.rmtree(root, ignore_errors=True)
        rocm_tree.make(root, "large")
        (root / ".whole").touch()
    return root


def identity_set() -> list[Path]:
    """Return the files that a fingerprint of the contents must read."""
    root = tree()
    libraries = [root / "lib" / f"lib{name}.so" for name in ("rocblas", "hipblaslt", "MIOpen", "rccl")]
    folders = [root / "lib/hipblaslt/library", root / "lib/rocblas/library", root / "share/miopen/db"]
    return [
        *(path.resolve() for path in libraries),
        *(path for folder in folders for path in folder.iterdir()),
    ]


def environment(folder: Path, memory: str) -> dict[str, str]:
    """Return a bare environment with the installation; ``memory`` names where digests are kept."""
    runtime = folder / memory
    runtime.mkdir(mode=0o700, exist_ok=True)
    path = basic_path(folder / "basic") if not (folder / "basic").exists() else str(folder / "basic")
    # A memory is not kept in a home directory.
    basics = {"PATH": path, "HOME": str(folder / "home"), "LANG": "C.UTF-8"}
    return {**basics, "ROCM_PATH": str(tree()), "XDG_RUNTIME_DIR": str(runtime)}


def floor() -> float:
    """Return the seconds that reading and hashing the files takes on all cores, the largest first."""
    files: queue.SimpleQueue[str] = queue.SimpleQueue()
    for path in sorted(identity_set(), key=lambda path: -path.stat().st_size):
        files.put(str(path))

    def work() -> None:
        buffer = bytearray(CHUNK)
        view = memoryview(buffer)
        while True:
            try:
                name = files.get_nowait()
            except queue.Empty:
                return
            digest = hashlib.sha256()
            with open(name, "rb", buffering=0) as file:
                while size := file.readinto(buffer):
                    digest.update(view[:size])

    threads = [threading.Thread(target=work) for _ in os.sched_getaffinity(0)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def evict() -> None:
    """Drop the installation's files from the page cache."""
    for path in tree().rglob("*"):
        if path.is_file() and not path.is_symlink():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def hashing(folder: Path, options: argparse.Namespace) -> Line:
    """A large installation of which nothing is remembered."""
    env = environment(folder, "nothing")
    mine = [*COMMANDS["probe"], "--no-digest-cache"]
    took = pairs(mine, env, options, lambda: None)
    floors = [floor() for _ in range(3)]
    least = statistics.median(floors)
    seconds = statistics.median(one for one, _ in took)
    compared = statistics.median(one / other for one, other in took)
    limit = 1.3 * least + 0.2
    told = f"hashing {compared:.3f} of the peer, {seconds / least:.2f} x the floor of all cores"
    told += f" ({seconds:.2f} s; 1.3 x floor + 0.2 s = {limit:.2f} s), {len(took)} pairs"
    return told, "0.55 and 1.3 x floor + 0.2 s", compared <= 0.55 and seconds <= limit


def remembered(folder: Path, options: argparse.Namespace) -> Line:
    """The same once more, in a later process."""
    env = environment(folder, "kept")
    timed(COMMANDS["probe"], env)
    return ratio("remembered", "probe", PROBE, env, options, 0.08, pairs=max(3, options.pairs // 2))


def cold(folder: Path, options: argparse.Namespace) -> Line:
    """Nothing in the page cache, nothing remembered."""
    mine = [*COMMANDS["probe"], "--no-digest-cache"]
    took = pairs(mine, environment(folder, "nothing"), options, evict)
    compared = statistics.median(one / other for one, other in took)
    return f"cold {compared:.3f} of the peer, {len(took)} pairs", "0.55", compared <= 0.55


def pairs(
    mine: list[str], env: dict[str, str], options: argparse.Namespace, before: Callable[[], None]
) -> list[tuple[float, float]]:
    """Return the seconds of aorta and of the peer, in turn."""
    if not options.peer:
        raise NotMeasuredError("without --peer there is nothing to compare with")
    peer, took = [*options.peer.split(), *PROBE], []
    for number in range(max(3, options.pairs // 3)):
        pair = {}
        for command in (mine, peer) if number % 2 else (peer, mine):
            before()
            pair[command is mine] = timed(command, env)
        took.append((pair[True], pair[False]))
    return took


IN_PROCESS = """
import json, sys, time
from {module} import {function} as capture
took = []
for _ in range(6):
    started = time.perf_counter()
    capture()
    took.append(time.perf_counter() - started)
print(json.dumps(took))
"""


def again(folder: Path, options: argparse.Namespace) -> Line:
    """The second and later captures of one process."""
    if not options.peer:
        raise NotMeasuredError("without --peer there is nothing to compare with")
    env = environment(folder, "again")
    program = IN_PROCESS.format(module="aorta.instrumentation.environment", function="collect_env")
    interpreter = Path(options.peer.split()[0]).with_name("python")
    theirs = json.loads(python("-c", program, program=interpreter, env=env, cwd=folder).stdout)
    ours = json.loads(python("-c", program, env=env, path=f"{ROOT}:{ROOT}/collectors").stdout)
    compared = statistics.median(ours[1:]) / statistics.median(theirs[1:])
    told = f"later captures {compared:.4f} of the peer's ({statistics.median(ours[1:]) * 1000:.0f} ms)"
    return told, "0.03", compared <= 0.03


def tool_calls(folder: Path, _: argparse.Namespace) -> Line:
    """Command lines of a capture on a host with GPUs and NICs of three vendors."""
    log = folder / "log"
    env = {"PATH": make(folder / "parts"), "HOME": str(folder), "TOOLS_LOG": str(log)}
    # A host has one package manager.
    (folder / "parts/tools/rpm").unlink()
    inside = ["unshare", "--mount", "sh", str(ROOT / "tests/bench/gpu_machine.sh")]
    code = timed([*inside, *COMMANDS["probe"], "--sudo"], {**env, "PATH": f"{env['PATH']}:/usr/bin:/bin"})
    if not log.exists():
        raise NotMeasuredError(f"no tool was run in {code:.1f} s: needs root")
    made = calls_in(log.read_text(encoding="utf-8"))
    twice = [call for call, times in Counter(made).items() if times > 1]
    told = f"{len(made)} tool calls, {len(twice)} of them more than once"
    return told, "23, none twice", 0 < len(made) <= 23 and not twice


def whole_change(_: Path, __: argparse.Namespace) -> Line:
    """A byte changed with the time put back, a file replaced, added, removed: always another digest."""
    told = python("-m", "pytest", "-q", "tests/collect/test_digests.py", "-k", "no_change_goes_unseen").stdout
    (passed,) = found(r"(\d+) passed", told)
    return f"{passed} changes of a tree seen", "all", "failed" not in told and int(passed) >= 12


FIGURES: dict[str, Figure] = {
    "hashing": hashing,
    "remembered": remembered,
    "cold": cold,
    "again": again,
    "changes": whole_change,
    "tool_calls": tool_calls,
}
