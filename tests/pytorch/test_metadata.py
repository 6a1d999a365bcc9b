"""Whose metadata tell the version of a torch that does not tell it itself."""

import pytest

from aorta.testing import Distribution, FakeHost, collect, torch_report

FAILED = {"imported": False, "error": "ImportError: x"}
EDITABLE = '{"url": "file:///src", "dir_info": {"editable": true}}'


def version(path, others=(), direct_url=None, **host):
    """Return what the two sections about the version say, of a torch in ``/src`` that cannot be imported."""
    metadata = Distribution(name="torch", version="2.9.1", path=path, others=others, direct_url=direct_url)
    host = FakeHost(
        modules={"torch": "/src/torch/__init__.py"},
        dirs=["/src/torch"],
        distributions={"torch": metadata},
        observed={"torch": {**torch_report(), "parts": {}, **FAILED}},
        **host,
    )
    build = collect(host, "pytorch_build")
    told = {build.value["version"], collect(host, "pytorch_version").value}
    assert len(told) == 1
    return told.pop(), build


@pytest.mark.parametrize(
    "metadata",
    [
        {"path": "/src/torch-2.9.1.dist-info"},
        {"path": "/src/torch-2.9.1.dist-info", "others": ["/sp/torch-1.0.dist-info"]},
        {"path": "/src/torch-2.9.1.dist-info", "others": ["/src/torch-2.9.1-py3.11.egg-info"]},
        {"path": "/sp/torch-2.9.1.dist-info", "direct_url": EDITABLE},
        {"path": "/link/torch-2.9.1.dist-info", "links": {"/link": "/src"}},
        {"path": ""},
    ],
)
def test_its_own(metadata):
    told, build = version(**metadata)
    assert told == "2.9.1"
    assert build.value["version_source"] == "metadata"


@pytest.mark.parametrize(
    "metadata",
    [
        {"path": "/sp/torch-2.9.1.dist-info"},
        {"path": "/sp/torch-2.9.1.dist-info", "direct_url": EDITABLE.replace("/src", "/other")},
        {"path": "/src/torch-2.9.1.dist-info", "others": ["/src/torch-2.8.0.dist-info"]},
    ],
)
def test_another_copy_s_are_no_word_of_this_one(metadata):
    told, build = version(**metadata)
    assert told is None
    assert build.value["version_source"] is None
    assert build.value["distribution_version"] == "2.9.1"
    assert {reason.kind for reason in build.reasons if reason.field == "version"} == {"failed"}
