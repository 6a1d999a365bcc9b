"""aorta as one file: on every Python, where nothing may be written, and what it says where it cannot run."""

import ast
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from aorta import __version__
from aorta.cli.archive import MAIN, PYTHONS, SHEBANG, _tree
from tests.parts.fuse import hanging_mount
from tests.parts.fuse_hang import SCRIPT
from tests.parts.needs import need
from tests.parts.probing import differing
from tests.parts.pythons import python

ROOT = Path(__file__).resolve().parents[2]
BARE = {"PATH": "/usr/bin:/bin"}
#: A user without rights over the files of others, of the same files.
NOBODY = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
THIRD_PARTY = ("attrs", "cattrs", "click", "packaging", "pluggy", "pyelftools", "pyyaml", "rich")


def write(target, *words, path=(), cwd=None, check=True, limit=None):
    """Run ``aorta standalone`` from the source tree."""
    search = os.pathsep.join(map(str, (*path, ROOT, ROOT / "collectors")))
    kept = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_") and not limit}
    return subprocess.run(
        [sys.executable, *(["-S"] if path else []), "-m", "aorta", "standalone", str(target), *words],
        check=check,
        capture_output=True,
        text=True,
        cwd=cwd or "/",
        env={**BARE, **kept, "PYTHONPATH": search},
        preexec_fn=limit,
    )


def run(*command, env=BARE, cwd="/", **options):
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=cwd, env=env, check=False, **options
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return the file, in a directory that nobody may write to, under a name that quoting must survive."""
    folder = tmp_path_factory.mktemp("alone") / "ein Gerät"
    folder.mkdir()
    file = folder / "aorta für alle.pyz"
    done = write(file)
    assert (done.stdout, done.stderr) == ("", f"wrote {file} for Python 3.10 and newer\n")
    file.chmod(0o555)
    folder.chmod(0o555)
    yield file
    folder.chmod(0o755)


@pytest.fixture(scope="module")
def members(alone):
    with zipfile.ZipFile(alone) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("version", PYTHONS)
def test_every_python_runs_it_where_nothing_may_be_written(alone, version):
    need("unshare", "needs util-linux")
    program = (*NOBODY, python(version), "-I", "-S", alone.name)
    done = run(*program, "env", "probe", "-o", "-", env={}, cwd=alone.parent)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema_version"]
    assert document["python_version"].startswith(f"{version}.")
    assert document["collection"]["user"] == {"uid": 1000, "root": False}
    records = document["collection"]["collectors"]
    assert {record["status"] for record in records.values()} <= {"ok", "partial", "not_requested"}, records
    assert run(*program, "--version", env={}, cwd=alone.parent).stdout == f"aorta {__version__}\n"
    assert os.listdir(alone.parent) == [alone.name]


def test_it_is_a_program(alone):
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    assert run(alone, "--version", env=env).stdout == f"aorta {__version__}\n"


@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8", "3.9"])
def test_a_python_that_is_too_old_says_so_in_one_line(alone, version):
    program = python(version)
    for words in ((), ("--version",), ("env", "probe", "-o", "-")):
        done = run(program, alone, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"aorta needs Python 3.10 or newer; this is {version}.")
        assert done.stderr.count("\n") == 1


def test_a_python_without_its_whole_library_says_so_in_one_line(alone, tmp_path):
    """As Debian's python3-minimal, in images that have no other."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['gettext'] = None\n")
    done = run(sys.executable, alone, "env", "probe", "-o", "-", env={**BARE, "PYTHONPATH": str(tmp_path)})
    text = "this Python lacks gettext of the standard library (Debian's python3-minimal does)"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"aorta: {text}\n")


def test_its_first_lines_are_read_by_any_python():
    """Only what Python 2.7 knew and Python 3 still does; none is needed here to see that."""
    text = MAIN % ((3, 10),)
    known = (ast.Module, ast.Expr, ast.Constant, ast.Import, ast.ImportFrom, ast.alias, ast.Assign, ast.If)
    known += (ast.Compare, ast.Lt, ast.Eq, ast.Attribute, ast.Name, ast.Load, ast.Store, ast.Subscript)
    known += (ast.Call, ast.BinOp, ast.Add, ast.Mod, ast.Tuple, ast.Try, ast.ExceptHandler)
    for node in ast.walk(ast.parse(text)):
        assert isinstance(node, known), ast.dump(node)
        assert not isinstance(node, ast.Constant) or type(node.value) in (int, str)
        assert not isinstance(node, ast.Try) or not (node.orelse or node.finalbody)
    assert text.isascii()
    first, second = (text.index(word) for word in ("sys.exit(2)", "from aorta"))
    assert first < second, "nothing of aorta is imported before the version is known"


