"""Everything outside fails at once: a snapshot of full shape comes out, and says why."""

import platform

import pytest

from aorta.host.live import LiveHost
from aorta.host.protocol import Completed
from aorta.instrumentation import capture, capture_to
from aorta.model.codec import dump, parse_json
from aorta.model.vocabulary import Outcome
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost
from aorta.testing.hosts import DenyingHost

CASE = "aorta-147-everything-fails"

REGISTRY = discover(outside=False)


class FailingHost(DenyingHost):
    """No command can be started, no file read; what the interpreter is asked raises."""

    def run(self, argv, *, timeout, path=(), manner=None):
        return Completed(outcome=Outcome.NOT_FOUND, detail="No such file or directory")

    def observe(self, key, function):
        raise RuntimeError("platform is broken")


class BrokenHost(FakeHost):
    """A host whose every operation is a defect."""

    def _broken(self, *_, **__):
        raise ZeroDivisionError("a defect of the host")

    read_text = read_bytes = link = stat = scan = sha256 = run = distribution = module = observe = _broken


def keys(plain):
    return {name: keys(member) for name, member in plain.items()} if isinstance(plain, dict) else None


@pytest.mark.parametrize("host", [FailingHost, BrokenHost])
@pytest.mark.parametrize("detail", ["compact", "full"])
def test_a_snapshot_of_full_shape(host, detail, tmp_path):
    healthy = dump(capture(registry=REGISTRY, host=FakeHost(), detail=detail))
    target = tmp_path / "env.json"
    capture_to(target, registry=REGISTRY, host=host(), detail=detail)
    made = parse_json(target.read_text())
    assert list(made) == list(healthy)
    assert made["partial"] is True
    for name, spec in REGISTRY.collectors.items():
        if spec.shape.kind == "object" and healthy[name] is not None:
            assert set(made[name]) == set(healthy[name]), name
    statuses = {record["status"] for record in made["collection"]["collectors"].values()}
    assert "failed" not in statuses
    explained = {reason["section"] for reason in made["collection"]["reasons"]}
    for name, record in {**made["collection"]["collectors"], **made["collection"]["providers"]}.items():
        if record["status"] != "ok":
            assert name in explained, name


def test_a_real_machine_that_refuses(monkeypatch):
    """The same through the live host: patched below it, where the operating system is."""
    import os
    import subprocess

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    def missing(*_, **__):
        raise FileNotFoundError(2, "No such file or directory")

    def broken(*_, **__):
        raise RuntimeError("platform is broken")

    # What is imported late must be there before nothing can be read any more.
    dump(capture(registry=REGISTRY))
    host = LiveHost()
    with monkeypatch.context() as patched:
        for name in ("open", "scandir", "stat", "lstat", "readlink", "listdir"):
            patched.setattr(os, name, refuse)
        patched.setattr("builtins.open", refuse)
        patched.setattr(subprocess, "Popen", missing)
        for name in ("uname", "python_version", "machine", "release", "libc_ver"):
            patched.setattr(platform, name, broken)
        patched.setattr(os, "uname", broken)
        made = dump(capture(registry=REGISTRY, host=host))
    assert made["partial"] is True
    assert "failed" not in {record["status"] for record in made["collection"]["collectors"].values()}
    assert made["host"]["kernel_release"] is None
