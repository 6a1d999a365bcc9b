"""Figures of sweeps of a command that does nothing: what a trial costs in time, disk and memory, and a resume.

Both programs run the same recipe, each in a directory of its own that is new for each run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aorta.model.frozen import frozen
from tests.bench.files import tree
from tests.bench.measuring import Figure, Line, NotMeasuredError
from tests.parts.fake_tools import make

TRUE = ("/bin/true",)
CELLS = ("none", "tf32_off", "hsa_no_sdma", "gpu_max_hw_queues_2", "hip_launch_blocking")
#: Trials of each of the cells: a small sweep, one whose bytes count, and one of a thousand.
FEW, MANY, THOUSAND = 8, 40, 200
LIMITS = {"bare": 0.5, "large tree": 0.1, "tools at 0 s": 0.15}
#: Trials of each cell when walls are compared; the peer needs some seconds for each with a large tree.
TRIALS = {"bare": MANY, "large tree": 1, "tools at 0 s": MANY}
RECORDED_MS = 5.0
_LOOK_S, _LIMIT_S = 0.01, 900
MIB = 1 << 20


@frozen
class Swept:
    """One sweep: where it ran, how many seconds it took, and the most memory its process had in bytes."""

    place: Path
    took_s: float
    peak: int


def recipe(folder: Path, trials: int) -> Path:
    """Write a recipe that both programs take: ``trials`` of each of five cells."""
    path = folder / f"{trials}.yaml"
    lines = ["schema_version: 1", "mode: probe", "ticket: BENCH", f"trials: {trials}"]
    lines += [f"mitigation_axis: [{', '.join(CELLS)}]", "diagnostic_axis: [none]", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def swept(
    program: list[str],
    env: dict[str, str],
    place: Path,
    trials: int,
    *more: str,
    command: tuple[str, ...] = TRUE,
    look: bool = False,
) -> Swept:
    """Sweep the command in a directory. Raises NotMeasuredError when the program fails.

    Its memory is looked at when asked for: that takes time from what it does.
    """
    place.mkdir(exist_ok=True)
    words = [*program, "sweep", "run", "--recipe", str(recipe(place.parent, trials)), *more, "--", *command]
    log = place / "told.log"
    with open(log, "wb") as told:
        started = time.perf_counter()
        process = subprocess.Popen(
            words, env=env, cwd=place, stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.STDOUT
        )
        watchdog = threading.Timer(_LIMIT_S, process.kill)
        watchdog.start()
        try:
            with _peak_of(process.pid, look=look) as peaks:
                code = process.wait()
                took = time.perf_counter() - started
        finally:
            watchdog.cancel()
    said = log.read_text(encoding="utf-8", errors="replace")
    log.unlink()
    if code:
        raise NotMeasuredError(f"exit status {code} of {' '.join(words)}: {said[-400:]}")
    return Swept(place=place, took_s=took, peak=max(peaks))


@contextmanager
def _peak_of(pid: int, *, look: bool) -> Iterator[list[int]]:
    """Look now and then at the most memory that a process had, as ``/proc`` says.

    What the kernel tells at the end counts the memory of whoever started it too.
    """
    peaks, over = [0], threading.Event()

    def looking() -> None:
        while not over.wait(_LOOK_S):
            try:
                lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
            except OSError:
                return
            peaks.extend(
                int(line.split()[1]) * 1024 for line in lines.splitlines() if line.startswith("VmHWM")
            )

    thread = threading.Thread(target=looking)
    if look:
        thread.start()
    try:
        yield peaks
    finally:
        over.set()
        if look:
            thread.join()


def bare(folder: Path) -> dict[str, str]:
    """Return variables of a machine with nothing on it."""
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "runtime").mkdir(mode=0o700, exist_ok=True)
    # Where digests of files are kept; not in a home directory.
    basics = {"XDG_RUNTIME_DIR": str(folder / "runtime"), "HOME": str(folder / "home"), "LANG": "C.UTF-8"}
    return {"PATH": str(folder / "empty"), **basics}


def large(folder: Path) -> dict[str, str]:
    """Return those of one with a large installation."""
    return {**bare(folder), "ROCM_PATH": str(tree())}


def tools(folder: Path) -> dict[str, str]:
    """Return those of one with all tools, which answer at once."""
    return {**bare(folder), "PATH": make(folder / "parts")}


SETTINGS = {"bare": bare, "large tree": large, "tools at 0 s": tools}


def programs(options: argparse.Namespace) -> dict[str, list[str]]:
    """Return the command lines of both."""
    if not options.peer:
        raise NotMeasuredError("without --peer there is nothing to compare with")
    return {"peer": options.peer.split(), "aorta": mine()}


def mine() -> list[str]:
    """Return the command line of this one."""
    return [str(Path(sys.executable).parent / "aorta")]


def pairs(
    folder: Path,
    env: dict[str, str],
    options: argparse.Namespace,
    trials: int,
    number: int,
    *,
    look: bool = False,
) -> Iterator[dict[str, Swept]]:
    """Sweep with both in turn; what they wrote is there until the next pair."""
    both = programs(options)
    for turn in range(number):
        order = list(both) if turn % 2 == 0 else list(both)[::-1]
        with tempfile.TemporaryDirectory(dir=folder) as made:
            yield {name: swept(both[name], env, Path(made, name), trials, look=look) for name in order}


def wall(folder: Path, options: argparse.Namespace) -> Line:
    """A sweep of five cells as a whole, by its trials: bare, with a large installation, with all tools."""
    told, ok = [], True
    for name, setting in SETTINGS.items():
        inner = folder / name.replace(" ", "-")
        inner.mkdir()
        env = setting(inner)
        for program in programs(options).values():
            # What is kept from one run to the next is there then, for both.
            swept(program, env, Path(tempfile.mkdtemp(dir=inner)), 1)
        number = options.pairs if name == "bare" else max(3, options.pairs // 3)
        trials = TRIALS[name]
        took = [
            (pair["aorta"].took_s, pair["peer"].took_s) for pair in pairs(inner, env, options, trials, number)
        ]
        ratio = statistics.median(one / other for one, other in took)
        per_trial = statistics.median(one for one, _ in took) / trials / len(CELLS) * 1000
        told.append(f"{name} {ratio:.3f} ({per_trial:.1f} ms a trial, {len(took)} pairs)")
        ok = ok and ratio <= LIMITS[name]
    return f"a trial of the peer's: {', '.join(told)}", " / ".join(map(str, LIMITS.values())), ok


def recorded(folder: Path, _: argparse.Namespace) -> Line:
    """The time that a trial's record says, whatever a snapshot has to look at."""
    medians = {}
    for name, setting in SETTINGS.items():
        inner = folder / name.replace(" ", "-")
        inner.mkdir()
        done = swept(mine(), setting(inner), inner / "run", FEW)
        records = done.place.glob("triage_results/*/*/*/cells/*/trial_*.json")
        times = [json.loads(path.read_text(encoding="utf-8"))["elapsed_s"] * 1000 for path in records]
        medians[name] = statistics.median(times)
    told = ", ".join(f"{name} {ms:.2f}" for name, ms in medians.items())
    return f"recorded ms of true: {told}", f"{RECORDED_MS:.0f} ms", max(medians.values()) <= RECORDED_MS


