"""Real probes: started as a user starts them, waited for with a limit, compared section by section."""

import concurrent.futures
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Keys that differ between two captures of one machine, or follow from others.
OWN_TO_A_RUN = {"captured_at", "collection", "env_vars", "partial", "partial_reasons"}

#: What a run may set for ``sitecustomize`` to do when the interpreter has started: an interpreter whose
#: LD_LIBRARY_PATH is dead at its start never gets as far as our code.
LATE_LIBRARIES, LATE_PATH = "TEST_LATE_LD_LIBRARY_PATH", "TEST_LATE_SYS_PATH"

LATE = f"""
import os, sys
if "{LATE_LIBRARIES}" in os.environ:
    os.environ["LD_LIBRARY_PATH"] = os.environ.pop("{LATE_LIBRARIES}")
if "{LATE_PATH}" in os.environ:
    sys.path.append(os.environ.pop("{LATE_PATH}"))
"""


@dataclass
class Probed:
    """How a probe ended; ``code`` is None when it had to be given up."""

    code: int | None
    elapsed_s: float
    document: dict | None
    stderr: str
    peak_mib: float

    def reasons(self, kind=None, section=None):
        """Return the reasons, only those of a kind or of a section where one is given."""
        return [
            reason
            for reason in self.document["collection"]["reasons"]
            if kind in (None, reason["kind"]) and section in (None, reason["section"])
        ]

    def records(self):
        """Return the records of all collectors and providers by name."""
        collection = self.document["collection"]
        return {**collection["collectors"], **collection["providers"]}

    def commands(self):
        """Return the records of all commands."""
        return [command for record in self.records().values() for command in record["commands"]]


def environment(folder, path, *, covered=True, **more):
    """Return the whole environment of a probe, which no variable of the caller can change.

    But for coverage's own, by which it follows child processes. It looks into HOME and ``sys.path`` for
    itself, so a probe with a dead one is not ``covered``.
    """
    late = Path(folder) / "late"
    late.mkdir(exist_ok=True)
    (late / "sitecustomize.py").write_text(LATE)
    return {
        "PATH": path,
        # The same for all probes that are compared: sections name what lies there.
        "HOME": str(Path(folder).parent),
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{late}:{ROOT}:{ROOT}/collectors",
        "TEST_MARKER": str(folder),
        **{name: value for name, value in os.environ.items() if covered and name.startswith("COVERAGE_")},
        **{name: str(value) for name, value in more.items()},
    }


def probe(out, env, *options, limit_s=40.0, wrapper=()):
    """Run ``python -m aorta env probe`` and return how it ended."""
    out = Path(out)
    command = [*wrapper, sys.executable, "-m", "aorta", "env", "probe", "--extended", "-o", str(out)]
    # Not a pipe: who keeps one open would look like a probe that does not end.
    with open(f"{out}.err", "w", encoding="utf-8") as errors:
        started = time.monotonic()
        process = subprocess.Popen(
            [*command, *map(str, options)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        code, usage = _wait(process, started + limit_s)
        elapsed = time.monotonic() - started
    document = json.loads(out.read_text(encoding="utf-8")) if out.exists() else None
    stderr = Path(f"{out}.err").read_text(encoding="utf-8")
    return Probed(code, elapsed, document, stderr, usage.ru_maxrss / 1024 if usage else 0.0)


def _wait(process, until):
    """Return the exit code and what the process used; both None where it has to be given up."""
    while True:
        number, status, usage = os.wait4(process.pid, os.WNOHANG)
        if number:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        if time.monotonic() >= until:
            process.kill()
            return None, None
        time.sleep(0.002)


def side_by_side(functions):
    """Call functions at the same time; return what each returned, by its name."""
    with concurrent.futures.ThreadPoolExecutor(len(functions)) as pool:
        futures = {name: pool.submit(function) for name, function in functions.items()}
        return {name: future.result() for name, future in futures.items()}


def differing(document, other, ignored=()):
    """Return the keys whose values are not the same in two documents."""
    keys = {*document, *other} - OWN_TO_A_RUN - set(ignored)
    return {key for key in keys if document.get(key) != other.get(key)}


def left_behind(marker):
    """Return number and state of the processes that name a text in their environment or arguments.

    Zombies are none: here the first process reaps the dead of others late.
    """
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            texts = [Path(f"/proc/{name}/{file}").read_bytes() for file in ("environ", "cmdline")]
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if int(name) != os.getpid() and state not in "ZX" and any(marker.encode() in text for text in texts):
            found[int(name)] = state
    return found


def gone(marker, within_s=5.0):
    """Wait until no process names a text; return those that still do."""
    until = time.monotonic() + within_s
    while (found := left_behind(marker)) and time.monotonic() < until:
        time.sleep(0.05)
    return found
