"""The triton section: the package's own text, the distributions that claim it."""

import errno
import subprocess

import pytest

from aorta.host.live import LiveHost
from aorta.testing import Distribution, FakeHost, collect
from tests.parts import torches

SITE = "/sp"
INIT = f"{SITE}/triton/__init__.py"
LISTED = "triton/__init__.py,,\n"


def installed(*versions, record=LISTED):
    """Return metadata directories and distributions of names and versions, all listing the package."""
    files, distributions = {}, {}
    for name, version in versions:
        path = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
        files[f"{path}/RECORD"] = record
        distributions[name] = Distribution(name=name, version=version, path=path)
    return files, distributions


def triton(text="", files=None, distributions=None, origin=INIT):
    content = {INIT: text} if text is not None else {}
    return collect(
        FakeHost(files={**content, **(files or {})}, modules={"triton": origin}, distributions=distributions),
        "triton",
    )


def test_a_release():
    files, distributions = installed(("triton", "3.9.0"))
    result = triton('"""isort:skip_file"""\n__version__ = \'3.9.0\'\n', files, distributions)
    assert result.value == {
        "package_version": "3.9.0",
        "package_version_source": INIT,
        "commit": None,
        "providers": [
            {
                "name": "triton",
                "version": "3.9.0",
                "path": f"{SITE}/triton-3.9.0.dist-info",
                "claim": "record",
            }
        ],
        "conflict": False,
    }
    assert result.kinds() == result.kinds("commit") == ["absent"]
    assert result.record.status == "ok"


def test_nobody_claims_it():
    """A Buck link tree has no metadata at all."""
    result = triton("__version__ = '3.5.1+rocm7.2.1.gita272dfa8'\n")
    assert (result.value["package_version"], result.value["commit"]) == (
        "3.5.1+rocm7.2.1.gita272dfa8",
        "a272dfa8",
    )
    assert (result.value["providers"], result.value["conflict"], result.reasons) == ([], False, ())


@pytest.mark.parametrize(
    "files, commit",
    [
        ({INIT: "__version__ = '3.1.0'\n__git_version__ = 'ABCDEF0'\n"}, "abcdef0"),
        ({INIT: "__version__ = '3.1.0'\n__commit__ = 'abcdef0'\n"}, "abcdef0"),
        ({INIT: "__version__ = '3.1.0'\n__sha__ = '1.0+gabcdef0'\n"}, "abcdef0"),
        ({INIT: "__version__ = '3.1.0'\n__git_version__ = 'unknown'\n__sha__ = 'abcdef0'\n"}, "abcdef0"),
        ({INIT: "__version__ = '3.1.0+gabcdef0'\n__git_version__ = '1234567'\n"}, "abcdef0"),
        (
            {INIT: "__version__ = '3.1.0'\n", f"{SITE}/triton/version.py": "git_version = 'abcdef0'\n"},
            "abcdef0",
        ),
        ({INIT: "__version__ = '3.1.0'\n__git_version__ = 'dirty'\n"}, None),
        ({INIT: "__version__ = '3.1.0'\n__git_version__ = 'v3.1.0'\n"}, None),
    ],
)
def test_commit(files, commit):
    result = triton(None, files)
    assert (result.value["package_version"][:5], result.value["commit"]) == ("3.1.0", commit)
    assert result.kinds("commit") == ([] if commit else ["absent"])


def test_the_commit_of_a_source_build_stands_in_the_metadata_alone():
    files, distributions = installed(("triton", "3.4.0+git12345678"))
    value = triton("__version__ = '3.4.0'\n", files, distributions).value
    assert (value["package_version"], value["commit"]) == ("3.4.0", "12345678")


