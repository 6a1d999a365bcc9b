"""``docs/workloads.md`` is enough: its files, its lines, its tables; ``MOST`` lines to the first green run."""

import inspect
import json
import re
import sys

import attrs
import pytest

from aorta.sweep.run.schema import TRIAL
from aorta.workloads import Workload, WorkloadResult, group
from aorta.workloads.body import DETAILS
from aorta.workloads.discovery import BUILTIN, GROUP, VARIABLE, find
from aorta.workloads.protocol import TrialInfo
from scripts import workload_keys
from tests.docs.test_examples import shell
from tests.parts import torches
from tests.parts.doc_programs import environment, script
from tests.parts.pages import blocks, inline, text_of

PAGE = "docs/workloads.md"
#: The most lines of the page from its first to the run that passes.
MOST = 150
LINES = [line for block in blocks(PAGE, "console") for line in block.commands]
HERE = [line for line in LINES if "torchrun" not in line]


@pytest.fixture
def place(tmp_path):
    """Return a folder with the files of the page, and an environment for lines in it."""
    for block in blocks(PAGE):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
    return tmp_path, environment(tmp_path)


def table(first):
    """Return the rows of the table whose heading begins with a word, as lists of cells."""
    text = text_of(PAGE).split(f"\n| {first} |", 1)[1].partition("\n\n")[0]
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()[2:]
    ]  # fmt: skip


def test_a_workload_from_nothing_to_a_green_run(place):
    folder, env = place
    assert len(HERE) == 4
    told = [shell(line, folder, env) for line in HERE[:3]]
    assert [done.returncode for done in told] == [0, 0, 0], [done.stderr for done in told]
    assert "all 2 cells passed" in told[-1].stdout
    assert "plant a wrong sum in this step" in told[0].stdout
    end = text_of(PAGE).index("The last line prints")
    assert text_of(PAGE)[:end].count("\n") <= MOST
    [run] = folder.glob("triage_results/*/burn/2*")
    record = json.loads((run / "cells/small/trial_000.json").read_text())
    assert (record["step_time_source"], len(record["step_times_ms"]), record["iterations"]) == (
        "per_step",
        10,
        10,
    )


def test_the_workload_finds_what_is_planted(place):
    folder, env = place
    text = (folder / "burn.yaml").read_text().replace("{size: 100000}", "{wrong_in: 3}")
    (folder / "burn.yaml").write_text(text)
    done = shell(HERE[2], folder, env)
    assert done.returncode == 1
    [run] = folder.glob("triage_results/*/burn/2*")
    record = json.loads((run / "cells/large/trial_000.json").read_text())
    assert record["failure_details"][0]["hint"] == "the sum is 499501, not 499500"


def test_a_variable_that_cures_what_is_planted(place):
    folder, env = place
    assert shell(HERE[3], folder, env).returncode == 0
    [run] = folder.glob("triage_results/*/burn/2*")
    base, careful = json.loads((run / "matrix.json").read_text())["cells"]
    assert (base["failed_count"], careful["failed_count"]) == (8, 0)
    assert careful["comparison"]["call"] == "better"


