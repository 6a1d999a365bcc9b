"""The examples for a Buck2 repository: their rules are evaluated, their commands and programs run."""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.parts import torches
from tests.parts.buck_file import ROOT, evaluate, outside, own_targets
from tests.parts.fake_tools import make
from tests.parts.par import clean_environ, inplace, members
from tests.parts.probing import environment

FOLDER = ROOT / "docs" / "examples" / "buck"
APP = FOLDER / "app"
NONCE = "5f2b3c1e-0000-4000-8000-000000000001"
SEARCH = f"{ROOT}:{ROOT}/collectors"


def rules(name, **config):
    text = (FOLDER / name / "BUCK.example").read_text()
    values = {f"aorta.{key}": value for key, value in config.items()}
    return evaluate(text, [path.name for path in (FOLDER / name).iterdir()], config=values)


def genrule(rule, program, folder, **env):
    """Run a genrule's command as its script does: in the directory of its sources, with relative names."""
    for name in ("srcs", "out", "tmp"):
        (folder / name).mkdir()
    command = re.sub(r"\$\(exe_target [^)]+\)", str(program), rule["cmd"])
    assert not re.search(r"\$\(", command)
    given = {
        "OUT": f"../out/{rule['out']}",
        "SRCS": "",
        "SRCDIR": ".",
        "TMP": "../tmp",
        "GEN_DIR": "GEN_DIR_DEPRECATED",
    }
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-e", "-c", command],
        env={**env, **rule["env"], **given, "BUCK_SCRATCH_PATH": "../tmp"},
        cwd=folder / "srcs",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert [path.name for path in (folder / "out").iterdir()] == [rule["out"]]
    return (folder / "out" / rule["out"]).read_text()


# The programs.


def test_the_binaries_have_aorta_and_torch():
    targets = rules("app")
    for name in ("trainer", "capture"):
        assert targets[name]["kind"] == "python_binary"
        assert targets[name]["deps"] == ["aorta//:aorta_lib", "//third-party/torch:torch"]
        assert (APP / targets[name]["main"]).is_file()
    assert own_targets()["aorta_lib"]["visibility"] == ["PUBLIC"]


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Run the trainer as a real job of two ranks; return its folder and how it ended."""
    folder = tmp_path_factory.mktemp("job")
    env = environment(folder, make(folder / "parts"), covered=False, OMP_NUM_THREADS=1, MKL_NUM_THREADS=1)
    env |= {"AORTA_ENV_OUTPUT": str(folder / "out/env.{rank}.json"), "AORTA_PROBE_INVOCATION": "buck2_run"}
    launcher = [torches.python(), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launcher, str(APP / "trainer_main.py")],
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
    return folder, done


def test_the_first_process_of_the_node_writes_and_no_other(job):
    folder, done = job
    assert [path.name for path in (folder / "out").iterdir()] == ["env.0.json"]
    assert "warning: no snapshot" not in done.stderr


def test_the_job_s_document_is_of_the_job(job):
    document = json.loads((job[0] / "out/env.0.json").read_text())
    launcher = document["launcher"]
    assert (launcher["kind"], launcher["rank"], launcher["world_size"]) == ("torchrun", 0, 2)
    assert document["pytorch_version"] == "2.13.0+cpu"
    assert document["collection"]["import_strategy"] == "in_process"
    assert document["execution_context"]["probe_invocation"] == "buck2_run"


TORCH = """
class _Grad:
    def isfinite(self): return self
    def all(self): return True
class _Sum:
    def backward(self): pass
class _Ones:
    grad = _Grad()
    def __mul__(self, other): return self
    def sum(self): return _Sum()
