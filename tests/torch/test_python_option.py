"""``--python EXE``: real interpreters of all kinds are told rightly, what is none is refused in one line."""

import concurrent.futures
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.parts import pythons
from tests.parts.fake_tools import make
from tests.parts.fuse import hanging_mount
from tests.parts.probing import Probed, environment, gone, probe
from tests.parts.torches import ANSWERS, VERSION, stand_in

PROBE = (sys.executable, "-m", "aorta", "env", "probe", "--deadline", "9", "-o")
PLUGIN = ("--plugin", "tests.parts.asked_torch")
OTHER = "2.8.0+rocm6.4"
ODD = "py 311 'a' \"b\" $HOME `c` ; & (d)\n"


def venv(folder: Path, program: str = sys.executable) -> str:
    """Make a virtual environment; return its interpreter."""
    subprocess.run([program, "-m", "venv", "--without-pip", str(folder)], check=True)
    return str(folder / "bin" / "python")


def packages(folder: Path) -> Path:
    """Return where the packages of a virtual environment are."""
    (found,) = folder.glob("lib/python3*/site-packages")
    return found


def triton(site: Path, version: str) -> None:
    """Install a triton that says a version."""
    (site / "triton").mkdir()
    (site / "triton" / "__init__.py").write_text(f"__version__ = {version!r}\nraise SystemExit('imported')\n")
    info = site / f"triton-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n")