@pytest.mark.timeout(300)
def test_the_workload_of_several_ranks(place):
    folder, env = place
    [line] = [line for line in LINES if "torchrun" in line]
    script(
        folder / "programs" / "torchrun", "/bin/sh", f'exec {torches.python()} -m torch.distributed.run "$@"'
    )
    done = shell(line, folder, {**env, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    [run] = folder.glob("triage_results/*/ring/2*")
    base, careful = json.loads((run / "matrix.json").read_text())["cells"]
    assert (base["failed_count"], careful["failed_count"]) == (4, 0)
    assert careful["comparison"]["call"] == "better"
    for cell, verdict in (("base", "fail"), ("careful", "pass")):
        record = json.loads((run / f"cells/{cell}/trial_001.json").read_text())
        assert [(one["rank"], one["verdict"], one["device"]) for one in record["ranks"]] == [
            (0, verdict, "cpu"),
            (1, verdict, "cpu"),
        ]
    record = json.loads((run / "cells/base/trial_000.json").read_text())
    hint = "the sum is 2, not 1"
    assert [(one["rank"], one["hint"]) for one in record["failure_details"]] == [(0, hint), (1, hint)]


def test_every_recipe_of_the_page_has_a_limit():
    for block in blocks(PAGE, "yaml"):
        assert "\ntrial_timeout: " in block.text, block.title


def test_the_helpers_of_a_group():
    """Their parameters and defaults, and the seconds that the text says."""
    for cell, _ in table("helper"):
        name, told = re.fullmatch(r"`group\.(\w+)\((.*)\)`", cell).groups()
        parameters = inspect.signature(getattr(group, name)).parameters.values()
        assert told == ", ".join(str(one.replace(annotation=one.empty)) for one in parameters), name
    assert f"a collective of this group for {group.TIMEOUT_S:g} s" in " ".join(text_of(PAGE).split())


def test_where_the_current_folder_is_on_the_path(place):
    """With ``python -m aorta``, not with the program; the environment of pages leads to it, so that is taken away."""
    folder, env = place
    env = {**env, "PYTHONPATH": env["PYTHONPATH"].partition(":")[2], "AORTA_WORKLOADS": "burn=site_burn:Burn"}
    script(
        folder / "programs" / "aorta",
        sys.executable,
        "import sys\nfrom aorta.cli import main\nsys.exit(main())",
    )
    line = "sweep run --recipe burn.yaml --dry-run"
    assert shell(f"python -m aorta {line}", folder, env).returncode == 0
    done = shell(f"aorta {line}", folder, env)
    assert done.returncode == 2
    assert "site_burn" in done.stdout + done.stderr


def test_every_attribute_of_a_class_with_its_default():
    told = {name.strip("`"): default for name, default, _ in table("attribute")}
    declared = {name for name in Workload.__annotations__ if not name.startswith("_")}
    assert set(told) == declared
    for name, default in told.items():
        value = getattr(Workload, name)
        words = {None: "none", (): "empty", ("in_process",): "`in_process`"}
        assert default == words.get(value, f"`{value}`"), name


def test_every_field_of_the_result_and_of_the_trial():
    told = {name for cell, _ in table("field of `WorkloadResult`") for name in re.findall(r"`(\w+)`", cell)}
    assert told == {field.name for field in attrs.fields(WorkloadResult)}
    keys = {name for _, cell in table("field of `WorkloadResult`") for name in re.findall(r"`(\w+)`", cell)}
    assert keys - {"hint", "False"} <= set(TRIAL["properties"])
    assert f"the first {DETAILS}." in text_of(PAGE)
    told = re.search(r"`self\.trial` tells (.*?)\. What", " ".join(text_of(PAGE).split()))[1]
    named = set(re.findall(r"`(\w+)`", told)) | {"image", "variables"}
    assert named | {"agent_store"} == {field.name for field in attrs.fields(TrialInfo)}


def test_the_built_in_ones_and_their_keys():
    text = text_of(PAGE)
    assert workload_keys.page(text) == text, "stale; run: python scripts/make_docs.py"
    told = {cells[0].strip("`"): cells for cells in table("workload")}
    assert list(told) == [name for name, _ in BUILTIN]
    for name, (_, _, _, needs, isolation) in told.items():
        cls = find(name)
        assert set(isolation.split(", ")) == set(cls.trial_isolation_supported), name
        assert ("torch" in needs) == ("torch" in cls.requires), name


def test_how_it_is_found():
    [block] = blocks(PAGE, "toml")
    assert f'[project.entry-points."{GROUP}"]' in block.text
    assert any(word.startswith(f"{VARIABLE}=") for word in inline(PAGE))
