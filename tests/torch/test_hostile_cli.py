"""A probe beside a torch that hangs, dies, prints or lies: the file is whole, and nothing is left of it."""

import json
from pathlib import Path

import pytest

from tests.parts.fake_tools import make
from tests.parts.hostile_torches import HOSTILE, STATIC, Torch, everywhere, run_each
from tests.parts.probing import differing, environment, gone, probe
from tests.parts.torches import stand_in

DEADLINE_S, LOOSE_S = 40, 20
#: In a directory of its own, where a crash may leave its memory.
START = 'ulimit -c "$(ulimit -H -c)" && cd "$1" && shift && exec "$@"'
#: What the sections about torch's own words are called.
SPEAKING = {"pytorch_build", "pytorch_sdpa", "loaded_libraries", "composable_kernel"}


class Outcome:
    """One probe: how it ended, its document without its own folder's name, and what it left."""

    def __init__(self, folder, path, source, *options):
        folder.mkdir()
        for name in ("tmp", "cwd"):
            (folder / name).mkdir()
        env = environment(folder, path, TMPDIR=folder / "tmp")
        env["PYTHONPATH"] = f"{stand_in(folder / 'site', source)}:{env['PYTHONPATH']}"
        more = ("--deadline", DEADLINE_S, "--plugin", "tests.parts.asked_torch", "--quiet", *options)
        self.done = probe(
            folder / "env.json", env, *more, wrapper=("/bin/sh", "-c", START, "sh", folder / "cwd")
        )
        self.processes = gone(f"TEST_MARKER={folder}", within_s=2)
        self.files = [str(file) for name in ("tmp", "cwd") for file in (folder / name).rglob("*")]
        self.files += [str(file) for file in Path("/").glob("core*")]
        place = folder / "place"
        self.caches = place.read_text() if place.exists() else None
        self.document = json.loads(json.dumps(self.done.document).replace(str(folder), "/F"))

    @property
    def torch(self):
        return self.document["extensions"]["tests.torch"]["data"]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Run all, a few at once."""
    base = tmp_path_factory.mktemp("torches")
    path = make(base / "parts")

    def run(name):
        case = HOSTILE.get(name, Torch())
        options = ("--timeout", "TorchFacts=3") if "did not end in time" in case.ended else ()
        return Outcome(base / name, path, case.source, *options)

    return run_each(run)


@everywhere
def test_the_file_is_written_in_time_and_nothing_is_said(outcomes, name):
    done = outcomes[name].done
    assert (done.code, done.stderr) == (0, "")
    assert done.elapsed_s < LOOSE_S


@everywhere
def test_nothing_is_left(outcomes, name):
    assert outcomes[name].processes == {}
    assert outcomes[name].files == []
    assert (outcomes[name].caches is not None) is (name == "writes_caches")
    assert not (outcomes[name].caches and Path(outcomes[name].caches).exists())


@everywhere
def test_nothing_else_is_touched(outcomes, name):
    own = SPEAKING | {"extensions"}
    assert differing(outcomes[name].document, outcomes["none"].document, own) == set()


@everywhere
def test_what_became_of_it_is_told(outcomes, name):
    case, told = HOSTILE[name], outcomes[name].torch
    assert (told["strategy"], told["importable"], told["kind"]) == ("child", case.importable, case.kind)
    assert case.detail in (told["detail"] or "")
    assert case.error in (told["error"] or "") and bool(case.error) == bool(told["error"])
    assert case.ended in told["ended"] and bool(case.ended) == bool(told["ended"])
    assert case.noise in told["noise"]
    assert len(told["noise"]) < 5000


@everywhere
def test_the_section_and_the_reasons_say_so(outcomes, name):
    case, document = HOSTILE[name], outcomes[name].document
    build, told = document["pytorch_build"], outcomes[name].torch
    assert (build["importable"], build["import_error"] or "") == (case.importable, told["error"] or "")
    assert (build["import_ended"] or "", build["import_stderr"] or "") == (told["ended"], told["noise"])
    kinds = ("timed_out", "failed") if case.kind == "timed_out" else ("failed",)
    reasons = [
        reason["detail"]
        for reason in document["collection"]["reasons"]
        if reason["section"] in ("pytorch_build", "pytorch_sdpa") and reason["kind"] in kinds
    ]
    words = [case.detail, case.ended, *(why for fact, why in case.errors.items() if fact not in told["told"])]
    for word in filter(None, words):
        assert any(word in detail for detail in reasons), word
    assert bool(reasons) is any(words)
    assert document["partial"] or not reasons


@everywhere
def test_what_its_files_say_is_known(outcomes, name):
    told = outcomes[name].torch
    assert (told["version"], told["hip"]) == (STATIC["version"], STATIC["hip"])


@everywhere
def test_what_it_told_is_kept_and_what_it_did_not_tell_has_a_reason(outcomes, name):
    case, told = HOSTILE[name], outcomes[name].torch
    for fact, why in case.errors.items():
        if fact in told["told"]:
            assert told["told"][fact] == "version.py"
        else:
            assert why in told["errors"].get(fact, told["detail"])
    if case.importable and case.kind is None and case.whole is None:
        assert {"config", "mapped", "nccl", "file", "math_sdp_enabled"} - set(told["told"]) <= set(
            case.errors
        )
        assert told["flash"] is (None if "flash_sdp_enabled" in case.errors else True)


def test_a_copy_of_the_process_tells_nothing(outcomes):
    assert outcomes["forks_when_asked"].torch["config"] == 200


def test_one_lie_is_not_believed(outcomes):
    """A text whose class makes another of it is still the text."""
    assert outcomes["version_of_its_own_class"].torch["told"]["version"] == "torch"