def test_the_same_installation_gives_the_same_bytes(tmp_path):
    one, other = tmp_path / "one.pyz", tmp_path / "other.pyz"
    write(one)
    write(other, cwd=tmp_path)
    assert one.read_bytes() == other.read_bytes()


def test_what_is_in_it(members, alone):
    assert alone.read_bytes().startswith(SHEBANG)
    about = {name.partition(".dist-info/")[0].rpartition("-")[0] for name in members if ".dist-info/" in name}
    assert {*THIRD_PARTY, "exceptiongroup", "typing_extensions"} <= {name.lower() for name in about}
    for distribution in about - {"aorta"}:
        inner = [name.partition("-info/")[2] for name in members if name.startswith(f"{distribution}-")]
        assert "METADATA" in inner
        assert any("LICEN" in name.upper() for name in inner), distribution
        assert all(name.startswith(("METADATA", "LICEN", "licen")) for name in inner), inner
    assert {"aorta/host/slow_helper.py", "aorta_collectors/rocm.py", "yaml/__init__.py"} <= set(members)
    suffixes = {Path(name).suffix for name in members if "-info/" not in name}
    assert suffixes <= {".py", ".pyi", ".typed", ".yaml", ".json"}, suffixes
    places = [text for text in (str(ROOT), sysconfig.get_path("purelib")) if len(text) > 1]
    assert not [name for name, text in members.items() for place in places if place.encode() in text]


def test_it_sees_what_the_installed_one_sees(alone):
    search = f"{ROOT}:{ROOT}/collectors"
    env = {**BARE, "HOME": "/nonexistent", "LANG": "C.UTF-8", "PYTHONPATH": search}
    installed, single = (
        json.loads(run(sys.executable, *words, "env", "probe", "--extended", "-o", "-", env=env).stdout)
        for words in (("-m", "aorta"), (alone,))
    )
    assert differing(installed, single) == set()
    for key in ("reasons", "coverage"):
        assert installed["collection"][key] == single["collection"][key]
    assert [*installed["collection"]["collectors"]] == [*single["collection"]["collectors"]]
    assert installed["collection"]["tool"]["version"] == single["collection"]["tool"]["version"]


@pytest.mark.parametrize("words", [("schema", "show"), ("env", "collectors", "--json"), ("--help",)])
def test_its_commands_say_the_same(alone, words):
    search = f"{ROOT}:{ROOT}/collectors"
    env = {**BARE, "PYTHONPATH": search}
    installed, single = (
        run(sys.executable, *program, *words, env=env) for program in (("-m", "aorta"), (alone,))
    )
    assert (single.returncode, single.stdout, single.stderr) == (0, installed.stdout, "")
    assert installed.stdout


