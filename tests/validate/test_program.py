"""The command and the script of the checkout: the same lines and the same exit status, from anywhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from aorta.validate.rules import RULES
from tests.parts.pairs import client, old_client, old_workload, save, workload

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "validate_buck_env_pair.py"


def environ():
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AORTA", "PYTHON"))}
    return {**kept, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "collectors")))}


def ran(command, folder, words, **options):
    options = {"text": True, "capture_output": True, "timeout": 50, "check": False, **options}
    return subprocess.run([*map(str, command), *map(str, words)], cwd=folder, env=environ(), **options)


def command(folder, *words, **options):
    return ran([sys.executable, "-W", "error", "-m", "aorta", "validate", "pair"], folder, words, **options)


def script(folder, *words, **options):
    return ran([sys.executable, "-I", "-S", "-W", "error", SCRIPT], folder, words, **options)


@pytest.fixture
def files(tmp_path):
    save(
        tmp_path,
        client=client(),
        w0=workload(),
        w1=workload(rank=1),
        odd=workload({"rocm.version": "6.4.0"}, rank=2),
        bad=workload({"python_version": None}, rank=3),
        old=old_workload(),
        old_client=old_client(),
        empty="",
        deep='{"schema_version":' * 100_000,
        other='{"name": "x"}',
        partial=workload({"partial_reasons": ["rocm: denied\n\x1b[31m", "gpu: \ud800"]}, rank=4),
    )
    (tmp_path / "recording.jsonl").write_text('{"recording": 1}\n{"op": "env"}\n')
    return tmp_path


CALLS = {
    "clean": ("client.json w0.json", 0),
    "several": ("client.json w0.json w1.json odd.json", 0),
    "strict": ("--strict client.json w0.json w1.json odd.json", 1),
    "old": ("old_client.json old.json", 0),
    "mixed": ("old_client.json w0.json old.json", 0),
    "swapped": ("w0.json client.json", 1),
    "error": ("client.json bad.json w0.json", 1),
    "unreadable": ("client.json none.json . empty.json deep.json", 1),
    "other": ("other.json recording.jsonl", 1),
    "partial": ("client.json partial.json", 0),
    "required": ("client.json w0.json --require-library rccl --require-library hipblaslt", 0),
    "not there": ("client.json w0.json --require-library nothing", 1),
    "twice": ("client.json w0.json ./w0.json", 0),
    "json": ("--json client.json w0.json odd.json bad.json", 1),
    "interleaved": ("client.json --allow-unisolated-action w0.json --strict w1.json", 0),
}


@pytest.mark.parametrize("call", CALLS)
def test_command_and_script_agree(files, call):
    words, status = CALLS[call]
    one, other = command(files, *words.split()), script(files, *words.split())
    assert (one.returncode, one.stdout, one.stderr) == (other.returncode, other.stdout, other.stderr)
    assert one.returncode == status
    assert "Traceback" not in one.stderr
    if call == "json":
        assert one.stderr == ""
        assert json.loads(one.stdout)["verdict"] == "fail"
        return
    [line] = one.stdout.splitlines()
    assert line.startswith("FAIL: " if status else "PASS: ")
    for found in one.stderr.splitlines():
        assert found.split(": ")[0] in ("ERROR", "WARNING")
        assert found.isprintable()


@pytest.mark.parametrize(
    "words", ["", "client.json", "--bogus client.json w0.json", "- -", "client.json - -", "client.json w0.json --junit",
              "--require-library= client.json w0.json", "--strict=1 client.json w0.json", "--str client.json w0.json",
              "--require-library pytorch,rccl client.json w0.json", "client.json w0.json --json --junit -"],
)  # fmt: skip
def test_misuse(files, words):
    for run in (command, script):
        done = run(files, *words.split(), stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr and "Traceback" not in done.stderr


def test_a_clean_pair_is_one_line(files):
    done = command(files, "client.json", "w0.json")
    assert done.stderr == ""
    assert (
        done.stdout
        == "PASS: client.json, w0.json: 0 errors, 0 warnings; namespace different; host different\n"
    )


def test_the_standard_input_is_a_file(files):
    data = (files / "w0.json").read_text()
    for run in (command, script):
        done = run(files, "client.json", "-", input=data)
        assert (done.returncode, done.stderr) == (0, "")
        assert "standard input" in done.stdout
        assert run(files, "-", "w0.json", input="").returncode == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="<() is bash's")
def test_a_shells_pipe_is_a_file(files):
    words = f"{sys.executable} -I -S {SCRIPT} client.json <(sleep 0.2; cat w0.json)"
    done = ran(["bash", "-c", words], files, [])
    assert (done.returncode, done.stderr) == (0, "")


def test_from_a_bare_checkout(files):
    """A copy with nothing built, an interpreter without packages, another directory, a link, read-only."""
    copy = files / "checkout"
    for name in ("aorta", "scripts"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (files / "link.py").symlink_to(copy / "scripts" / SCRIPT.name)
    before = sorted(copy.rglob("*"))
    for program in (copy / "scripts" / SCRIPT.name, files / "link.py"):
        for flags in (["-I", "-S"], ["-I"], []):
            bare = {"PATH": os.environ["PATH"]}
            done = subprocess.run(
                [sys.executable, *flags, str(program), "client.json", "w0.json", "odd.json"],
                cwd=files,
                env=bare,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert "odd.json" in done.stderr
    assert sorted(copy.rglob("*")) == before, "the checkout is left as it is"


def test_the_package_is_of_the_standard_library():
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import aorta.validate.program, aorta.validate.rules\n"
        "own = {name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)\n"
        "print(sorted(own), sorted(name for name in sys.modules if name.startswith('aorta.') and 'validate' not in name))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    modules = [
        "aorta.model",
        *(f"aorta.model.{name}" for name in ("document", "identity", "text", "vocabulary")),
    ]
    assert done.stdout == f"['__main__', 'aorta'] {modules}\n"


def test_nobody_reads_the_output(files):
    for run in (command, script):
        reading, writing = os.pipe()
        os.close(reading)
        done = run(
            files, "client.json", "w0.json", capture_output=False, stdout=writing, stderr=subprocess.PIPE
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (1, "")
        with open("/dev/full", "w") as full:
            done = run(
                files, "client.json", "w0.json", capture_output=False, stdout=full, stderr=subprocess.PIPE
            )
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1 and "standard output" in done.stderr


def test_an_ascii_terminal(files):
    words = ["client.json", "w\u00e9.json"]
    (files / "w\u00e9.json").write_text((files / "partial.json").read_text())
    for flag in ("utf-8", "ascii"):
        env = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": flag, "LC_ALL": "C"}
        done = subprocess.run(
            [sys.executable, "-S", SCRIPT, *words], cwd=files, env=env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr


def test_json(files):
    document = json.loads(
        command(files, "--json", "client.json", "w0.json", "odd.json", "--require-library", "rccl").stdout
    )
    assert document["format"] == "aorta-validate-pair/1"
    assert (document["verdict"], document["errors"], document["warnings"]) == ("pass", 0, 1)
    assert (document["client"], document["workloads"]) == ("client.json", ["w0.json", "odd.json"])
    [finding] = document["findings"]
    assert set(finding) == {"severity", "rule", "files", "text", "way_out"}
    assert finding["rule"] == "job.rocm"
    assert {one["workload"]: one["namespace"]["relation"] for one in document["relations"]} == {
        "w0.json": "different",
        "odd.json": "different",
    }
    assert {one["host"]["relation"] for one in document["relations"]} == {"different"}
    assert document["libraries"][0]["library"] == "pytorch"
    assert document["not_asked"] == []
    document = json.loads(command(files, "--json", "client.json", "empty.json").stdout)
    assert "workload.schema" in document["not_asked"] and "client.schema" not in document["not_asked"]


def cases(path):
    suite = ET.parse(path).getroot().find("testsuite")
    kinds = {}
    for case in suite.findall("testcase"):
        kinds[case.get("name")] = [child.tag for child in case]
    assert int(suite.get("tests")) == len(kinds) == len(RULES)
    assert int(suite.get("failures")) == sum("failure" in tags for tags in kinds.values())
    assert int(suite.get("skipped")) == sum("skipped" in tags for tags in kinds.values())
    return kinds


@pytest.mark.parametrize("run", [command, script])
def test_junit(files, run):
    report = files / "report.xml"
    assert run(files, "client.json", "w0.json", "odd.json", "--junit", "report.xml").returncode == 0
    kinds = cases(report)
    assert kinds["job.rocm"] == ["system-out"]
    assert {name: tags for name, tags in kinds.items() if tags and name != "job.rocm"} == {}
    assert (
        run(files, "client.json", "w0.json", "odd.json", "--strict", "--junit", "report.xml").returncode == 1
    )
    assert cases(report)["job.rocm"] == ["failure"]
    assert run(files, "client.json", "empty.json", "--junit", "report.xml").returncode == 1
    kinds = cases(report)
    assert kinds["file.readable"] == ["failure"] and kinds["workload.schema"] == ["skipped"]
    assert run(files, "client.json", "partial.json", "--junit", "report.xml").returncode == 0
    assert "\\x1b[31m" in report.read_text() or "denied" in report.read_text()
    assert not list(files.glob(".aorta-*"))


@pytest.mark.parametrize("run", [command, script])
def test_a_report_on_the_standard_output(files, run):
    done = run(files, "client.json", "bad.json", "--junit", "-")
    assert done.returncode == 1
    (files / "seen.xml").write_text(done.stdout)
    assert cases(files / "seen.xml")["workload.python_version"] == ["failure"]
    assert done.stderr.splitlines()[-1].startswith("FAIL: client.json, bad.json: ")
    assert not (files / "-").exists()


@pytest.mark.parametrize("run", [command, script])
def test_another_host_has_other_packages(files, run):
    alternates = [{"name": "hipblaslt", "source": "package", "package_version": "0.1"}]
    save(files, remote=client({"library_introspection_alternates": alternates}))
    done = run(files, "--strict", "remote.json", "w0.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("; host different; another hipblaslt beside the client\n")


@pytest.mark.parametrize("run", [command, script])
def test_a_report_that_cannot_be_written(files, run):
    before = (files / "w1.json").read_bytes()
    for place in ("none/report.xml", ".", "w1.json", "client.json"):
        done = run(files, "client.json", "w0.json", "--junit", place)
        assert done.returncode == 1
        [line] = done.stderr.splitlines()
        assert line.startswith(f"ERROR: {place}: cannot be written: ")
    assert (files / "w1.json").read_bytes() == before
    assert not list(files.glob(".aorta-*"))
    done = run(files, "client.json", "w0.json", "--junit", "/dev/stderr")
    assert done.returncode == 0 and done.stderr.startswith("<testsuites>")


def test_old_interpreters_are_told():
    text = SCRIPT.read_text()
    head = text[: text.index("from aorta")]
    code = "import sys\nsys.version_info = (3, 9)\n" + head
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "validate_buck_env_pair.py needs Python 3.10 or newer\n")
