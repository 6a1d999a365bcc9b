"""Everything that can be tested here, one step after the other; each step's failure is the run's.

The tests are four programs at once: three that mostly wait for processes, mounts, containers and clusters,
and one that computes. Coverage doubles the time of most, so it is measured only when asked for, by
``--coverage``; and also then not where tests start whole installations, sandboxes and clients of Buck, or
feed random input to parsers: the lines are reached by others.
"""

import concurrent.futures
import glob
import os
import subprocess
import sys
import time

MEASURED = "--coverage"
WORDS = [word for word in sys.argv[1:] if word != MEASURED]
PLAIN = (sys.executable, "-m", "pytest", "-q", *WORDS)
COVERED = (sys.executable, "-m", "coverage", "run", *PLAIN[1:]) if MEASURED in sys.argv[1:] else PLAIN

#: Folders of tests that mostly wait.
WAITING = ("cases", "cli", "sweep_command", "sweep_run")
#: The same: jobs of several ranks, and of clusters.
JOBS = ("launch", "ranks", "slurm")
WORKLOADS = ("workloads",)
#: The same, not measured.
WHOLE = ("buck_file", "docs", "example_plugin", "faults", "isolation", "package", "torch")
BUCK, FUZZ = ("buck",), ("fuzz",)

#: Of these, ``None`` stands for the tests.
STEPS: dict[str, list[str] | None] = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "types": [sys.executable, "-m", "mypy"],
    "layers": [os.path.join(os.path.dirname(sys.executable), "lint-imports"), "--no-cache"],
    "tests": None,
}
MEASURE = {
    "combine": [sys.executable, "-m", "coverage", "combine", "-q"],
    "coverage": [sys.executable, "-m", "coverage", "report"],
}


def folders() -> list[str]:
    """Return the folders of tests."""
    return sorted({os.path.dirname(path) for path in glob.glob("tests/*/test_*.py")})


def tests() -> list[list[list[str]]]:
    """Return the programs that run at once, each as its command lines in order."""
    kinds = (WAITING, JOBS, WORKLOADS, WHOLE, BUCK, FUZZ)
    waiting, jobs, workloads, whole, buck, fuzz = ([f"tests/{name}" for name in names] for names in kinds)
    named = {*waiting, *jobs, *workloads, *whole, *buck, *fuzz}
    others = [folder for folder in folders() if folder not in named]
    # With arguments some tests are named: these are run as they are.
    if any(not word.startswith("-") for word in WORDS):
        return [[[*COVERED]]]
    return [
        [[*COVERED, *waiting], [*COVERED, *workloads], [*PLAIN, *buck]],
        [[*PLAIN, *whole]],
        [[*COVERED, *jobs]],
        [[*COVERED, *others], [*PLAIN, *fuzz]],
    ]


def run(command: list[str], *, aside: bool) -> int:
    """Run a command; what it says is shown at once, or ``aside``: when it has ended."""
    output = subprocess.PIPE if aside else None
    started = time.monotonic()
    done = subprocess.run(command, check=False, stdout=output, stderr=subprocess.STDOUT, text=True)
    print(done.stdout or "", end="")
    what = " ".join(os.path.basename(word) for word in command if word.startswith("tests/")) or "named tests"
    print(f"-- {what}: {time.monotonic() - started:.0f} s", flush=True)
    return done.returncode


def run_tests() -> int:
    """Run the tests; return 1 when one failed. The first program shows how far it is."""
    programs = tests()
    print(f"== tests: {len(programs)} program(s) at once, twenty minutes on two cores", flush=True)

    def in_order(number: int) -> bool:
        codes = [run(command, aside=number > 0) for command in programs[number]]
        return any(codes)

    with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
        return int(any(list(pool.map(in_order, range(len(programs))))))


def main() -> int:
    """Run the steps in order; return 1 when one failed."""
    for stale in glob.glob(".coverage*"):
        os.unlink(stale)
    failed = []
    steps = {**STEPS, **(MEASURE if COVERED is not PLAIN else {})}
    for name, command in steps.items():
        failed += _step(name, command)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def _step(name: str, command: list[str] | None) -> list[str]:
    started = time.monotonic()
    code = run_tests() if command is None else subprocess.run(command, check=False).returncode
    took = time.monotonic() - started
    print(f"== {name}: {'ok' if code == 0 else f'failed ({code})'} in {took:.1f} s", flush=True)
    return [] if code == 0 else [name]


if __name__ == "__main__":
    sys.exit(main())
