"""The Context turns every failure of the machine into a typed reason."""

import errno
import json
import threading
import time

import pytest

from aorta.collect.answer import Answer, asked, kind_of, last_line, parsed
from aorta.collect.commands import CommandPool
from aorta.collect.context import NOTE_LIMIT, NOTES_LIMIT, Context, Shared, UndeclaredNeedError
from aorta.collect.digests import Digests
from aorta.collect.request import Request
from aorta.host.protocol import Completed, DeadMountError, Masked, NotRecordedError
from aorta.model.vocabulary import Detail, Outcome, ReasonKind
from aorta.testing import FakeHost


def context(host=None, *, seconds=10.0, **wishes):
    host = host or FakeHost()
    shared = Shared(host=host, request=Request(**wishes), commands=CommandPool(host), digests=Digests(host))
    return Context(shared, "sec", deadline=time.monotonic() + seconds)


def not_asked():
    error = OSError(errno.EAGAIN, "x")
    error.not_asked = True
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileNotFoundError(errno.ENOENT, "x"), "absent"),
        (NotADirectoryError(errno.ENOTDIR, "x"), "absent"),
        (PermissionError(errno.EACCES, "x"), "denied"),
        (PermissionError(errno.EPERM, "x"), "denied"),
        (OSError(errno.EOPNOTSUPP, "x"), "unsupported"),
        (OSError(errno.ENODEV, "x"), "unsupported"),
        (TimeoutError(errno.ETIMEDOUT, "x"), "timed_out"),
        (DeadMountError("/mnt", "/mnt/x"), "timed_out"),
        (OSError(errno.EIO, "x"), "failed"),
        (OSError("no number"), "failed"),
        (not_asked(), "not_requested"),
        (NotRecordedError("x"), "not_recorded"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), "unparsed"),
        (json.JSONDecodeError("x", "x", 0), "unparsed"),
        (RuntimeError("platform is broken"), "failed"),
    ],
)
def test_kinds_of_errors(error, kind):
    assert kind_of(error).value == kind

    def question():
        raise error

    answer = asked("/p", question)
    assert (answer.kind.value, answer.value, answer.ok) == (kind, None, False)
    assert answer.absent == (kind == "absent")
    assert answer.subject == ("/mnt" if isinstance(error, DeadMountError) else "/p")
    assert answer.detail


def test_reading():
    ctx = context(
        FakeHost(
            {"/a": " x \n", "/blank": "\n", "/no": errno.EACCES, "/b": b"\xff", "/l": "1\n2"},
            links={"/k": "/a"},
        )
    )
    assert ctx.read("/a", "a") == "x"
    assert ctx.read("/blank", "a") is None
    assert ctx.lines("/l", "a") == ["1", "2"]
    assert ctx.link("/k").value == "/a"
    assert ctx.data("/b").value == b"\xff"
    assert ctx.stat("/a").value.kind == "file"
    assert ctx.stat("/k", follow=False).value.kind == "link"
    assert [entry.name for entry in ctx.scan("/").value] == ["a", "b", "blank", "k", "l", "no"]
    assert ctx.reasons == []
    assert ctx.read("/no", "f.g") is None
    assert ctx.lines("/b", "h") is None
    assert ctx.read("/gone", "i") is None
    assert [(r.kind.value, r.field, r.subject, r.detail) for r in ctx.reasons] == [
        ("denied", "f.g", "/no", "/no: Permission denied"),
        ("unparsed", "h", "/b", "/b: not UTF-8"),
        ("absent", "i", "/gone", "/gone: No such file or directory"),
    ]


