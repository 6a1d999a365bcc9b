import json
import os
import resource
import stat
import subprocess
import sys

import pytest

QUICK = ("--section", "python_version")


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_env_json_by_default(cli):
    ran = cli.probe(*QUICK)
    assert (ran.code, ran.out, ran.err) == (0, "", "wrote env.json\n")
    document = json.loads((cli.folder / "env.json").read_text())
    assert document["schema_version"] == "2.0"
    assert document["python_version"] == ".".join(map(str, sys.version_info[:3]))
    assert left(cli.folder) == ["env.json"]


def test_makes_parents_and_keeps_quiet(cli):
    ran = cli.probe(*QUICK, "-o", "a/b/c.json", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert json.loads((cli.folder / "a/b/c.json").read_text())["partial"] is False


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_the_document_alone(cli, name):
    ran = cli.probe(*QUICK, "-o", name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["schema_version"] == "2.0"
    assert left(cli.folder) == []


def test_json_prints_what_is_written(cli):
    ran = cli.probe(*QUICK, "--json", "-o", "x.json")
    assert ran.code == 0
    assert ran.out == (cli.folder / "x.json").read_text()


@pytest.mark.parametrize("words", [["--json"], ["--summary"], ["--field", "python_version"]])
def test_views_write_no_file_without_o(cli, words):
    ran = cli.probe(*QUICK, *words)
    assert ran.code == 0
    assert ran.out
    assert left(cli.folder) == []


def test_field_prints_json(cli):
    ran = cli.probe("--field", "python_version")
    assert (ran.code, ran.out) == (0, f'"{".".join(map(str, sys.version_info[:3]))}"\n')


def test_a_field_that_is_not_there_is_status_1_and_names_its_siblings(cli):
    ran = cli.probe("--field", "pythonversion")
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.lines) == 1
    assert "python_version" in ran.err and "and " in ran.err
    ran = cli.probe("--field", "host.kernel")
    assert ran.code == 1
    assert "kernel_release" in ran.err
    assert 1 <= ran.err.partition("it has")[2].count(",") <= 10


def test_a_null_is_explained_on_standard_error(cli):
    ran = cli.probe("--field", "pytorch_version")
    assert (ran.code, ran.err) == (0, "aorta: null: absent: torch is not installed for this interpreter\n")
    assert cli.probe("--field", "pytorch_version", "--quiet").err == ""


def test_the_reason_of_a_null_is_the_fields_own(cli, recording):
    path = recording(
        {"op": "scan", "path": "/opt/rocm/.info", "entries": []},
        {"op": "read", "path": "/opt/rocm/.info/version", "errno": "EACCES"},
    )
    ran = cli.probe("--replay", path, "--field", "rocm.version")
    assert (ran.code, ran.out, len(ran.lines)) == (0, "null\n", 1)
    assert ran.err.startswith("aorta: null: denied: ")


ACME = '''
from typing import Annotated
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind
from aorta.plugin import collector

@frozen
class X:
    """X."""
    number: Annotated[int | None, Fact("Number.")] = None

@collector(section="acme.x", model=X, provenance=Provenance.PROCESS)
def x(ctx):
    """A number."""
    ctx.note(ReasonKind.DENIED, "number", "not for us", subject="/dev/acme")
    return X()
'''


@pytest.mark.parametrize("path", ["acme.x.number", '["acme.x"].number'])
def test_a_plugins_section_is_found_in_the_extensions(cli, path):
    (cli.folder / "acme.py").write_text(ACME)
    ran = cli.probe("--plugin", "acme", "--field", path)
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    place = 'extensions["acme.x"].data.number'
    assert place in ran.err
    ran = cli.probe("--plugin", "acme", "--field", place, "-o", "x.json")
    assert (ran.code, ran.out) == (0, "null\n")
    assert ran.lines[1:] == ["aorta: null: denied: not for us (/dev/acme)"]
    ran = cli("env", "show", "x.json", "--field", path)
    assert (ran.code, place in ran.err) == (1, True)


def test_field_together_with_a_file_writes_the_whole(cli, recording):
    path = recording({"op": "env", "name": "NCCL_DEBUG", "value": "INFO"})
    ran = cli.probe("--replay", path, "--field", "env_vars.NCCL_DEBUG", "-o", "x.json")
    assert (ran.code, ran.out) == (0, '"INFO"\n')
    records = json.loads((cli.folder / "x.json").read_text())["collection"]["collectors"]
    assert records["rocm"]["status"] != "not_requested"


def test_extended_is_full_detail(cli):
    ran = cli.probe(*QUICK, "-o", "-", "--extended")
    assert ran.json["collection"]["detail"] == "full"


def test_partial_is_said_and_is_status_0_or_3(cli):
    words = (*QUICK, "--expect", "gpu", "-o", "x.json")
    ran = cli.probe(*words)
    assert (ran.code, ran.err) == (0, "wrote x.json (partial: 1 reason)\n")
    ran = cli.probe(*words, "--fail-on-partial")
    assert ran.code == 3
    assert json.loads((cli.folder / "x.json").read_text())["partial"] is True
    assert cli.probe(*QUICK, "--fail-on-partial").code == 0


def test_expect_takes_a_list(cli):
    ran = cli.probe(*QUICK, "--expect", "gpu,torch", "--expect", "rdma", "-o", "-")
    assert [reason["kind"] for reason in ran.json["collection"]["reasons"]].count("expected") == 3


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("x-{host}.json", f"x-{os.uname().nodename}.json"),
        ("x-{node}-{rank}.json", "x-0-0.json"),
        ("{job}.json", "nojob.json"),
        ("a{.json", "a{.json"),
    ],
)
def test_placeholders(cli, name, code):
    assert cli.probe(*QUICK, "-o", name).code == 0
    assert left(cli.folder) == [code]


