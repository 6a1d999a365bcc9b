"""Time aorta against another command, in turn, and print the ratios pair by pair.

    python -m tests.bench.compare probe --peer '/opt/peer/bin/aorta env probe -o /dev/null'
    python -m tests.bench.compare slow  --peer '…' -n 1     # every tool 2 s slow
    python -m tests.bench.compare help  --peer '/opt/peer/bin/aorta --help'

The order alternates (peer, aorta, aorta, peer, …), so that a machine whose speed drifts slows both.
The figure to quote is the median of the ratios aorta/peer; absolute times do not carry over. The other
command is an installed `amd-aorta==0.3.0` in an environment of its own.
"""

import argparse
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.parts.fake_tools import basic_path, make

AORTA = [str(Path(sys.executable).parent / "aorta")]
COMMANDS = {
    "help": [*AORTA, "--help"],
    "probe": [*AORTA, "env", "probe", "-o", "/dev/null"],
    "slow": [*AORTA, "env", "probe", "-o", "/dev/null"],
}


def timed(command: list[str], environment: dict[str, str]) -> float:
    """Return the seconds that a command takes as a whole process."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # wait(timeout=...) looks every 50 ms only, which would round what is measured.
    watchdog = threading.Timer(600, process.kill)
    watchdog.start()
    process.wait()
    took = time.perf_counter() - started
    watchdog.cancel()
    return took


def main() -> None:
    """Run the pairs and print each and the median."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", choices=sorted(COMMANDS))
    parser.add_argument("--peer", required=True, help="the command to compare with, one text")
    parser.add_argument("-n", type=int, default=11, help="counted pairs (default 11)")
    parser.add_argument("--delay", default="2", help="seconds each tool takes in the case slow")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        slow = arguments.case == "slow"
        path = make(Path(folder)) if slow else basic_path(Path(folder) / "basic")
        environment = {"PATH": path, "HOME": folder, "LANG": "C.UTF-8"}
        if slow:
            environment["TOOLS_DELAY_S"] = arguments.delay
        peer, mine = shlex.split(arguments.peer), COMMANDS[arguments.case]
        if not slow:
            timed(peer, environment), timed(mine, environment)
        ratios = []
        for number in range(arguments.n):
            pair = [("peer", peer), ("aorta", mine)]
            took = {
                name: timed(command, environment) for name, command in (pair[::-1] if number % 2 else pair)
            }
            ratios.append(took["aorta"] / took["peer"])
            print(f"peer {took['peer']:8.3f} s   aorta {took['aorta']:8.3f} s   ratio {ratios[-1]:.3f}")
    print(
        f"median ratio {statistics.median(ratios):.3f} of {len(ratios)}"
        f" (min {min(ratios):.3f}, max {max(ratios):.3f})"
    )


if __name__ == "__main__":
    main()
