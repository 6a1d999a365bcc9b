"""What the pages show works: every line behind a prompt, every file, every block."""

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from aorta import __version__
from tests.parts import torches
from tests.parts.buck_place import Place
from tests.parts.doc_programs import environment, script
from tests.parts.pages import PAGES, ROOT, blocks, inline, text_of
from tests.parts.wheels import checkout

#: Lines that install run in test_install, those that need a checkout of Buck or two nodes in test_buck_pages, those of
#: several ranks with the tests of their pages and in tests/slurm.
ELSEWHERE = (
    "docs/install.md",
    "docs/buck2-env-probe-workflow.md",
    "docs/buck2-probe-action.md",
    "docs/env-probe-container-execution-context.md",
    "docs/runbook-residual-nan.md",
    "docs/running-on-a-cluster.md",
    "docs/workloads.md",
)

#: A line of torch's own torchrun, for which there is no stand-in.
STANDALONE = "torchrun --standalone "


def lines_of(page):
    return [command for block in blocks(page, "console") for command in block.commands]


def shell(line, folder, env):
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def env(folder):
    return environment(folder)


def written_by(line):
    """Return how many files a line of aorta writes."""
    nodes = re.search(r"\bsrun -N(\d+)", line)
    tasks = re.search(r"--ntasks-per-node=(\d+)", line)
    return (int(nodes[1]) if nodes else 1) * (int(tasks[1]) if "--every-rank" in line else 1)


def holds(folder, line, done):
    """Check what a line of aorta left: the file it named, or the JSON it was asked to print."""
    words = shlex.split(line, comments=True)
    words = words[words.index("aorta") :]
    named = words[words.index("-o") + 1] if "-o" in words else None
    if words[2] in ("probe", "record") and named not in (None, "-"):
        files = sorted(folder.glob(re.sub(r"\{\w+\}", "*", named)))
        assert len(files) == written_by(line)
        assert all(json.loads(file.read_text())["schema_version"] for file in files)
    if named == "-" or "--field" in words:
        json.loads(done.stdout)
    elif words[2] in ("run", "show", "collectors") or words[2].startswith("list-") or "--summary" in words:
        assert done.stdout.strip()


def readers(folder):
    """Return a folder and an environment as a reader of the README has them: a Buck checkout, files of jobs."""
    place = Place(folder / "checkout")
    for line in (
        f"aorta env probe --replay {ROOT}/tests/hosts/b-mi300x-docker-rocm720.jsonl -o good.json",
        f"aorta env probe --replay {ROOT}/tests/hosts/o-mi325x-docker-rocm720-host701.jsonl -o bad.json",
        "AORTA_ENV_OUTPUT=env.workload.0.json AORTA_PROBE_INVOCATION=buck2_run ./trainer.par",
    ):
        assert place.run(line).code == 0
    shutil.copytree(ROOT / "recipes", place.root / "recipes")
    return place.root, place.env


@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", [page for page in PAGES if lines_of(page) and page not in ELSEWHERE])
def test_the_lines_run_as_they_stand(page, folder, env):
    """In order and in one folder, as a reader types them; docker, srun, torchrun and buck2 are stand-ins."""
    if page == "README.md":
        folder, env = readers(folder)
    for block in blocks(page):
        if block.title and not block.title.startswith("test_"):
            (folder / block.title).write_text(block.text)
    ran = 0
    for block in blocks(page):
        if block.title.startswith("test_"):
            # The tests of the page so far are what a line of pytest runs.
            (folder / block.title).write_text(block.text)
        for line in block.commands if block.language == "console" else ():
            if line.startswith(("make ", STANDALONE)):
                continue
            done = shell(line, folder, env)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            assert "Traceback" not in done.stderr, line
            if "aorta" in line.split():
                holds(folder, line, done)
            ran += 1
    assert ran or page == "README.md"


