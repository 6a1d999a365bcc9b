"""``capture_to`` in a program whose torch hangs, dies, prints or lies: the program does not feel it."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.parts.fake_tools import make
from tests.parts.hostile_torches import HOSTILE, STATIC, Torch, everywhere, run_each
from tests.parts.probing import environment, gone
from tests.parts.torches import stand_in

DEADLINE_S, LOOSE_S, WAIT_S = 40, 25, 3

#: The first test waits for all programs, half a minute where nothing else runs.
pytestmark = pytest.mark.timeout(180)

PROGRAM = """
import json, sys, time
from aorta.instrumentation import capture_to
# Given as an object, it sees this process as torch has left it.
from tests.parts import asked_torch

limits = json.loads(sys.argv[2])
for name in ("first.json", "second.json"):
    begun = time.monotonic()
    capture_to(f"{sys.argv[1]}/{name}", deadline_s=limits["deadline"], plugins=[asked_torch],
               timeouts={"TorchFacts": limits["torch"]})
    with open(f"{sys.argv[1]}/{name}.took", "w") as file:
        json.dump({"seconds": time.monotonic() - begun, "loaded": "torch" in sys.modules}, file)
with open(f"{sys.argv[1]}/over", "w") as file:
    file.write("the program went on")
"""

#: What an import leaves that is done in the program itself, as a plain one does.
AS_PLAIN = {"leaves_a_daemon"}


class Outcome:
    """One program: how it ended, its two documents, and what it left."""

    def __init__(self, folder, path, source, torch_s):
        folder.mkdir()
        (folder / "cwd").mkdir()
        env = environment(folder, path, covered=True)
        env["PYTHONPATH"] = f"{stand_in(folder / 'site', source)}:{env['PYTHONPATH']}"
        limits = json.dumps({"deadline": DEADLINE_S, "torch": torch_s})
        begun = time.monotonic()
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            self.code = subprocess.run(
                [sys.executable, "-c", PROGRAM, str(folder), limits],
                env=env,
                cwd=folder / "cwd",
                check=False,
                timeout=100,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            ).returncode
        self.elapsed_s = time.monotonic() - begun
        self.printed = (folder / "out").read_text() + (folder / "err").read_text()
        self.processes = gone(f"TEST_MARKER={folder}", within_s=0.5 if folder.name in AS_PLAIN else 2)
        for number in self.processes:
            os.kill(number, signal.SIGKILL)
        self.over = (folder / "over").exists()
        documents = [json.loads((folder / name).read_text()) for name in ("first.json", "second.json")]
        self.torch, self.again = (one["extensions"]["tests.torch"]["data"] for one in documents)
        self.took, self.took_again = (
            json.loads((folder / f"{name}.took").read_text()) for name in ("first.json", "second.json")
        )


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Run all, a few at once."""
    base = tmp_path_factory.mktemp("torches")
    path = make(base / "parts")

    def run(name):
        case = HOSTILE.get(name, Torch())
        return Outcome(base / name, path, case.source, WAIT_S if "did not end in time" in case.ended else 30)

    return run_each(run)


@everywhere
def test_the_program_goes_on_and_ends_by_itself(outcomes, name):
    assert (outcomes[name].code, outcomes[name].over) == (0, True)
    assert outcomes[name].elapsed_s < LOOSE_S


@everywhere
def test_nothing_is_printed(outcomes, name):
    # What takes a closed descriptor's number meanwhile, a pipe from a tool, is taken for it afterwards.
    if name != "closes_standard_streams":
        assert outcomes[name].printed == ""


@everywhere
def test_nothing_is_left(outcomes, name):
    assert len(outcomes[name].processes) == (1 if name in AS_PLAIN else 0)


@everywhere
def test_what_does_harm_is_not_imported_here(outcomes, name):
    case, done = HOSTILE[name], outcomes[name]
    assert done.torch["strategy"] == ("child" if case.harms else "in_process")
    assert done.took["loaded"] is (case.importable is True and not case.harms)


@everywhere
def test_what_became_of_it_is_told_twice(outcomes, name):
    case = HOSTILE[name]
    for told in (outcomes[name].torch, outcomes[name].again):
        assert (told["importable"], told["kind"]) == (case.importable, case.kind)
        assert case.detail in (told["detail"] or "")
        assert case.error in (told["error"] or "") and bool(case.error) == bool(told["error"])
        assert case.ended in told["ended"] and bool(case.ended) == bool(told["ended"])
        assert (told["version"], told["hip"]) == (STATIC["version"], STATIC["hip"])


@everywhere
def test_what_is_printed_is_kept_once(outcomes, name):
    case, done = HOSTILE[name], outcomes[name]
    assert case.noise in done.torch["noise"]
    assert len(done.torch["noise"]) < 5000


@everywhere
def test_nothing_is_waited_for_twice(outcomes, name):
    if "did not end in time" in HOSTILE[name].ended:
        assert outcomes[name].took["seconds"] >= WAIT_S - 1
        assert outcomes[name].took_again["seconds"] < WAIT_S - 1