def test_a_job_id_makes_no_directories(cli):
    assert cli.probe(*QUICK, "-o", "x-{job}.json", env={"TORCHELASTIC_RUN_ID": "../evil/1"}).code == 0
    assert left(cli.folder) == ["x-.._evil_1.json"]


def test_an_unknown_placeholder_lists_the_known(cli):
    ran = cli.probe("-o", "{user}.json")
    assert ran.code == 2
    assert "{host}, {node}, {rank}, {job}" in ran.err


def test_a_file_of_another_host_is_kept(cli, recording):
    def probe(node, *words):
        path = recording(
            {"op": "env", "name": "SLURMD_NODENAME", "value": node},
            {"op": "env", "name": "SLURM_JOB_ID", "value": "7"},
        )
        return cli.probe("--replay", path, "--section", "launcher", "-o", "x.json", *words)

    assert probe("n1").code == 0
    assert json.loads((cli.folder / "x.json").read_text())["launcher"]["node"] == "n1"
    assert probe("n1").code == 0
    ran = probe("n2")
    assert ran.code == 1
    assert ran.lines == [
        "aorta: cannot write x.json: it holds the snapshot of another host; --force replaces it"
    ]
    assert json.loads((cli.folder / "x.json").read_text())["launcher"]["node"] == "n1"
    assert left(cli.folder) == ["host.jsonl", "x.json"]
    assert probe("n2", "--force").code == 0
    assert json.loads((cli.folder / "x.json").read_text())["launcher"]["node"] == "n2"


def test_a_replay_and_a_live_snapshot_do_not_replace_each_other(cli, recording, tools):
    path = tools("hipconfig", "touch ran; exit 1")
    replayed = ("--replay", recording())
    assert cli.probe(*QUICK).code == 0
    before = (cli.folder / "env.json").read_text()
    ran = cli.probe(*replayed)
    assert (ran.code, ran.lines) == (
        1,
        ["aorta: cannot write env.json: it holds the snapshot of a live machine; --force replaces it"],
    )
    assert (cli.folder / "env.json").read_text() == before
    assert cli.probe(*replayed, "--force").code == 0
    ran = cli.probe(env={"PATH": path})
    assert (ran.code, ran.lines) == (
        1,
        ["aorta: cannot write env.json: it holds the snapshot of a replay; --force replaces it"],
    )
    assert left(cli.folder) == ["bin", "env.json", "host.jsonl"]


@pytest.mark.parametrize("content", ["my notes\n", '{"a": 1}', '{"schema_version": "2.0", "host'])
def test_what_is_no_evidence_is_replaced_as_by_any_command(cli, content):
    (cli.folder / "x").write_text(content)
    assert cli.probe(*QUICK, "-o", "x").code == 0
    assert json.loads((cli.folder / "x").read_text())["partial"] is False


