"""A mount that never answers, at every place where a host has one: the probe ends, and only that is missing."""

import json

import jsonschema
import pytest

from tests.parts.fake_tools import make
from tests.parts.fuse import hanging_mount
from tests.parts.probing import (
    LATE_LIBRARIES,
    LATE_PATH,
    ROOT,
    differing,
    environment,
    gone,
    left_behind,
    probe,
    side_by_side,
)

DEADLINE_S = 12
#: The figure (0.5 s) is measured by tests/bench/figures.py; here all cases run at once.
LOOSE_S = 3

#: Where a section may look into the dead place itself.
#: Libraries of which other copies are looked for.
LIBRARIES = {"rccl", "hipblaslt", "rocblas", "miopen"}
UNDER_THE_ROOT = {
    *("rocm", "therock", "composable_kernel", "tensile", "tensile_catalog", "miopen_catalog"),
    *("rocfft_catalog", "library_linkage", *LIBRARIES),
}

CASES = {
    "rocm_path": (UNDER_THE_ROOT, lambda dead, **_: {"ROCM_PATH": f"{dead}/rocm"}),
    "rocm_link": (UNDER_THE_ROOT, lambda link, **_: {"ROCM_PATH": link}),
    "ld_library_path": (LIBRARIES, lambda dead, **_: {LATE_LIBRARIES: f"{dead}/lib:/usr/lib"}),
    "path": ({"rocm"}, lambda dead, path, **_: {"PATH": f"{dead}/bin:{path}"}),
    "all_three": (
        UNDER_THE_ROOT,
        lambda dead, path, **_: {
            "ROCM_PATH": dead,
            LATE_LIBRARIES: f"{dead}/lib",
            "PATH": f"{dead}/bin:{path}",
        },
    ),
    "directories": (
        {"miopen_catalog"},
        lambda dead, **_: {
            "HOME": f"{dead}/home",
            "TMPDIR": f"{dead}/tmp",
            "XDG_RUNTIME_DIR": f"{dead}/run",
            "XDG_CACHE_HOME": f"{dead}/cache",
            "AORTA_CACHE_DIR": f"{dead}/cache",
        },
    ),
    "sys_path": (set(), lambda dead, **_: {LATE_PATH: f"{dead}/site-packages"}),
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Run all cases at once beside one mount; return the probes, and what was left with it and after it."""
    folder = tmp_path_factory.mktemp("dead")
    path = make(folder / "parts")
    link = folder / "rocm"
    with hanging_mount() as mount:
        dead = f"{mount}/hang"
        link.symlink_to(f"{dead}/rocm")
        settings = {name: case[1](dead=dead, link=str(link), path=path) for name, case in CASES.items()}
        runs = {
            name: lambda name=name, more=more: probe(
                folder / f"{name}.json",
                {**environment(folder, path, covered=False), **more},
                "--deadline",
                DEADLINE_S,
            )
            for name, more in {"none": {}, **settings}.items()
        }
        probes = side_by_side(runs)
        daemon = left_behind("fuse_hang.py")
        left = [state for pid, state in left_behind(mount).items() if pid not in daemon]
        marked = left_behind(f"TEST_MARKER={folder}")
    return {"probes": probes, "mount": mount, "left": left, "marked": marked, "after": gone(mount)}


def everywhere(test):
    return pytest.mark.parametrize("case", CASES)(test)


@everywhere
def test_the_process_has_ended_in_time(outcome, case):
    done = outcome["probes"][case]
    assert done.code == 0, done.stderr
    assert done.elapsed_s < DEADLINE_S + LOOSE_S


@everywhere
def test_the_document_is_whole_and_names_the_mount_point(outcome, case):
    done = outcome["probes"][case]
    schema = json.loads(next((ROOT / "schema").glob("snapshot-2.*.json")).read_text())
    jsonschema.Draft202012Validator(schema).validate(done.document)
    assert outcome["mount"] in {reason["subject"] for reason in done.reasons("timed_out")}
    assert done.document["partial"] is True


@everywhere
def test_every_other_section_says_the_same(outcome, case):
    done, whole = outcome["probes"][case], outcome["probes"]["none"]
    assert whole.document["gpu_arch"]["agent_count"] == 8, "the run without the fault saw its tools"
    assert differing(done.document, whole.document) <= CASES[case][0]


@everywhere
def test_what_differs_says_why(outcome, case):
    done, whole = outcome["probes"][case], outcome["probes"]["none"]
    for section in differing(done.document, whole.document):
        assert outcome["mount"] in {reason["subject"] for reason in done.reasons("timed_out", section)}


@everywhere
def test_no_section_was_given_up(outcome, case):
    done = outcome["probes"][case]
    assert {name for name, record in done.records().items() if record["status"] == "timed_out"} == set()


def test_the_dead_root_is_no_root(outcome):
    """What was not seen is null: not absent, not the place of something else."""
    document = outcome["probes"]["rocm_path"].document
    assert document["rocm"]["version"] is None
    assert document["rccl"]["lib_hash"] is None
    assert document["collection"]["coverage"]["rocm"] != "absent"


def test_nothing_is_left_but_what_waits_for_the_mount(outcome):
    assert {*outcome["left"], *outcome["marked"].values()} <= {"D"}
    assert outcome["after"] == {}
