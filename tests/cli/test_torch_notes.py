"""What the summary says of torch."""

import pytest

from aorta.cli.plain import Document
from aorta.cli.torch_notes import torch_notes, torch_row


def known(build=None, **members):
    return Document({"pytorch_build": build or {}, **members})


@pytest.mark.parametrize(
    ("document", "row"),
    [
        (
            known({"hip_version": "7.2.26015", "install_kind": "wheel"}, pytorch_version="2.10.0+git8514f05"),
            "2.10.0+git8514f05, HIP 7.2.26015, wheel",
        ),
        (
            known({"cuda_version": "12.6", "install_kind": "unknown"}, pytorch_version="2.6.0"),
            "2.6.0, CUDA 12.6",
        ),
        (known({"importable": False}, pytorch_version="2.6.0"), "2.6.0, not importable"),
        (known(pytorch_version="2.6.0", collection={"import_strategy": "static"}), "2.6.0, not imported"),
        (known({"version": "2.6.0"}), "2.6.0"),
        (
            known(
                pytorch_version="2.6.0+cpu",
                collection={
                    "reasons": [
                        {"section": "pytorch_build", "field": f"{name}_version", "kind": "absent"}
                        for name in ("hip", "cuda")
                    ]
                },
            ),
            "2.6.0+cpu, for CPUs",
        ),
        (known(pytorch_version="2.6.0", collection={"import_strategy": "child"}), "2.6.0"),
        (known(collection={"coverage": {"torch": "absent"}}), "none"),
        (known(collection={"coverage": {"torch": "seen"}}), "installed"),
        (known(), ""),
    ],
)
def test_row(document, row):
    assert torch_row(document) == row


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            known({"importable": False, "import_error": "KeyError: 'x'"}, pytorch_version="2.12.0"),
            "torch 2.12.0 cannot be imported: KeyError: 'x'",
        ),
        (
            known(collection={"python": "/opt/venv/bin/python"}),
            "Python and torch are those of /opt/venv/bin/python",
        ),
        (
            known(
                {
                    "file": "/fk/torch/__init__.py",
                    "import_stderr": "a\nHSA out of resources\n",
                },
                pytorch_version="2.12.0",
                collection={
                    "reasons": [
                        {
                            "section": "pytorch_build",
                            "field": "importable",
                            "kind": "failed",
                            "detail": "torch was being asked when it was ended by SIGABRT",
                        }
                    ]
                },
            ),
            (
                "torch 2.12.0 (/fk/torch/__init__.py): torch was being asked when it was ended by SIGABRT;"
                " it printed: HSA out of resources"
            ),
        ),
        (
            known({"distribution_version": "9.9"}, pytorch_version="2.12.0"),
            "torch is 2.12.0, and the metadata beside it say 9.9",
        ),
        (
            known(
                triton={
                    "conflict": True,
                    "providers": [{"name": "triton", "version": "3.1.0"}, {"name": "pytorch-triton-rocm"}],
                }
            ),
            "several distributions claim the package triton: triton 3.1.0, pytorch-triton-rocm (no version)",
        ),
    ],
)
def test_what_is_unusual(document, line):
    assert list(torch_notes(document)) == [line]


def test_nothing_unusual():
    usual = known({"importable": True}, pytorch_version="2.6.0", triton={"conflict": False, "providers": []})
    assert list(torch_notes(usual)) == []