def test_a_recording_is_not_replaced_unasked(cli, tools):
    content = '{"recording": 1, "world": "closed"}\n'
    path = tools("hipconfig", "touch ran; exit 1")
    (cli.folder / "x").write_text(content)
    ran = cli.probe("-o", "x", env={"PATH": path})
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write x: it holds a recording; --force replaces it"])
    assert (cli.folder / "x").read_text() == content
    assert left(cli.folder) == ["bin", "x"]
    assert cli.probe(*QUICK, "-o", "x", "--force").code == 0
    assert json.loads((cli.folder / "x").read_text())["partial"] is False


def test_an_empty_file_is_replaced(cli):
    (cli.folder / "x").write_text("")
    assert cli.probe(*QUICK, "-o", "x").code == 0


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_full_disk_leaves_the_old_file_and_nothing_else(cli):
    (cli.folder / "env.json").write_text("old")
    ran = cli.probe(*QUICK, "--force", preexec_fn=limited, covered=False)
    assert ran.code == 1
    assert ran.lines == ["aorta: cannot write env.json: File too large"]
    assert (cli.folder / "env.json").read_text() == "old"
    assert left(cli.folder) == ["env.json"]


def test_what_cannot_be_written_is_said_before_the_capture(cli, tools):
    path = tools("hipconfig", "touch ran; exit 1")
    (cli.folder / "file").write_text("")
    ran = cli.probe("-o", "file/env.json", env={"PATH": path})
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write file/env.json: Not a directory"])
    assert left(cli.folder) == ["bin", "file"]


@pytest.mark.parametrize("name", [".", "bin/..", "x" * 300, "/proc/nowhere/env.json", "/dev/full"])
def test_other_targets_that_cannot_be(cli, tools, name):
    tools("x", "")
    ran = cli.probe(*QUICK, "-o", name)
    assert ran.code == 1
    assert len(ran.lines) == 1 and ran.err.startswith("aorta: cannot write ")
    assert left(cli.folder) == ["bin"]


def test_a_fifo_gets_the_document(cli):
    os.mkfifo(cli.folder / "pipe")
    reader = subprocess.Popen(["cat", cli.folder / "pipe"], stdout=subprocess.PIPE)
    assert cli.probe(*QUICK, "-o", "pipe").code == 0
    assert json.loads(reader.communicate(timeout=20)[0])["schema_version"] == "2.0"
    assert stat.S_ISFIFO((cli.folder / "pipe").stat().st_mode)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("aorta", ("env", "probe", "-o")),
        ("aorta", ("env", "record")),
        ("aorta.instrumentation._probe_main", ()),
    ],
)
def test_a_fifo_that_nobody_reads_is_one_line(cli, module, words):
    os.mkfifo(cli.folder / "pipe")
    ran = cli(*words, "pipe", module=module, env={"PATH": "/nowhere"})
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write pipe: a pipe that nobody reads"])


def test_a_fifo_waits_for_a_reader_that_is_slow(cli):
    os.mkfifo(cli.folder / "pipe")
    reader = subprocess.Popen(
        ["sh", "-c", "exec <pipe; sleep 2; cat"], stdout=subprocess.PIPE, cwd=cli.folder
    )
    assert cli.probe("-o", "pipe", env={"PATH": "/nowhere"}).code == 0
    text = reader.communicate(timeout=20)[0]
    assert len(text) > 1 << 14 and json.loads(text)["schema_version"] == "2.0"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nd/", "Is a directory"),
        ("nd/.", "Is a directory"),
        ("nd/sub/", "Is a directory"),
        ("file/", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("loop/x.json", "Too many levels of symbolic links"),
    ],
)
@pytest.mark.parametrize("module", ["aorta", "aorta.instrumentation._probe_main"])
def test_a_path_that_can_be_no_file(cli, module, name, text):
    (cli.folder / "file").write_text("kept")
    (cli.folder / "loop").symlink_to("loop")
    words = ("env", "probe", *QUICK, "--force", "-o") if module == "aorta" else ()
    ran = cli(*words, name, module=module, env={"PATH": "/nowhere"})
    assert (ran.code, ran.lines) == (1, [f"aorta: cannot write {name}: {text}"])
    assert left(cli.folder) == ["file", "loop"]
    assert (cli.folder / "loop").is_symlink() and (cli.folder / "file").read_text() == "kept"


