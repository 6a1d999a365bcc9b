"""The torchrec section: source and metadata, each by its own name, and what an import would take."""

import errno

import pytest

from aorta.host.live import LiveHost
from aorta.testing import Distribution, FakeHost, collect
from tests.parts import torches

SITE = "/sp"
ORIGIN = f"{SITE}/torchrec/__init__.py"
VERSION_PY = f"{SITE}/torchrec/version.py"
SHA = "e2a8e5b8f489fb02bc5a2d065ed9c343d2656b41"
OWNED = "torchrec/__init__.py,sha256=x,996\ntorchrec/version.py,sha256=y,79\n"
KEYS = ("package_version", "commit", "source_version", "source_commit", "distribution_version")


def info(version):
    return f"{SITE}/torchrec-{version}.dist-info"


def torchrec(source=None, metadata=None, record=OWNED, *, origin=ORIGIN, files=None, others=()):
    content = {} if source is None else {VERSION_PY: source}
    distributions = {}
    if metadata is not None:
        path = info(metadata[:20])
        content |= {} if record is None else {f"{path}/RECORD": record}
        distributions["torchrec"] = Distribution(name="torchrec", version=metadata, path=path, others=others)
    host = FakeHost(
        files={**content, **(files or {})}, modules={"torchrec": origin}, distributions=distributions
    )
    return collect(host, "torchrec")


def five(result):
    return tuple(result.value[name] for name in KEYS)


def source(version=None, git=None):
    lines = [
        f"{name} = '{text}'\n" for name, text in (("__version__", version), ("git_version", git)) if text
    ]
    return "".join(lines)


def test_a_release():
    result = torchrec(source("1.8.0", SHA), "1.8.0")
    assert five(result) == ("1.8.0", SHA, "1.8.0", SHA, "1.8.0")
    assert (result.reasons, result.value["conflict"]) == ((), False)
    assert [each["claim"] for each in result.value["providers"]] == ["record"]


def test_source_alone():
    result = torchrec(source("1.8.0a0+0123abc"))
    assert five(result) == ("1.8.0a0+0123abc", "0123abc", "1.8.0a0+0123abc", None, None)
    assert [(each.kind, each.field) for each in result.reasons] == [("absent", "distribution_version")]


@pytest.mark.parametrize("date", ["d20240101", "20240101"])
def test_a_date_of_a_dirty_tree_is_no_commit(date):
    result = torchrec(source(f"1.8.0+{date}"))
    assert (result.value["package_version"], result.value["commit"]) == (f"1.8.0+{date}", None)
    assert result.kinds("commit") == ["absent"]


@pytest.mark.parametrize(
    "text", [source("Unknown", "Unknown"), "", source(None, SHA), "x = (", "__version__ = f()"]
)
def test_no_version_in_the_source(text):
    result = torchrec(text)
    assert (result.value["package_version"], result.value["source_version"]) == (None, None)
    assert result.kinds("package_version") == ["unparsed"]
    assert result.value["commit"] == result.value["source_commit"] == (SHA if SHA in text else None)


def test_unknown_is_rejected_and_owned_metadata_stands_for_it():
    result = torchrec(source("Unknown", "Unknown"), "1.4.0+0123abc")
    assert five(result) == ("1.4.0+0123abc", "0123abc", None, None, "1.4.0+0123abc")
    assert result.reasons == ()


@pytest.mark.parametrize("record", ["other/__init__.py,,\n", "", None])
def test_metadata_that_does_not_own_the_package_does_not(record):
    result = torchrec("", "1.5.0", record)
    assert five(result) == (None, None, None, None, "1.5.0")
    assert result.kinds("package_version") == ["unparsed"]
    assert result.kinds("providers") == ["absent"]


def test_metadata_beside_the_package_without_a_record_does_not():
    result = torchrec("", "1.5.0", None, files={f"{info('1.5.0')}/top_level.txt": "torchrec\n"})
    assert five(result) == (None, None, None, None, "1.5.0")
    assert [each["claim"] for each in result.value["providers"]] == ["top_level"]


def test_metadata_hidden():
    result = torchrec("", "1.5.0", errno.EACCES)
    assert five(result) == (None, None, None, None, "1.5.0")
    assert result.kinds("conflict") == ["denied"]


@pytest.mark.parametrize(
    "one, other", [("1.4.0-1", "1.4.0.post1"), ("1.4", "1.4.0"), ("1.8.0a0", "1.8.0.alpha0")]
)
def test_the_same_version_in_other_words(one, other):
    result = torchrec(source(one, SHA), other)
    assert five(result) == (one, SHA, one, SHA, other)
    assert result.reasons == ()


@pytest.mark.parametrize("record", [OWNED, "other.py,,\n"])
def test_source_and_metadata_disagree(record):
    result = torchrec(source("1.4.0", SHA), "1.8.0", record)
    assert five(result) == ("1.4.0", SHA, "1.4.0", SHA, "1.8.0")
    assert result.kinds("package_version") == ["expected"]
    (reason,) = [each for each in result.reasons if each.field == "package_version"]
    assert ("1.4.0" in reason.detail, "1.8.0" in reason.detail) == (True, True)