def wrapper(path: Path, text: str) -> str:
    """Write a shell script that starts a Python; return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{text} "$@"\n')
    path.chmod(0o755)
    return str(path)


def conda(folder: Path) -> str:
    """Make what looks like an environment of conda: an installation of its own, with its mark."""
    (folder / "bin").mkdir(parents=True)
    (folder / "conda-meta").mkdir()
    home = Path(sysconfig.get_config_var("prefix"))
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    program = folder / "bin" / "python"
    program.write_bytes(Path(os.path.realpath(sys.executable)).read_bytes())
    program.chmod(0o755)
    library = folder / "lib" / name
    library.mkdir(parents=True)
    for entry in (home / "lib" / name).iterdir():
        if entry.name != "site-packages":
            (library / entry.name).symlink_to(entry)
    for entry in (home / "lib").glob("libpython*"):
        (folder / "lib" / entry.name).symlink_to(entry)
    stand_in(library / "site-packages")
    return str(program)


def link_tree(folder: Path) -> str:
    """Make a tree of links, as Buck does; return the program that starts a Python on it."""
    real = Path(stand_in(folder / "real"))
    tree = folder / "main#link-tree"
    for file in sorted(real.rglob("*")):
        place = tree / file.relative_to(real)
        if file.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file)
    return wrapper(folder / "main.sh", f"PYTHONPATH='{tree}' exec {sys.executable}")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tmp_path_factory.mktemp("python")


@pytest.fixture(scope="module")
def asking(base):
    """Return a function that probes with ``--python`` and whatever else."""
    path = make(base / "parts")

    def ask(name, program, *options, **variables) -> Probed:
        folder = base / f"probe-{name}"
        folder.mkdir()
        env = environment(folder, path)
        env |= {key: str(value) for key, value in variables.items()}
        more = (*PLUGIN, "--quiet", "--deadline", "40", *options)
        done = probe(
            folder / "env.json", env, "--python", program, *more, wrapper=("/usr/bin/env", "-C", folder)
        )
        assert gone(f"TEST_MARKER={folder}", within_s=2) == {}
        return done

    return ask


@pytest.fixture(scope="module")
def outcomes(base, asking):
    """Ask interpreters of many kinds."""
    programs = {
        "venv": venv(base / "venv"),
        "one": venv(base / "one"),
        "other": venv(base / "other"),
        "odd": venv(base / ODD),
        "conda": conda(base / "conda" / "envs" / "train"),
        "wrapper": wrapper(base / "wrapper.sh", f"PYTHONPATH={base}/site exec {sys.executable}"),
        "link_tree": link_tree(base / "linked"),
        "relative": sys.executable,
        **{f"python{version}": bare(base, version) for version in ("3.8", "3.9", "3.10", "3.13")},
    }
    for name in ("one", "odd"):
        stand_in(packages(base / (ODD if name == "odd" else name)))
    site = packages(base / "other")
    stand_in(site, version=OTHER)
    triton(site, "3.4.0")
    triton(packages(base / "one"), "3.5.1")
    stand_in(base / "site")

    def run(name):
        variables = {}
        if name == "relative":
            (base / f"probe-{name}").mkdir()
            variables = {"PYTHONPATH": f"../site:{environment(base / 'site', '/bin')['PYTHONPATH']}"}
            (base / f"probe-{name}").rmdir()
        return asking(name, programs[name], **variables)

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return programs, dict(zip(programs, pool.map(run, programs), strict=True))


def bare(base: Path, version: str) -> str:
    """Return a program of a version that has a torch and nothing of aorta."""
    program = pythons.python(version)
    return wrapper(base / f"bare{version}", f"PYTHONPATH={base}/site exec {program}")


def asked(done: Probed) -> dict:
    return done.document["extensions"]["tests.torch"]["data"]


ALL = ("venv", "one", "other", "odd", "conda", "wrapper", "link_tree", "relative")
OLD = ("python3.8", "python3.9", "python3.10", "python3.13")


@pytest.mark.parametrize("name", [*ALL, *OLD])
def test_it_is_named_and_nothing_is_said(outcomes, name):
    programs, found = outcomes
    done = found[name]
    assert (done.code, done.stderr) == (0, "")
    assert done.document["collection"]["python"] == programs[name]
    assert done.document["collection"]["executable"] == sys.executable
    assert done.document["collection"]["import_strategy"] == ("static" if name == "venv" else "child")


@pytest.mark.parametrize("name", [name for name in (*ALL, *OLD) if name != "venv"])
def test_its_torch_is_told(outcomes, name):
    done = outcomes[1][name]
    version = OTHER if name == "other" else VERSION
    assert done.document["pytorch_version"] == version
    told = asked(done)
    assert (told["importable"], told["kind"], told["ended"], told["noise"]) == (True, None, "", "")
    assert (told["told"]["config"], told["flash"]) == ("torch", True)


def test_an_interpreter_without_torch_has_none(outcomes):
    done = outcomes[1]["venv"]
    assert done.document["pytorch_version"] is None
    assert done.document["collection"]["coverage"]["torch"] == "absent"
    assert asked(done)["kind"] == "absent"


@pytest.mark.parametrize("name", [*ALL, *OLD])
def test_its_version_is_told(outcomes, name):
    version = outcomes[1][name].document["python_version"]
    expected = name.removeprefix("python") + "." if name in OLD else sys.version.split()[0]
    assert version.startswith(expected)


def test_other_packages_are_its_own_and_are_not_imported(outcomes):
    _, found = outcomes
    versions = {
        name: (found[name].document["triton"] or {}).get("package_version") for name in ("one", "other")
    }
    assert versions == {"one": "3.5.1", "other": "3.4.0"}


def test_what_kind_of_environment_it_is(outcomes, base):
    found = {name: outcomes[1][name].document["runtime_context"] for name in ("venv", "odd", "conda")}
    assert {name: one["python_env"] for name, one in found.items()} == {
        "venv": "venv",
        "odd": "venv",
        "conda": "conda",
    }
    assert found["odd"]["venv_path"] == str(base / ODD)
    assert found["conda"]["conda_env_name"] == "train"


def test_the_file_that_is_imported(outcomes, base):
    assert asked(outcomes[1]["one"])["file"] == f"{packages(base / 'one')}/torch/__init__.py"
    assert asked(outcomes[1]["link_tree"])["file"] == f"{base}/linked/main#link-tree/torch/__init__.py"
    assert asked(outcomes[1]["relative"])["file"] == f"{base}/site/torch/__init__.py"


def test_its_files_alone(asking, base, outcomes):
    done = asking("static", outcomes[0]["one"], "--no-import-torch")
    assert done.document["collection"]["import_strategy"] == "static"
    assert done.document["pytorch_version"] == VERSION
    assert asked(done)["kind"] == "not_requested"


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("import time; time.sleep(600)", "timed_out", "timed out"),
        ("import os; os.abort()", "failed", "SIGABRT"),
        ("raise ImportError('libamdhip64.so.7: no such file')", "failed", "libamdhip64.so.7"),
    ],
    ids=["hangs", "aborts", "fails"],
)
def test_a_torch_that_is_broken(asking, base, source, kind, words, request):
    name = request.node.callspec.id
    program = venv(base / name)
    stand_in(packages(base / name), f"{source}\n{ANSWERS}")
    done = asking(name, program, "--timeout", "TorchFacts=3")
    assert (done.code, done.stderr) == (0, "")
    told = asked(done)
    assert (told["kind"], told["version"], done.document["pytorch_version"]) == (kind, VERSION, VERSION)
    assert words in told["detail"]


def test_a_noisy_start_is_not_taken_for_an_answer(asking, base):
    program = venv(base / "noisy")
    lie = (
        '{"interpreter": {"version": "9"}}\\n{"imported": false, "error": "a lie"}\\n[[[[\\n{{{ no line feed '
    )
    (packages(base / "noisy") / "noise.pth").write_text(
        f"import sys; sys.stdout.write('{lie}'); sys.stdout.flush()\n"
    )
    stand_in(packages(base / "noisy"))
    done = asking("noisy", program)
    assert done.document["python_version"] == sys.version.split()[0]
    assert asked(done)["importable"] is True


def test_a_recording_replays(base, outcomes, asking):
    folder = base / "recorded"
    folder.mkdir()
    env = environment(folder, os.defpath)
    file = folder / "host.jsonl"
    command = [
        sys.executable,
        "-m",
        "aorta",
        "env",
        "record",
        str(file),
        "--python",
        outcomes[0]["other"],
        "--quiet",
    ]
    subprocess.run([*command, *PLUGIN], env=env, check=True, timeout=100)
    done = probe(folder / "env.json", env, "--replay", file, *PLUGIN, "--quiet")
    assert (done.code, done.stderr) == (0, "")
    live = outcomes[1]["other"].document
    for section in ("pytorch_version", "python_version", "triton", "runtime_context"):
        assert done.document[section] == live[section], section
    assert asked(done) == live["extensions"]["tests.torch"]["data"]
    assert done.document["collection"]["import_strategy"] == "child"


def script(text):
    """Return how to make a program of a shell script."""
    return lambda path: wrapper(path, text)


def text_file(path):
    path.write_text("this is no program\n")
    path.chmod(0o755)
    return str(path)


#: By name: what makes it, and what the line must say.
NONE = {
    "true": (lambda _: "/bin/true", "ended without an answer"),
    "cat": (lambda _: "/bin/cat", "invalid option"),
    "sh": (lambda _: "/bin/sh", "exit status 2"),
    "text": (text_file, "cannot be executed"),
    "plain_file": (lambda _: "/etc/passwd", "may not be executed"),
    "directory": (lambda _: "/tmp", "a directory"),
    "environment": (lambda path: str(Path(venv(path)).parents[1]), "try --python "),
    "missing": (lambda _: "/nowhere/python", "no such program"),
    "unknown_name": (lambda _: "python9.99", "no such program"),
    "empty": (lambda _: "", "no such program"),
    "below_a_file": (lambda _: "/etc/passwd/python", "no such program"),
    "python3.7": (lambda _: pythons.python("3.7"), "Python 3.8 or later is needed, not 3.7."),
    "python3.6": (lambda _: pythons.python("3.6"), "Python 3.8 or later is needed, not 3.6."),
    "dies": (script("kill -SEGV $$ #"), "SIGSEGV"),
    "speaks": (script("echo '{}' '[1]' 7; echo bad >&2; exit 3 #"), "exit status 3 (bad)"),
    "hangs": (script("sleep 600 #"), "did not end in time"),
}


@pytest.fixture(scope="module")
def refusals(base):
    """Ask what is no Python, a few at once."""
    environ = environment(
        base, f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", TEST_MARKER=f"{base}/none"
    )

    def run(name):
        program = NONE[name][0](base / f"none-{name}")
        command = [*PROBE, f"{base}/none-{name}.json"]
        done = subprocess.run(
            [*command, "--python", program],
            env=environ,
            check=False,
            timeout=40,
            capture_output=True,
            text=True,
        )
        return program, done

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        found = dict(zip(NONE, pool.map(run, NONE), strict=True))
    assert gone(f"TEST_MARKER={base}/none", within_s=2) == {}
    return found


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_python_is_refused_in_one_line(refusals, base, name):
    program, done = refusals[name]
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"aorta: --python {program}: ")
    assert NONE[name][1] in line
    assert len(line) < 400
    assert not (base / f"none-{name}.json").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [("hang", "did not answer"), ("hangread", "did not end in time"), ("bin/tool", "exit status 7")],
)
def test_a_program_on_a_file_system_that_hangs(tmp_path, name, words):
    with hanging_mount() as point:
        environ = environment(tmp_path, "/usr/bin:/bin", covered=False)
        command = [*PROBE, str(tmp_path / "x.json")]
        done = subprocess.run(
            [*command, "--python", f"{point}/{name}"],
            env=environ,
            check=False,
            timeout=40,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"aorta: --python {point}/{name}: ")
    assert words in line


def test_a_library_call_tells_why_nothing_is_known(tmp_path):
    code = """
import json, sys
from aorta.instrumentation import capture
from aorta.model.codec import dump
document = dump(capture(python=sys.argv[1], deadline_s=40))
print(json.dumps({key: document[key] for key in ("pytorch_version", "python_version", "triton", "collection")}))
"""
    environ = environment(tmp_path, "/usr/bin:/bin")
    done = subprocess.run(
        [sys.executable, "-c", code, "/bin/true"],
        env=environ,
        check=True,
        timeout=100,
        capture_output=True,
        text=True,
    )
    document = json.loads(done.stdout)
    assert [document[key] for key in ("pytorch_version", "python_version")] == [None, None]
    kinds = {reason["section"]: reason["kind"] for reason in document["collection"]["reasons"]}
    assert kinds["python_version"] == "failed"
    details = [
        reason["detail"]
        for reason in document["collection"]["reasons"]
        if reason["section"] == "python_version"
    ]
    assert any("no usable Python interpreter" in detail for detail in details)
