import sys
import types
import zipfile

import pytest

from aorta.host import packages
from aorta.host.live import LiveHost
from tests.parts.fuse import hanging_mount


@pytest.fixture
def host():
    live = LiveHost()
    yield live
    live.close()


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def install(site, directory, metadata=None, **files):
    home = site / directory
    home.mkdir(parents=True)
    if metadata is not None:
        (home / "METADATA").write_text(metadata)
    for name, text in files.items():
        (home / name.replace("__", ".")).write_text(text)
    return str(home)


def test_a_distribution(host, site):
    path = install(
        site,
        "Some_Thing-1.2+x.dist-info",
        "Metadata-Version: 2.1\nName: Some.Thing\nVersion: 1.2+x\nSummary: a\n  Version: 9\n\nVersion: 3\n",
        direct_url__json='{"url": "file:///x"}',
    )
    found = host.distribution("some-thing")
    assert (found.name, found.version, found.path) == ("Some.Thing", "1.2+x", path)
    assert found.direct_url == '{"url": "file:///x"}'
    assert found.others == ()
    assert host.distribution("SOME.thing") == found
    assert host.distribution("some") is None


def test_metadata_that_is_empty_or_missing(host, site):
    install(site, "alpha-1.dist-info", "")
    install(site, "beta-1.dist-info")
    install(site, "gamma-1.dist-info", "\n")
    for name in ("alpha", "beta", "gamma"):
        assert (host.distribution(name).name, host.distribution(name).version) == (name, None)


def test_others_of_the_same_name(host, site, tmp_path_factory):
    first = install(site, "twice-1.dist-info", "Name: twice\nVersion: 1\n")
    second = install(site, "twice-2.dist-info", "Name: twice\nVersion: 2\n")
    later = tmp_path_factory.mktemp("later")
    third = install(later, "Twice-0.dist-info", "Name: twice\nVersion: 0\n")
    sys.path.append(str(later))
    found = host.distribution("twice")
    assert (found.version, found.path, found.others) == ("1", first, (second, third))


def test_a_description_that_is_not_utf8(host, site):
    home = site / "latin-1.dist-info"
    home.mkdir()
    (home / "METADATA").write_bytes(b"Name: latin\nVersion: 1.5\nAuthor: Ren\xe9\n\nd\xe9j\xe0 vu\n")
    assert (host.distribution("latin").name, host.distribution("latin").version) == ("latin", "1.5")


def test_egg_info(host, site):
    home = site / "old.egg-info"
    home.mkdir()
    (home / "PKG-INFO").write_text("Name: old\nVersion: 4\n")
    (site / "older-5-py3.10.egg-info").write_text("Name: older\nVersion: 5\n")
    assert host.distribution("old").version == "4"
    assert host.distribution("older").version == "5"


def test_packages_in_a_zip_file(host, site):
    archive = site / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped-6.dist-info/METADATA", "Name: zipped\nVersion: 6\n")
        file.writestr("zipped.py", "raise SystemExit")
    sys.path.insert(0, str(archive))
    found = host.distribution("zipped")
    assert (found.version, found.path) == ("6", f"{archive}/zipped-6.dist-info")
    assert host.module("zipped").origin == f"{archive}/zipped.py"
    found = packages.find_module(Apart(host), packages._search_path(), "zipped")
    assert found.origin == f"{archive}/zipped.py"


def test_entries_that_are_not_there(host, site):
    sys.path[:0] = [str(site / "none"), "", "/etc/hostname"]
    assert host.distribution("attrs").name == "attrs"
    assert host.distribution("nonesuch") is None


class Apart:
    """A host on which the import system must not be asked."""

    def __init__(self, host):
        self.read_bytes, self.scan, self.stat, self.slow_mount = (
            host.read_bytes,
            host.scan,
            host.stat,
            host.slow_mount,
        )

    def slow_points(self):
        return ["/nfs"]


