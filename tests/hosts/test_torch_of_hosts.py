"""What each recorded host says of its torch, value by value."""

from pathlib import Path

import pytest

from aorta.host.replay import open_recording
from aorta.instrumentation.environment import capture
from aorta.model.codec import dump

HERE = Path(__file__).parent
OLD = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100")

#: By the first letter: version, commit, HIP, CUDA, ROCm of the version text, HIP runtime, MIOpen, architectures,
#: whether USE_FBGEMM was defined, whether an AOTriton lies beside it.
HOSTS = {
    "a": (
        "2.5.1+rocm6.2",
        "a8d6afb5",
        "6.2.41133-dd7f95766",
        None,
        "6.2",
        "6.2.41133",
        "3.2.0",
        OLD,
        True,
        True,
    ),
    "b": (
        *("2.10.0+git8514f05", "8514f051", "7.2.26015-fc0010cf6a", None, None, "7.2.26015", "3.5.1"),
        *(("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201"), True, True),
    ),
    "c": (
        *("2.8.0+rocm7.0.1.lw.git54d0a7ad", "54d0a7ad", "7.0.51831-d5bb7b5e4", None, "7.0.1", "7.0.51831"),
        *("3.5.0", ("gfx90a", "gfx942", "gfx950", "gfx1100"), True, True),
    ),
    "e": (
        *("2.13.0+rocm10.1.0a20260811", "3dcf096c", "7.15.26333", None, "10.1.0a20260811", "7.15.26333"),
        *("3.6.0", ("gfx942",), True, True),
    ),
    "f": (
        *(
            "2.4.0+rocm6.3.4.git7cecbf6d",
            "7cecbf6d",
            "6.3.42134-a9a80e791",
            None,
            "6.3.4",
            "6.3.42134",
            "3.3.0",
        ),
        *(("gfx1030", "gfx1100", "gfx1101"), True, False),
    ),
    "g": ("2.9.1+cpu", "a8e1354d", None, None, None, None, None, None, False, False),
    "h": (
        "2.6.0+gitc53a7d4",
        "c53a7d45",
        "6.4.43484-123eb5128",
        None,
        None,
        "6.4.43484",
        "3.4.0",
        ("gfx942",),
        True,
        True,
    ),
    "i": ("2.9.1+cu128", "a8e1354d", None, "12.8", None, None, None, ("sm_80", "sm_90"), False, False),
    "j": (
        "2.3.1+rocm6.0",
        "07b851fb",
        "6.0.32830-d62f6a171",
        None,
        "6.0",
        "6.0.32830",
        "3.0.0",
        OLD,
        True,
        False,
    ),
    "o": (
        *(
            "2.9.1+rocm7.2.0.git7e1940d4",
            "7e1940d4",
            "7.2.26015-fc0010cf6a",
            None,
            "7.2.0",
            "7.2.26015",
            "3.5.1",
        ),
        *(("gfx942", "gfx950"), True, True),
    ),
}


def document(host):
    (path,) = HERE.glob(f"{host}-*.jsonl")
    return dump(capture(host=open_recording(str(path))))


@pytest.mark.parametrize("host", HOSTS)
def test_a_torch(host):
    told = document(host)
    build, archs = told["pytorch_build"], told["pytorch_build"]["flags"]["gpu_arch_list"]
    assert HOSTS[host] == (
        told["pytorch_version"],
        build["git_commit"][:8],
        build["hip_version"],
        build["cuda_version"],
        build["rocm_local"],
        build["hip_runtime"],
        build["miopen_runtime"],
        None if archs is None else tuple(archs),
        told["fbgemm"]["pytorch_use_fbgemm"],
        told["aotriton"]["bundled_present"],
    )
    assert (build["install_kind"], build["importable"], build["version_source"]) == ("wheel", True, "torch")
    assert build["build_flags"]["USE_ROCM"] is (build["hip_version"] is not None)
    assert build["build_flags"]["USE_CUDA"] is (build["cuda_version"] is not None)
    assert told["collection"]["import_strategy"] == "child"
    assert {one["origin"] for one in told["loaded_libraries"]} == {"torch_bundled"}
    assert {one["basis"] for one in told["loaded_libraries"]} == {"predicted"}


@pytest.mark.parametrize("host", ["d", "k"])
def test_no_torch(host):
    told = document(host)
    sections = ("pytorch_version", "pytorch_build", "pytorch_sdpa", "loaded_libraries", "triton", "aotriton")
    assert told["pytorch_version"] is None
    reasons = [one for one in told["collection"]["reasons"] if one["section"] in sections]
    assert {one["section"] for one in reasons} == set(sections)
    assert {one["kind"] for one in reasons} == {"absent"}
