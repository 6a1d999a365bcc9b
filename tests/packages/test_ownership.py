"""Which distribution a module belongs to: RECORD, editable installs, metadata without a RECORD."""

import errno
import json

import pytest

from aorta.testing import Distribution, FakeHost, collect
from aorta_collectors.packages import ownership
from aorta_collectors.packages.ownership import lists, parse_record

SITE = "/venv/lib/python3.11/site-packages"
ORIGIN = f"{SITE}/torchrec/__init__.py"
INFO = f"{SITE}/torchrec-1.8.0.dist-info"


def url(url, editable=True, **more):
    return json.dumps({"url": url, "dir_info": {"editable": editable}, **more})


def claim(files, *, path=INFO, direct_url=None, origin=ORIGIN, others=()):
    host = FakeHost(
        files={ORIGIN: "", f"{SITE}/torchrec/version.py": "__version__ = '1.8.0'\n", **files},
        modules={"torchrec": origin},
        distributions={
            "torchrec": Distribution(
                name="torchrec", version="1.8.0", path=path, direct_url=direct_url, others=others
            )
        },
    )
    return collect(host, "torchrec")


def claims(files, **more):
    return [provider["claim"] for provider in claim(files, **more).value["providers"]]


@pytest.mark.parametrize(
    "record",
    [
        "torchrec/__init__.py,sha256=x,996\n",
        "torchrec/__init__.py,,",
        "torchrec/__init__.py,,\r\n",
        '"torchrec/__init__.py",,\n',
        "a.py,,\ntorchrec/__init__.py,,\n",
        f"{ORIGIN},,\n",
        "../site-packages/torchrec/__init__.py,,\n",
        "./torchrec/__init__.py,,\n",
        "torchrec/types.py,,\n",
        'torchrec/"",a.py,,\n"torchrec/a"",b.py",,\n',
    ],
)
def test_a_record_that_lists_it(record):
    assert claims({f"{INFO}/RECORD": record}) == ["record"]


@pytest.mark.parametrize(
    "record",
    ["", "\n", "torchrec_extra/__init__.py,,\n", "../torchrec/__init__.py,,\n", "torchrec,,\n",
     "/elsewhere/torchrec/__init__.py,,\n", "__editable__.torchrec-1.8.0.pth,,\n", '"torchrec/__init__.py'],
)  # fmt: skip
def test_a_record_that_does_not(record):
    result = claim({f"{INFO}/RECORD": record})
    assert (result.value["providers"], result.value["conflict"]) == ([], False)
    (reason,) = [reason for reason in result.reasons if reason.field == "providers"]
    assert reason.kind == "absent"
    assert INFO in reason.detail


def test_paths_are_compared_as_they_are_written():
    """A link between lib and lib64 makes two paths of one file; nobody resolves them."""
    other = INFO.replace("/lib/", "/lib64/")
    assert claims({f"{other}/RECORD": "torchrec/__init__.py,,\n"}, path=other) == []


def test_a_module_that_is_one_file_has_no_neighbours():
    origin = f"{SITE}/torchrec.py"
    assert claims({origin: "", f"{INFO}/RECORD": "torchrec/__init__.py,,\n"}, origin=origin) == []
    assert claims({origin: "", f"{INFO}/RECORD": "torchrec.py,,\n"}, origin=origin) == ["record"]


def test_a_record_that_is_not_read_to_its_end_leaves_it_open(monkeypatch):
    monkeypatch.setattr(ownership, "RECORD_LIMIT", 1 << 20)
    for others in ("other/e.py,,\n" * (1 << 17), "other/é.py,,\n" * (1 << 17)):
        result = claim({f"{INFO}/RECORD": f"{others}torchrec/__init__.py,,\n"})
        assert (result.value["providers"], result.value["conflict"]) == ([], None)
        assert result.kinds("conflict") == ["unparsed"]
    assert claims({f"{INFO}/RECORD": "torchrec/__init__.py,,\n" + "other/e.py,,\n" * (1 << 17)}) == ["record"]


