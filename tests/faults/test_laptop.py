"""A machine without ROCm is complete, and one with all tools asks each of them once."""

import collections
import os

import pytest

from tests.parts.fake_tools import ANSWERS, make
from tests.parts.laptop import laptop
from tests.parts.probing import environment, probe

#: Reasons that a machine without the part gives; they make nothing partial.
HARMLESS = {"absent", "no_tool", "unsupported", "not_requested"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laptop")
    wrapper = laptop(folder)
    env = environment(folder, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    return probe(folder / "env.json", env, "--fail-on-partial", wrapper=wrapper)


def test_it_is_not_partial(snapshot):
    assert snapshot.code == 0, snapshot.document["partial_reasons"]
    assert snapshot.document["partial"] is False
    assert snapshot.document["partial_reasons"] == []
    assert {reason["kind"] for reason in snapshot.reasons()} <= HARMLESS


def test_it_says_what_is_not_there_at_all(snapshot):
    coverage = snapshot.document["collection"]["coverage"]
    assert {part: coverage[part] for part in ("gpu", "rocm", "rdma")} == dict.fromkeys(
        ("gpu", "rocm", "rdma"), "absent"
    )
    assert coverage["torch"] in ("absent", "unknown")


def test_no_value_comes_from_nowhere(snapshot):
    document = snapshot.document
    assert document["rocm"]["version"] is None
    assert document["hip"]["version"] is None
    assert document["rccl"]["lib_path"] is None
    assert document["gpus"] in (None, [])
    assert document["amdgpu_driver"]["kmd_version"] is None
    assert document["host"]["kernel_release"] == os.uname().release


def test_no_isolation_is_seen(snapshot):
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        kinds = [line.split(" - ")[1].split()[0] for line in file if line.split()[4] == "/"]
    if kinds[-1:] == ["overlay"]:
        pytest.skip("this machine itself is a container")
    assert snapshot.document["isolation"]["container"] is False
    assert snapshot.document["isolation"]["runtime"] == "none"
    assert snapshot.document["collection"]["coverage"]["isolation"] == "absent"


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """Probe a machine with all tools, each of which writes down how it was called."""
    folder = tmp_path_factory.mktemp("tools")
    log = folder / "log"
    env = environment(folder, make(folder / "parts"), TOOLS_LOG=log)
    return probe(folder / "env.json", env, "--sudo"), calls_in(log.read_text(encoding="utf-8"))


def calls_in(text):
    """Return the calls in a log; an argument may hold line breaks, so a call begins with a tool's name."""
    calls = []
    for line in text.splitlines(keepends=True):
        if line.split(" ")[0] in ANSWERS:
            calls.append("")
        calls[-1] += line
    return calls


def test_each_tool_is_asked_each_thing_once(busy):
    _, calls = busy
    assert len(calls) > 8
    assert [call for call, times in collections.Counter(calls).items() if times > 1] == []


def test_what_is_asked_is_recorded(busy):
    done, calls = busy
    ran = [command for command in done.commands() if command["outcome"] in ("ok", "exit")]
    asked = [command for command in ran if not command["shared"]]
    assert len(asked) == len(calls)
    for command in ran:
        assert [other for other in asked if other["argv"] == command["argv"]], "shared with nobody"
