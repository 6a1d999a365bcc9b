"""What ``docs/running-on-a-cluster.md`` says without a cluster; its other lines run in tests/slurm/test_docs.py."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

from aorta.launch.identity import Identity
from aorta.launch.ports import MEETING, PORTS, base_of
from aorta.launch.tasks import MPICH, MVAPICH, OPEN_MPI, SLURM, TORCH
from aorta.sweep.ranks.channel import SILENCE_S
from aorta.sweep.ranks.local import LOG_BYTES
from aorta.sweep.ranks.round import SETTLE_S
from tests.docs.test_examples import shell
from tests.docs.test_sweep_pages import table
from tests.parts import losses
from tests.parts.doc_programs import environment
from tests.parts.pages import ROOT, blocks, text_of

PAGE = "docs/running-on-a-cluster.md"
LINES = [line for block in blocks(PAGE, "console") for line in block.commands]
#: They need neither a cluster nor torch.
HERE = [line for line in LINES if line.startswith(("sh ", "aorta "))]


@pytest.fixture
def place(tmp_path):
    """Return a folder with the files of the page and the recipes, and an environment for lines in it."""
    for block in blocks(PAGE):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
    shutil.copytree(ROOT / "recipes", tmp_path / "recipes")
    (tmp_path / "torch.py").write_text("raise RuntimeError('imported')\n")
    return tmp_path, environment(tmp_path)


def test_the_lines_for_a_laptop(place):
    folder, env = place
    assert len(HERE) == 3
    for line in HERE:
        done = shell(line, folder, env)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    [run] = folder.glob("triage_results/_no_ticket_/ranks/2*")
    assert "* Ranks: 2 on 1 node by hand (RANK, WORLD_SIZE): " in (run / "matrix.md").read_text()
    [tree] = [block.text for block in blocks(PAGE, "") if block.text.startswith("triage_results")]
    named = re.findall(
        r"trial_000\.\S+\.std\w+\.log|environments/local/env\.json|trial_000\.json|matrix\.\w+", tree
    )
    there = {str(path.relative_to(run)) for path in run.rglob("*")}
    assert len(named) == 6
    for name in named:
        assert name in there or f"cells/baseline/{name}" in there, name


def test_the_formula_of_the_ports(place):
    folder, _ = place
    done = subprocess.run([sys.executable, folder / "ports.py"], capture_output=True, text=True, check=True)
    job = Identity(size=4, launcher="slurm", job="slurm.1234.0.0")
    assert int(done.stdout) == base_of({}, job)
    text = " ".join(text_of(PAGE).split())
    assert f"the last {MEETING} of the job's ports" in text
    assert f"the first {PORTS - MEETING} ports from it on" in text
    assert f"**The job's ports** are {PORTS} ports" in text


def test_the_variables_of_launchers():
    named = set(
        re.findall(r"`([A-Z][A-Z0-9_]+)`", " ".join(text for row in table(PAGE, "launcher") for text in row))
    )
    known = {name for one in (TORCH, OPEN_MPI, MVAPICH, SLURM, MPICH) for part in one for name in part}
    assert named <= known
    for one in (TORCH, OPEN_MPI, MVAPICH, SLURM, MPICH):
        assert {*one.rank[:1], *one.size[-1:]} <= named


def test_the_numbers_of_a_lost_rank():
    text = " ".join(text_of(PAGE).split())
    assert f"the others get {SETTLE_S:g} s to come to an end" in text
    assert f"the last {LOG_BYTES >> 10} KiB of its logs" in text
    assert f"says nothing for {SILENCE_S:g} s" in text


def test_what_a_lost_rank_leaves_is_what_the_page_shows(tmp_path):
    """The numbers of lines and of threads may be others."""
    *_, line, shown = [block.text for block in blocks(PAGE, "") if "losing.py" in block.text]
    recipe = losses.recipe_of(tmp_path, "hang")
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
    ranks = losses.ByHand(tmp_path, recipe, port=port)
    try:
        codes, told = ranks.ended()
    finally:
        ranks.end()
    assert codes == [1, 1], told
    run = losses.only_run(tmp_path)
    assert plain(line) in plain((run / "matrix.md").read_text())
    lost = losses.record_of(run)["lost"]
    for key, value in json.loads(f"{{{shown}}}")["lost"].items():
        if isinstance(value, str):
            assert plain(str(lost[key])).startswith(plain(value).removesuffix("…")), key
        else:
            assert lost[key] == value, key


def plain(text):
    """Return a text without what is of one machine or one version."""
    text = re.sub(r"[^\s\"]+/losing\.py", "…/losing.py", text.replace(os.uname().nodename, "node1"))
    return re.sub(r"0x[0-9a-f]+|(?<=losing\.py:)\d+|(?<=, line )\d+", "N", text)


def test_output_and_resume_count_on_rank_0_only(place):
    folder, env = place
    two = (folder / "two-ranks.sh").read_text()
    first, second = re.findall(r"^RANK=.*$", two, re.MULTILINE)
    assert "RANK=1" in first
    two = two.replace(first, first.removesuffix(" &") + " --output other --resume &")
    (folder / "two-ranks.sh").write_text(two.replace(second, f"{second} --output results"))
    done = shell("sh two-ranks.sh", folder, env)
    assert done.returncode == 0, done.stderr
    assert (folder / "results").is_dir()
    assert not (folder / "other").exists()


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"RANK": "0"}, "RANK is 0 and WORLD_SIZE is not set"),
        ({"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, "this is the script or shell of Slurm job 7, which has 4 tasks, and none of its tasks"),
        ({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "4", "SLURM_PROCID": "1", "RANK": "0", "WORLD_SIZE": "4"}, "RANK is 0 and SLURM_PROCID is 1 in a step of 4 tasks: was RANK exported before srun?"),
        ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_PORT": "29511"}, "the host of rank 0 is not known"),
        ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, "nobody told where the ranks meet"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_said_as_on_the_page(place, env, words):
    folder, base = place
    assert f"| `{words}` |" in text_of(PAGE)
    line = "aorta sweep run --recipe recipes/smoke/cpu-ranks.yaml --join-timeout 3"
    done = shell(line, folder, {**base, **env})
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert not (folder / "triage_results").exists()


def test_every_message_of_the_table_is_of_the_code():
    source = "\n".join(
        path.read_text()
        for name in ("launch", "sweep/ranks")
        for path in (ROOT / "aorta" / name).glob("*.py")
    )
    for words, _ in table(PAGE, "aorta says"):
        longest = max(re.split(r"\d+|`|node\w", words), key=len).strip()
        assert longest in re.sub(r'"\s*f?"', "", source), words
