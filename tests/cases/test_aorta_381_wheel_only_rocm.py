"""ROCm as Python wheels without /opt/rocm: rocm, hip and rccl (hipblaslt and rocblas come with their sections)."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "aorta-381-wheel-only-rocm"
SITE = "/opt/venv/lib/python3.12/site-packages"
VERSION = "7.15.0a20260716"
DISTRIBUTIONS = dict.fromkeys(("rocm", "rocm-sdk-core", "rocm-sdk-libraries"), VERSION)
FILES = {
    f"{SITE}/_rocm_sdk_devel/include/rccl/rccl.h": "#define NCCL_VERSION_CODE 22803\n",
    f"{SITE}/_rocm_sdk_core/bin/hipconfig": "x",
    f"{SITE}/_rocm_sdk_core/lib/libamdhip64.so.7": "x",
    f"{SITE}/_rocm_sdk_libraries_gfx94X_dcgpu/lib/librccl.so.1": b"\x7fELF",
    f"{SITE}/torch/version.py": f"__version__ = '2.10.0+rocm{VERSION}'\nhip = '7.15.0'\n",
}


def host(**changes):
    given = {
        "files": FILES,
        "env": {"ROCM_PATH": f"{SITE}/_rocm_sdk_devel"},
        "distributions": DISTRIBUTIONS,
        "commands": {
            (f"{SITE}/_rocm_sdk_core/bin/hipconfig", "--version"): "7.15.0-0000000",
            "rocm-sdk version": VERSION,
        },
        "modules": {
            "torch": f"{SITE}/torch/__init__.py",
            "_rocm_sdk_core": f"{SITE}/_rocm_sdk_core/__init__.py",
        },
    }
    return FakeHost(**{**given, **changes})


def test_the_metadata_answers_and_is_named():
    value = collect(host(), "rocm").value
    assert (value["version"], value["version_source"]) == (VERSION, "pip:rocm")
    assert (value["root"], value["layout"], value["root_source"]) == (
        f"{SITE}/_rocm_sdk_core",
        "wheel",
        "ROCM_PATH",
    )


@pytest.mark.parametrize(
    ("distributions", "source"),
    [({"rocm-sdk-core": VERSION}, "pip:rocm-sdk-core"), ({}, "torch")],
)
def test_the_next_source_answers_where_one_is_missing(distributions, source):
    value = collect(host(distributions=distributions), "rocm").value
    assert (value["version"], value["version_source"]) == (VERSION, source)


def test_metadata_alone_answers_though_the_variable_leads_nowhere():
    value = collect(
        FakeHost(env={"ROCM_PATH": f"{SITE}/_rocm_sdk_devel"}, distributions=DISTRIBUTIONS), "rocm"
    ).value
    assert (value["version"], value["version_source"]) == (VERSION, "pip:rocm")


def test_tools_and_libraries_are_looked_for_in_the_siblings():
    assert collect(host(), "hip").value["version"] == "7.15.0-0000000"
    value = collect(host(), "rccl").value
    assert value["version"] == "2.28.3"
    assert value["lib_path"] == f"{SITE}/_rocm_sdk_libraries_gfx94X_dcgpu/lib/librccl.so.1"
    assert value["lib_hash"].startswith("sha256:")