def test_a_snapshot_is_read_by_it(alone, tmp_path):
    done = run(sys.executable, alone, "env", "probe", "-o", "env.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "wrote env.json\n")
    done = run(sys.executable, alone, "env", "show", "env.json", "--field", "schema_version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, '"2.0"\n', "")
    done = run(sys.executable, "-S", alone, "env", "show", "env.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("partial: ")


PLUGIN = '''
from typing import Annotated
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector


@collector(
    section="{name}", model=Annotated[str | None, Fact("a")], provenance=Provenance.FILESYSTEM, scope=Scope.BOOT
)
def collect(ctx: Context) -> str:
    """A word."""
    return "seen"
'''


def test_plugins_named_and_installed(alone, tmp_path):
    for name in ("named", "installed"):
        (tmp_path / f"site_{name}.py").write_text(PLUGIN.format(name=f"site.{name}"))
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[aorta.collectors]\nacme = site_installed\n")
    env = {**BARE, "PYTHONPATH": str(tmp_path), "AORTA_PLUGINS": "site_named"}
    done = run(sys.executable, "-S", alone, "env", "probe", "-o", "-", env=env)
    assert done.returncode == 0, done.stderr
    extensions = json.loads(done.stdout)["extensions"]
    assert {name: extensions[name]["data"] for name in extensions} == {
        "site.named": "seen",
        "site.installed": "seen",
    }


def test_files_that_may_hang_are_asked_for_by_another_process(alone):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from aorta.host.live import LiveHost\n"
        "host = LiveHost(slow_limit_s=5.0)\n"
        "print(host.slow_points(), host.read_text(sys.argv[2] + '/ok'), end='')\n"
        "host.close()\n"
    )
    with hanging_mount() as point:
        done = run(sys.executable, "-S", "-c", code, alone, point)
    assert (done.stderr, done.stdout) == ("", f"{[point]} {SCRIPT.decode()}")


def test_a_file_is_replaced_whole_and_runs(tmp_path):
    target = tmp_path / "new" / "a.pyz"
    target.parent.mkdir()
    target.write_text("something else")
    target.chmod(0o600)
    write("a.pyz", cwd=target.parent)
    assert run(sys.executable, target, "--version").stdout == f"aorta {__version__}\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o777 & ~mask
    assert os.listdir(target.parent) == ["a.pyz"]


def test_a_full_disk_costs_nothing_that_was_there(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    target = tmp_path / "a.pyz"
    target.write_text("before")
    done = write("a.pyz", cwd=tmp_path, check=False, limit=limit)
    assert (done.returncode, done.stderr) == (1, "aorta: cannot write a.pyz: File too large\n")
    assert (target.read_text(), os.listdir(tmp_path)) == ("before", ["a.pyz"])
    done = write("/dev/full", check=False)
    assert (done.returncode, done.stderr) == (1, "aorta: cannot write /dev/full: No space left on device\n")


def test_where_it_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for target, code, text in (
        ("file/a.pyz", 1, "cannot write file/a.pyz: Not a directory"),
        (".", 1, "cannot write .: Is a directory"),
        ("/proc/none/a.pyz", 1, "cannot write /proc/none/a.pyz: No such file or directory"),
        ("-", 2, "a program goes into a file"),
    ):
        done = write(target, cwd=tmp_path, check=False)
        assert (done.returncode, done.stderr) == (code, f"aorta: {text}\n")


def test_evidence_is_not_replaced_unasked(tmp_path):
    target = tmp_path / "env.json"
    target.write_text('{"schema_version": "2.0"}')
    done = write("env.json", cwd=tmp_path, check=False)
    assert (done.returncode, target.read_text()) == (1, '{"schema_version": "2.0"}')
    assert done.stderr == "aorta: cannot write env.json: it holds a snapshot; --force replaces it\n"
    write("env.json", "--force", cwd=tmp_path)
    assert target.read_bytes().startswith(SHEBANG)


@pytest.fixture
def library(tmp_path):
    """Return a copy, by links, of the site-packages of this Python, that single packages can be taken from."""
    folder = tmp_path / "library"
    folder.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        (folder / entry.name).symlink_to(entry)
    return folder


def without(library, name):
    """Take a package and its metadata out."""
    for entry in [*library.glob(f"{name}"), *library.glob(f"{name}-*.dist-info")]:
        entry.unlink()


def test_without_what_python_3_10_needs_it_is_for_newer_ones(tmp_path, library):
    without(library, "exceptiongroup")
    done = write(tmp_path / "a.pyz", path=[library])
    why = "the package exceptiongroup is not installed (pip install exceptiongroup)"
    assert done.stderr == f"wrote {tmp_path}/a.pyz for Python 3.11 and newer: {why}\n"
    done = run(python("3.10"), tmp_path / "a.pyz", "--version")
    assert (done.returncode, done.stderr.split(";")[0]) == (2, "aorta needs Python 3.11 or newer")
    assert run(python("3.11"), tmp_path / "a.pyz", "--version").returncode == 0


def test_an_installation_that_lacks_a_package_writes_nothing(tmp_path, library):
    without(library, "rich")
    done = write("a.pyz", path=[library], cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "aorta: cannot write a.pyz: the package rich is not installed (pip install rich)\n",
    )
    [known] = Path(sysconfig.get_path("purelib")).glob("rich-*.dist-info")
    shutil.copytree(known, library / known.name)
    (library / known.name / "RECORD").unlink()
    done = write("a.pyz", path=[library], cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "nothing records which files belong to the package rich" in done.stderr
    assert os.listdir(tmp_path) == ["library"]


def test_the_single_file_does_not_write_itself(alone, tmp_path):
    done = run(sys.executable, alone, "standalone", "a.pyz", cwd=tmp_path)
    text = "this aorta runs from an archive itself; copy that"
    assert (done.returncode, done.stderr) == (1, f"aorta: cannot write a.pyz: {text}\n")
    assert os.listdir(tmp_path) == []


def test_what_else_lies_in_a_checkout_stays_out(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("a.py", "inner/b.py", "py.typed"):
        (tmp_path / name).write_text("")
    for name in (".env", "notes.bak", "a.py~", "a.pyc"):
        (tmp_path / name).write_text("TOKEN=hunter2hunter2")
    (tmp_path / ".#a.py").symlink_to("nobody@nowhere")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "c.py").write_text("")
    os.mkfifo(tmp_path / "fifo.py")
    assert sorted(name for name, _ in _tree(tmp_path, "x")) == ["x/a.py", "x/inner/b.py", "x/py.typed"]
