"""``aorta env diff`` as users run it."""

import json
import os
import pty
import subprocess
import sys

import pytest

from tests.cli.conftest import clean_environ
from tests.hosts.test_hosts import recording as host_recording

KEYS = ["a", "b", "triage", "differences", "informational", "unknown", "views"]
ROW = {"path", "section", "weight", "a", "b", "why_a", "why_b", "note", "members", "provenance", "other_view"}
TRIAGE = ("runtime_context.type", "container_detected", "probe_namespace", "amdgpu_driver.kfd_device_present")
B, OTHER = "b-mi300x-docker-rocm720", "o-mi325x-docker-rocm720-host701"


@pytest.fixture
def saved(cli, recording):
    """Return a function that writes the snapshot of a small host with these variables."""

    def save(name, **variables):
        accesses = [{"op": "env", "name": key, "value": value} for key, value in variables.items()]
        assert cli.probe("--replay", recording(*accesses), "-o", name, "--force").code == 0
        return name

    return save


def changed(cli, name, change):
    document = json.loads((cli.folder / name).read_text())
    change(document)
    (cli.folder / f"changed-{name}").write_text(json.dumps(document))
    return f"changed-{name}"


def test_two_captures_of_this_machine_have_no_difference(cli):
    for name in ("one.json", "two.json"):
        assert cli.probe("-o", name).code == 0
    ran = cli("env", "diff", "one.json", "two.json", "--exit-code", "--all")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == "0 differences, 0 informational, 0 unknown on one side"
    for path in TRIAGE:
        [line] = [line for line in ran.out.splitlines() if line.startswith(f"  {path} ")]
        assert line.endswith("  same")


def test_two_recorded_hosts(cli):
    for name in (B, OTHER):
        assert cli.probe("--replay", host_recording(name), "-o", f"{name[0]}.json").code == 0
    ran = cli("env", "diff", "b.json", "o.json")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("A  b.json: schema 2.0, rank 3, ")
    assert lines[1].startswith("B  o.json: schema 2.0, ")
    headings = [line for line in lines if line and not line.startswith((" ", "A  ", "B  "))]
    assert headings[-2:-1] == ["*  of the lists only what the other side does not have"]
    assert headings[:-2] == [
        "triage",
        "machine",
        "driver",
        "rocm",
        "libraries",
        "kernels",
        "torch",
        "network",
        "variables",
        "other",
        "informational",
    ]
    assert lines[4].split() == ["path", "A", "B", "verdict", "note"]
    titles = [line for line in lines if line.startswith("  path ")][1:]
    assert all(line.split() == ["path", "A", "B", "evidence", "note"] for line in titles)
    [line] = [line for line in lines if line.startswith("  amdgpu_driver.kmd_version ")]
    assert line.split()[:4] == ["amdgpu_driver.kmd_version", "6.8.5", "6.14.14", "host_kernel"]
    assert line.endswith("  also amdgpu_driver.loaded_version, rocm.kmd_version")
    marked = [line.split() for line in lines if line.startswith("  miopen_catalog.menu.gfx_arch_coverage ")]
    assert [line[3:5] for line in marked] == [["filesystem", "*;"]]
    [line] = [line for line in lines if line.startswith("  env_vars.NCCL_NET_PLUGIN ")]
    assert line.split() == ["env_vars.NCCL_NET_PLUGIN", "librccl-net.so", "not", "set", "process"]
    assert "unknown on one side (--all lists them)" in lines[-1]
    everything = cli("env", "diff", "b.json", "o.json", "--all").out
    assert "? not_requested: the launcher did not set AORTA_DOCKER_" in everything
    assert "…" not in everything.replace("…  ", ""), "nothing but digests is cut where no terminal is"
    assert cli("env", "diff", "b.json", "o.json", "--exit-code").code == 1
    assert cli("env", "diff", "b.json", "b.json", "--exit-code").code == 0


def test_the_same_host_as_1x(cli):
    assert cli.probe("--replay", host_recording(B), "-o", "b.json").code == 0
    (cli.folder / "old.json").write_text(cli("env", "show", "b.json", "--as", "1.17").out)
    for pair in (("b.json", "old.json"), ("old.json", "b.json"), ("old.json", "old.json")):
        ran = cli("env", "diff", *pair, "--exit-code")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.splitlines()[-1].startswith("0 differences, 0 informational, ")
    assert "B  old.json: schema 1.17, " in cli("env", "diff", "b.json", "old.json").out


