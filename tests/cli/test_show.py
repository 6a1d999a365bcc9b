import gzip
import json
import os

import pytest

from aorta.cli.field import why_null
from aorta.model.sections import ORDER


@pytest.fixture
def saved(cli, recording):
    path = recording({"op": "env", "name": "HSA_OVERRIDE_GFX_VERSION", "value": "9.4.2"})
    assert cli.probe("--replay", path, "-o", "x.json").code == 0
    return cli.folder / "x.json"


def test_shows_a_summary_by_default(cli, saved):
    ran = cli("env", "show", saved)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == cli("env", "show", saved, "--summary").out
    first, second = ran.out.splitlines()[:2]
    assert first.startswith(("PARTIAL: ", "partial: ")) and first.endswith(", replay of a recording")
    assert second.startswith("! ")
    assert "HSA_OVERRIDE_GFX_VERSION=9.4.2" in ran.out


def test_json_and_field(cli, saved):
    assert cli("env", "show", saved, "--json").out == saved.read_text()
    assert cli("env", "show", saved, "--field", "env_vars.HSA_OVERRIDE_GFX_VERSION").out == '"9.4.2"\n'
    assert cli("env", "show", "-", "--field", "schema_version", stdin=saved.read_text()).out == '"2.0"\n'


def test_a_field_that_is_not_there(cli, saved):
    ran = cli("env", "show", saved, "--field", "rocm.versio")
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert "version" in ran.err
    assert cli("env", "show", saved, "--field", "rocm[").code == 2


def test_old_documents_are_shown_as_they_are(cli):
    text = json.dumps(
        {"schema_version": "1.13", "rocm": {"version": "6.2"}, "partial_reasons": ["nic: no tool"]}
    )
    (cli.folder / "old.json").write_text(text)
    ran = cli("env", "show", "old.json", "--field", "rocm.version")
    assert (ran.code, ran.out) == (0, '"6.2"\n')
    assert ran.lines == ["aorta: note: old.json has schema version 1.13; it is shown as it is"]
    ran = cli("env", "show", "old.json")
    assert ran.code == 0
    assert "! partial: nic: no tool" in ran.out


def test_a_newer_major_version_is_shown_with_a_warning(cli):
    (cli.folder / "new.json").write_text('{"schema_version": "3.0", "rocm": []}')
    ran = cli("env", "show", "new.json")
    assert ran.code == 0
    assert len(ran.lines) == 1 and "3.0" in ran.err and "warning" in ran.err


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "not JSON"),
        (b"[1]", "not an object"),
        (b'{"schema_version": "2.0", "x": NaN}', "NaN"),
        (b'{"schema_version": "2.0"', "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{}", "schema_version"),
        (b'{"schema_version": 2.0}', "schema_version"),
        (b'{"schema_version": "0.9"}', "0.9"),
        (b"[" * 100000, "not JSON"),
    ],
)
def test_what_is_no_snapshot_is_one_line(cli, content, text):
    (cli.folder / "x.json").write_bytes(content)
    ran = cli("env", "show", "x.json")
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert text in ran.err and "x.json" in ran.err


@pytest.mark.parametrize("name", ["nowhere.json", ".", "/proc/self/mem"])
def test_what_cannot_be_read_is_one_line(cli, name):
    ran = cli("env", "show", name)
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert f"cannot read {name}" in ran.err


def test_a_closed_standard_input(cli):
    ran = cli("env", "show", "-", preexec_fn=lambda: os.close(0))
    assert (ran.code, len(ran.lines)) == (1, 1)


def test_output_that_cannot_be_written(cli, saved):
    with open("/dev/full", "w") as full:
        ran = cli("env", "show", saved, stdout=full)
    assert (ran.code, len(ran.lines)) == (1, 1)


def test_a_null_is_explained(cli, saved):
    ran = cli("env", "show", saved, "--field", "rocm.version")
    assert (ran.code, ran.out, len(ran.lines)) == (0, "null\n", 1)
    assert ran.err.startswith("aorta: null: absent: ")
    ran = cli("env", "show", saved, "--field", "env_vars.ROCR_VISIBLE_DEVICES")
    none = "no reason is recorded: nothing was there to tell"
    assert (ran.code, ran.out, ran.err) == (0, "null\n", f"aorta: null: {none}\n")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("miopen.menu.x", "denied: the field's"),
        ("miopen.menu.y", "denied: its parent's"),
        ("miopen.z", "timed_out: the section's"),
        ("nics.ainic.card.asic", "nics.ainic.present is false"),
        ("nics.cx7.firmware", "no reason is recorded: nothing was there to tell"),
        ("collection.z", ""),
    ],
)
def test_a_null_is_explained_by_what_is_nearest(path, why):
    reasons = [
        {"section": "miopen", "field": "menu.x", "kind": "denied", "detail": "the field's"},
        {"section": "miopen", "field": "menu", "kind": "denied", "detail": "its parent's"},
        {"section": "miopen", "field": "", "kind": "timed_out", "detail": "the section's"},
    ]
    nics = {"ainic": {"present": False, "card": {"asic": None}}, "cx7": {"present": True, "firmware": None}}
    told = why_null({"nics": nics, "collection": {"reasons": reasons}}, path)
    assert told == (f"null: {why}" if why else "")
    assert why_null({"nics": nics}, path) == ""


@pytest.mark.parametrize("packed", [False, True])
def test_a_recording_is_no_snapshot(cli, recording, packed):
    path = recording()
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    ran = cli("env", "show", path)
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1)
    assert (
        f"a recording, not a snapshot; look at it with: aorta env probe --replay {path} --summary" in ran.err
    )


@pytest.mark.parametrize(
    ("document", "lacks"),
    [
        ({"schema_version": "2.0"}, ("collection, host, ", " more")),
        ({"schema_version": "2.0", "collection": {}}, ("collection.collectors, host, ", " more")),
        ({"schema_version": "2.0", "collection": None, **dict.fromkeys(ORDER)}, ("collection.collectors",)),
        ({"schema_version": "2.1", "collection": {"collectors": {}}, **dict.fromkeys(ORDER[1:])}, ("host",)),
        ({"schema_version": "1.13"}, ("host, ", " more")),
        ({"schema_version": "3.0"}, ("host, ", " more")),
        ({"schema_version": "1.13", "rocm": None}, ()),
    ],
)
def test_a_document_that_lacks_what_every_snapshot_has(cli, document, lacks):
    ran = cli("env", "show", "-", stdin=json.dumps(document))
    assert ran.code == 0
    lines = [line for line in ran.out.splitlines() if line.startswith("! not a whole snapshot, it lacks ")]
    assert len(lines) == bool(lacks)
    assert ("nothing unusual" in ran.out) == (not lacks)
    for text in lacks:
        assert text in lines[0]


def test_a_reason_of_one_member_of_a_list():
    reasons = [
        {"section": "gpus", "field": "[1].vbios", "kind": "denied", "detail": "of the second"},
        {"section": "gpus", "field": "", "kind": "absent", "detail": "of all"},
    ]
    document = {"gpus": [{"vbios": "x"}, {"vbios": None}], "collection": {"reasons": reasons}}
    assert "of the second" in why_null(document, "gpus[1].vbios")
    assert "of the second" not in why_null(document, "gpus[0].vbios")
    site = [{"section": "a.b", "field": "list[0].c", "kind": "denied", "detail": "so"}]
    extensions = {"extensions": {"a.b": {"data": {"list": [{"c": None}]}}}, "collection": {"reasons": site}}
    assert "denied: so" in why_null(extensions, 'extensions["a.b"].data.list[0].c')
