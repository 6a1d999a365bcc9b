"""Everything that can be tested here, one step after the other; each step's failure is the run's."""

import glob
import os
import subprocess
import sys
import time

STEPS = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "types": [sys.executable, "-m", "mypy"],
    "layers": [os.path.join(os.path.dirname(sys.executable), "lint-imports"), "--no-cache"],
    "tests": [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", *sys.argv[1:]],
    "combine": [sys.executable, "-m", "coverage", "combine", "-q"],
    "coverage": [sys.executable, "-m", "coverage", "report"],
}


def main() -> int:
    """Run the steps; return 1 when one failed."""
    for stale in glob.glob(".coverage*"):
        os.unlink(stale)
    failed = []
    for name, command in STEPS.items():
        started = time.monotonic()
        code = subprocess.run(command, check=False).returncode
        print(
            f"== {name}: {'ok' if code == 0 else f'failed ({code})'} in {time.monotonic() - started:.1f} s",
            flush=True,
        )
        if code != 0:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
