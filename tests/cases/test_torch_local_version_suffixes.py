"""The ROCm and git parts of a torch version, as rocm and pytorch_build read them."""

import pytest

from aorta.testing import FakeHost, collect, torch_report
from aorta_collectors.tree.versions import parse_torch_version

CASE = "torch-local-version-suffixes"
SITE = "/venv/lib/python3.12/site-packages"
VERSIONS = [
    ("2.8.0+rocm7.0.0.git64359f59", "7.0.0", "64359f59"),
    ("2.10.0+rocm7.12.0a20260211", "7.12.0a20260211", None),
    (
        "2.7.1+rocm7.0.0.dev0.515115ea2cb85a0b71b5507ce56a627d14c7ae73",
        "7.0.0.dev0",
        "515115ea2cb85a0b71b5507ce56a627d14c7ae73",
    ),
    ("2.12.0.dev20260324+rocm7.2", "7.2", None),
    ("2.9.0a0+gitb425573", None, "b425573"),
    ("2.6.0+cpu", None, None),
    ("2.6.0", None, None),
    ("1.10.0a0+git539d476", None, "539d476"),
]


@pytest.mark.parametrize(("text", "rocm", "git"), VERSIONS)
def test_the_parts(text, rocm, git):
    parts = parse_torch_version(text)
    assert (parts.rocm, parts.git) == (rocm, git)


def test_a_cpu_build_is_told_by_its_local_part():
    assert parse_torch_version("2.6.0+cpu").local == "cpu"
    assert parse_torch_version("2.6.0").local is None


@pytest.mark.parametrize(("text", "rocm", "git"), VERSIONS)
def test_the_section_takes_the_rocm_part_alone(text, rocm, git):
    host = FakeHost(
        files={f"{SITE}/torch/version.py": f"__version__ = '{text}'\n"},
        modules={"torch": f"{SITE}/torch/__init__.py"},
    )
    value = collect(host, "rocm").value
    assert (value["version"], value["version_source"]) == ((rocm, "torch") if rocm else (None, None))


@pytest.mark.parametrize(("text", "rocm", "git"), VERSIONS)
def test_the_build_keeps_the_whole_text_and_tells_the_parts(text, rocm, git):
    host = FakeHost(
        modules={"torch": f"{SITE}/torch/__init__.py"},
        observed={"torch": torch_report(version=text, hip=None)},
    )
    value = collect(host, "pytorch_build").value
    assert (value["version"], value["rocm_local"], value["git_local"]) == (text, rocm, git)
