"""What is a version, and which are one."""

import pytest
from packaging.version import InvalidVersion, Version

from aorta_collectors.packages.pep440 import is_version, public, same_version

VERSIONS = [
    "1.8.0", "1.4", "v1.4", "1!2.0", "1.8.0a0", "1.8.0a0+0123abc", "2.0.dev3+5.gdeadbee", "1.4.0-1",
    "1.4.0.post1", "1.4.0-post", "1.4rc1", "1.4.0.alpha-2", "3.3.0+git5389ed79-dirty", " 1.0 ", "2026.6.11",
    "0.1.7.post2.dev18", "1.0C1", "1.0_preview_2", "1.0r3", "1.0.rev",
]  # fmt: skip
NONE = [
    "Unknown", "unknown", "INTERNAL", "", "1.", ".1", "1..0", "1.0+", "1.0+a+b", "1.0-", "main", "1.0 beta",
    "1.0\n2", "١.0", "1.0+ä", "not-a-version", "9" * 5000, "1." * 500 + "0", "1.0+" + "a" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("text", VERSIONS)
def test_a_version(text):
    assert is_version(text)
    Version(text)


@pytest.mark.parametrize("text", NONE, ids=lambda text: text[:20])
def test_no_version(text):
    assert not is_version(text)


@pytest.mark.parametrize("text", [text for text in NONE if len(text) < 100])
def test_package_managers_agree(text):
    with pytest.raises(InvalidVersion):
        Version(text)


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("1.4.0-1", "1.4.0.post1", True),
        ("1.4", "1.4.0", True),
        ("1.4.0", "v1.4.0", True),
        ("1.4.0RC1", "1.4.0rc1", True),
        ("1.4.0+Cpu.1", "1.4.0+cpu-1", True),
        ("1.4.0", "1.4.0+cpu", False),
        ("1.4.0", "1.4.1", False),
        ("weird", "weird", True),
        ("weird", "1.0", False),
        ("9" * 5000, "1.0", False),
        ("9" * 5000, "9" * 5000, True),
    ],
    ids=lambda value: str(value)[:20],
)
def test_same_version(one, other, same):
    assert same_version(one, other) is same
    assert same_version(other, one) is same


def test_public():
    assert (public("3.4.0+git1234567"), public("3.4.0")) == ("3.4.0", "3.4.0")
