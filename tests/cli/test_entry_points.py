import sys
import zipfile

import pytest

from aorta.plugin.entry_points import may_declare

GROUP = "aorta.collectors"


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(
        sys, "meta_path", [one for one in sys.meta_path if not hasattr(one, "find_distributions")]
    )
    return tmp_path


def put(folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_nothing_installed(path):
    put(path, "x-1.dist-info/METADATA", "Name: x")
    put(path, "y-1.dist-info/entry_points.txt", "[console_scripts]\ny = y:main\n")
    put(path, "notes.dist-info", "a file")
    put(path, "entry_points.txt", f"[{GROUP}]\n")
    assert may_declare(GROUP) is False


@pytest.mark.parametrize(
    "name",
    ["x-1.dist-info/entry_points.txt", "X-1.EGG-INFO/entry_points.txt", "x-1.egg/EGG-INFO/entry_points.txt"],
)
def test_one_that_declares(path, name):
    put(path, name, f"[{GROUP}]\nx = x\n")
    assert may_declare(GROUP) is True


def test_places_that_are_not_there_are_passed_over(path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(path / "nowhere"), "", str(path)])
    monkeypatch.chdir(path)
    assert may_declare(GROUP) is False


def test_an_archive_has_to_be_asked(path, monkeypatch):
    with zipfile.ZipFile(path / "x.pyz", "w") as archive:
        archive.writestr("x.py", "")
    monkeypatch.setattr(sys, "path", [str(path / "x.pyz")])
    assert may_declare(GROUP) is True


def test_another_finder_has_to_be_asked(path, monkeypatch):
    class Finder:
        def find_spec(self, *_):
            return None

        def find_distributions(self, *_):
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert may_declare(GROUP) is True
