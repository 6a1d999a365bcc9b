"""A file that is written again and again: whole for whoever reads it, and nothing else is left."""

import json
import os
import threading

import pytest

from aorta.sweep.run import rewritten
from aorta.sweep.run.store import write


@pytest.fixture(params=["exchanged", "replaced"])
def way(request, monkeypatch):
    if request.param == "replaced":
        monkeypatch.setattr(rewritten, "_exchange", lambda: None)
    return request.param


def test_each_text_takes_the_place_of_the_one_before(tmp_path, way):
    path = tmp_path / "matrix.json"
    for number in range(3):
        write(str(path), f"text {number}", passing=True)
        assert path.read_text() == f"text {number}"
    assert os.listdir(tmp_path) == ["matrix.json"]


def test_a_reader_never_sees_half_of_one(tmp_path, way):
    path, over = tmp_path / "matrix.json", threading.Event()
    texts = [json.dumps([number] * size) for number, size in ((1, 40_000), (2, 3), (3, 90_000))]
    write(str(path), texts[0])
    seen = set()

    def read():
        while not over.is_set():
            with open(path) as stream:
                held = stream.read(10)
                seen.add(held[1])
                assert held + stream.read() in texts

    failed = []
    thread = threading.Thread(target=lambda: failed.append(_tried(read)))
    thread.start()
    for number in range(600):
        write(str(path), texts[number % 3], passing=True)
    over.set()
    thread.join()
    assert failed == [None]
    assert seen


def _tried(function):
    try:
        function()
    except BaseException as error:
        return error
    return None


def test_what_a_killed_process_left_is_written_over(tmp_path, way):
    path = tmp_path / "matrix.json"
    (tmp_path / "matrix.json.tmp").write_text("x" * 1000)
    write(str(path), "short", passing=True)
    write(str(path), "other", passing=True)
    assert path.read_text() == "other"
    assert os.listdir(tmp_path) == ["matrix.json"]


def test_the_mode_is_the_umask_s(tmp_path, way):
    before = os.umask(0o027)
    try:
        for _ in range(2):
            write(str(tmp_path / "matrix.md"), "x", passing=True)
    finally:
        os.umask(before)
    assert (tmp_path / "matrix.md").stat().st_mode & 0o777 == 0o640
