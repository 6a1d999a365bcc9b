"""The made-up host: what it is given is there, everything else is not."""

import errno
import hashlib

import pytest

from aorta.host.fake import FakeHost
from aorta.host.protocol import Completed, Distribution, Masked, Module
from aorta.model.vocabulary import Outcome


def ran(host, *argv, path=()):
    return host.run(argv, timeout=1, path=path)


def test_nothing_is_there():
    host = FakeHost()
    with pytest.raises(FileNotFoundError):
        host.read_text("/etc/hostname")
    assert ran(host, "lspci").outcome is Outcome.NOT_FOUND
    assert "lspci" in ran(host, "lspci").detail
    assert host.env("PATH") is None
    assert host.env_names() == []
    assert host.distribution("torch") is None
    assert host.module("torch") is None
    assert host.observe("nothing", lambda: 1) is None
    assert host.scan("/") == []
    assert host.dead_mounts() == []


def test_files_links_directories_and_nodes():
    host = FakeHost(
        files={
            "/a/text": "é\n",
            "/a/data": b"\xff\0",
            "/a/no": errno.EACCES,
            "/a/bad": OSError(errno.EIO, "bad disk"),
        },
        links={"/l": "a", "/ns": "mnt:[1]", "/no": errno.EACCES},
        dirs=["/empty"],
        nodes={"/dev/kfd": "c", "/dev/sda": "b", "/run/pipe": "p", "/run/sock": "s"},
    )
    assert host.read_text("/l/text") == "é\n"
    assert host.read_text("/a/text", 1) == ""
    assert host.read_bytes("/a/data", 1) == b"\xff"
    with pytest.raises(UnicodeDecodeError):
        host.read_text("/a/data")
    with pytest.raises(PermissionError):
        host.read_text("/a/no")
    assert host.stat("/a/no").kind == "file"
    with pytest.raises(OSError, match="bad disk"):
        host.stat("/a/bad")
    assert host.link("/ns") == "mnt:[1]"
    with pytest.raises(FileNotFoundError):
        host.stat("/ns")
    with pytest.raises(PermissionError):
        host.link("/no")
    assert host.stat("/l", follow=False).kind == "link"
    assert host.scan("/empty") == []
    assert [(entry.name, entry.kind) for entry in host.scan("/dev")] == [("kfd", "char"), ("sda", "block")]
    assert [entry.kind for entry in host.scan("/run")] == ["fifo", "socket"]
    with pytest.raises(OSError, match="not a regular file"):
        host.read_bytes("/dev/kfd")
    with pytest.raises(IsADirectoryError):
        host.read_bytes("/empty")
    assert host.sha256("/a/data") == hashlib.sha256(b"\xff\0").hexdigest()
    with pytest.raises(NotADirectoryError):
        host.scan("/a/text")


def test_every_way_to_say_how_a_command_ends():
    host = FakeHost(
        commands={
            "a": "out\n",
            ("b", "x y"): b"\xff",
            "c": {"exit": 3, "stdout": "o", "stderr": b"e"},
            "d": {"exit": -9},
            "e": {"outcome": "timed_out", "detail": "slow"},
            "f": Completed(outcome=Outcome.DENIED, detail="no"),
        }
    )
    assert ran(host, "a") == Completed(outcome=Outcome.OK, exit_code=0, stdout="out\n")
    assert ran(host, "b", "x y").stdout == "\ufffd"
    assert ran(host, "b", "x", "y").outcome is Outcome.NOT_FOUND
    assert ran(host, "c") == Completed(outcome=Outcome.EXIT, exit_code=3, stdout="o", stderr="e")
    assert ran(host, "d").outcome is Outcome.SIGNAL
    assert ran(host, "e") == Completed(outcome=Outcome.TIMED_OUT, detail="slow")
    assert ran(host, "f").outcome is Outcome.DENIED
    assert ran(host, Masked("a", "secret")).outcome is Outcome.NOT_FOUND


def test_programs_are_found_where_they_lie():
    host = FakeHost(
        files={"/opt/rocm-6/bin/rocminfo": ""},
        links={"/opt/rocm": "rocm-6"},
        commands={
            "/opt/rocm/bin/rocminfo": "R",
            "hipconfig": "H",
            "/usr/sbin/lspci -n": "L",
            "/usr/local/bin/t": "T",
        },
        env={"PATH": "/usr/local/bin"},
    )
    assert ran(host, "/opt/rocm-6/bin/rocminfo").stdout == "R"
    assert ran(host, "rocminfo").outcome is Outcome.NOT_FOUND
    assert ran(host, "rocminfo", path=["/opt/rocm-6/bin"]).stdout == "R"
    assert ran(host, "/opt/rocm/bin/hipconfig").stdout == "H"
    assert ran(host, "lspci", "-n").stdout == "L"
    assert ran(host, "lspci").outcome is Outcome.NOT_FOUND
    assert ran(host, "t").stdout == "T"


def test_a_line_under_sudo_with_the_environment_answers_one_without():
    host = FakeHost(commands={"sudo -n -E nicctl show card": "C"})
    assert ran(host, "sudo", "-n", "nicctl", "show", "card").stdout == "C"
    assert ran(host, "nicctl", "show", "card").outcome is Outcome.NOT_FOUND


def test_packages_and_process():
    host = FakeHost(
        env={"NCCL_DEBUG": "INFO", "HOME": "/root"},
        distributions={"ROCm_SDK.core": "7.1", "x": Distribution(name="X", version=None)},
        modules={
            "torch": "/sp/torch/__init__.py",
            "six": "/sp/six.py",
            "ns": Module(name="ns", locations=("/sp/ns",)),
        },
        observed={"glibc": None, "mine": [1]},
        now="2027-01-01T00:00:00Z",
    )
    assert host.env_names("NCCL_") == ["NCCL_DEBUG"]
    assert host.distribution("rocm-sdk-core").version == "7.1"
    assert host.distribution("X").version is None
    assert host.module("torch").locations == ("/sp/torch",)
    assert host.module("six").locations == ()
    assert host.module("ns").origin is None
    assert host.observe("glibc", lambda: "no") is None
    assert host.observe("mine", lambda: "no") == [1]
    assert host.observe("interpreter", dict)["implementation"] == "CPython"
    assert host.now() == "2027-01-01T00:00:00Z"
    assert host.monotonic() < host.monotonic()
    host.close()