@pytest.fixture(params=["import system", "search"])
def find(request, host):
    files = host if request.param == "import system" else Apart(host)
    return lambda name: packages.find_module(files, packages._search_path(), name)


def test_modules_are_found_and_not_executed(find, site):
    (site / "plain_one.py").write_text("raise SystemExit")
    (site / "pack_one").mkdir()
    (site / "pack_one" / "__init__.py").write_text("raise SystemExit")
    (site / "space_one").mkdir()
    (site / "native_one.abi3.so").write_bytes(b"")
    plain, pack, space = find("plain_one"), find("pack_one"), find("space_one")
    assert (plain.origin, plain.locations) == (f"{site}/plain_one.py", ())
    assert (pack.origin, pack.locations) == (f"{site}/pack_one/__init__.py", (f"{site}/pack_one",))
    assert (space.origin, space.locations) == (None, (f"{site}/space_one",))
    assert find("native_one").origin == f"{site}/native_one.abi3.so"
    for name in ("nonesuch", "os.path", "", "a b"):
        assert find(name) is None


def test_a_loaded_module_answers_for_itself(find, site):
    import attrs

    assert find("attrs").origin == attrs.__file__


def test_a_module_without_a_spec_and_finders_that_fail(find, site, monkeypatch):
    (site / "odd_one.py").write_text("")
    monkeypatch.setitem(sys.modules, "odd_one", types.ModuleType("odd_one"))
    sys.modules["odd_one"].__spec__ = None
    assert find("odd_one").origin == f"{site}/odd_one.py"

    class Broken:
        @staticmethod
        def find_spec(*_):
            raise RuntimeError

    monkeypatch.setattr(sys, "meta_path", [Broken, *sys.meta_path])
    (site / "odd_two.py").write_text("")
    assert find("odd_two").origin == f"{site}/odd_two.py"


def test_editable_installs_by_a_finder(host, site, monkeypatch):
    (site / "src").mkdir()
    (site / "src" / "edited_one.py").write_text("")
    home = types.ModuleType("__editable___edited_finder")
    home.MAPPING = {"edited_one": f"{site}/src/edited_one"}
    finder = type("Finder", (), {"__module__": home.__name__})
    monkeypatch.setitem(sys.modules, home.__name__, home)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    found = packages.find_module(Apart(host), [], "edited_one")
    assert found.origin == f"{site}/src/edited_one.py"


def test_what_finders_of_another_interpreter_know(host, tmp_path):
    """One that stands before the search path comes before it; another is asked last."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    facts = {
        "path": [str(tmp_path)],
        "editable": {},
        "elsewhere": {
            "one": [True, "/early/one/__init__.py", "/early/one", "/built/one"],
            "two": [False, "/late/two.py"],
            "three": [False, "/late/three.py"],
        },
    }
    found = packages.Packages(host, lambda: facts)
    assert found.module("one") == packages.Module(
        name="one", origin="/early/one/__init__.py", locations=("/early/one", "/built/one")
    )
    assert found.module("two").origin == f"{tmp_path}/two/__init__.py"
    assert found.module("three") == packages.Module(name="three", origin="/late/three.py")
    assert found.module("four") is None
    facts["elsewhere"] = None
    assert found.module("one").origin == f"{tmp_path}/one/__init__.py"
    with pytest.raises(TimeoutError, match="finders"):
        found.module("four")
    assert found.module("no.name") is None


def test_a_dead_search_path_is_passed_over(monkeypatch, tmp_path):
    install(tmp_path, "last-1.dist-info", "Name: last\nVersion: 1\n")
    (tmp_path / "last.py").write_text("")
    with hanging_mount() as mount:
        monkeypatch.setattr(sys, "path", [f"{mount}/hang", f"{mount}/bin", *sys.path, str(tmp_path)])
        host = LiveHost(slow_limit_s=0.5)
        assert host.distribution("last").version == "1"
        assert host.module("last").origin == f"{tmp_path}/last.py"
        assert host.dead_mounts() == [mount]
        host.close()
