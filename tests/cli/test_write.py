import json
import os
import stat

import pytest

from aorta.instrumentation.write import ForeignFileError, check_writable, replacing, told, write_atomically


def gpus(*serials):
    return json.dumps({"gpus": [{"unique_id": serial} for serial in serials]})


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        (gpus("a", "b"), gpus("c"), True),
        (gpus("a", "b"), gpus("b"), False),
        (gpus("a"), gpus(), False),
        ('{"host": {"machine_digest": "1"}}', '{"host": {"machine_digest": "2"}}', True),
        ('{"host": {"machine_digest": "1"}}', '{"host": {"machine_digest": null}}', False),
        ('{"host": null, "gpus": 3}', gpus("a"), False),
        ("not json", gpus("a"), False),
        ("[1]", gpus("a"), False),
    ],
)
def test_only_what_is_surely_of_another_machine_is_kept(tmp_path, before, after, refused):
    path = tmp_path / "x.json"
    path.write_text(before)
    if refused:
        with pytest.raises(ForeignFileError):
            write_atomically(str(path), after)
        assert path.read_text() == before
        write_atomically(str(path), after, force=True)
    else:
        write_atomically(str(path), after)
    assert path.read_text() == after
    assert os.listdir(tmp_path) == ["x.json"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_mode_is_the_umasks(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_atomically(str(tmp_path / "x"), "{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


def test_an_error_inside_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), replacing(str(tmp_path / "a" / "x")) as stream:
        stream.write("half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path / "a") == []


def test_a_device_is_written_to(tmp_path):
    write_atomically("/dev/null", "{}")
    with pytest.raises(OSError, match="No space"):
        write_atomically("/dev/full", "{}")


def test_check_leaves_nothing_and_makes_nothing(tmp_path):
    check_writable(str(tmp_path / "a" / "b" / "x.json"))
    check_writable("/dev/null")
    assert os.listdir(tmp_path) == []


def test_a_dangling_link_names_the_place_it_points_to(tmp_path):
    (tmp_path / "x").symlink_to("y")
    write_atomically(str(tmp_path / "x"), "{}")
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_told_has_the_path_that_was_asked_for():
    assert told(OSError(28, "No space left on device", "/tmp/.x.tmp"), "env.json") == (
        "cannot write env.json: No space left on device"
    )
    assert told(OSError("odd"), "env.json") == "cannot write env.json: odd"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_permission(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError):
        check_writable(str(tmp_path / "x"))
