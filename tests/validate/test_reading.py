"""Files of all kinds: each has one clear error, none a traceback, none is waited for."""

import os
import threading
import time

import pytest

from aorta.validate import document
from aorta.validate.document import ForeignError, UnreadableError, name_of, read
from tests.parts.pairs import client, judged, save, workload


def why(path):
    with pytest.raises(UnreadableError) as raised:
        read(str(path))
    text = str(raised.value)
    assert text.isprintable() and len(text) < 500
    return text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"[1, 2]", "a JSON list, not an object"),
        (b'"text"', "a JSON str, not an object"),
        (b"7", "a JSON int, not an object"),
        (b"null", "a JSON NoneType, not an object"),
        (b'{"a": ', "not JSON: "),
        (b'{"schema_version": NaN}', "NaN is not strict JSON"),
        (b'{"schema_version": -Infinity}', "-Infinity is not strict JSON"),
        (b'{"schema_version": 1e999}', "beyond all numbers"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', '"b" stands twice'),
        (b'{"\\u001b[31m": 1, "\\u001b[31m": 2}', '"\\x1b[31m" stands twice'),
        (b"\xff\xfe{\x00", "not UTF-8 at byte 0"),
        (b'{"a": "\xc3"}', "not UTF-8 at byte"),
        (b"\xef\xbb\xbf{}", "not JSON: "),
        (b"[" * 100_000, "not JSON: "),
        (b'{"a":' * 100_000, "not JSON: "),
        (b"{} {}", "not JSON: "),
        (b"\0\0\0", "not JSON: "),
        (b"hello", "not JSON: "),
    ],
)
def test_malformed(tmp_path, content, says):
    [path] = save(tmp_path, x=content)
    assert says in why(path)


@pytest.mark.parametrize(
    "content",
    ['{"recording": 1, "world": "closed"}\n{"op": "env"}\n', '{"recording": 1}', b"\x1f\x8b\x08", '{"a": 1}'],
)
def test_something_else(tmp_path, content):
    [path] = save(tmp_path, x=content)
    with pytest.raises(ForeignError):
        read(str(path))


def test_a_recording_that_is_not_recognised_by_its_first_line(tmp_path):
    [path] = save(tmp_path, x='["no header"]\n{"recording": 1}\n')
    assert "not JSON" in why(path)


def test_paths(tmp_path):
    assert "No such file" in why(tmp_path / "none")
    assert why(tmp_path) == "a directory, not a file"
    assert why("/dev/null") == "empty"
    assert "null" in why("a\0b")
    (tmp_path / "loop").symlink_to("loop")
    assert "symbolic links" in why(tmp_path / "loop")
    assert "Not a directory" in why("/dev/null/x")


def test_unreadable(tmp_path):
    [path] = save(tmp_path, x="{}")
    path.chmod(0)
    # Root reads everything.
    before = os.geteuid()
    os.seteuid(before or 65534)
    try:
        assert "Permission denied" in why(path)
    finally:
        os.seteuid(before)


def test_a_pipe_that_nobody_writes_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    started = time.monotonic()
    assert why(tmp_path / "pipe") == "empty"
    assert time.monotonic() - started < 10


def test_a_pipe_whose_writer_is_silent(tmp_path, monkeypatch):
    monkeypatch.setattr(document, "SILENCE_S", 0.05)
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        assert "nothing came through it" in why(tmp_path / "pipe")
    finally:
        os.close(held)


def test_a_pipe_with_a_document(tmp_path):
    reading, writing = os.pipe()
    [path] = save(tmp_path, x=workload())

    def write():
        with open(writing, "wb") as stream:
            for part in (path.read_bytes()[:10], path.read_bytes()[10:]):
                time.sleep(0.02)
                stream.write(part)
                stream.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert read(f"/dev/fd/{reading}").data == read(str(path)).data
    finally:
        writer.join()
        os.close(reading)


def test_a_file_without_end(tmp_path, monkeypatch):
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 30)
    started = time.monotonic()
    assert "larger than 256 MiB" in why(tmp_path / "sparse")
    assert time.monotonic() - started < 10
    monkeypatch.setattr(document, "LIMIT", 1 << 20)
    assert "larger than 1 MiB" in why("/dev/zero")


def test_more_than_the_memory(tmp_path, monkeypatch):
    def fail(_):
        raise MemoryError

    [path] = save(tmp_path, x="{}")
    monkeypatch.setattr(document, "_parsed", fail)
    assert "memory" in why(path)


def test_names():
    assert name_of("-") == "standard input"
    assert name_of("a\nb\x1b[31m\udcff.json") == "a\\nb\\x1b[31m\\udcff.json"
    assert name_of("x/" * 5000 + "w.json").endswith("x/w.json")
    assert len(name_of("x/" * 5000)) <= 403


def test_deep_values_and_odd_texts_are_bounded():
    deep = []
    for _ in range(900):
        deep = [deep]
    long = "\x1b[2J\n\r\u2028\ud800" * 10_000
    for value in (deep, {"a": deep}, long, 10**4000, -(10**4000), 1.5, True, [long] * 4, {long: long}):
        changes = dict.fromkeys(
            ("schema_version", "python_version", "gpu_arch", "rccl", "launcher.rank", "build_system.kind"),
            value,
        )
        verdict = judged(
            client(changes), workload(changes), workload(changes, rank=1), libraries=("rccl", long)
        )
        lines = [finding.line for finding in verdict.findings]
        assert lines and all(line.isprintable() and len(line) < 3000 for line in lines)
