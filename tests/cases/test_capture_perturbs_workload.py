"""A capture inside a program leaves the program as it was, and touches no GPU."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

CASE = "capture-perturbs-workload"

ROOT = Path(__file__).resolve().parents[2]

# A stand-in for torch: importing it is noted, and so is any question that would open a device.
TORCH = """
touched = []


class _Cuda:
    def __getattr__(self, name):
        touched.append(name)
        raise RuntimeError("a device was touched")


cuda = _Cuda()
__version__ = "2.9.0"
"""

PROGRAM = """
import json, locale, logging, os, random, signal, sys, threading, time
{first}
imported = set(sys.modules)
sys.path[:0] = {paths!r}


def state():
    descriptors = {{}}
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors[name] = os.readlink(f"/proc/self/fd/{{name}}")
        except OSError:
            pass
    umask = os.umask(0)
    os.umask(umask)
    return {{
        "environ": dict(os.environ),
        "cwd": os.getcwd(),
        "umask": umask,
        "signals": {{str(number): repr(signal.getsignal(number)) for number in signal.valid_signals()}},
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "locale": locale.setlocale(locale.LC_ALL),
        "path": list(sys.path),
        "descriptors": descriptors,
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "tasks": len(os.listdir("/proc/self/task")),
        "streams": [id(sys.stdout), id(sys.stderr), id(sys.stdin)],
        "handlers": [repr(one) for one in logging.getLogger().handlers],
        "random": repr(random.getstate()),
        "switch": sys.getswitchinterval(),
        "recursion": sys.getrecursionlimit(),
        "hooks": [repr(sys.excepthook), repr(threading.excepthook)],
        "children": open("/proc/self/task/%d/children" % os.getpid()).read() if os.path.exists("/proc/self/task/%d/children" % os.getpid()) else "",
    }}


before = state()
from aorta.instrumentation import capture_to

for number in range(2):
    capture_to({target!r}, import_torch=False, detail="full")
after = state()
roots = {{name.partition(".")[0] for name in set(sys.modules) - imported}}
torch = sys.modules.get("torch")
print(json.dumps({{
    "changed": {{name: [before[name], after[name]] for name in before if before[name] != after[name]}},
    "roots": sorted(roots - set(sys.stdlib_module_names)),
    "torch": "torch" in sys.modules,
    "touched": torch.touched if torch else [],
}}))
"""


def run(tmp_path, first):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "torch.py").write_text(TORCH)
    target = tmp_path / "env.json"
    paths = [str(ROOT), str(ROOT / "collectors"), str(tmp_path / "site")]
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(PROGRAM.format(first=first.format(site=paths[2]), paths=paths, target=str(target)))
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path, timeout=55, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(target.read_text())["schema_version"]
    return json.loads(done.stdout)


OURS = {
    "aorta",
    "aorta_collectors",
    "attr",
    "attrs",
    "pluggy",
    "packaging",
    "elftools",
    "exceptiongroup",
    "typing_extensions",
}


def test_nothing_of_the_program_changes(tmp_path):
    result = run(tmp_path, "")
    assert result["changed"] == {}
    assert not result["torch"]
    # Coverage of the tests themselves may be imported along.
    assert set(result["roots"]) - {"coverage", "a1_coverage"} <= OURS


def test_a_torch_that_is_imported_is_asked_nothing_of_devices(tmp_path):
    result = run(tmp_path, "sys.path.insert(0, {site!r})\nimport torch\ndel sys.path[0]")
    assert result["torch"]
    assert result["touched"] == []
    assert result["changed"] == {}
