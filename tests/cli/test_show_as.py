"""``aorta env show --as``: a document in the form of another version."""

import json

import pytest

from aorta.model.downgrade import as_1_17
from tests.parts.old_documents import VERSIONS, old


@pytest.fixture
def saved(cli, recording):
    path = recording({"op": "env", "name": "HSA_OVERRIDE_GFX_VERSION", "value": "9.4.2"})
    assert cli.probe("--replay", path, "-o", "x.json").code == 0
    return cli.folder / "x.json"


def test_as_1_17(cli, saved):
    ran = cli("env", "show", saved, "--as", "1.17")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == as_1_17(json.loads(saved.read_text()))
    assert list(json.loads(ran.out)) == list(old("1.17"))


def test_as_it_stands(cli, saved):
    assert cli("env", "show", saved, "--as", "2.0").out == saved.read_text()
    text = json.dumps({**old("1.17"), "vendor": 1})
    ran = cli("env", "show", "-", "--as", "1.17", stdin=text)
    assert (ran.code, ran.err, json.loads(ran.out)) == (0, "", json.loads(text))


@pytest.mark.parametrize("version", VERSIONS)
def test_as_2_0(cli, version):
    ran = cli("env", "show", "-", "--as", "2.0", stdin=json.dumps(old(version)))
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    assert document["collection"]["upgraded_from"] == old(version)["schema_version"]
    (cli.folder / "new.json").write_text(ran.out)
    shown = cli("env", "show", "new.json")
    assert (shown.code, shown.err) == (0, "")
    assert "not a whole snapshot" not in shown.out
    why = cli("env", "show", "new.json", "--field", "gpus")
    assert (why.out, why.err) == (
        "null\n",
        (
            "aorta: null: not_recorded: recorded since schema 2.0; the document is of "
            f"{old(version)['schema_version']}\n"
        ),
    )


def test_with_a_field_or_a_summary(cli):
    text = json.dumps(old("1.0"))
    ran = cli("env", "show", "-", "--as", "2.0", "--field", "hipblaslt.rocm_release_tweak", stdin=text)
    assert (ran.code, json.loads(ran.out)) == (0, old("1.0")["hipblaslt"]["commit"])
    ran = cli("env", "show", "-", "--as", "2.0", "--summary", stdin=text)
    assert ran.code == 0
    assert ran.out.startswith("PARTIAL: ")


@pytest.mark.parametrize("version", ["1.5", "3.0", "", "2", "1.170"])
def test_another_version_is_misuse(cli, saved, version):
    ran = cli("env", "show", saved, "--as", version)
    assert (ran.code, ran.out) == (2, "")
    assert ran.lines == [f"aorta: --as: no version {version!r}; there are 1.17 and 2.0"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"schema_version": "3.0"}', "schema version 3.0; this aorta reads 1.x and 2.x"),
        ('{"schema_version": "1.17", "rocm": 5}', "expected an object, got an integer @ rocm"),
        ('{"schema_version": "2.0"}', "collection"),
    ],
)
def test_what_cannot_be_read_that_far(cli, text, told):
    ran = cli("env", "show", "-", "--as", "1.17", stdin=text)
    if '"1.17"' in text:
        assert ran.code == 0
        ran = cli("env", "show", "-", "--as", "2.0", stdin=text)
    if '"2.0"' not in text:
        assert (ran.code, ran.out) == (1, "")
    assert told in ran.err


def test_nested_without_end_is_one_line(cli):
    deep = "[" * 900 + "]" * 900
    for text in (
        f'{{"schema_version": "1.9", "system_health": {deep}}}',
        f'{{"schema_version": "2.0", "x": {deep}}}',
    ):
        ran = cli("env", "show", "-", "--as", "1.17", stdin=text)
        assert "Traceback" not in ran.err
