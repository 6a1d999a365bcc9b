"""Release plus build number, kept exactly and in a comparable form."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "rocm-info-version-build-suffix"
ROOT = "/opt/rocm-6.3.4"


def rocm(text, **env):
    return collect(FakeHost(files={f"{ROOT}/.info/version": text, f"{ROOT}/lib/x": ""}, env=env), "rocm")


@pytest.mark.parametrize(
    ("text", "exact", "release", "build"),
    [
        ("6.3.4-76\n", "6.3.4-76", "6.3.4", "76"),
        ("7.0.2\n", "7.0.2", "7.0.2", None),
        ("6.4.1-83\r\n", "6.4.1-83", "6.4.1", "83"),
        ("7.15.0a20260716\n", "7.15.0a20260716", "7.15.0a20260716", None),
        ("  6.2.0-66  \n\n", "6.2.0-66", "6.2.0", "66"),
    ],
)
def test_exact_and_comparable(text, exact, release, build):
    value = rocm(text).value
    assert (value["version"], value["version_release"], value["version_build"]) == (exact, release, build)


@pytest.mark.parametrize(("text", "kept"), [("", "blank"), ("garbage\n", "garbage")])
def test_no_version_is_null_with_the_text_in_the_reason(text, kept):
    result = rocm(text)
    assert (result.value["version"], result.value["version_release"]) == (None, None)
    assert [
        kept in reason.detail for reason in result.reasons if reason.field == "version" and reason.partial
    ] == [True]
