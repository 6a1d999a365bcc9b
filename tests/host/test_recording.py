"""Recording a host: every access once, replayable, and without secrets."""

import errno
import io
import json
import threading

import pytest

from aorta.host.fake import FakeHost
from aorta.host.live import LiveHost
from aorta.host.observe import OBSERVATIONS
from aorta.host.protocol import DeadMountError, Distribution, Masked, Module, NotRecordedError
from aorta.host.recording import RecordingHost
from aorta.host.replay import open_recording

SECRET = "hunter2-correct-horse"


class Hanging(FakeHost):
    """A host with a file system that does not answer and one that may not be asked."""

    def read_text(self, path, limit=1 << 20, *, timeout=None):
        if path.startswith("/nfs/"):
            raise DeadMountError("/nfs", path)
        if path == "/slow":
            raise TimeoutError("no answer")
        if path == "/lustre":
            error = OSError(errno.ENOTSUP, "not asked, since it may hang", path)
            error.not_asked = True
            raise error
        return super().read_text(path, limit)


def machine():
    return Hanging(
        files={
            "/f": "text é\n",
            "/b": b"\xff\xfe\0",
            "/no": errno.EPERM,
            "/proc/1/environ": "HF_TOKEN=abcdefgh\0container=docker\0",
        },
        links={"/l": "f", "/ns": "mnt:[1]", "/nolink": errno.EACCES},
        nodes={"/dev/kfd": "c"},
        commands={
            "hip --version": "6.2\n",
            "bad": {"exit": 2, "stderr": "oops"},
            "slow": {"outcome": "timed_out"},
        },
        env={"PATH": "/bin", "ODD": "a\udcff"},
        distributions={"torch": Distribution(name="torch", version="2.5", path="/sp/t", others=("/x",))},
        modules={"torch": "/sp/torch/__init__.py", "ns": Module(name="ns", locations=("/sp/ns",))},
        observed={"mine": {"a": [1, None, True]}},
    )


QUESTIONS = {
    "text": lambda host: host.read_text("/f"),
    "part of a text": lambda host: host.read_text("/f", 6),
    "not text": lambda host: host.read_text("/b"),
    "missing": lambda host: host.read_text("/missing"),
    "below a file": lambda host: host.read_text("/f/x"),
    "refused": lambda host: host.read_text("/no"),
    "dead mount": lambda host: host.read_text("/nfs/x"),
    "no answer": lambda host: host.read_text("/slow"),
    "not asked": lambda host: host.read_text("/lustre"),
    "data": lambda host: host.read_bytes("/b"),
    "part of the data": lambda host: host.read_bytes("/b", 2),
    "data of a device": lambda host: host.read_bytes("/dev/kfd"),
    "link": lambda host: host.link("/ns"),
    "refused link": lambda host: host.link("/nolink"),
    "no link": lambda host: host.link("/f"),
    "stat": lambda host: host.stat("/l"),
    "stat of the link": lambda host: host.stat("/l", follow=False),
    "stat of nothing": lambda host: host.stat("/ns"),
    "scan": lambda host: host.scan("/"),
    "scan by name": lambda host: host.scan("/", details=False),
    "scan of nothing": lambda host: host.scan("/missing"),
    "sha256": lambda host: host.sha256("/b"),
    "run": lambda host: host.run(["hip", "--version"], timeout=1),
    "run badly": lambda host: host.run(("bad",), timeout=2),
    "run too long": lambda host: host.run(["slow"], timeout=3),
    "run nothing": lambda host: host.run(["none"], timeout=3),
    "env": lambda host: host.env("PATH"),
    "env in bytes": lambda host: host.env("ODD"),
    "env unset": lambda host: host.env("HOME"),
    "env_names": lambda host: host.env_names("P"),
    "all env_names": lambda host: host.env_names(),
    "distribution": lambda host: host.distribution("torch"),
    "no distribution": lambda host: host.distribution("jax"),
    "module": lambda host: host.module("torch"),
    "namespace": lambda host: host.module("ns"),
    "no module": lambda host: host.module("jax"),
    "observe": lambda host: host.observe("mine", dict),
    "now": lambda host: host.now(),
}


def outcome(question, host):
    try:
        return question(host)
    except (OSError, UnicodeError) as error:
        told = (type(error), getattr(error, "errno", None), getattr(error, "strerror", None), str(error))
        return (
            *told[:3],
            getattr(error, "reason", None),
            getattr(error, "mount", None),
            getattr(error, "not_asked", None),
        )


