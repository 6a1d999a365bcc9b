import json

import pytest

HEADER = {
    "recording": 1,
    "aorta": "0",
    "created": "2026-01-01T00:00:00Z",
    "world": "closed",
    "redacted": True,
}


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_record_and_replay_give_the_same(cli, tools):
    path = tools(
        "hipconfig",
        'case "$1" in --version) echo 6.2.41133-dd7f95766;; --platform) echo amd;; *) exit 1;; esac',
    )
    ran = cli("env", "record", "a/host.jsonl", env={"PATH": path})
    assert (ran.code, ran.out, len(ran.lines)) == (0, "", 1)
    header, *accesses = lines_of(cli.folder / "a" / "host.jsonl")
    assert ran.lines == [f"wrote a/host.jsonl: {len(accesses)} accesses"]
    assert header["world"] == "accesses"
    assert sorted(entry.name for entry in (cli.folder / "a").iterdir()) == ["host.jsonl"]
    document = cli.probe("--replay", "a/host.jsonl", "-o", "-").json
    assert document["collection"]["host_kind"] == "replay"
    assert document["hip"]["version"] == "6.2.41133-dd7f95766"
    assert document["collection"]["argv"] is None
    assert not [reason for reason in document["collection"]["reasons"] if reason["kind"] == "not_recorded"]


def test_a_replay_does_not_touch_this_machine(cli, recording, tools):
    path = tools("hipconfig", f"touch {cli.folder}/ran; exit 1")
    replayed = recording({"op": "read", "path": "/sys/module/amdgpu/version", "text": "6.8.5\n"})
    ran = cli.probe("--replay", replayed, "-o", "-", env={"PATH": path, "HSA_OVERRIDE_GFX_VERSION": "9.9.9"})
    assert ran.code == 0
    assert ran.json["amdgpu_driver"]["loaded_version"] == "6.8.5"
    assert ran.json["env_vars"]["HSA_OVERRIDE_GFX_VERSION"] is None
    assert not (cli.folder / "ran").exists()


def test_a_recording_that_cannot_be_written(cli):
    (cli.folder / "file").write_text("")
    ran = cli("env", "record", "file/x.jsonl")
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write file/x.jsonl: Not a directory"])
    ran = cli("env", "record", "/dev/full")
    assert (ran.code, ran.lines) == (1, ["aorta: cannot write /dev/full: No space left on device"])


def test_a_quiet_recording(cli, tools):
    ran = cli(
        "env", "record", "x.jsonl", "--quiet", "--extended", "--deadline", "30", env={"PATH": "/nowhere"}
    )
    assert (ran.code, ran.err) == (0, "")
    assert len(lines_of(cli.folder / "x.jsonl")) > 10


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "recording"),
        (b"{}\n", "recording"),
        (b"not json\n", "x.jsonl"),
        (b'{"recording": 99, "world": "closed"}\n', "x.jsonl"),
        (json.dumps(HEADER).encode() + b"\nnot json\n", "x.jsonl"),
        (json.dumps(HEADER).encode() + b'\n{"op": "dance"}\n', "x.jsonl"),
        (b"\xff\xfe\n", "x.jsonl"),
    ],
)
def test_what_is_no_recording_is_one_line(cli, content, text):
    (cli.folder / "x.jsonl").write_bytes(content)
    ran = cli.probe("--replay", "x.jsonl", "-o", "-")
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert text in ran.err


def test_a_recording_that_is_not_there(cli):
    ran = cli.probe("--replay", "x.jsonl")
    assert (ran.code, len(ran.lines)) == (1, 1)
    assert "x.jsonl" in ran.err
    assert list(cli.folder.iterdir()) == []


def test_a_snapshot_is_no_recording(cli):
    assert cli.probe("--section", "python_version", "-o", "x.json").code == 0
    ran = cli.probe("--replay", "x.json", "-o", "-")
    assert (ran.code, ran.out) == (1, "")
    assert ran.lines == ["aorta: x.json: a snapshot, not a recording; look at it with: aorta env show x.json"]


def test_only_a_recording_is_replaced_by_one(cli, recording):
    assert cli.probe("--section", "python_version", "-o", "x.json").code == 0
    env = {"PATH": "/nowhere"}
    before = (cli.folder / "x.json").read_text()
    ran = cli("env", "record", "x.json", env=env)
    assert (ran.code, ran.lines) == (
        1,
        ["aorta: cannot write x.json: it holds a snapshot; --force replaces it"],
    )
    assert (cli.folder / "x.json").read_text() == before
    (cli.folder / "notes").write_text("my notes")
    for path in ("notes", recording()):
        assert cli("env", "record", path, env=env).code == 0
    assert cli("env", "record", "x.json", "--force", env=env).code == 0
    assert lines_of(cli.folder / "x.json")[0]["world"] == "accesses"
