"""HIP 7.2 belongs to ROCm 7.12: rocm and hip (what torch was built against comes with its section)."""

from aorta.testing import FakeHost, collect

CASE = "hip-number-is-not-rocm-number"
HIP = "7.2.53150-7b886380f9"
SITE = "/venv/lib/python3.12/site-packages"
TORCH = {f"{SITE}/torch/version.py": f"__version__ = '2.11.0a0+rocm7.12.0'\nhip = '{HIP}'\n"}


def test_side_by_side_without_a_reason():
    host = FakeHost(
        files={**TORCH, "/opt/rocm/.info/version": "7.12.0\n", "/opt/rocm/.info/version-dev": "7.12.0\n"},
        modules={"torch": f"{SITE}/torch/__init__.py"},
        commands={"hipconfig --version": HIP},
    )
    rocm, hip = collect(host, "rocm"), collect(host, "hip")
    assert (rocm.value["version"], rocm.value["version_dev"], hip.value["version"]) == (
        "7.12.0",
        "7.12.0",
        HIP,
    )
    assert not any(reason.partial for reason in rocm.reasons)
    assert hip.kinds("version") == []


def test_neither_fills_the_other():
    only_hip = FakeHost(
        commands={"hipconfig --version": HIP},
        modules={"torch": f"{SITE}/torch/__init__.py"},
        files={f"{SITE}/torch/version.py": f"__version__ = '2.11.0'\nhip = '{HIP}'\n"},
    )
    assert collect(only_hip, "rocm").value["version"] is None
    only_rocm = FakeHost(files={"/opt/rocm/.info/version": "7.12.0\n"})
    assert collect(only_rocm, "hip").value["version"] is None
