"""A broken LD_PRELOAD: its noise changes nothing, and where it kills every tool that is told as one thing."""

import pytest

from aorta.host.live import LiveHost
from aorta.host.protocol import Completed
from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.model.vocabulary import Outcome
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import CPU, MI300X, kfd

CASE = "noise-ld-preload-errors"

PRELOAD = "/sw/old/libdarshan.so"
VERSION = "6.2.41133-dd7f95766"


def hip(folder, script, **env):
    """Return the section hip where ``hipconfig`` is a real program under the real loader."""
    tool = folder / "hipconfig"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    host = LiveHost(env={"PATH": f"{folder}:/usr/bin:/bin", "HIP_PLATFORM": "amd", **env})
    try:
        return collect(host, "hip")
    finally:
        host.close()


def test_values_are_the_same_and_the_preload_is_captured(tmp_path):
    script = f'[ "$1" != --version ] || printf {VERSION}'
    clean, noisy = hip(tmp_path, script), hip(tmp_path, script, LD_PRELOAD=PRELOAD)
    assert noisy.value["version"] == VERSION
    assert (noisy.value, noisy.kinds()) == (clean.value, clean.kinds())
    value = collect(FakeHost(env={"LD_PRELOAD": PRELOAD, "LD_AUDIT": "/sw/audit.so"}), "env_vars").value
    assert (value["LD_PRELOAD"], value["LD_AUDIT"]) == (PRELOAD, "/sw/audit.so")


def test_the_reason_of_a_failure_is_the_tools_own(tmp_path):
    result = hip(tmp_path, "echo 'no such option' >&2; exit 3", LD_PRELOAD=PRELOAD)
    (reason,) = [reason for reason in result.reasons if reason.field == "platform"]
    assert "no such option" in reason.detail
    assert "preloaded" not in str(result.reasons)


class Fatal(FakeHost):
    """Every program ends in the loader, since what is preloaded needs what is not there."""

    def run(self, argv, *, timeout, path=(), manner=None):
        missing = "libimf.so: cannot open shared object file: No such file or directory"
        text = f"{argv[0]}: error while loading shared libraries: {missing}\n"
        return Completed(outcome=Outcome.EXIT, exit_code=127, stderr=text)


@pytest.fixture(scope="module")
def fatal():
    files = {
        **kfd(CPU, MI300X),
        "/sys/module/amdgpu/version": "6.8.5\n",
        "/opt/rocm/.info/version": "6.2.0\n",
    }
    host = Fatal(files=files, nodes={"/dev/kfd": "c"}, env={"LD_PRELOAD": PRELOAD})
    return dump(capture(registry=discover(outside=False), host=host))


def test_a_fatal_preload_costs_what_tools_say_and_nothing_else(fatal):
    assert (fatal["rocm"]["version"], fatal["gpu_arch"]["agent_count"]) == ("6.2.0", 1)
    assert fatal["amdgpu_driver"]["loaded_version"] == "6.8.5"
    assert fatal["env_vars"]["LD_PRELOAD"] == PRELOAD
    assert fatal["hip"]["version"] is None
    told = {(reason["section"], reason["field"]): reason["kind"] for reason in fatal["collection"]["reasons"]}
    asked = {("hip", "platform"), ("amdgpu_driver", "package_name"), ("gpu_arch", "runtime_targets")}
    assert {told[place] for place in asked} == {"no_tool"}


def test_a_fatal_preload_is_told_once(fatal):
    assert len([line for line in fatal["partial_reasons"] if "libimf.so" in line]) == 1