def test_a_link_is_written_through(cli):
    (cli.folder / "there").mkdir()
    (cli.folder / "env.json").symlink_to("there/real.json")
    assert cli.probe(*QUICK).code == 0
    assert (cli.folder / "env.json").is_symlink()
    assert json.loads((cli.folder / "there/real.json").read_text())["partial"] is False


def test_a_full_standard_output_is_one_line(cli):
    with open("/dev/full", "w") as full:
        ran = cli.probe(*QUICK, "-o", "-", stdout=full)
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write standard output: No space left on device"])


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    [
        "--version",
        "--help",
        "env --help",
        "env probe --help",
        "env show --help",
        "env record --help",
        "env collectors --help",
        "schema --help",
        "schema show --help",
    ],
)
def test_help_that_cannot_be_printed_is_one_line(cli, words, unbuffered):
    with open("/dev/full", "w") as full:
        ran = cli(*words.split(), stdout=full, env={"PYTHONUNBUFFERED": unbuffered})
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write standard output: No space left on device"])


def test_other_words_of_their_own_that_cannot_be_printed(cli):
    with open("/dev/full", "w") as full:
        usage = cli("--help", module="aorta.instrumentation._probe_main", stdout=full)
        completion = cli(stdout=full, env={"_AORTA_COMPLETE": "bash_source"})
    for ran in (usage, completion):
        assert (ran.code, ran.lines) == (1, ["aorta: cannot write standard output: No space left on device"])
    read, write = os.pipe()
    os.close(read)
    for words, module in ((["--help"], "aorta.instrumentation._probe_main"), (["--version"], "aorta")):
        ran = cli(*words, module=module, stdout=write)
        assert (ran.code, ran.err) == (1, "")
    os.close(write)


def test_a_closed_standard_output_is_one_line(cli):
    ran = cli.probe(*QUICK, "-o", "-", stdout=None, preexec_fn=lambda: os.close(1))
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write standard output: Bad file descriptor"])


def test_closed_standard_streams_do_not_become_the_file(cli):
    def close_all():
        for number in range(3):
            os.close(number)

    ran = cli.probe(*QUICK, "-o", "x.json", stdout=None, preexec_fn=close_all)
    assert ran.code == 0
    assert json.loads((cli.folder / "x.json").read_text())["partial"] is False


def test_a_reader_that_leaves_is_no_traceback(cli):
    read, write = os.pipe()
    os.close(read)
    ran = cli.probe(*QUICK, "-o", "-", stdout=write)
    os.close(write)
    assert (ran.code, ran.err) == (1, "")


NOISY = '''
import os, sys
print("hello from the import")
from typing import Annotated
import attrs
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector

@collector(section="acme.noise", model=Annotated[str | None, Fact("Noise.")], provenance=Provenance.PROCESS)
def noise(ctx):
    """Makes noise."""
    print("from python")
    os.write(1, b"from native code\\n")
    os.system("echo from a child")
    return "quiet"
'''


@pytest.mark.parametrize("words", [["-o", "-"], ["--json"], ["--field", 'extensions["acme.noise"].data']])
def test_what_a_plugin_prints_is_not_in_the_document(cli, words):
    (cli.folder / "noisy.py").write_text(NOISY)
    ran = cli.probe("--plugin", "noisy", *words)
    assert ran.code == 0
    assert ran.json == "quiet" or ran.json["extensions"]["acme.noise"]["data"] == "quiet"
    for text in ("hello from the import", "from python", "from native code", "from a child"):
        assert text in ran.err


def test_a_plugin_that_cannot_be_imported_is_status_1(cli):
    ran = cli.probe("--plugin", "no.such.module", "-o", "-")
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.lines) == 1 and "no.such.module" in ran.err


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("noisy.py", "PYTHONPATH=. aorta … --plugin noisy"),
        ("a/b/noisy.py", "PYTHONPATH=a/b aorta … --plugin noisy"),
    ],
)
def test_a_file_in_place_of_a_module(cli, name, command):
    (cli.folder / "noisy.py").write_text("")
    ran = cli.probe("--plugin", name, "-o", "-")
    assert (ran.code, ran.out) == (1, "")
    assert ran.lines == [f"aorta: --plugin {name}: a file, not the name of a module; try: {command}"]