def ones(*a, **k): return _Ones()
"""


def slurm(rank, local):
    """Return what srun gives a task."""
    return {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(local)}


def train(folder, *, search=SEARCH, **env):
    """Run the trainer with a torch that is quick to import."""
    if not (folder / "torch").exists():
        torches.stand_in(folder / "torch", TORCH + torches.ANSWERS)
    done = subprocess.run(
        [sys.executable, str(APP / "trainer_main.py")],
        env=clean_environ(PYTHONPATH=f"{folder}/torch:{search}", **env),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("env", "written"),
    [
        ({}, []),
        ({"AORTA_ENV_OUTPUT": ""}, []),
        ({"AORTA_ENV_OUTPUT": "env.json"}, ["env.json"]),
        ({"AORTA_ENV_OUTPUT": "env.{rank}.json"}, ["env.0.json"]),
        ({"AORTA_ENV_OUTPUT": "env.{rank}.json", "RANK": "8", "LOCAL_RANK": "0"}, ["env.8.json"]),
        ({"AORTA_ENV_OUTPUT": "env.{rank}.json", "RANK": "9", "LOCAL_RANK": "1"}, []),
        ({"AORTA_ENV_OUTPUT": "env.{rank}.json", "RANK": "", "LOCAL_RANK": ""}, ["env.0.json"]),
        ({"AORTA_ENV_OUTPUT": "env.{rank}.json", **slurm(8, 0)}, ["env.8.json"]),
        ({"AORTA_ENV_OUTPUT": "env.{rank}.json", **slurm(9, 1)}, []),
        # torchrun, started by srun on each node: its numbers are those of the processes.
        (
            {"AORTA_ENV_OUTPUT": "env.{rank}.json", **slurm(1, 0), "RANK": "8", "LOCAL_RANK": "0"},
            ["env.8.json"],
        ),
        ({"AORTA_ENV_OUTPUT": "env.{rank}.json", **slurm(1, 0), "RANK": "9", "LOCAL_RANK": "1"}, []),
        (
            {"AORTA_ENV_OUTPUT": "env.{rank}.json", **slurm(1, 1), "RANK": "8", "LOCAL_RANK": "0"},
            ["env.8.json"],
        ),
    ],
)
def test_who_writes_where(tmp_path, env, written):
    done = train(tmp_path, **env)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.glob("*.json")) == written


def test_a_snapshot_that_cannot_be_written_stops_no_training(tmp_path):
    done = train(tmp_path, AORTA_ENV_OUTPUT="/proc/nowhere/env.json")
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: no snapshot of the environment: ")


def test_without_aorta_training_goes_on(tmp_path):
    (tmp_path / "lost" / "aorta").mkdir(parents=True)
    (tmp_path / "lost" / "aorta" / "__init__.py").write_text("raise ImportError('it is not here')\n")
    done = train(tmp_path, search=f"{tmp_path}/lost", AORTA_ENV_OUTPUT="env.json")
    assert done.returncode == 0
    assert done.stderr == "warning: no snapshot of the environment: ImportError: it is not here\n"


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """Return the capture-only program as a package of Buck2."""
    more = {"capture_main.py": APP / "capture_main.py"}
    return inplace(tmp_path_factory.mktemp("gen"), "capture", members(more=more), module="capture_main")


@pytest.mark.parametrize(
    ("words", "env", "code", "written"),
    [
        ([], {}, 2, []),
        (["a.json", "b.json"], {}, 2, []),
        (["a.json"], {}, 0, ["a.json"]),
        ([], {"AORTA_ENV_OUTPUT": "env.{rank}.json", "RANK": "8", "LOCAL_RANK": "0"}, 0, ["env.8.json"]),
        ([], {"AORTA_ENV_OUTPUT": "env.{rank}.json", "RANK": "9", "LOCAL_RANK": "1"}, 0, []),
        ([], {"AORTA_ENV_OUTPUT": "env.{rank}.json", **slurm(8, 0)}, 0, ["env.8.json"]),
        ([], {"AORTA_ENV_OUTPUT": "env.{rank}.json", **slurm(9, 1)}, 0, []),
        (["/proc/nowhere/env.json"], {}, 1, []),
    ],
)
def test_the_capture_only_program(capture, tmp_path, words, env, code, written):
    done = subprocess.run(
        [str(capture), *words],
        env=clean_environ(**env),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1 if code else 0), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == written


# The rules of actions.


def test_the_probe_action_is_declared_so_that_no_cache_answers():
    [rule] = rules("action", probe_nonce=NONCE, re_image="registry.example/rocm@sha256:abc").values()
    assert rule["kind"] == "genrule"
    assert rule["cacheable"] is False
    assert rule["env"] == {
        "AORTA_PROBE_INVOCATION": "buck2_action",
        "AORTA_PROBE_NONCE": NONCE,
        "AORTA_RE_IMAGE": "registry.example/rocm@sha256:abc",
    }
    [label] = re.findall(r"\$\(exe_target (\S+)\)", rule["cmd"])
    assert label == "//app:capture"
    assert label.rpartition(":")[2] in rules("app")


def test_the_probe_action_s_file_says_which_build_it_is_of(capture, tmp_path):
    [rule] = rules("action", probe_nonce=NONCE, re_image="registry.example/rocm@sha256:abc").values()
    # What a remote action has beside this: nothing, often.
    document = json.loads(genrule(rule, capture, tmp_path))
    assert document["execution_context"]["probe_invocation"] == "buck2_action"
    markers = document["execution_context"]["markers"]
    assert markers["AORTA_PROBE_NONCE"]["value"] == NONCE
    assert markers["AORTA_RE_IMAGE"]["value"] == "registry.example/rocm@sha256:abc"
    assert markers["GEN_DIR"]["present"] is markers["BUCK_SCRATCH_PATH"]["present"] is True
    told = [one for one in document["collection"]["reasons"] if one["section"] == "execution_context"]
    assert "expected" not in {one["kind"] for one in told}


def test_a_probe_action_on_the_client_s_machine_says_so(capture, tmp_path):
    [rule] = rules("action", probe_nonce=NONCE).values()
    local = {"PATH": os.environ["PATH"], "BUCK2_DAEMON_UUID": "d", "BUCK_BUILD_ID": "b"}
    document = json.loads(genrule(rule, capture, tmp_path, **local))
    assert document["execution_context"]["markers"]["AORTA_RE_IMAGE"]["present"] is False
    told = [one for one in document["collection"]["reasons"] if one["section"] == "execution_context"]
    [detail] = [one["detail"] for one in told if one["kind"] == "expected"]
    assert "ran locally" in detail


def test_the_experiment_writes_names_and_no_values(tmp_path):
    [rule] = rules("markers", probe_nonce=NONCE).values()
    secrets = {
        "API_TOKEN": "hunter2-one",
        "MANY_LINES": "first=hunter2-two\nhunter2-three\nX=hunter2-four",
        "BUCK2_DAEMON_UUID": "hunter2-five",
    }
    text = genrule(rule, "", tmp_path, PATH=os.environ["PATH"], **secrets)
    assert "hunter2" not in text
    found = {}
    for line in text.splitlines():
        kind, _, name = line.partition(" ")
        found.setdefault(kind, []).append(name)
    assert found["nonce"] == [NONCE]
    assert {*secrets, "BUCK_SCRATCH_PATH", "GEN_DIR", "AORTA_PROBE_NONCE"} <= set(found["variable"])
    assert len(found["namespace"]) == 7
    assert found["directory"] == [str(tmp_path / "srcs")]
    assert set(found.get("file", [])) <= {"/run/re_worker/beacon", "/.dockerenv", "/run/.containerenv"}
    assert rule["cacheable"] is False


# The host's configuration, and the folder as a whole.


def test_the_configuration_of_the_host_serves_aorta_s_labels():
    parser = configparser.ConfigParser(comment_prefixes=("#",), inline_comment_prefixes=None)
    text = (FOLDER / "buckconfig.example").read_text()
    parser.read_string(text)
    assert set(parser.sections()) == {"cells", "aorta"}
    [cell] = parser["cells"]
    values = {f"aorta.{key}": value for key, value in parser["aorta"].items()}
    labels = outside(own_targets(values), "aorta")
    assert {label.partition(":")[0] for label in labels} == {parser["aorta"]["third_party"]}
    for label in rules("app")["trainer"]["deps"]:
        name = label.partition("//")[0]
        assert name in ("", cell)
    # What is commented out is well-formed too.
    [shown] = re.findall(r"^  # attrs = (\S+)$", text, re.MULTILINE)
    assert shown in outside(own_targets({**values, "aorta.attrs": shown}), "aorta_lib")


def test_the_page_names_every_file():
    named = set(re.findall(r"^\| `([^`]+)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE))
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert named == {name for name in files if "__pycache__" not in name} - {"README.md"}


def test_the_commands_in_the_comments_name_targets_that_there_are():
    for name in ("action", "markers"):
        text = (FOLDER / name / "BUCK.example").read_text()
        labels = re.findall(rf"^# .* //{name}:(\w+) ", text, re.MULTILINE)
        assert labels
        assert set(labels) <= set(rules(name))
    assert shutil.which("bash")
