"""What a run leaves on disk: the tree, the records, the matrix, the recipe that replays it."""

import json
import os
import re
import shutil

import jsonschema
import pytest

from tests.parts.pages import ROOT

STAMP = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(-\d+)?"


def schema(name):
    return json.loads((ROOT / "schema" / f"{name}-1.json").read_text())


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    from tests.parts.sweeps import Sweeps

    sweeps = Sweeps(tmp_path_factory.mktemp("ran"))
    sweeps.recipe("none, xnack, hip_launch_blocking", trials=2, more="timeout_per_trial: 20")
    script = 'echo "out $HSA_XNACK"; echo err >&2; test -z "$HSA_XNACK"'
    sweeps.done = sweeps.run("-v", command=("sh", "-c", script))
    return sweeps


def test_the_tree_is_as_it_is_told(ran):
    run = ran.only_run
    assert re.fullmatch(rf"triage_results/T-1/command/{STAMP}", str(run.relative_to(ran.folder)))
    assert sorted(path.name for path in run.iterdir() if path.name != ".lock") == [
        *("cells", "environments", "host_env.json", "matrix.json", "matrix.md", "recipe.resolved.yaml"),
    ]
    assert sorted(path.name for path in (run / "cells/xnack-none").iterdir()) == sorted(
        f"trial_00{n}.{end}" for n in (0, 1) for end in ("json", "stdout.log", "stderr.log")
    )
    assert [path.name for path in (run / "environments").iterdir()] == ["local"]
    assert os.readlink(run.parent / "latest") == run.name


def test_no_temporary_file_is_left(ran):
    assert not [path for path in ran.only_run.rglob("*") if path.suffix == ".tmp"]


def test_the_end_is_told(ran):
    assert ran.done.returncode == 0
    lines = ran.done.stdout.splitlines()
    assert lines[0].startswith("Sweep summary: 3 cells")
    assert any("xnack-none" in line and "2/2" in line and "cells/xnack-none" in line for line in lines)
    assert lines[-1] == f"Wrote matrix to {ran.only_run.relative_to(ran.folder)}"
    trials = [line for line in ran.done.stderr.splitlines() if re.match(r"\[\d\d:\d\d:\d\d\] \d/6", line)]
    assert len(trials) == 6
    assert "Traceback" not in ran.done.stderr


def test_each_record_holds_what_the_trial_was_and_got(ran):
    records = ran.records()
    assert len(records) == 6
    for (cell, trial), record in records.items():
        assert record["verdict"] == ("fail" if cell == "xnack-none" else "pass")
        assert record["exit_code"] == (1 if cell == "xnack-none" else 0)
        assert (
            record["env_overlay"]
            == {
                "none-none": {},
                "xnack-none": {"HSA_XNACK": "1"},
                "hip_launch_blocking-none": {"HIP_LAUNCH_BLOCKING": "1"},
            }[cell]
        )
        assert re.fullmatch("sha256:[0-9a-f]{64}", record["env_digest"])
        assert record["trial"] == trial
    assert records["xnack-none", 0]["reason"]


def test_the_snapshot_is_of_the_trial_s_environment(ran):
    records = ran.records()
    assert records["xnack-none", 0]["env"]["env_vars"]["HSA_XNACK"] == "1"
    assert "HSA_XNACK" not in records["none-none", 1]["env"]["env_vars"]
    digests = {cell: {records[cell, n]["env_digest"] for n in (0, 1)} for cell, _ in records}
    assert all(len(found) == 1 for found in digests.values())
    assert digests["none-none"] != digests["xnack-none"]
    first, second = (records["none-none", n]["env"] for n in (0, 1))
    assert set(first) == set(second)
    assert first["host"] == second["host"]
    assert "host" in {name for names in second["collection"]["reused"].values() for name in names}


def test_logs_are_the_command_s_own(ran):
    folder = ran.only_run / "cells/xnack-none"
    assert (folder / "trial_001.stdout.log").read_text() == "out 1\n"
    assert (folder / "trial_001.stderr.log").read_text() == "err\n"


def test_the_schema_of_a_record_is_fresh():
    from aorta.sweep.run.schema import trial_schema

    assert schema("trial") == trial_schema(), "stale; run: python scripts/make_schema.py"