@pytest.mark.timeout(120)
def test_the_readme_starts_two_ranks(folder, env):
    """Under torch's own torchrun."""
    [line] = [line for line in lines_of("README.md") if line.startswith(STANDALONE)]
    script(
        folder / "programs" / "torchrun", "/bin/sh", f'exec {torches.python()} -m torch.distributed.run "$@"'
    )
    shutil.copytree(ROOT / "recipes", folder / "recipes")
    done = shell(line, folder, {**env, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    [matrix] = folder.glob("triage_results/_no_ticket_/ranks/2*/matrix.json")
    assert json.loads(matrix.read_text())["world_size"] == 2


def test_the_container_says_what_the_launcher_said(folder, env):
    [line] = [line for line in lines_of("docs/env-probe.md") if line.startswith("docker ")]
    done = shell(line.replace("-o -", "--json"), folder, env)
    document = json.loads(done.stdout)
    assert document["docker"] in (None, {**(document["docker"] or {}), "image": "IMAGE", "digest": "DIGEST"})
    shown = shell(line.split("aorta ")[0] + "sh -c 'echo $AORTA_DOCKER_IMAGE'", folder, env)
    assert shown.stdout == "IMAGE\n"


def test_a_second_node_may_not_write_the_same_file(folder, env):
    [line] = [line for line in lines_of("docs/env-probe.md") if re.match("srun.*{node}", line)]
    done = shell(line.replace("{node}", "all"), folder, env)
    assert done.returncode == 2
    assert "{node}" in done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/env-probe.md"])
def test_the_python_blocks_run(page, folder, env):
    for block in [block for block in blocks(page, "python") if not block.title]:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block.text],
            cwd=folder,
            env={**env, "AORTA_ENV_OUTPUT": "env.json"},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        [written] = folder.glob("env*.json")
        assert json.loads(written.read_text())["schema_version"]
        written.unlink()


@pytest.mark.parametrize("page", ["README.md", "docs/env-probe.md"])
def test_the_module_runs_without_the_command_lines_dependencies(page, folder, env):
    [line] = [text for text in inline(page) if text.startswith("python -m aorta")]
    blocker = "import sys\nfor name in ('click', 'rich', 'yaml'):\n    sys.modules[name] = None\n"
    (folder / "sitecustomize.py").write_text(blocker)
    words = line.replace("[", "").replace("]", "").replace("OUT|-", "env.json")
    done = shell(words, folder, env)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((folder / "env.json").read_text())["schema_version"]
    assert shell("aorta --version", folder, env).returncode != 0, "nothing was blocked"


def test_no_block_escapes():
    """A block of another kind, or a shell line without a prompt, would be run by nobody."""
    for page in PAGES:
        for block in blocks(page):
            assert block.language in ("", "console", "ini", "json", "python", "sh", "toml", "yaml"), page
            if block.language in ("json", "sh", "yaml"):
                assert block.title, f"{page}: a file without a name is tried by nobody"
            if block.language == "console":
                assert block.commands == [line[2:] for line in block.text.splitlines()], page
            if block.language == "":
                assert not re.search(r"^\$ |\baorta env\b", block.text, re.MULTILINE), page
        assert text_of(page).count("\n```") == 2 * len(blocks(page)), page


def test_make_test_installs_and_runs_everything(tmp_path):
    done = subprocess.run(
        ["make", "-n", "test", f"VENV={tmp_path}/none"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "install -q -e '.[test]'" in done.stdout
    assert done.stdout.index("tests/parts/system.py") < done.stdout.index("tests/run.py")


@pytest.mark.timeout(300)
def test_make_probe_on_a_fresh_checkout(tmp_path):
    """The first line of the README, with nothing there before."""
    copy = checkout(tmp_path)
    (copy / "env.json").unlink(missing_ok=True)
    assert "make probe" in lines_of("README.md")
    env = {name: value for name, value in environment(tmp_path).items() if name != "PYTHONPATH"}
    done = subprocess.run(
        ["make", "probe", f"PYTHON={sys.executable}"],
        cwd=copy,
        env=env,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((copy / "env.json").read_text())
    assert document["collection"]["detail"] == "full"
    assert document["collection"]["tool"]["version"] == __version__
    assert document["host"]["kernel_release"] in done.stdout
    assert (copy / ".venv" / "bin" / "aorta").exists()