def test_a_record_that_cannot_be_read_leaves_it_open():
    result = claim({f"{INFO}/RECORD": errno.EACCES})
    assert (result.value["providers"], result.value["conflict"]) == ([], None)
    assert result.kinds("conflict") == ["denied"]


@pytest.mark.parametrize(
    "text",
    [
        url("file:///src/torchrec"),
        url("file:///src/torchrec/"),
        url("file://localhost/src/torchrec"),
        url("file:///src"),
        url("file:///src/../src/torchrec"),
        url("file:///%73rc/torchrec"),
    ],
)
def test_an_editable_install_of_its_directory(text):
    origin = "/src/torchrec/torchrec/__init__.py"
    files = {origin: "", f"{INFO}/RECORD": "__editable__.torchrec-1.8.0.pth,,\n"}
    assert claims(files, direct_url=text, origin=origin) == ["editable"]
    assert claims({**files, f"{INFO}/direct_url.json": text}, origin=origin) == ["editable"]


@pytest.mark.parametrize(
    "text",
    [
        url("file:///src/torchrec", editable=False),
        url("file:///src/torchrec", editable="true"),
        url("file://server/src/torchrec"),
        url("https://localhost/src/torchrec"),
        url("file:///"),
        url("file:"),
        url("file://[/src"),
        url("/src/torchrec"),
        url("file:///src/other"),
        url("file:///src/torch"),
        url(["file:///src/torchrec"]),
        '{"url": "file:///src/torchrec"}',
        '{"url": "file:///src/torchrec", "dir_info": []}',
        "[]",
        "",
        "not json",
        "[" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_no_editable_install_of_its_directory(text):
    origin = "/src/torchrec/torchrec/__init__.py"
    assert claims({origin: "", f"{INFO}/RECORD": ""}, direct_url=text, origin=origin) == []


def test_metadata_without_a_record_beside_the_package():
    egg = f"{SITE}/torchrec.egg-info"
    assert claims({f"{egg}/top_level.txt": "torchrec\n"}, path=egg) == ["top_level"]
    assert claims({f"{egg}/top_level.txt": "a\n_torchrec\n"}, path=egg) == []
    assert claims({f"{egg}/PKG-INFO": ""}, path=egg) == []
    assert (
        claims({"/other/torchrec.egg-info/top_level.txt": "torchrec\n"}, path="/other/torchrec.egg-info")
        == []
    )


def test_metadata_whose_place_is_not_known():
    assert claims({}, path="") == []


def test_further_copies_are_asked_too():
    stale = f"{SITE}/torchrec-1.7.0.dist-info"
    listed = "torchrec/__init__.py,,\n"
    value = claim({f"{INFO}/RECORD": listed, f"{stale}/RECORD": listed}, others=(stale,)).value
    assert [(each["version"], each["path"]) for each in value["providers"]] == [
        ("1.8.0", INFO),
        ("1.7.0", stale),
    ]
    assert value["conflict"] is True
    bare = f"{SITE}/torchrec.egg-info"
    value = claim({f"{bare}/top_level.txt": "torchrec"}, path=bare, others=(bare,)).value
    assert [each["version"] for each in value["providers"]] == ["1.8.0", None]


def test_what_an_editable_install_keeps_among_its_sources_is_no_second_one():
    origin, egg = "/src/torchrec/torchrec/__init__.py", "/src/torchrec/torchrec.egg-info"
    files = {origin: "", f"{egg}/top_level.txt": "torchrec\n"}
    value = claim(files, direct_url=url("file:///src/torchrec"), origin=origin, others=(egg,)).value
    assert ([each["claim"] for each in value["providers"]], value["conflict"]) == (["editable"], False)


def test_parse_record():
    assert parse_record('a,b,c\n"x,y",,\n\n"q""r",,\n"open\n') == ["a", "x,y", 'q"r']


def test_lists_reads_a_large_record():
    record = "".join(f"torchrec/file{number}.py,sha256=x,1\n" for number in range(50_000))
    assert not lists(record, SITE, "/x/torchrec/__init__.py", ("/x/torchrec",))