def recorded(host, *questions):
    file = io.StringIO()
    recorder = RecordingHost(host, file)
    answers = [outcome(question, recorder) for question in questions]
    recorder.close()
    return file.getvalue(), answers


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_replay_answers_as_the_host_did(name):
    question = QUESTIONS[name]
    text, (answer,) = recorded(machine(), question)
    assert answer == outcome(question, machine())
    assert outcome(question, open_recording(text)) == answer


def test_all_questions_in_one_recording():
    text, answers = recorded(machine(), *QUESTIONS.values(), *QUESTIONS.values())
    replayed = open_recording(text)
    assert [outcome(question, replayed) for question in QUESTIONS.values()] * 2 == answers
    assert replayed.dead_mounts() == ["/nfs"]
    lines = [json.loads(line) for line in text.splitlines()]
    questions = [
        json.dumps(
            {key: line.get(key) for key in ("op", "path", "argv", "name", "prefix", "follow", "details")}
        )
        for line in lines
    ]
    assert len(set(questions)) == len(questions)


def test_the_first_line_says_what_it_is():
    text, _ = recorded(machine())
    first = json.loads(text.splitlines()[0])
    assert {key: first[key] for key in ("recording", "world", "redacted")} == {
        "recording": 1,
        "world": "accesses",
        "redacted": True,
    }
    assert first["created"] == "2026-01-01T00:00:00Z"
    assert first["aorta"]


def test_what_was_not_asked_is_not_known():
    text, _ = recorded(machine(), QUESTIONS["stat"])
    replayed = open_recording(text)
    for name in ("text", "stat of the link", "run", "env", "env_names", "module", "observe", "sha256"):
        with pytest.raises(NotRecordedError, match="the recording does not say"):
            QUESTIONS[name](replayed)
    assert replayed.now() == "2026-01-01T00:00:00Z"
    assert replayed.monotonic() < replayed.monotonic()


def test_a_listing_by_name_does_not_answer_for_sizes():
    text, _ = recorded(machine(), QUESTIONS["scan by name"])
    with pytest.raises(NotRecordedError):
        open_recording(text).scan("/")
    text, _ = recorded(machine(), QUESTIONS["scan"])
    assert open_recording(text).scan("/", details=False) == machine().scan("/", details=False)
    assert {entry.inode for entry in machine().scan("/", details=False)} == {0}


def test_a_fuller_answer_replaces_a_shorter_one():
    text, _ = recorded(
        machine(),
        lambda host: host.read_bytes("/b", 1),
        QUESTIONS["data"],
        lambda host: host.read_bytes("/b", 1),
    )
    assert open_recording(text).read_bytes("/b") == b"\xff\xfe\0"
    assert len(text.splitlines()) == 3


def test_this_machine_can_be_replayed(tmp_path):
    path = tmp_path / "live.jsonl"
    recorder = RecordingHost(LiveHost(), path)
    questions = [
        lambda host: host.read_text("/proc/sys/kernel/osrelease"),
        lambda host: host.read_bytes("/proc/version"),
        lambda host: host.stat("/proc/self", follow=False).kind,
        lambda host: host.link("/proc/self/ns/mnt"),
        lambda host: host.scan("/sys/class/net"),
        lambda host: host.run(["uname", "-r"], timeout=5).stdout,
        lambda host: host.run(["no-such-program-here"], timeout=5).outcome,
        lambda host: host.env("PATH"),
        lambda host: host.distribution("attrs"),
        lambda host: host.module("attrs"),
        lambda host: host.read_text("/proc/nowhere"),
        *[lambda host, key=key: host.observe(key, OBSERVATIONS[key]) for key in OBSERVATIONS],
    ]
    try:
        answers = [outcome(question, recorder) for question in questions]
    finally:
        recorder.close()
    replayed = open_recording(path)
    assert [outcome(question, replayed) for question in questions] == answers
    assert path.stat().st_mode & 0o777 in (0o644, 0o600, 0o640, 0o664)