def test_a_plugin_of_the_environment_that_fails_is_told(cli):
    env = {"AORTA_PLUGINS": "no_such_module"}
    ran = cli.probe(*QUICK, "-o", "-", env=env)
    assert (ran.code, len(ran.lines)) == (0, 1)
    assert ran.err.startswith("aorta: the plugin no_such_module is left out: ModuleNotFoundError")
    assert cli.probe(*QUICK, "-o", "-", "--quiet", env=env).err == ""
    ran = cli.probe("--section", "acme.x", "-o", "-", "--quiet", env=env)
    assert (ran.code, len(ran.lines)) == (2, 1)
    assert "no section acme.x" in ran.err and "no_such_module is left out: ModuleNotFoundError" in ran.err
    assert "no_such_module is left out" in cli("env", "record", "x.jsonl", env=env).err


def test_a_plugin_of_an_installed_package_that_fails_is_told(cli):
    folder = cli.folder / "acme-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[aorta.collectors]\nacme = no_such_module\n")
    ran = cli.probe(*QUICK, "-o", "-")
    assert (ran.code, len(ran.lines)) == (0, 1)
    assert ran.err.startswith("aorta: the plugin acme is left out: ModuleNotFoundError")


def test_w30_the_document_says_which_tool_made_it_and_how(cli):
    ran = cli.probe(*QUICK, "-o", "-", "--deadline", "33")
    made = ran.json["collection"]
    import aorta

    assert made["tool"]["name"] == "aorta"
    assert made["tool"]["version"] == aorta.__version__
    assert made["deadline_s"] == 33
    assert made["elapsed_s"] > 0
    assert made["user"] == {"uid": os.getuid(), "root": os.geteuid() == 0}
    assert made["argv"][1:] == ["env", "probe", *QUICK, "-o", "-", "--deadline", "33"]
    assert made["executable"] == sys.executable
    assert made["host_kind"] == "live"
    record = made["collectors"]["python_version"]
    assert record["status"] == "ok" and record["elapsed_s"] > 0 and record["provenance"]


def test_w24_output_is_strict_json(cli):
    plugin = '''
from typing import Annotated
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector

@collector(section="acme.bad", model=Annotated[dict[str, float | str] | None, Fact("Bad.")],
           provenance=Provenance.PROCESS)
def bad(ctx):
    """Gives what JSON has no word for."""
    return {"nan": float("nan"), "surrogate": "\\udcff"}
'''
    (cli.folder / "bad.py").write_text(plugin)
    ran = cli.probe("--plugin", "bad", "-o", "-")

    def refuse(word):
        raise AssertionError(word)

    document = json.loads(ran.out, parse_constant=refuse)
    assert document["extensions"]["acme.bad"]["data"]["nan"] is None
    ran.out.encode("utf-8")
    assert "\\udc" not in ran.out
    kinds = {
        reason["kind"] for reason in document["collection"]["reasons"] if reason["section"] == "acme.bad"
    }
    assert kinds == {"unparsed"}


def test_w25_a_reader_never_sees_half_a_file(cli, environ):
    """Several writers of one file at once: each look at it is a whole document or none."""
    target = cli.folder / "env.json"
    words = [sys.executable, "-m", "aorta", "env", "probe", *QUICK, "-o", str(target)]
    writers = [
        subprocess.Popen(words, env=environ(), stderr=subprocess.PIPE, cwd=cli.folder) for _ in range(6)
    ]
    seen = 0
    while any(writer.poll() is None for writer in writers):
        try:
            text = target.read_text()
        except FileNotFoundError:
            continue
        assert json.loads(text)["schema_version"] == "2.0"
        seen += 1
    assert [writer.wait() for writer in writers] == [0] * 6
    for writer in writers:
        writer.stderr.close()
    assert seen
    assert left(cli.folder) == ["env.json"]


def test_nobody_at_standard_error_is_no_error(cli):
    def close_error():
        os.close(2)

    ran = cli.probe(*QUICK, "-o", "x.json", preexec_fn=close_error)
    assert (ran.code, ran.out) == (0, "")
    assert json.loads((cli.folder / "x.json").read_text())["partial"] is False
    ran = cli.probe("--bogus", preexec_fn=close_error)
    assert (ran.code, ran.out) == (2, "")
    ran = cli.probe("-o", "{user}", preexec_fn=close_error)
    assert (ran.code, ran.out) == (2, "")


@pytest.mark.parametrize("words", [["--section", "host"], ["--no-section", "rocm"]])
def test_a_field_of_a_section_that_does_not_run(cli, words):
    ran = cli.probe("--field", "rocm.version", *words)
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
    assert "rocm" in ran.err
