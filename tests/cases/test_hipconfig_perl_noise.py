"""The old Perl hipconfig with warnings around its values."""

from aorta.testing import FakeHost, collect

CASE = "hipconfig-perl-noise"
NOISE = """Can't exec "/opt/rocm/llvm/bin/clang++": No such file or directory at /opt/rocm-3.8.0/bin/hipconfig line 141.
Use of uninitialized value $HIP_CLANG_VERSION in pattern match (m//) at /opt/rocm-3.8.0/bin/hipconfig line 142.
"""


def hip(version, platform="hcc"):
    return collect(
        FakeHost(commands={"hipconfig --version": version, "hipconfig --platform": platform}), "hip"
    )


def test_stderr_is_noted_and_never_a_value():
    value = hip({"stdout": "3.8.20371-d1886b0b", "stderr": NOISE}, {"stdout": "hcc", "stderr": NOISE}).value
    assert (value["version"], value["platform"]) == ("3.8.20371-d1886b0b", "hcc")
    assert value["diagnostics"].startswith("Can't exec")


def test_noise_on_stdout_beside_the_value():
    value = hip(NOISE + "3.8.20371-d1886b0b", NOISE + "hcc\n").value
    assert (value["version"], value["platform"], value["diagnostics"]) == ("3.8.20371-d1886b0b", "hcc", None)


def test_noise_alone_is_no_value():
    result = hip(NOISE, NOISE)
    assert (result.value["version"], result.value["platform"]) == (None, None)
    assert result.kinds("version") == result.kinds("platform") == ["unparsed"]
