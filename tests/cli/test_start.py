import subprocess
import sys

import pytest

FORBIDDEN = ("attr", "attrs", "yaml", "rich", "pluggy", "importlib.metadata", "cattrs")


def loaded_after(cli, environ, *words):
    code = (
        "import sys\n"
        "from aorta.cli.entry import run\n"
        f"code = run({list(words)!r})\n"
        f"print([name for name in {FORBIDDEN!r} if name in sys.modules], code, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cli.folder,
        env=environ(),
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("words", [["--help"], ["env", "--help"], ["env", "probe", "--help"], ["--version"]])
def test_help_imports_nothing_that_is_slow(cli, environ, words):
    assert loaded_after(cli, environ, *words) == "[] 0"


def test_version(cli):
    import aorta

    ran = cli("--version")
    assert (ran.code, ran.out) == (0, f"aorta {aorta.__version__}\n")


def test_help_names_every_command(cli):
    ran = cli("env", "-h")
    assert ran.code == 0
    for name in ("probe", "show", "collectors", "record"):
        assert f"  {name} " in ran.out
    assert "show" in cli("schema", "--help").out


@pytest.mark.parametrize(
    "words",
    [
        ["bogus"],
        ["env", "bogus"],
        ["env", "probe", "--bogus"],
        ["env", "probe", "extra"],
        ["env", "show"],
        ["env", "probe", "--deadline", "0"],
        ["env", "probe", "--deadline", "nan"],
        ["env", "probe", "--deadline", "inf"],
        ["env", "probe", "--timeout", "rocm"],
        ["env", "probe", "--timeout", "rocm=soon"],
        ["env", "probe", "--timeout", "=1"],
        ["env", "probe", "--timeout", "bogus=1"],
        ["env", "probe", "--expect", "gpu,money"],
        ["env", "probe", "--section", "bogus"],
        ["env", "probe", "--section", ","],
        ["env", "probe", "--no-section", "bogus"],
        ["env", "probe", "--section", "host,rocm", "--no-section", "rocm"],
        ["env", "probe", "--summary", "--json"],
        ["env", "probe", "--summary", "--field", "host"],
        ["env", "probe", "--field", "host", "--json"],
        ["env", "probe", "-o", "-", "--json"],
        ["env", "probe", "-o", "-", "--summary"],
        ["env", "probe", "-o", "/dev/stdout", "--field", "host"],
        ["env", "probe", "-o", ""],
        ["env", "probe", "--field", "a..b"],
        ["env", "probe", "--field", ""],
        ["env", "probe", "-o", "{user}.json"],
        ["env", "probe", "--execution-context", "guess"],
        ["env", "record", "-"],
        ["env", "show", "x", "--json", "--summary"],
    ],
)
def test_usage_errors_are_status_2(cli, words):
    ran = cli(*words)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err and "Traceback" not in ran.err
    assert [path.name for path in cli.folder.iterdir()] == []


def test_junk_deadline_in_the_environment(cli):
    ran = cli.probe(env={"AORTA_DEADLINE_S": "soon"})
    assert ran.code == 2
    assert "soon" in ran.err


def test_an_internal_error_is_one_line_and_debug_shows_where(environ):
    code = (
        "import sys, aorta.cli.entry\n"
        "def broken(arguments): raise KeyError('surprise')\n"
        "aorta.cli.entry._run = broken\n"
        "aorta.cli.main()\n"
    )

    def run(**env):
        return subprocess.run(
            [sys.executable, "-c", code], env=environ(**env), capture_output=True, text=True, timeout=100
        )

    quiet = run()
    assert quiet.returncode == 1
    assert quiet.stderr == "aorta: internal error: KeyError: 'surprise' (AORTA_DEBUG=1 shows where)\n"
    loud = run(AORTA_DEBUG="1")
    assert loud.returncode == 1
    assert "Traceback" in loud.stderr


@pytest.mark.parametrize(
    ("package", "words"),
    [("click", ["--version"]), ("click", ["env", "probe"]), ("rich", ["env", "show", "x.json"])],
)
def test_a_package_that_is_not_installed_is_named(cli, package, words):
    """A terminal is what rich is for: without one it is not missed."""
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name.split('.')[0] == {package!r}: raise ModuleNotFoundError(name, name=name.split('.')[0])\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import aorta.cli, aorta.instrumentation.process as process\n"
        "process.Stdout.isatty = lambda self: True\n"
        f"aorta.cli.main({words!r})\n"
    )
    (cli.folder / "x.json").write_text('{"schema_version": "2.0"}')
    (cli.folder / "without.py").write_text(code)
    ran = cli(module="without")
    assert (ran.code, ran.out) == (1, "")
    text = f"aorta: the package {package} is not installed, which this command needs; to capture without it:"
    assert ran.lines == [f"{text} python -m aorta.instrumentation._probe_main"]
    assert not (cli.folder / "env.json").exists()


def test_any_other_missing_module_is_a_defect(environ):
    code = (
        "import aorta.cli.entry\n"
        "def broken(arguments): import no_such_module\n"
        "aorta.cli.entry._run = broken\n"
        "aorta.cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ(), capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, "internal error: ModuleNotFoundError" in done.stderr) == (1, True)


def test_shell_completion_knows_the_commands(cli):
    ran = cli(env={"_AORTA_COMPLETE": "bash_complete", "COMP_WORDS": "aorta env pr", "COMP_CWORD": "2"})
    assert "probe" in ran.out