def test_the_json_has_always_the_same_keys(cli, saved):
    one, other = (
        saved("one.json", NCCL_DEBUG="INFO", LD_LIBRARY_PATH="/a"),
        saved("two.json", LD_LIBRARY_PATH="/a/"),
    )
    found = cli("env", "diff", one, other, "--json").json
    assert list(found) == KEYS
    assert [row["path"] for row in found["triage"]] == list(TRIAGE)
    assert all(set(row) == {"path", "a", "b", "verdict", "why"} for row in found["triage"])
    [row] = found["differences"]
    assert set(row) == ROW
    assert (row["path"], row["a"], row["b"]) == ("env_vars.NCCL_DEBUG", "INFO", None)
    assert (row["weight"], row["provenance"], row["other_view"]) == ("variables", ["process"], False)
    assert [row["path"] for row in found["informational"]] == ["env_vars.LD_LIBRARY_PATH"]
    assert found["views"] == {"a": "direct", "b": "direct", "differ": False, "note": None}
    assert (found["a"]["file"], found["a"]["schema_version"], found["a"]["host_kind"]) == (
        one,
        "2.0",
        "replay",
    )
    equal = cli("env", "diff", one, one, "--json").json
    assert list(equal) == KEYS
    assert equal["differences"] == equal["unknown"] == []


def test_unknown_rows_say_which_side(cli, saved):
    one = saved("one.json", NCCL_DEBUG="INFO")

    def fail(document):
        document["env_vars"] = dict.fromkeys(document["env_vars"])
        document["collection"]["collectors"]["env_vars"]["status"] = "timed_out"

    found = cli("env", "diff", one, changed(cli, one, fail), "--json").json
    [row] = found["unknown"]
    assert set(row) == ROW | {"side"}
    assert (row["path"], row["side"]) == ("env_vars", "b")
    assert found["differences"] == []


def test_sections(cli, saved):
    one, other = saved("one.json", NCCL_DEBUG="INFO", HSA_XNACK="1"), saved("two.json")
    assert cli("env", "diff", one, other, "--section", "env_vars", "--exit-code").code == 1
    ran = cli("env", "diff", one, other, "--section", "rocm,hip", "--section", "host", "--exit-code")
    assert (ran.code, "env_vars" in ran.out) == (0, False)
    assert "container_detected" in ran.out
    for words, hint in (
        ("rokm", "did you mean rocm?"),
        ("env", "did you mean env_vars?"),
        ("zzzz", "documents"),
        (",", ""),
    ):
        ran = cli("env", "diff", one, other, "--section", words)
        assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
        assert ran.err.strip().endswith(hint)


def test_standard_input_once(cli, saved):
    one = saved("one.json")
    text = (cli.folder / one).read_text()
    for pair in (("-", one), (one, "-")):
        ran = cli("env", "diff", *pair, stdin=text)
        assert (ran.code, ran.err) == (0, "")
    ran = cli("env", "diff", "-", "-", stdin=text)
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
    assert cli("env", "diff", one).code == 2


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"", "not JSON"), (b"[1]", "not an object"), (b"{}", "schema_version"), (b"\xff", "not UTF-8")],
)
def test_what_is_no_snapshot_is_one_line(cli, saved, content, text):
    one = saved("one.json")
    (cli.folder / "x.json").write_bytes(content)
    for pair in ((one, "x.json"), ("x.json", one)):
        ran = cli("env", "diff", *pair)
        assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
        assert text in ran.err and "x.json" in ran.err
    assert cli("env", "diff", one, "none.json").code == 1


def test_a_recording_is_told(cli, saved, recording):
    one = saved("one.json")
    ran = cli("env", "diff", one, recording())
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert "a recording, not a snapshot" in ran.err


def test_a_newer_major_version_is_compared_with_a_warning(cli, saved):
    one = saved("one.json", NCCL_DEBUG="INFO")
    newer = changed(cli, one, lambda document: document.update(schema_version="3.0"))
    ran = cli("env", "diff", one, newer, "--exit-code")
    assert ran.code == 0
    assert len(ran.lines) == 1 and "3.0" in ran.err and "warning" in ran.err


