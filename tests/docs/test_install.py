"""The page about installing: every line runs, the installing ones for real."""

import email
import json
import re
import shutil
import subprocess
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from aorta import __version__
from tests.parts.buck_file import outside, own_targets
from tests.parts.doc_programs import environment, installing
from tests.parts.needs import need
from tests.parts.pages import ROOT, sections

PAGE = "docs/install.md"
SECTIONS = {heading: found for heading, found in sections(PAGE).items() if found}
ALONE, CONTAINER, OFFLINE, BUCK = "One file", "In a container", "Without network", "With Buck2"
LINES = {heading: [line for block in found for line in block.commands] for heading, found in SECTIONS.items()}
#: No network but a loopback device that is down.
NO_NETWORK = ("unshare", "--map-root-user", "--net")


def shell(line, folder, env, wrapper=()):
    return subprocess.run(
        [*wrapper, "sh", "-c", line],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def ran(line, folder, env, wrapper=()):
    done = shell(line, folder, env, wrapper)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert "Traceback" not in done.stderr, line
    return done


def snapshots(folder):
    return [json.loads(file.read_text()) for file in sorted(folder.glob("env*.json"))]


def held(names, python):
    """Return the packages of which there is a wheel for a version of Python."""
    tags = ("-py3-none-any", "-py2.py3-none-any", f"-cp{python}-")
    return {canonicalize_name(name.split("-")[0]) for name in names if any(tag in name for tag in tags)}


def required(wheelhouse, python):
    """Return what the wheels of a folder require under a version of Python."""
    place = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    found = set()
    for wheel in wheelhouse.glob("*.whl"):
        with zipfile.ZipFile(wheel) as file:
            [name] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
            wishes = email.message_from_bytes(file.read(name)).get_all("Requires-Dist") or []
        for wish in map(Requirement, wishes):
            if wish.marker is None or wish.marker.evaluate(place):
                found.add(canonicalize_name(wish.name))
    return found


@pytest.fixture
def checkout(tmp_path):
    """Return a folder that holds ``./aorta``."""
    ignore = shutil.ignore_patterns(
        ".*", "*.egg-info", "build", "dist", "tests", "bench", "recipes", "__pycache__"
    )
    shutil.copytree(ROOT, tmp_path / "aorta", ignore=ignore)
    return tmp_path


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "heading", [heading for heading in LINES if heading not in (ALONE, CONTAINER, OFFLINE, BUCK)]
)
def test_an_installation(heading, checkout):
    env = installing(checkout)
    for line in LINES[heading]:
        ran(line, checkout, env)
    [document] = snapshots(checkout)
    assert document["collection"]["tool"]["version"] == __version__
    assert document["collection"]["executable"].startswith(f"{checkout}/")


@pytest.mark.timeout(300)
def test_an_installation_without_network(checkout):
    need("unshare", "needs util-linux")
    wheels, *others, node = SECTIONS[OFFLINE]
    env = installing(checkout)
    for line in [line for block in (wheels, *others) for line in block.commands]:
        ran(line, checkout, env)
    names = [wheel.name for wheel in (checkout / "wheelhouse").iterdir()]
    assert f"aorta-{__version__}-py3-none-any.whl" in names
    assert any("-cp312-" in name for name in names)
    assert required(checkout / "wheelhouse", "3.10") - held(names, "310") == set()
    shutil.rmtree(checkout / "aorta")
    bare = {name: value for name, value in env.items() if not name.startswith("PIP_")}
    bare["PIP_CONFIG_FILE"] = "/dev/null"
    assert ran("cat /proc/net/dev", checkout, bare, NO_NETWORK).stdout.count(":") == 1, "lo alone"
    for line in node.commands:
        ran(line, checkout, bare, NO_NETWORK)
    [document] = snapshots(checkout)
    assert document["collection"]["executable"].startswith(f"{checkout}/aorta-env/bin/python")


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """Return what the lines of the single file leave."""
    folder = tmp_path_factory.mktemp("single")
    env = environment(folder)
    for line in LINES[ALONE]:
        ran(line, folder, env)
    [document] = snapshots(folder)
    assert document["schema_version"]
    assert zipfile.is_zipfile(folder / "aorta.pyz")
    return folder / "aorta.pyz"