def test_secrets_never_reach_the_file():
    host = FakeHost(
        files={
            "/token": f"token={SECRET}\n",
            "/proc/1/environ": f"A=1\0MY_SERVICE_KEY={SECRET}\0container=docker\0",
            "/elf": b"\x7fELF\xff\0password=" + SECRET.encode() + b"\0tail",
            "/url": f"https://user:{SECRET}@example.org/x",
            "/echo": f"it was {SECRET}!",
        },
        links={"/link": f"/home/{SECRET}/x"},
        env={
            "HF_TOKEN": SECRET,
            "MY_KEY": "other-" + SECRET,
            "PIP_INDEX_URL": f"https://u:{SECRET}@host/simple",
        },
        commands={
            ("login", "--token", SECRET): f"logged in with {SECRET}\n",
            ("env",): f"HF_TOKEN={SECRET}\nexport DEPLOY_KEY={SECRET}\nHOME=/root\n",
            ("masked", "***"): {"exit": 1, "stderr": "bad word: zanzibar-42"},
            ("curl", "-H", f"Authorization: Bearer {SECRET}"): "",
        },
        distributions={"x": Distribution(name="x", direct_url=f'{{"url": "https://u:{SECRET}@h/x"}}')},
        observed={
            "mine": {"api_token": SECRET, "deep": [{"password": SECRET}], "url": f"https://a:{SECRET}@b/"}
        },
    )
    text, answers = recorded(
        host,
        *[lambda h, path=path: h.read_text(path) for path in ("/token", "/proc/1/environ", "/url", "/echo")],
        *[lambda h, path=path: h.read_bytes(path) for path in ("/token", "/elf")],
        lambda h: h.link("/link"),
        *[lambda h, name=name: h.env(name) for name in ("HF_TOKEN", "MY_KEY", "PIP_INDEX_URL")],
        lambda h: h.run(["login", "--token", SECRET], timeout=1),
        lambda h: h.run(["env"], timeout=1),
        lambda h: h.run(["masked", Masked("zanzibar-42", "***")], timeout=1),
        lambda h: h.run(["curl", "-H", f"Authorization: Bearer {SECRET}"], timeout=1),
        lambda h: h.distribution("x"),
        lambda h: h.observe("mine", dict),
    )
    assert SECRET in answers[0]
    assert SECRET not in text
    assert "zanzibar-42" not in text
    replayed = open_recording(text)
    for path in ("/token", "/elf"):
        assert SECRET.encode() not in replayed.read_bytes(path)
    assert len(replayed.read_bytes("/elf")) == len(host.read_bytes("/elf"))
    assert replayed.read_text("/proc/1/environ") == "A=1\0MY_SERVICE_KEY=[redacted]\0container=docker\0"
    assert "HOME=/root" in replayed.run(["env"], timeout=1).stdout
    assert replayed.run(["login", "--token", "anything"], timeout=1).stdout == "logged in with [redacted]\n"
    assert replayed.run(["masked", Masked("else", "***")], timeout=1).exit_code == 1


def test_many_threads_write_whole_lines():
    file = io.StringIO()
    recorder = RecordingHost(FakeHost(files={f"/f{n}": "x" * n for n in range(40)}), file)

    def ask():
        for n in range(40):
            recorder.read_text(f"/f{n}")
            recorder.run([f"tool{n}"], timeout=1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert len(lines) == 81


def test_a_full_disk_costs_the_recording_and_not_the_answers():
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "no space left on device")

    recorder = RecordingHost(machine(), Full())
    assert recorder.read_text("/f") == "text é\n"
    assert recorder.broken.errno == errno.ENOSPC
    assert recorder.kind == "replay"


def test_an_answer_that_is_no_json_is_told_as_a_failure():
    text, _ = recorded(
        FakeHost(observed={"odd": object(), "nan": float("nan")}),
        lambda h: h.observe("odd", dict),
        lambda h: h.observe("nan", dict),
    )
    replayed = open_recording(text)
    for key in ("odd", "nan"):
        with pytest.raises(RuntimeError, match="JSON"):
            replayed.observe(key, dict)


def test_a_defect_of_an_observation_is_a_failure_in_the_replay_too():
    def fail():
        raise ZeroDivisionError("by zero")

    class Asking(FakeHost):
        def observe(self, key, function):
            return function()

    file = io.StringIO()
    with pytest.raises(ZeroDivisionError):
        RecordingHost(Asking(), file).observe("mine", fail)
    with pytest.raises(RuntimeError, match="ZeroDivisionError: by zero"):
        open_recording(file.getvalue()).observe("mine", fail)


def test_a_recording_of_a_replay_does_not_invent():
    text, _ = recorded(machine(), QUESTIONS["text"])
    again = io.StringIO()
    recorder = RecordingHost(open_recording(text), again)
    assert recorder.read_text("/f") == "text é\n"
    with pytest.raises(NotRecordedError):
        recorder.link("/l")
    assert '"link"' not in again.getvalue()
    assert recorder.dead_mounts() == []
    assert recorder.monotonic() > 0