def bytes_(folder: Path, options: argparse.Namespace) -> Line:
    """Bytes of all files of a sweep, by its trials."""
    sizes = {}
    for pair in pairs(folder, bare(folder), options, MANY, 1):
        sizes = {name: _size(done.place) / len(CELLS) / MANY for name, done in pair.items()}
    ratio = sizes["aorta"] / sizes["peer"]
    told = f"bytes of a trial {ratio:.3f} of the peer's ({sizes['aorta']:.0f} and {sizes['peer']:.0f})"
    return told, "0.8", ratio <= 0.8


def _size(place: Path) -> int:
    found = 0
    for folder, _, names in os.walk(place):
        found += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
    return found


def memory(folder: Path, options: argparse.Namespace) -> Line:
    """By how much the most memory of a sweep of a thousand trials is above that of a small one."""
    env = bare(folder)
    grown: list[tuple[int, int]] = []
    for _ in range(max(1, options.pairs // 5)):
        few = next(pairs(folder, env, options, FEW, 1, look=True))
        many = next(pairs(folder, env, options, THOUSAND, 1, look=True))
        both = [max(many[name].peak - few[name].peak, 0) for name in ("aorta", "peer")]
        grown.append((both[0], both[1]))
    ratio = statistics.median(one / max(other, 1) for one, other in grown)
    ours, theirs = (statistics.median(values) / MIB for values in zip(*grown, strict=True))
    told = f"growth over 1,000 trials {ratio:.3f} of the peer's ({ours:.2f} and {theirs:.2f} MiB)"
    return told, "0.4", ratio <= 0.4


def resume(folder: Path, options: argparse.Namespace) -> Line:
    """A finished sweep of a thousand trials called for again. The command leaves a line for each trial."""
    env, both = bare(folder), programs(options)
    command = ("/bin/sh", "-c", "echo >>ran")
    again = {"peer": [], "aorta": ["--resume"]}
    for name, program in both.items():
        swept(program, env, folder / name, THOUSAND, command=command)
    before = {name: _lines(folder / name) for name in both}
    ratios, ours = [], []
    for turn in range(options.pairs):
        order = list(both) if turn % 2 == 0 else list(both)[::-1]
        took = {
            name: swept(both[name], env, folder / name, THOUSAND, *again[name], command=command).took_s
            for name in order
        }
        ratios.append(took["aorta"] / took["peer"])
        ours.append(took["aorta"])
    executed = _lines(folder / "aorta") - before["aorta"]
    ratio = statistics.median(ratios)
    told = f"resume {ratio:.3f} of the peer's ({statistics.median(ours) * 1000:.0f} ms), {executed} executed"
    whole = before["aorta"] == THOUSAND * len(CELLS) and executed == 0
    return f"{told}, {len(ratios)} pairs", "0.15, nothing executed", whole and ratio <= 0.15


def _lines(place: Path) -> int:
    return (place / "ran").read_bytes().count(b"\n")


FIGURES: dict[str, Figure] = {
    "sweep_wall": wall,
    "sweep_recorded": recorded,
    "sweep_bytes": bytes_,
    "sweep_memory": memory,
    "sweep_resume": resume,
}
