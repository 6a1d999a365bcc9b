"""The stand-in answers as buck2's sources say that buck2 does."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from tests.fake_buck2.behaviour import rust_debug
from tests.parts.buck import EXECUTION, LITERAL, PLATFORM, REMOTE, TARGET, Project


class Buck:
    """Calls the stand-in of a project."""

    def __init__(self, project):
        self.project = project

    def __call__(self, *words, cwd=None, env=None, stdin=None):
        return subprocess.run(
            [self.project.bin / "buck2", *words],
            cwd=cwd or self.project.root,
            env={"PATH": os.environ["PATH"], "HOME": str(self.project.home), **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=20,
        )

    def query(self, *words, **options):
        return self("cquery", "--console", "none", *words, **options)

    def rows(self, *words, **options):
        done = self.query(*words, **options)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.fixture
def buck(project):
    return Buck(project)


def words_of(project):
    return project.calls()[-1]["argv"]


# What it answers


def test_the_version_needs_no_project(buck, tmp_path):
    done = buck("--version", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"buck2 \d{4}-\d\d-\d\d-[0-9a-f]{40}\n", done.stdout)


def test_the_root_of_the_cell_and_of_the_project(buck, project):
    other = project.root / "other"
    (other / ".buckconfig").write_text("")
    assert buck("root", cwd=other).stdout == f"{other}\n"
    assert buck("root", "--kind", "project", cwd=other).stdout == f"{project.root}\n"
    assert buck("root", "-k", "project", "--dir", str(other)).stdout == f"{project.root}\n"
    (other / ".buckroot").write_text("")
    assert buck("root", "--kind", "project", cwd=other).stdout == f"{other}\n"
    assert buck("root", "--console", "none").returncode == 3


def test_no_project(buck, tmp_path):
    for words in (["root"], ["root", "--kind", "project"], ["cquery", "--console", "none", "//a:b"]):
        done = buck(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"Command failed: Couldn't find a buck project root for directory `{tmp_path}`. "
            "Expected to find a .buckconfig file.\n"
        )
    done = buck("cquery", "@root//mode", "//a:b", cwd=tmp_path)
    assert done.returncode == 2
    assert "Error creating cell resolver\nCouldn't find a buck project root" in done.stderr


def test_a_project_is_none_where_home_is(buck, project):
    done = buck("root", env={"HOME": str(project.root)})
    assert (done.returncode, done.stdout) == (2, "")


def test_dependencies_by_literal(buck):
    rows = buck.rows("deps(%s)", LITERAL, "--json")
    assert list(rows) == [LITERAL]
    labels = [re.sub("#[0-9a-f]{16}", "#H", row) for row in rows[LITERAL]]
    target, execution, remote = f"({PLATFORM}#H)", f"({EXECUTION}#H)", f"({REMOTE}#H)"
    assert labels == [
        f"root//third_party/rccl:rccl {target}",
        f"root//third_party/hipblaslt:hipblaslt {target}",
        f"root//third_party/hipblaslt:hipblaslt {execution}",
        f"root//tools:gen {execution}",
        f"root//third_party/torch:torch {target}",
        f"prelude//python/tools:make_py_package_modules {remote}",
        f"toolchains//:python {target} {remote}",
        "prelude//os/constraints:linux (<unbound>)",
        f"root//app:trainer {target}",
    ]


def test_forms_of_answers(buck):
    plain = buck.rows(f"deps({LITERAL})", "--json")
    assert isinstance(plain, list)
    assert plain[-1].startswith(TARGET)
    lines = buck.query(f"deps({LITERAL})").stdout.splitlines()
    assert lines == plain
    limited = buck.rows(f"deps({LITERAL}, 1)", "--json")
    assert limited[0].startswith(TARGET)
    assert len(limited) == 6
    assert buck.rows(f"deps({LITERAL}, 9, exec_deps())", "--json")[-1].startswith("prelude//python/tools")
    assert buck.query("deps(%s)", LITERAL, LITERAL, "--json").stdout.count(f'"{LITERAL}": [') == 2
    assert buck.query("%s").stdout == ""


def test_attributes_take_the_literals_away(buck):
    rows = buck.rows("-a", r"^buck\.execution_platform$", "-a", "target_conf", "deps(%s)", LITERAL, "--json")
    assert LITERAL not in rows
    (root,) = (value for label, value in rows.items() if label.startswith(TARGET))
    assert set(root) == {"buck.execution_platform", "buck.target_configuration"}
    assert root["buck.execution_platform"] == REMOTE
    assert root["buck.target_configuration"].startswith(f"{PLATFORM}#")
    (only,) = buck.rows("-a", r"^buck\.execution_platform$", LITERAL).values()
    assert only == {"buck.execution_platform": REMOTE}
    (many,) = buck.rows("-B", LITERAL).values()
    assert {"buck.type", "buck.package"} < set(many)


@pytest.mark.parametrize(
    ("registered", "shown"), [(None, "<legacy_global_exec_platform>"), ("<NONE>", "<NONE>")]
)
def test_no_execution_platform(buck, project, registered, shown):
    project.describe(execution_platform=registered, execution_platforms={})
    (only,) = buck.rows("-a", "execution_platform", LITERAL).values()
    assert only == {"buck.execution_platform": shown}
    assert any("(<unspecified_exec>)" in row for row in buck.rows("deps(%s)", LITERAL, "--json")[LITERAL])


def test_no_platform(buck, project):
    project.describe(platform=None)
    assert f"{TARGET} (<unspecified>)" in buck.rows("deps(%s)", LITERAL, "--json")[LITERAL]


def test_a_transition(buck, project):
    target = {
        "root//:buck": {"incoming_transition": "root//p:reindeer", "deps": ["root//:lib"]},
        "root//:lib": {},
    }
    project.describe(targets=target)
    rows = buck.rows("deps(%s)", "//:buck", "--json")["//:buck"]
    assert [re.sub("#.*", "", row) for row in rows] == [
        "root//:lib (root//p:reindeer",
        "root//:buck (root//p:reindeer",
        f"root//:buck ({PLATFORM}",
    ]
    assert len(buck.rows("//:buck", "--json")) == 2


def test_literals(buck, project):
    (project.root / "app").mkdir()
    for literal, place in (
        (LITERAL, project.root),
        ("root//app:trainer", project.root / "other"),
        ("app//app:trainer", project.root),
        (":trainer", project.root / "app"),
        ("//third_party/torch", project.root),
    ):
        rows = buck.rows("deps(%s)", literal, "--json", cwd=place)
        assert list(rows) == [literal]
        assert rows[literal][-1].startswith("root//")
    assert len(buck.rows("//third_party/...", "--json")) == 3
    assert len(buck.rows("//app:", "--json")) == 1


def test_one_of_two_literals_fails(buck):
    done = buck.query("deps(%s)", "//app:nope", LITERAL, "--json")
    assert done.returncode == 3
    rows = json.loads(done.stdout)
    assert rows["//app:nope"] == {
        "$error": "Unknown target `nope` from package `root//app`.\n"
        "Did you mean one of the 1 targets in root//app:BUCK?"
    }
    assert len(rows[LITERAL]) == 9
    assert done.stderr.startswith("Command failed: \nUnknown target `nope`")


def test_modifiers_change_the_configuration(buck):
    plain = buck.rows(LITERAL, "--json")
    changed = buck.rows(LITERAL, "--json", "-m", "//c:x", "-m", "//c:y")
    assert changed != plain
    assert changed[0].startswith(f"{TARGET} (cfg:mi350-opt#")
    assert changed != buck.rows(LITERAL, "--json", "-m", "//c:y", "-m", "//c:x")


def test_cells(buck, project):
    assert json.loads(buck("audit", "cell", "--json", "root").stdout) == {"root": str(project.root)}
    assert f"other: {project.root}/other\n" in buck("audit", "cell").stdout
    assert buck("audit", "cell", "--json", "nope").returncode == 3


def test_targets(buck):
    assert buck("targets", "//app:").stdout == "root//app:trainer\n"
    assert buck("targets", "nope//:x").returncode == 3


# How it is called


@pytest.mark.parametrize(
    "words",
    [
        ["-c", "a.b=c", "--json", "deps(%s)", LITERAL],
        ["-ca.b=c", "deps(%s)", "-m//c:x", "--json", LITERAL],
        ["deps(%s)", "-c=a.b=c", LITERAL, "--modifier=//c:x", "--json"],
        ["--config=a.b=c", "--config", "root//a.b=x//y", "deps(%s)", "--json", "--", LITERAL],
        ["--isolation-dir", "x", "-v", "0", "--no-buckd", "deps(%s)", LITERAL, "--output-format", "json"],
        ["-c", "a.b=", "-c", "a.url=http://x=1", "-c", "  a.b.c= x ", "deps('%s')", LITERAL, "--json"],
    ],
)
def test_options_and_arguments_in_any_order(buck, words):
    assert list(buck.rows(*words)) == [LITERAL]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["-c", "noequals"], "Could not find equals sign (`=`) in pair `noequals`"),
        (["-c", "nodot=x"], "Could not find section separator (`.`) in pair `nodot=x`"),
        (["-c", "cells.x=y"], "Specifying cells via cli config overrides is banned"),
        (["-c", "a. b=y"], "in pair `a. b=y`"),
        (["-c", "-m"], "a value is required for '--config <VALUE>'"),
        (["--bogus"], "unexpected argument '--bogus' found"),
        (["-Z"], "unexpected argument '-Z' found"),
        (["--json=1"], "unexpected argument '--json=1' found"),
        (["--console", "quiet"], "invalid value 'quiet'"),
        (["--output-attributes", "x"], "`--output-attributes` is deprecated"),
        (["@mode/none"], "Error resolving flagfile `mode/none`"),
        (["@nope//mode/none"], "unknown cell alias: `nope`"),
        (["--json", "//app:x"], "Query args supplied without any `%s` placeholder in the query, got args"),
    ],
)
def test_what_is_refused(buck, words, text):
    done = buck.query(*words, LITERAL)
    assert (done.returncode, done.stdout) == (3, "")
    assert text in done.stderr


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("//app:trainer?x", "^"),
        ("deps(//a:b+c)", "^"),
        ("deps(//a:b=c)", "^"),
        ("'//app:trainer[x]'", "Expected a target pattern without providers, got: `//app:trainer[x]`"),
        ("//app:trainer#x", "Expected a target pattern without providers, got: `//app:trainer#x`"),
        ("nope", "expected `//` or `:`"),
    ],
)
def test_literals_that_are_refused(buck, query, text):
    done = buck.query(query, "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert text in done.stderr


def test_a_quoted_name_may_hold_more(buck, project):
    project.describe(targets={"root//a:b+c": {}})
    assert len(buck.rows("deps('%s')", "//a:b+c", "--json")["//a:b+c"]) == 1
    assert list(buck.rows("deps(%s)", "'//a:b+c'", "--json")) == ["'//a:b+c'"]


def test_what_standard_error_holds(buck):
    noisy = buck("cquery", LITERAL)
    assert noisy.returncode == 0
    assert "Build ID: " in noisy.stderr
    assert buck("cquery", LITERAL, env={"BUCK_CONSOLE": "none"}).stderr == ""
    assert buck("cquery", "--console", "none", "//app:nope").stderr.startswith("Command failed: ")


# Files of arguments


def test_one_word_a_line(buck, project):
    project.mode("mode/a", "--# a remark", "", "-c a.b=c d", "-m", "//c:x", "@mode/b")
    project.mode("mode/b", "--config", "a.b='x y'")
    done = buck.rows("@mode/a", LITERAL, "--json")
    assert done[0].startswith(f"{TARGET} (cfg:")
    project.mode("mode/c", "-c", "a.b = c")
    assert buck.query("@mode/c", LITERAL).returncode == 3


def test_where_files_of_arguments_are_looked_for(buck, project):
    project.mode("mode/a", "-m", "//c:x")
    project.mode("mode/o", "-m", "//c:x", cell="other")
    for word in (
        "@mode/a",
        "@//mode/a",
        "@root//mode/a",
        "@app//mode/a",
        "@other//mode/o",
        f"@{project.root}/mode/a",
    ):
        assert "(cfg:" in buck.query(word, LITERAL).stdout, word
    assert "(cfg:" in buck.query("--flagfile", "mode/a", LITERAL).stdout
    assert "(cfg:" in buck.query("@-", LITERAL, stdin="-m\n//c:x\n").stdout
    assert buck.query("--", "@mode/a").returncode == 3
    (project.root / "app").mkdir()
    done = buck.query("@mode/a", LITERAL, cwd=project.root / "app")
    assert "(cfg:" in done.stdout
    assert done.stderr.startswith(
        "WARNING: `@mode/a` was specified, but not found. Using file at `//mode/a`."
    )


def test_a_python_file_is_run(buck, project):
    project.mode(
        "mode/a.py",
        "import os, sys",
        "print('-m')",
        "print('//c:' + sys.argv[-1] + os.environ['BUCK2_ARG_FILE'])",
    )
    assert "(cfg:" in buck.query("@mode/a.py#x", LITERAL).stdout
    project.mode("mode/b.py", "raise SystemExit(1)")
    assert buck.query("@mode/b.py", LITERAL).returncode == 3


# How it behaves


def test_calls_are_written_down(buck, project):
    buck("root", "--kind", "project", cwd=project.root / "other")
    (call,) = project.calls("root")
    assert call["argv"] == ["root", "--kind", "project"]
    assert call["cwd"] == str(project.root / "other")


def test_a_daemon_starts_once(buck, project):
    project.behave("cquery", cold_s=0.3)
    started = time.monotonic()
    done = buck.query(LITERAL)
    assert time.monotonic() - started >= 0.3
    assert done.stderr == "Starting new buck2 daemon...\nConnected to new buck2 daemon.\n"
    assert buck.query(LITERAL).stderr == ""


def test_a_daemon_keeps_the_pipe(buck, project):
    project.behave(
        "root", daemon={"pid_file": str(project.folder / "pid"), "seconds": 600, "own_session": False}
    )
    process = subprocess.Popen(
        [project.bin / "buck2", "root"], cwd=project.root, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.wait(10) == 0
    daemon = int((project.folder / "pid").read_text())
    try:
        assert os.getsid(daemon) == process.pid
        os.set_blocking(process.stdout.fileno(), False)
        assert os.read(process.stdout.fileno(), 4096).decode() == f"{project.root}\n"
        with pytest.raises(BlockingIOError):
            os.read(process.stdout.fileno(), 1)
    finally:
        os.kill(daemon, signal.SIGKILL)
        process.stdout.close()


@pytest.mark.parametrize("code", [*range(1, 12), 12, 130, 141])
def test_exit_codes(buck, project, code):
    project.behave("cquery", exit=code, stdout="", stderr="Command failed: x\n")
    done = buck.query(LITERAL)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "Command failed: x\n")


def test_a_signal(buck, project):
    project.behave("cquery", signal=int(signal.SIGSEGV))
    assert buck.query(LITERAL).returncode == -signal.SIGSEGV


def test_odd_output(buck, project):
    project.behave("cquery", stdout="[1,2,3]", stderr_base64="/w==", stdout_bytes=1000)
    done = subprocess.run([project.bin / "buck2", "cquery", LITERAL], cwd=project.root, capture_output=True)
    assert done.stdout.startswith(b"[1,2,3]")
    assert len(done.stdout) > 1000
    assert done.stderr.endswith(b"\xff")


def test_echoes(buck, project):
    forms = (
        "plain",
        "values",
        "json",
        "json_unicode",
        "json_twice",
        "rust",
        "shell",
        "python",
        "url",
        "indented",
        "upper_key",
    )
    for form in forms:
        project.behave("cquery", echo=[{"to": "stderr", "form": form}, {"to": "error", "form": form}], exit=3)
        done = buck.query("-c", "a.b=secret", "deps(%s)", LITERAL, "--json")
        assert "secret" in done.stderr
        assert "secret" in json.loads(done.stdout)[LITERAL]["$error"]
    assert rust_debug('a"b\\c\n\x07é') == '"a\\"b\\\\c\\n\\u{7}é"'
