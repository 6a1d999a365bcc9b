"""One section does what no section may: it costs itself, and every other section says the same."""

import json
import subprocess
import sys

import pytest

from tests.parts.fake_tools import make
from tests.parts.probing import OWN_TO_A_RUN, differing, environment, probe, side_by_side

HEAD = """
import os, signal, sys, threading, time
from typing import Annotated
import attrs
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector

@attrs.frozen(kw_only=True)
class Site:
    \"\"\"A section of a site.\"\"\"

    number: Annotated[int | None, Fact("A number.")] = None

@collector(section="site.test", model=Site, provenance=Provenance.PROCESS, scope=Scope.PROCESS, timeout_s=1)
def collect(ctx: Context) -> Site:
    \"\"\"A section that misbehaves.\"\"\"
"""

#: The body of a collector, and the status that its record then has; None is any.
BODIES = {
    "raises": ("raise ValueError('no')", "failed"),
    "raises_in_depth": ("def deeper(): deeper()\ndeeper()", "failed"),
    "runs_out_of_memory": ("raise MemoryError", "failed"),
    "interrupts": ("raise KeyboardInterrupt", "failed"),
    "exits": ("sys.exit(7)", "failed"),
    "sleeps": ("time.sleep(600)", "timed_out"),
    "is_busy": ("while True: pass", "timed_out"),
    "waits_for_a_lock": ("lock = threading.Lock(); lock.acquire(); lock.acquire()", "timed_out"),
    "catches_all_and_goes_on": (
        "while True:\n  try: time.sleep(600)\n  except BaseException: pass",
        "timed_out",
    ),
    "returns_another_type": ("return ['no', 'site']", "failed"),
    "returns_wrong_members": ("return Site(number='seven')", None),
    "returns_nothing": ("return None", None),
    "returns_a_function": ("return collect", "failed"),
    "closes_stdout": ("os.close(1); return Site(number=1)", "ok"),
    "closes_stderr": ("os.close(2); return Site(number=1)", "ok"),
    "prints": ("print('noise'); os.write(1, b'noise'); return Site(number=1)", "ok"),
    "changes_the_directory": ("os.chdir('/'); return Site(number=1)", "ok"),
    "removes_its_directory": (
        "import tempfile; os.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd()); return Site(number=1)",
        "ok",
    ),
    "edits_the_environment": (
        "os.environ['ROCM_PATH'] = '/no'; os.environ.pop('PATH'); return Site(number=1)",
        "ok",
    ),
    "empties_the_environment": ("os.environ.clear(); return Site(number=1)", "ok"),
    "leaves_a_thread": (
        "threading.Thread(target=time.sleep, args=(600,)).start(); return Site(number=1)",
        None,
    ),
    "changes_sys_path": ("sys.path.clear(); return Site(number=1)", None),
}

#: Modules that fail before there is a collector.
MODULES = {
    "fails_to_import": "raise RuntimeError('no')",
    "exits_at_import": "import sys; sys.exit(7)",
    "is_no_python": "def (",
    "takes_a_section": HEAD.replace("site.test", "host") + "    return Site()\n",
    "is_not_there": None,
}

DEADLINE_S = 20


def source(name):
    if name in MODULES:
        return MODULES[name]
    return HEAD + "".join(f"    {line}\n" for line in BODIES[name][0].split("\n"))


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """Make the tools and the plugins; return the folder and the environment without a plugin."""
    folder = tmp_path_factory.mktemp("plugins")
    # Measured by coverage, a busy thread would slow all others far more than it does.
    env = environment(folder, make(folder / "parts"), covered=False)
    env["PYTHONPATH"] += f":{folder}"
    for name in (*BODIES, *MODULES):
        text = source(name)
        if text is not None:
            (folder / f"{name}.py").write_text(text)
    return folder, env


@pytest.fixture(scope="module")
def probes(machine):
    folder, env = machine

    def run(name):
        plugin = {} if name == "none" else {"AORTA_PLUGINS": name}
        return probe(folder / f"{name}.json", {**env, **plugin}, "--deadline", DEADLINE_S)

    return side_by_side({name: lambda name=name: run(name) for name in ("none", *BODIES, *MODULES)})


def variables(done):
    values = done.document["env_vars"]
    return {name: value for name, value in values.items() if name != "AORTA_PLUGINS"}


@pytest.mark.parametrize("name", [*BODIES, *MODULES])
def test_all_others_say_the_same(probes, name):
    done, whole = probes[name], probes["none"]
    assert done.code == 0, done.stderr
    assert done.elapsed_s < DEADLINE_S
    assert done.document["schema_version"] == "2.0"
    assert whole.document["gpu_arch"]["agent_count"] == 8
    assert differing(done.document, whole.document, ignored={"extensions"}) == set()
    assert variables(done) == variables(whole)


@pytest.mark.parametrize("name", BODIES)
def test_the_section_itself_says_what_happened(probes, name):
    done, wanted = probes[name], BODIES[name][1]
    record = done.document["collection"]["collectors"]["site.test"]
    assert record["status"] == wanted or wanted is None
    if wanted in ("failed", "timed_out", "partial"):
        assert done.reasons(section="site.test")
        assert done.document["partial"] is True
    if wanted == "timed_out":
        assert f"{name}.py:" in record["hung_at"]
    if wanted in ("failed", "timed_out"):
        assert done.document["extensions"]["site.test"]["data"] == {"number": None}


@pytest.mark.parametrize("name", MODULES)
def test_a_plugin_that_cannot_be_loaded_is_told(probes, name):
    plugins = probes[name].document["collection"]["plugins"]
    (record,) = [plugin for plugin in plugins if plugin["module"] == name]
    assert record["status"] == "failed"
    assert record["detail"]
    assert record["source"] == "environment"


def test_wrong_members_become_null_with_a_reason(probes):
    done = probes["returns_wrong_members"]
    assert done.document["extensions"]["site.test"]["data"] == {"number": None}
    assert done.reasons(section="site.test")


@pytest.mark.parametrize("name", ["closes_stdout", "prints"])
def test_standard_output_holds_the_document_alone(machine, name):
    _, env = machine
    command = [sys.executable, "-m", "aorta", "env", "probe", "-o", "-"]
    done = subprocess.run(
        command, env={**env, "AORTA_PLUGINS": name}, capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 0, done.stderr
    assert OWN_TO_A_RUN <= json.loads(done.stdout).keys()