def test_metadata_of_another_version_tells_no_commit():
    """Something overwrote the files and left the metadata."""
    files, distributions = installed(("triton", "3.1.0+git12345678"))
    result = triton("__version__ = '3.4.0'\n", files, distributions)
    assert (result.value["package_version"], result.value["commit"]) == ("3.4.0", None)
    assert result.kinds("package_version") == ["expected"]
    assert "says 3.4.0" in result.reasons[-1].detail
    assert "says 3.1.0+git12345678" in result.reasons[-1].detail


def test_several_claims_tell_no_commit():
    files, distributions = installed(("triton", "3.4.0"), ("pytorch-triton-rocm", "3.4.0+git12345678"))
    result = triton("__version__ = '3.4.0'\n", files, distributions)
    assert (result.value["commit"], result.value["conflict"]) == (None, True)
    assert result.kinds("package_version") == []


def test_no_version_in_the_text():
    files, distributions = installed(("triton-rocm", "3.0.0rc1"))
    value = triton("from .v import __version__\n", files, distributions).value
    assert value["package_version"] == "3.0.0rc1"
    assert value["package_version_source"] == f"{SITE}/triton_rocm-3.0.0rc1.dist-info"


@pytest.mark.parametrize("text", ["", "__version__ = 'unknown'\n", "__version__ = get()\n"])
def test_no_version_at_all(text):
    result = triton(text, distributions={"triton": "3.1.0"})
    assert (result.value["package_version"], result.value["package_version_source"]) == (None, None)
    assert result.kinds("package_version") == result.kinds("package_version_source") == ["unparsed"]


def test_metadata_of_another_copy_is_named_and_not_used():
    elsewhere = Distribution(name="triton", version="3.1.0", path="/other/triton-3.1.0.dist-info")
    result = triton("", {"/other/triton-3.1.0.dist-info/RECORD": LISTED}, {"triton": elsewhere})
    assert (result.value["package_version"], result.value["providers"]) == (None, [])
    (reason,) = [reason for reason in result.reasons if reason.field == "providers"]
    assert (reason.kind, "triton 3.1.0 (/other/triton-3.1.0.dist-info)" in reason.detail) == ("absent", True)


@pytest.mark.parametrize(
    "content, kind",
    [(errno.EACCES, "denied"), (errno.EIO, "failed"), (b"\xff", "unparsed"), (b"a\0", "unparsed")],
)
def test_a_text_that_cannot_be_read(content, kind):
    result = triton(None, {INIT: content})
    assert (result.value["package_version"], result.kinds("package_version")) == (None, [kind])
    files, distributions = installed(("triton", "3.9.0"))
    result = triton(None, {INIT: content, **files}, distributions)
    assert (result.value["package_version"], result.kinds("package_version")) == ("3.9.0", [])


def test_a_package_without_sources():
    origin = f"{SITE}/triton/__init__.cpython-311-x86_64-linux-gnu.so"
    result = triton(None, {origin: b"\x7fELF"}, origin=origin)
    assert (result.value["package_version"], result.kinds("package_version")) == (None, ["absent"])


def test_metadata_without_a_version():
    path = f"{SITE}/triton.dist-info"
    bare = Distribution(name="triton", version=None, path=path)
    result = triton("", {f"{path}/RECORD": LISTED}, {"triton": bare})
    assert (result.value["package_version"], result.value["providers"][0]["version"]) == (None, None)
    assert triton("__version__ = '3.1.0'\n", {f"{path}/RECORD": LISTED}, {"triton": bare}).kinds() == [
        "absent"
    ]


def test_a_real_triton():
    python = torches.triton_python()
    asked = "import triton; print(triton.__version__)"
    imported = subprocess.run(
        [python, "-c", asked], check=True, capture_output=True, text=True
    ).stdout.strip()
    host = LiveHost(python=python)
    try:
        value = collect(host, "triton").value
    finally:
        host.close()
    assert value["package_version"] == imported == "3.9.0"
    assert [(each["name"], each["claim"]) for each in value["providers"]] == [("triton", "record")]
    assert value["conflict"] is False
