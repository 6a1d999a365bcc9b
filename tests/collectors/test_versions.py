"""Version texts as they are found in files, packages and torch."""

import pytest

from aorta_collectors.tree.versions import (
    parse_assignments,
    parse_rocm_version,
    parse_torch_version,
    release_numbers,
    split_build,
)


@pytest.mark.parametrize(
    ("text", "release", "build"),
    [
        ("5.7.1-98\n", "5.7.1", "98"),
        ("6.2.0-66", "6.2.0", "66"),
        ("6.2.0-66~22.04\n", "6.2.0", "66~22.04"),
        ("6.4.1-83\r\n", "6.4.1", "83"),
        ("  6.2.0-66  \n\n", "6.2.0", "66"),
        ("7.2.0\n", "7.2.0", None),
        ("10.1.0a20260811", "10.1.0a20260811", None),
        ("7.0.0rc20250911", "7.0.0rc20250911", None),
        ("10.1.0a20260811+bkc.20260814", "10.1.0a20260811+bkc.20260814", None),
        (
            "7.10.0.dev0+0123456789abcdef0123456789abcdef01234567",
            "7.10.0.dev0+0123456789abcdef0123456789abcdef01234567",
            None,
        ),
        ("5.2.21153.1", "5.2.21153.1", None),
    ],
)
def test_rocm_versions_are_kept_and_split(text, release, build):
    version = parse_rocm_version(text)
    assert version == text.strip()
    assert split_build(version) == (release, build)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "garbage\n",
        "7",
        "7.2.0 extra",
        "7.2\n7.3",
        "v7.2.0",
        "9" * 5000,
        "1." * 500,
        "7.2.0-" + "a" * 200,
    ],
)
def test_what_is_no_version(text):
    with pytest.raises(ValueError):
        parse_rocm_version(text)


def test_a_hostile_version_is_quick():
    with pytest.raises(ValueError):
        parse_rocm_version("1.1" + "a.-" * 300_000 + "!")
    parse_torch_version("2.0+" + "rocm1." * 100_000)
    parse_assignments("a" * 100_000 + "=" * 100_000 + "'" * 100_000)


def test_release_numbers():
    assert release_numbers("7.2.0-43") == (7, 2, 0)
    assert release_numbers("10.1.0a20260811") > (7, 2, 1)
    assert release_numbers("nothing") == ()


@pytest.mark.parametrize(
    ("text", "rocm", "git"),
    [
        ("2.5.1+rocm6.2", "6.2", None),
        ("2.6.0+rocm6.2.4", "6.2.4", None),
        ("2.4.0+rocm6.3.4.git7cecbf6d", "6.3.4", "7cecbf6d"),
        ("2.8.0+rocm7.0.1.lw.git54d0a7ad", "7.0.1", "54d0a7ad"),
        ("2.10.0+git8514f05", None, "8514f05"),
        ("2.9.1+rocmsdk20260116", None, None),
        ("2.13.0+rocm10.1.0a20260811", "10.1.0a20260811", None),
        ("2.10.0a0+devrocm7.10.0.dev0-efed3c", "7.10.0.dev0", "efed3c"),
        ("2.9.0+git1a2b3c4d.rocm7.10.0", "7.10.0", "1a2b3c4d"),
        ("2.7.0a0+git1a2b3c4", None, "1a2b3c4"),
        ("2.9.1+cu128", None, None),
        ("2.9.1", None, None),
        ("2.9.1+", None, None),
        ("2.9.1+rocm", None, None),
    ],
)
def test_torch_versions(text, rocm, git):
    parts = parse_torch_version(text)
    assert (parts.rocm, parts.git) == (rocm, git)
    assert parts.base == text.partition("+")[0]


def test_assignments_of_a_version_file():
    text = "from typing import Optional\n__version__ = '2.13.0+rocm10.1.0'\ndebug = False\ncuda: Optional[str] = None\nhip: Optional[str] = \"7.15.26333\"  # built\nif x:\n    other = 'no'\n"
    assert parse_assignments(text) == {"__version__": "2.13.0+rocm10.1.0", "hip": "7.15.26333"}
