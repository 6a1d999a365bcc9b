"""A runtime-only wheel install, where ``rocm-sdk path --root`` fails."""

from aorta.testing import FakeHost, Module, collect

CASE = "rocm-sdk-path-needs-devel"
SITE = "/venv/lib/python3.12/site-packages"


def test_metadata_and_directories_answer():
    host = FakeHost(
        dirs=[f"{SITE}/_rocm_sdk_core/lib", f"{SITE}/_rocm_sdk_libraries_gfx94X_dcgpu/lib"],
        distributions={"rocm": "7.14.0", "rocm-sdk-core": "7.14.0"},
        modules={"_rocm_sdk_core": Module(name="_rocm_sdk_core", locations=(f"{SITE}/_rocm_sdk_core",))},
        commands={
            "rocm-sdk path --root": {
                "exit": 1,
                "stderr": "ModuleNotFoundError: ROCm SDK development package is not installed.\n",
            },
            "rocm-sdk version": "7.14.0\n",
        },
    )
    result = collect(host, "rocm")
    assert result.value["version"] == "7.14.0"
    assert result.value["root"].endswith("_rocm_sdk_core")
    assert result.value["lib_root"].endswith("_rocm_sdk_libraries_gfx94X_dcgpu")
    assert not any(reason.partial for reason in result.reasons)