@pytest.fixture
def folder(tmp_path, single):
    shutil.copy(single, tmp_path)
    (tmp_path / "IMAGE.sif").write_bytes(b"an image")
    return tmp_path


@pytest.mark.parametrize("number", range(len(SECTIONS[CONTAINER])))
def test_a_container_says_what_the_launcher_said(number, folder):
    """Engines are stand-ins: the file is found, the variables arrive, the document comes out."""
    block = SECTIONS[CONTAINER][number]
    env = {**environment(folder), "PYTHONPATH": ""}
    for line in block.commands:
        ran(line, folder, env)
    documents = snapshots(folder)
    assert len(documents) == (2 if "srun" in block.text else 1)
    for document in documents:
        if document["docker"] is None:
            told = [reason for reason in document["collection"]["reasons"] if reason["section"] == "docker"]
            assert "AORTA_DOCKER_IMAGE" in str(told)
            continue
        assert document["docker"]["image"].startswith("IMAGE")
        assert "srun" in block.text or "sha256:" in document["docker"]["digest"]


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_the_real_engines_know_the_options(engine, folder):
    """They are read in order: an unknown one before ``--help`` is an error."""
    need(engine, f"needs {engine}")
    [line] = [line for line in LINES[CONTAINER] if line.startswith(f"{engine} ")]
    asked = line.replace(" IMAGE python3 ", " --help IMAGE python3 ").partition(" > ")[0]
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)}
    assert asked.count("--help") == 1
    done = shell(asked, folder, env)
    assert (done.returncode, "--volume" in done.stdout) == (0, True), done.stderr
    assert shell(asked.replace("--help", "--none-such --help"), folder, env).returncode != 0
    [limits] = re.findall(r"`podman run (--ulimit [^`]*)`", (ROOT / PAGE).read_text(encoding="utf-8"))
    assert shell(asked.replace("--help", f"{limits} --help"), folder, env).returncode == 0
    assert shell(f"{engine} info --help", folder, env).returncode == 0
    inspect = line.partition("$(")[2].partition(" IMAGE)")[0]
    assert shell(f"{inspect} --help", folder, env).returncode == 0
    assert shell(f"{inspect} --none-such --help", folder, env).returncode != 0


def test_every_line_of_the_page_is_run_here():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert text.count("\n$ ") == sum(map(len, LINES.values()))
    assert {ALONE, CONTAINER, OFFLINE} < set(LINES)


BUCK_DEFAULT = "//third-party/python"


def buck_tables():
    """Return the rows of the two tables about Buck targets, each cell's inline words."""
    text = (ROOT / PAGE).read_text(encoding="utf-8").split("\n## With Buck2\n")[1]
    tables = [part.splitlines()[2:] for part in text.split("\n\n") if part.startswith("| ")]
    return [[re.findall(r"`([^`]+)`", line) for line in table] for table in tables]


def test_the_targets_of_buck_need_what_the_page_says():
    targets, _ = buck_tables()
    own = own_targets()
    told = {words[0].removeprefix("aorta//:"): words[1:] for words in targets}
    library = {label.rpartition(":")[2] for label in outside(own, "aorta_lib")}
    assert set(told) == {name for name, rule in own.items() if name != "aorta_cli"}
    assert set(told["aorta_lib"]) == library
    assert library | set(told["aorta"]) == {label.rpartition(":")[2] for label in outside(own, "aorta")}
    assert {label.rpartition(":")[2] for label in outside(own, "env_probe")} == library


def test_the_keys_of_the_page_move_the_labels():
    """Each key of the page moves its own label; the section of the page moves them all."""
    _, ((package, default), names) = buck_tables()
    assert (package, default) == ("third_party", BUCK_DEFAULT)
    assert set(outside(own_targets(), "aorta")) == {f"{BUCK_DEFAULT}:{name}" for name in names[:-1]}
    section = next(block.text for block in SECTIONS[BUCK] if block.language == "ini")
    [moved] = re.findall(r"third_party = (\S+)", section)
    together = outside(own_targets({"aorta.third_party": moved}), "aorta")
    assert all(label.startswith(f"{moved}:") for label in together)
    for name in names[:-1]:
        assert "//some:where" in outside(own_targets({f"aorta.{name}": "//some:where"}), "aorta")
