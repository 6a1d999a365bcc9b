"""A snapshot leaves the process as it was; an import of torch changes what a plain one changes, and no more."""

import concurrent.futures
import json
import subprocess
import sys

import pytest

from tests.parts import torches
from tests.parts.probing import environment

#: What a program has done before, and how it takes its snapshot (or what it does in place of one).
PROGRAM = """
import json, sys, time
sys.argv[1:], words = [], sys.argv[1:]
import logging, os, random
from aorta.instrumentation import capture
from tests.parts.process_state import state
logging.getLogger("app").addHandler(logging.NullHandler())
random.seed(7)
{first}
def main():
    {then}
def settled(tasks):
    # The kernel takes a moment to see that a thread has ended.
    until = time.monotonic() + 2
    while len(os.listdir("/proc/self/task")) > tasks and time.monotonic() < until:
        time.sleep(0.001)
    return state()
# What it looks at may import by itself.
state()
before = state()
main()
after = settled(before["tasks"])
main()
again = settled(after["tasks"])
with open(words[0], "w") as file:
    json.dump([before, after, again], file)
"""

#: Names of packages that aorta is made of; all else that it imports is Python's own.
OWN = {
    "aorta",
    "aorta_collectors",
    "attr",
    "attrs",
    "cattr",
    "cattrs",
    "pluggy",
    "elftools",
    "packaging",
    "typing_extensions",
}

LOADED = """
import numpy, torch
numpy.random.seed(3)
torch.manual_seed(5)
torch.set_num_threads(1)
torch.backends.cuda.enable_flash_sdp(False)
"""

PROGRAMS = {
    "loaded": (LOADED, "capture()"),
    "loaded_as_a_child": (LOADED, "capture(import_strategy='child')"),
    "not_to_import": ("", "capture(import_torch=False)"),
    "asked_elsewhere": ("", "capture(import_strategy='child')"),
    "imported": ("", "capture()"),
    "plain": ("", "import torch"),
    "loaded_stand_in": ("import torch", "capture()"),
    "imported_stand_in": ("", "capture()"),
    "plain_stand_in": ("", "import torch"),
}


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """Run all programs; return for each its state before, after, and after the second time."""
    base = tmp_path_factory.mktemp("bystander")
    real, site = torches.python(), torches.stand_in(base / "site")

    def run(name):
        folder = base / name
        folder.mkdir()
        first, then = PROGRAMS[name]
        env = environment(folder, "/usr/bin:/bin", covered=False)
        if "stand_in" in name:
            env["PYTHONPATH"] = f"{site}:{env['PYTHONPATH']}"
        program = sys.executable if "stand_in" in name else real
        command = [program, "-c", PROGRAM.format(first=first, then=then), str(folder / "states.json")]
        done = subprocess.run(
            command,
            env=env,
            cwd=folder,
            check=False,
            timeout=100,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        return json.loads((folder / "states.json").read_text())

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(PROGRAMS, pool.map(run, PROGRAMS), strict=True))


def changed(before, after):
    """Return what differs, by name; modules are another matter."""
    names = {*before, *after} - {"modules"}
    return {
        name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    }


def strangers(before, after):
    """Return the modules that came and are neither aorta's nor Python's own."""
    came = {name.partition(".")[0] for name in {*after["modules"]} - {*before["modules"]}}
    return came - OWN - sys.stdlib_module_names


STILL = ("loaded", "loaded_as_a_child", "not_to_import", "asked_elsewhere", "loaded_stand_in")


@pytest.mark.parametrize("name", STILL)
def test_nothing_changes(states, name):
    before, after, again = states[name]
    assert changed(before, after) == {}
    assert changed(after, again) == {}


@pytest.mark.parametrize("name", STILL)
def test_nothing_is_imported_but_what_aorta_is_made_of(states, name):
    before, after, again = states[name]
    assert strangers(before, after) == strangers(after, again) == set()
    assert not {*before["modules"]} - {*after["modules"]}


@pytest.mark.parametrize("kind", ["", "_stand_in"])
def test_an_import_by_the_snapshot_is_like_a_plain_one(states, kind):
    plain, ours = states[f"plain{kind}"], states[f"imported{kind}"]
    assert "torch" in strangers(*ours[:2])
    by_plain, by_ours = changed(*plain[:2]), changed(*ours[:2])
    assert set(by_ours) == set(by_plain)
    # Seeded at random by the first import.
    for name in set(by_plain) - {"torch_random", "numpy_random"}:
        assert by_ours[name][1] == by_plain[name][1], name
    assert changed(*ours[1:]) == changed(*plain[1:]) == {}
    assert strangers(*ours[:2]) == strangers(*plain[:2])
    torchs = [{name for name in run[1]["modules"] if name.startswith("torch")} for run in (ours, plain)]
    assert torchs[0] == torchs[1]


def test_the_programs_are_what_they_are_meant_to_be(states):
    assert states["loaded"][0]["torch_cuda"] is False
    assert states["loaded"][0]["torch_switches"][0] is False
    assert "torch" not in states["imported"][0]["modules"]
    assert "torch" not in states["asked_elsewhere"][2]["modules"]