def test_digests_are_read_once():
    reads = []

    class Host(FakeHost):
        def sha256(self, path, *, timeout=None):
            reads.append(path)
            time.sleep(0.05)
            return super().sha256(path)

    ctx = context(Host({"/a": "x"}))
    threads = [threading.Thread(target=ctx.digest, args=("/a",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answer = ctx.digest("/a")
    assert answer.value == "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert reads == ["/a"]
    assert (ctx.digest_count.hashed, ctx.digest_count.remembered) == (9, 0)
    assert ctx.digest("/gone").kind is ReasonKind.ABSENT
    assert ctx.digest("/gone").kind is ReasonKind.ABSENT


def test_a_digest_that_had_no_time_is_asked_again():
    class Host(FakeHost):
        slow = True

        def sha256(self, path, *, timeout=None):
            if self.slow:
                raise TimeoutError(errno.ETIMEDOUT, "Connection timed out", path)
            return super().sha256(path)

    host = Host({"/a": "x"})
    ctx = context(host)
    assert ctx.digest("/a").kind is ReasonKind.TIMED_OUT
    host.slow = False
    assert ctx.digest("/a").ok


def test_who_waits_for_another_reader_waits_its_own_time():
    begun, go_on = threading.Event(), threading.Event()

    class Host(FakeHost):
        def sha256(self, path, *, timeout=None):
            begun.set()
            go_on.wait(10)
            return super().sha256(path)

    digests = Digests(Host({"/a": "x"}))
    thread = threading.Thread(target=digests.file, args=("/a", 10))
    thread.start()
    begun.wait(5)
    answer, hashed = digests.file("/a", 0.1)
    go_on.set()
    thread.join()
    assert (answer.kind, answer.detail, hashed) == (ReasonKind.TIMED_OUT, "/a: not read within 0.1 s", False)
    assert digests.file("/a", 1)[0].ok


def test_commands_answer_in_order():
    ctx = context(
        FakeHost(commands={"a": "out\n", "b": {"exit": 3, "stderr": "bad\nworse\n"}, "c": {"exit": -11}})
    )
    a, b, c, d = ctx.commands(["a"], ["b"], ["c"], ["d"])
    assert (a.ok, a.stdout, a.value.exit_code) == (True, "out\n", 0)
    assert (b.kind.value, b.stdout, b.value.stderr, b.detail) == (
        "failed",
        "",
        "bad\nworse\n",
        "b: exit status 3: worse",
    )
    assert (c.kind.value, c.detail) == ("failed", "c: ended by signal 11")
    assert (d.kind.value, d.detail, d.subject) == ("no_tool", "d is not on PATH", "d")
    assert [(r.argv, r.outcome.value, r.shared) for r in ctx.command_records] == [
        (("a",), "ok", False),
        (("b",), "exit", False),
        (("c",), "signal", False),
        (("d",), "not_found", False),
    ]
    assert ctx.take(b, "x") is None
    assert ctx.take(a, "x").stdout == "out\n"


@pytest.mark.parametrize(
    ("done", "kind", "detail"),
    [
        (Completed(outcome=Outcome.NOT_FOUND), "no_tool", "t is not installed"),
        (Completed(outcome=Outcome.DENIED), "denied", "t may not be run"),
        (
            Completed(outcome=Outcome.DENIED, detail="/t can not be executed"),
            "denied",
            "/t can not be executed",
        ),
        (Completed(outcome=Outcome.TIMED_OUT), "timed_out", "t -x: no end within 5 s"),
        (Completed(outcome=Outcome.TIMED_OUT, elapsed_s=1.02), "timed_out", "t -x: no end within 1.02 s"),
        (Completed(outcome=Outcome.ABANDONED, elapsed_s=9), "timed_out", "t -x: no end within 5 s"),
        (
            Completed(outcome=Outcome.EXIT, exit_code=1, stdout="said here\n"),
            "failed",
            "t -x: exit status 1: said here",
        ),
    ],
)
def test_endings(done, kind, detail):
    answer = context(FakeHost(commands={"t -x": done})).command(["t", "-x"])
    assert (answer.kind.value, answer.detail) == (kind, detail)


def test_root_is_not_used_unasked():
    host = FakeHost(commands={"sudo -n dmidecode": "secret", "dmidecode": "no"})
    ctx = context(host)
    answer = ctx.command(["dmidecode"], sudo=True)
    assert (answer.kind.value, answer.stdout, ctx.command_records) == ("not_requested", "", [])
    assert answer.detail == "needs root: allow it with --sudo (or AORTA_SUDO=1), which runs sudo -n dmidecode"
    ctx = context(host, sudo=True)
    assert ctx.command(["dmidecode"], sudo=True).stdout == "secret"
    assert ctx.command_records[0].as_root


def test_a_command_that_the_recording_lacks():
    class Host(FakeHost):
        def run(self, argv, *, timeout, path=(), manner=None):
            if argv[0] == "a":
                raise NotRecordedError("not in the recording")
            raise ZeroDivisionError("a defect")

    ctx = context(Host())
    a, b = ctx.commands(["a"], ["b"])
    assert (a.kind.value, b.kind.value) == ("not_recorded", "failed")
    assert b.detail == "b: ZeroDivisionError: a defect"
    assert ctx.command_records == []


def test_secrets_of_a_command_line_are_written_nowhere():
    class Host(FakeHost):
        def run(self, argv, *, timeout, path=(), manner=None):
            value = argv[1].value
            return Completed(outcome=Outcome.EXIT, exit_code=len(value), stderr="no")

    ctx = context(Host())
    one = ctx.command(["t", Masked("hunter2", "CONFIG")])
    two = ctx.command(["t", Masked("correct horse", "CONFIG")])
    # The same as shown, yet not the same question.
    assert (one.value.exit_code, two.value.exit_code) == (7, 13)
    ctx.take(one, "x")
    text = repr((one, two, ctx.reasons, ctx.command_records))
    assert "hunter2" not in text
    assert "correct horse" not in text
    assert ctx.command_records[0].argv == ("t", "CONFIG")
    ctx.command(["t2", Masked("x", "y"), "--password=abcdefgh"])
    assert "abcdefgh" not in repr(ctx.command_records)


def test_notes_are_redacted_bounded_and_not_repeated():
    ctx = context()
    ctx.note(
        ReasonKind.FAILED,
        "a",
        "https://me:pass@host/x said token=abcdefghijk",
        subject="https://me:pass@host",
    )
    ctx.note(
        ReasonKind.FAILED,
        "a",
        "https://me:pass@host/x said token=abcdefghijk",
        subject="https://me:pass@host",
    )
    (reason,) = ctx.reasons
    assert "pass@" not in repr(reason)
    assert "abcdefghijk" not in repr(reason)
    ctx.note(ReasonKind.FAILED, "b", "x" * 10_000_000)
    assert len(ctx.reasons[-1].detail) == NOTE_LIMIT
    begun = time.monotonic()
    for number in range(20_000):
        ctx.note(ReasonKind.DENIED, "c", f"{number}")
    assert time.monotonic() - begun < 10
    assert len(ctx.reasons) == NOTES_LIMIT + 1
    assert ctx.reasons[-1].detail == f"and {20_002 - NOTES_LIMIT} more reasons"


def test_the_environment():
    ctx = context(FakeHost(env={"A_1": "x", "A_2": "", "B": "y"}))
    assert (ctx.env("A_1"), ctx.env("A_2"), ctx.env("C")) == ("x", "", None)
    assert ctx.env_names("A_") == ["A_1", "A_2"]
    assert ctx.variables == {"A_1", "A_2", "C", "A_*"}
    ctx = context(FakeHost(env={"A_1": "x"}), env={"A_9": "z"})
    assert (ctx.env("A_1"), ctx.env("A_9"), ctx.env_names("A_")) == (None, "z", ["A_9"])


def test_packages_and_observations():
    def broken():
        raise RuntimeError("platform is broken")

    class Host(FakeHost):
        def observe(self, key, function):
            return function() if key == "mine" else super().observe(key, function)

    ctx = context(Host(distributions={"rocm": "7.1"}, modules={"torch": "/sp/torch/__init__.py"}))
    assert ctx.distribution("rocm").value.version == "7.1"
    assert ctx.distribution("gone").value is None
    assert ctx.module("torch").value.locations == ("/sp/torch",)
    assert ctx.observe("glibc").value == "glibc 2.39"
    answer = ctx.observe("mine", broken)
    assert (answer.kind.value, answer.detail) == ("failed", "mine: RuntimeError: platform is broken")


def test_parsed():
    assert parsed(Answer(value="3"), int).value == 3
    bad = parsed(Answer(value="x", subject="/s"), int)
    assert (bad.kind.value, bad.subject) == ("unparsed", "/s")
    missing = Answer(kind=ReasonKind.DENIED, subject="/s", detail="no")
    assert parsed(missing, int) == missing


def test_last_line():
    assert last_line("a\n b \n\n") == "b"
    assert last_line("") == ""
    assert len(last_line("x" * 100_000)) == 200


def test_wants_needs_and_time():
    ctx = context(seconds=10)
    assert ctx.wants(Detail.COMPACT)
    assert not ctx.wants(Detail.FULL)
    assert context(detail=Detail.FULL).wants(Detail.FULL)
    assert ctx.host_kind == "replay"
    assert 9 < ctx.remaining() < 9.6
    assert context(seconds=-1).remaining() == 0.0
    assert 0.5 < context(seconds=1).remaining() <= 0.8
    with pytest.raises(UndeclaredNeedError, match=r"sec does not declare needs=\(int,\)"):
        ctx.need(int)


def test_a_slow_command_leaves_time_to_tell():
    """The question ends before the section does, so that what was seen is not lost."""

    class Host(FakeHost):
        def run(self, argv, *, timeout, path=(), manner=None):
            time.sleep(30)

    ctx = context(Host(), seconds=1.0)
    begun = time.monotonic()
    answer = ctx.command(["slow"], timeout=60)
    assert time.monotonic() - begun < 1.0
    assert answer.kind is ReasonKind.TIMED_OUT
    assert answer.detail.startswith("slow: no end within 0.8")