def test_records_and_matrix_are_as_their_schemas_say(ran):
    for record in ran.records().values():
        jsonschema.validate(record, schema("trial"))
    jsonschema.validate(ran.matrix(), schema("matrix"))


def test_the_whole_snapshots_are_documents(ran):
    for name in ("host_env.json", "environments/local/env.json"):
        document = json.loads((ran.only_run / name).read_text())
        assert document["schema_version"] == "2.0"
        assert document["collection"]["collectors"]["rocm"]["status"] in ("ok", "partial", "reused")


def test_the_matrix_counts_and_points_at_the_records(ran):
    matrix = ran.matrix()
    assert (matrix["state"], matrix["complete"]) == ("complete", True)
    cells = {cell["name"]: cell for cell in matrix["cells"]}
    assert (cells["xnack-none"]["failed_count"], cells["none-none"]["passed_count"]) == (2, 2)
    for cell in cells.values():
        assert all((ran.only_run / path).is_file() for path in cell["trial_paths"])
    assert "xnack-none" in (ran.only_run / "matrix.md").read_text()


def test_a_run_can_be_moved(ran, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(ran.only_run, moved)
    texts = [path.read_text() for path in moved.rglob("*.json")]
    matrix = [text for text in texts if '"trial_paths"' in text]
    assert str(ran.folder) not in re.sub(r'"argv": .*', "", matrix[0])
    shown = ran.call("show", str(moved))
    assert (shown.returncode, "xnack-none" in shown.stdout) == (0, True)


def test_the_resolved_recipe_replays_the_run_and_its_command(ran):
    source = ran.only_run
    try:
        again = ran.run(recipe=str(source / "recipe.resolved.yaml"))
        assert again.returncode == 0, again.stderr
        [other] = [run for run in ran.runs if run != source]
        old, new = ran.records(source), ran.records(other)
        assert {key: record["verdict"] for key, record in old.items()} == {
            key: record["verdict"] for key, record in new.items()
        }
        one, two = (json.loads((run / "matrix.json").read_text()) for run in (source, other))
        assert one["recipe_source"]["fingerprint"] == two["recipe_source"]["fingerprint"]
    finally:
        for run in ran.runs:
            if run != source:
                shutil.rmtree(run)


def test_the_time_of_a_trial_is_the_trial_s_alone(ran):
    assert all(record["elapsed_s"] < 2 for record in ran.records().values())
    passed = [record for record in ran.records().values() if record["verdict"] == "pass"]
    assert {record["step_time_source"] for record in passed} == {"wall_clock"}


def test_a_secret_of_the_overlay_is_not_written_down(sweeps):
    sweeps.write(
        "extra.json",
        '{"version": 1, "mitigations": {"keyed": {"MY_API_TOKEN": "hunter2hunter2", "PLAIN": "seen"}}}',
    )
    sweeps.recipe("keyed", trials=1)
    done = sweeps.run(
        "--mitigations-file", "extra.json", command=("sh", "-c", "test $MY_API_TOKEN = hunter2hunter2")
    )
    assert done.returncode == 0, done.stdout + done.stderr
    holders = [
        path.name for path in sweeps.only_run.rglob("*") if path.is_file() and "hunter2" in path.read_text()
    ]
    # What replays a run has to hold it, and is its owner's alone.
    assert holders == ["recipe.resolved.yaml"]
    assert (sweeps.only_run / "recipe.resolved.yaml").stat().st_mode & 0o077 == 0
    assert "hunter2" not in done.stdout + done.stderr


def test_what_a_trial_leaves_in_its_folder_is_listed(sweeps):
    sweeps.recipe("none", trials=2)
    done = sweeps.run(
        command=("sh", "-c", 'test $AORTA_TRIAL = 1 || echo x > "$AORTA_ARTIFACT_DIR/found.txt"')
    )
    assert done.returncode == 0
    records = sweeps.records()
    assert records["none-none", 0]["artifacts"] == ["cells/none-none/trial_000.files/found.txt"]
    assert records["none-none", 1]["artifacts"] == []
    assert not (sweeps.only_run / "cells/none-none/trial_001.files").exists()


def test_two_runs_of_one_second_have_directories_of_their_own(sweeps):
    sweeps.recipe("none", trials=1)
    started = [sweeps.start(command=("true",)) for _ in range(3)]
    assert [process.wait(30) for process in started] == [0, 0, 0]
    assert len(sweeps.runs) == 3