def test_a_newer_minor_version_is_compared(cli, saved):
    one = saved("one.json")
    newer = changed(cli, one, lambda document: document.update(schema_version="2.9", news={"x": 1}))
    found = cli("env", "diff", one, newer, "--json").json
    assert [row["path"] for row in found["unknown"]] == ["news"]
    assert found["b"]["note"] is None


@pytest.mark.parametrize("version", ["2.0", "1.13"])
def test_a_document_that_does_not_load_is_compared_as_it_stands(cli, saved, version):
    one = saved("one.json")

    def break_it(document):
        document.update(schema_version=version, rocm={"version": 7}, gpus="many", hip=[])
        document["collection"]["reasons"] = 1

    broken = changed(cli, one, break_it)
    ran = cli("env", "diff", one, broken, "--json")
    assert ran.code == 0
    assert [line for line in ran.lines if "compared as it stands" in line] == ran.lines
    assert len(ran.lines) == 1
    assert "compared as it stands" in ran.json["b"]["note"]


def test_a_workload_and_a_client_are_two_views(cli, saved):
    one = saved("one.json", NCCL_DEBUG="INFO")

    def workload(document):
        document["execution_context"]["probe_invocation"] = "buck2_action"
        document["env_vars"]["NCCL_DEBUG"] = None

    other = changed(cli, one, workload)
    ran = cli("env", "diff", one, other)
    assert "~  direct and workload: a difference proves nothing about the job" in ran.out
    assert "  ~ env_vars.NCCL_DEBUG" in ran.out
    found = cli("env", "diff", one, other, "--json").json
    assert found["views"]["differ"] and all(row["other_view"] for row in found["differences"])


def test_what_a_machine_says_cannot_write_to_the_terminal(cli, saved):
    one = saved("one.json", NCCL_DEBUG="INFO")

    def hostile(document):
        document["env_vars"]["NCCL_DEBUG"] = "\x1b[31m[bold]x\n\x07" + "y" * 5000
        document["launcher"]["node"] = "\x1b]0;t\x07"
        document["env_vars"]["NCCL_\x1b[0m"] = "1"

    ran = cli("env", "diff", one, changed(cli, one, hostile))
    assert ran.code == 0
    assert "\x1b" not in ran.out and "\x07" not in ran.out
    assert max(map(len, ran.out.splitlines())) < 600


def test_long_values_show_where_they_differ(cli, saved):
    common = "/opt/" + "x" * 100
    one, other = (
        saved("one.json", NCCL_NET_PLUGIN=f"{common}/a.so"),
        saved("two.json", NCCL_NET_PLUGIN=f"{common}/b.so"),
    )
    [line] = [line for line in cli("env", "diff", one, other).out.splitlines() if "NCCL_NET_PLUGIN" in line]
    assert "/a.so" in line and "/b.so" in line


def test_a_terminal_gets_a_table(cli, saved):
    one, other = saved("one.json", NCCL_DEBUG="[bold]INFO"), saved("two.json")
    leader, follower = pty.openpty()
    command = [sys.executable, "-W", "error", "-m", "aorta", "env", "diff", one, other]
    env = clean_environ(TERM="xterm", COLUMNS="120")
    running = subprocess.Popen(command, cwd=cli.folder, env=env, stdout=follower, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert running.wait() == 0
    os.close(leader)
    text = shown.decode()
    assert "\x1b[" in text
    assert "env_vars.NCCL_DEBUG" in text and "[bold]INFO" in text and "not set" in text
    assert "1 difference" in text


def test_a_reader_that_leaves_is_no_error(cli, saved):
    one = saved("one.json")
    command = f"{sys.executable} -m aorta env diff {one} {one} --json | head -c 1"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=cli.folder,
        env=clean_environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("{", "")


def test_nothing_is_imported_that_a_plain_comparison_does_not_need(cli, saved):
    one = saved("one.json")
    code = (
        "import sys\nfrom aorta.cli import main\n"
        f"try:\n    main(['env', 'diff', {one!r}, {one!r}])\n"
        "except SystemExit:\n    pass\nprint('rich' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cli.folder,
        env=clean_environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip().endswith("False")