def test_several_versions_of_metadata():
    stale = info("1.7.0")
    result = torchrec("", "1.8.0", others=(stale,))
    assert five(result) == ("1.8.0", None, None, None, "1.8.0")
    assert result.kinds("distribution_version") == ["expected"]
    both = torchrec("", "1.8.0", others=(stale,), files={f"{stale}/RECORD": OWNED})
    assert five(both) == (None, None, None, None, "1.8.0")
    assert both.value["conflict"] is True
    alike = torchrec(source("1.8.0", SHA), "1.8.0", others=(info("1.8"),))
    assert alike.kinds("distribution_version") == []


@pytest.mark.parametrize("text", ["not-a-version", "9" * 5000, "1.0 beta"], ids=lambda text: text[:20])
def test_metadata_with_a_version_that_is_none(text):
    result = torchrec("", text)
    assert five(result) == (None, None, None, None, text)
    assert result.kinds("distribution_version") == ["unparsed"]
    result = torchrec(source("1.8.0", SHA), text)
    assert (result.value["package_version"], result.kinds("package_version")) == ("1.8.0", [])


def test_a_source_version_of_thousands_of_digits():
    result = torchrec(source("9" * 5000), "1.8.0")
    assert five(result) == ("1.8.0", None, None, None, "1.8.0")


def test_metadata_without_a_version():
    path = f"{SITE}/torchrec.dist-info"
    host = FakeHost(
        files={VERSION_PY: source("1.8.0", SHA), f"{path}/RECORD": OWNED},
        modules={"torchrec": ORIGIN},
        distributions={"torchrec": Distribution(name="torchrec", version=None, path=path)},
    )
    result = collect(host, "torchrec")
    assert five(result) == ("1.8.0", SHA, "1.8.0", SHA, None)
    assert result.kinds("distribution_version") == ["absent"]
    host = FakeHost(
        files={VERSION_PY: "", f"{path}/RECORD": OWNED},
        modules={"torchrec": ORIGIN},
        distributions={"torchrec": Distribution(name="torchrec", version=None, path=path)},
    )
    assert five(collect(host, "torchrec")) == (None, None, None, None, None)


def test_metadata_without_the_package():
    left = Distribution(name="torchrec", version="1.8.0", path=info("1.8.0"))
    result = collect(FakeHost(distributions={"torchrec": left}), "torchrec")
    assert five(result) == (None, None, None, None, "1.8.0")
    assert [(each.kind, each.field) for each in result.reasons] == [("absent", "")]
    assert "metadata without the package torchrec" in result.reasons[0].detail


def test_a_nightly_has_another_name():
    path = f"{SITE}/torchrec_nightly-2023.8.20.dist-info"
    host = FakeHost(
        files={f"{path}/RECORD": OWNED},
        modules={"torchrec": ORIGIN},
        distributions={
            "torchrec-nightly": Distribution(name="torchrec-nightly", version="2023.8.20", path=path)
        },
    )
    assert five(collect(host, "torchrec")) == ("2023.8.20", None, None, None, "2023.8.20")


def test_a_single_file_adopts_no_neighbour():
    """Beside torchrec.py lies the version.py of something else."""
    origin = f"{SITE}/torchrec.py"
    files = {origin: "", f"{SITE}/version.py": source("6.6.6", SHA)}
    result = torchrec(origin=origin, files=files)
    assert five(result) == (None, None, None, None, None)
    assert result.kinds("package_version") == ["absent"]
    owned = torchrec(None, "1.8.0", "torchrec.py,,\n", origin=origin, files=files)
    assert five(owned) == ("1.8.0", None, None, None, "1.8.0")


@pytest.mark.parametrize(
    "content, kind", [(errno.EACCES, "denied"), (b"\xff", "unparsed"), (errno.EIO, "failed")]
)
def test_a_source_that_cannot_be_read(content, kind):
    result = torchrec(content)
    assert (result.value["package_version"], result.kinds("package_version")) == (None, [kind])


def test_no_source():
    assert torchrec().kinds("package_version") == ["absent"]
    assert five(torchrec(None, "1.8.0")) == ("1.8.0", None, None, None, "1.8.0")


def test_metadata_that_nobody_may_ask_for():
    class Asked(FakeHost):
        def distribution(self, name):
            raise PermissionError(errno.EACCES, "no")

    host = Asked(files={VERSION_PY: source("1.8.0", SHA)}, modules={"torchrec": ORIGIN})
    result = collect(host, "torchrec")
    assert five(result) == ("1.8.0", SHA, "1.8.0", SHA, None)
    assert result.kinds("distribution_version") == result.kinds("conflict") == ["denied"]


def test_w6_a_real_torchrec_is_not_imported():
    """Its import takes seconds, asks for a GPU, and leaves __version__ unset."""
    host = LiveHost(python=torches.python())
    try:
        result = collect(host, "torchrec")
    finally:
        host.close()
    assert five(result) == ("1.8.0", SHA, "1.8.0", SHA, "1.8.0")
    assert result.reasons == ()
    assert result.record.elapsed_s < 2
