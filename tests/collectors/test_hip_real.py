"""The hip section on a real hipconfig: Debian's, a Perl script in /usr."""

import subprocess

import pytest

from aorta.host.live import LiveHost
from aorta.testing import collect, provide
from aorta_collectors.providers import RocmRoots
from tests.parts.needs import need

CLEAN = dict.fromkeys(("ROCM_PATH", "ROCM_HOME", "HIP_PATH"))


@pytest.fixture
def host():
    need("hipconfig", "hipconfig (Debian: apt install hipcc)")
    host = LiveHost(env={**CLEAN, "HIP_PLATFORM": "amd", "LANG": "de_DE.UTF-8", "LC_ALL": ""})
    yield host
    host.close()


def said(flag):
    import os

    environment = {name: value for name, value in os.environ.items() if name not in CLEAN}
    done = subprocess.run(
        ["hipconfig", flag], env={**environment, "HIP_PLATFORM": "amd"}, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def test_each_value_is_what_its_call_prints(host):
    value = collect(host, "hip").value
    assert value["version"] == said("--version")
    assert value["version_source"] == "hipconfig"
    assert value["platform"] == said("--platform") == "amd"
    assert value["compiler"] == said("--compiler")
    assert value["runtime"] == said("--runtime")
    assert value["cpp_config"] == said("--cpp_config")
    assert value["cpp_config"].startswith("-D__HIP_PLATFORM_")
    assert value["tool"].endswith("hipconfig")


def test_distribution_packages_are_found_and_claim_no_release(host):
    roots = provide(host, RocmRoots).typed
    need(roots.layout == "distribution", f"HIP packages of the distribution; here it is {roots.root}")
    assert roots.root == "/usr"
    assert roots.root_source in ("tool:hipcc", "tool:hipconfig")
    result = collect(host, "rocm")
    assert result.value["version"] is None
    assert result.kinds("version") == ["unsupported"]


def test_without_path_the_tool_is_still_found(host):
    need(provide(host, RocmRoots).typed.layout == "distribution", "HIP packages of the distribution in /usr")
    unset = {name: value for name, value in CLEAN.items() if name != "PATH"}
    bare = LiveHost(env={**unset, "PATH": None, "HIP_PLATFORM": "amd"})
    try:
        value = collect(bare, "hip").value
    finally:
        bare.close()
    assert value["version_source"] in ("hipconfig", "share/hip/version")
    assert value["version"]
    assert value["tool"] == "/usr/bin/hipconfig"
