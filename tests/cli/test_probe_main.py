import json
import os

import pytest

MODULE = "aorta.instrumentation._probe_main"
FORBIDDEN = ("click", "rich", "yaml")


@pytest.mark.parametrize(
    "words",
    [
        ["--bogus"],
        ["-x"],
        ["--extended=1"],
        ["a.json", "b.json"],
        [""],
        ["--execution-context"],
        ["--execution-context", "guess"],
        ["--execution-context=guess"],
        ["--summary", "x.json"],
    ],
)
def test_w26_arguments_that_cannot_be_meant_are_status_2_and_no_file(cli, words):
    ran = cli(*words, module=MODULE)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("usage: ")
    assert len(ran.lines) == 2
    assert list(cli.folder.iterdir()) == []


def test_standard_output_is_the_default(cli):
    ran = cli(module=MODULE, env={"PATH": "/nowhere"})
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["schema_version"] == "2.0"
    assert list(cli.folder.iterdir()) == []


def test_options_and_a_file(cli):
    ran = cli(
        "--extended", "--execution-context", "buck2_run", "a/x.json", module=MODULE, env={"PATH": "/nowhere"}
    )
    assert (ran.code, ran.out) == (0, "")
    document = json.loads((cli.folder / "a/x.json").read_text())
    assert document["collection"]["detail"] == "full"
    assert document["execution_context"]["probe_invocation"] == "buck2_run"


def test_a_name_that_begins_with_a_dash(cli):
    assert (
        cli("--execution-context=direct", "--", "--x.json", module=MODULE, env={"PATH": "/nowhere"}).code == 0
    )
    assert (cli.folder / "--x.json").exists()


def test_the_same_bytes_as_the_command_line(cli, recording):
    def stripped(text):
        document = json.loads(text)
        document.pop("collection"), document.pop("captured_at")
        return json.dumps(document, indent=2)

    env = {"PATH": "/nowhere"}
    one, other = cli(module=MODULE, env=env), cli.probe("-o", "-", env=env)
    assert stripped(one.out) == stripped(other.out)
    assert one.out.endswith("}\n") and one.out.startswith('{\n  "schema_version"')


def test_help(cli):
    ran = cli("--help", module=MODULE)
    assert ran.code == 0
    assert ran.out.startswith("usage: python -m aorta.instrumentation._probe_main")


def test_junk_deadline(cli):
    ran = cli(module=MODULE, env={"AORTA_DEADLINE_S": "soon"})
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)


def test_free_of_what_the_command_line_needs(cli):
    code = (
        "import sys, runpy\n"
        f"class Absent:\n    def find_spec(self, name, *_):\n        if name.split('.')[0] in {FORBIDDEN!r}: raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        f"sys.argv = ['x', 'x.json']\nrunpy.run_module({MODULE!r}, run_name='__main__')\n"
    )
    (cli.folder / "without.py").write_text(code)
    ran = cli(module="without", env={"PATH": "/nowhere"})
    assert (ran.code, ran.err) == (0, "")
    assert json.loads((cli.folder / "x.json").read_text())


def test_an_internal_error_is_one_line(cli):
    code = (
        "import aorta.instrumentation.environment as environment\n"
        "from aorta.instrumentation import _probe_main\n"
        "def capture(**_): raise KeyError('surprise')\n"
        "environment.capture = capture\n"
        "_probe_main.main(['-'])\n"
    )
    (cli.folder / "broken.py").write_text(code)
    ran = cli(module="broken")
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert "KeyError" in ran.err
    assert "Traceback" in cli(module="broken", env={"AORTA_DEBUG": "1"}).err


def test_a_reader_that_left(cli):
    read, write = os.pipe()
    os.close(read)
    ran = cli(module=MODULE, stdout=write, env={"PATH": "/nowhere"})
    os.close(write)
    assert (ran.code, ran.err) == (1, "")
