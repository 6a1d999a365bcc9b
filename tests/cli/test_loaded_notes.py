"""What is unusual about the libraries that the process has mapped."""

import pytest

from aorta.cli.summary import summarize
from aorta.model.sections import ORDER

RCCL = {
    "library": "rccl",
    "path": "/sp/torch/lib/librccl.so",
    "process": "self",
    "deleted": False,
    "differs_from": {"section": "rccl", "path": "/opt/rocm/lib/librccl.so.1.0.70200", "same_content": False},
}
SAME = {"section": None, "path": None, "same_content": None, "statement": None}


def unusual(*libraries):
    document = {**dict.fromkeys(ORDER), "schema_version": "2.0", "partial": False, "partial_reasons": []}
    records = {name: {"status": "ok"} for name in ("gpus", "docker", "host", "launcher")}
    document["collection"] = {"collectors": records, "coverage": {"gpu": "seen"}, "reasons": []}
    document["loaded_libraries"] = list(libraries)
    return summarize(document).unusual


@pytest.mark.parametrize(
    ("process", "words"),
    [
        ("self", "the process has mapped"),
        ("torch_child", "a process with torch maps"),
        (None, "an import of torch would map"),
    ],
)
def test_another_copy_than_the_root_s(process, words):
    hip = {**RCCL, "library": "hip", "path": "/sp/torch/lib/libamdhip64.so", "process": process}
    assert unusual({**RCCL, "process": process}, hip) == [
        (
            f"{words} other copies than the ones under the ROCm root:"
            " rccl /sp/torch/lib/librccl.so, hip /sp/torch/lib/libamdhip64.so"
        )
    ]


def test_a_library_of_torch_from_elsewhere():
    own = {"section": "pytorch_build", "path": "/sp/torch/lib/libc10.so", "same_content": False}
    c10 = {**RCCL, "library": "torch", "path": "/llp/libc10.so", "differs_from": own}
    assert unusual(RCCL, c10) == [
        "the process has mapped other copies than the ones under the ROCm root: rccl /sp/torch/lib/librccl.so",
        "the process has mapped other copies than the ones beside torch: torch /llp/libc10.so",
    ]


@pytest.mark.parametrize("same", [None, False])
def test_content_that_is_not_known_to_be_equal_is_told(same):
    assert len(unusual({**RCCL, "differs_from": {**RCCL["differs_from"], "same_content": same}})) == 1


def test_a_file_that_was_removed():
    found = unusual({**RCCL, "deleted": True})
    assert found == [
        "the process has mapped files that were removed or replaced since: rccl /sp/torch/lib/librccl.so"
    ]


@pytest.mark.parametrize(
    "library",
    [
        {**RCCL, "differs_from": SAME},
        {**RCCL, "differs_from": None},
        {**RCCL, "differs_from": "x"},
        {**RCCL, "differs_from": {**RCCL["differs_from"], "same_content": True}},
        {},
        {"deleted": "yes"},
    ],
)
def test_nothing_to_say(library):
    assert unusual(library) == []


def test_many_are_counted():
    found = unusual(*({**RCCL, "path": f"/sp/{number}.so"} for number in range(9)))
    assert found[0].endswith(" and 5 more")
