"""The page's programs: a real job of two ranks takes snapshots in its ``main()``, before and after a collective."""

import json
import subprocess
import sys

import pytest

from tests.parts import torches
from tests.parts.fake_tools import make
from tests.parts.pages import blocks
from tests.parts.probing import environment

PAGE = "docs/torch.md"


def program(title):
    """Return a program of the page."""
    (text,) = [block.text for block in blocks(PAGE, "python") if block.title == title]
    return text


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Run the job; return its four documents by name."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "train.py").write_text(program("train.py"))
    env = environment(folder, make(folder / "parts"), covered=False, OMP_NUM_THREADS=1, MKL_NUM_THREADS=1)
    launcher = [torches.python(), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launcher, "train.py"],
        env=env,
        cwd=folder,
        check=False,
        timeout=55,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    names = [f"{moment}-{rank}" for moment in ("start", "running") for rank in (0, 1)]
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in names}


def test_every_rank_tells_of_itself(documents):
    for name, document in documents.items():
        launcher = document["launcher"]
        assert (launcher["kind"], launcher["rank"], launcher["local_rank"]) == (
            "torchrun",
            *[int(name[-1])] * 2,
        )
        assert (launcher["world_size"], launcher["local_world_size"], launcher["restart_count"]) == (2, 2, 0)
        assert launcher["rdzv_id"]


def test_torch_is_read_where_it_is_loaded(documents):
    for document in documents.values():
        assert document["collection"]["import_strategy"] == "in_process"
        assert document["pytorch_version"] == "2.13.0+cpu"
        assert document["collection"]["coverage"]["torch"] == "seen"
        timed_out = [
            reason
            for reason in document["collection"]["reasons"]
            if reason["kind"] in ("timed_out", "budget")
        ]
        assert timed_out == []


def test_the_libraries_are_the_job_s_own(documents):
    paths = {}
    for name, document in documents.items():
        loaded = document["loaded_libraries"]
        assert {(one["process"], one["basis"]) for one in loaded} == {("self", "observed")}
        assert {one["origin"] for one in loaded if one["library"] == "torch"} == {"torch_bundled"}
        paths[name] = {one["path"] for one in loaded}
        assert {"libtorch_cpu.so", "libc10.so"} <= {path.rpartition("/")[2] for path in paths[name]}
    # What is loaded once stays; a first collective may bring more.
    assert paths["start-0"] <= paths["running-0"]


def test_the_ranks_agree_on_the_machine(documents):
    same = ("host", "rocm", "pytorch_version", "pytorch_build", "pytorch_sdpa", "python_version", "gpus")
    first, second = documents["running-0"], documents["running-1"]
    assert {key for key in same if first[key] != second[key]} == set()


def test_a_buck_target_without_torch_does_not_pass_for_whole(tmp_path):
    (tmp_path / "main.py").write_text(program("main.py"))
    env = environment(tmp_path, make(tmp_path / "parts"))
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    document = json.loads((tmp_path / "env.json").read_text())
    assert document["partial"] is True
    reasons = document["collection"]["reasons"]
    [told] = [one for one in reasons if one["section"] == "pytorch_version" and one["kind"] == "expected"]
    assert "inside the target" in told["detail"]
