"""The aiter section: identity without import, and the code objects that it would load."""

import errno
import hashlib

import pytest

from aorta.testing import Distribution, FakeHost, Module, collect

SITE = "/sp"
INIT = f"{SITE}/aiter/__init__.py"
VERSION_PY = f"{SITE}/aiter/_version.py"
HSA = f"{SITE}/aiter_meta/hsa"
SCM = "__version__ = version = '0.1.11.dev32+g9a469a608'\n"
KERNELS = {
    f"{HSA}/gfx942/all_reduce.co": b"one",
    f"{HSA}/gfx942/fmoe/silu/fmoe.co": b"two",
    f"{HSA}/gfx942/fmoe.co": b"three",
    f"{HSA}/gfx942/fmoe/fmoe.csv": b"four",
    f"{HSA}/gfx950/mla/mla.co": b"five",
    f"{HSA}/codegen.py": b"",
}


def combined(files, top):
    """Return the digest as it is declared: path, NUL, hexadecimal digest, line feed, sorted by path."""
    below = {
        path.removeprefix(f"{top}/"): content for path, content in files.items() if path.startswith(f"{top}/")
    }
    lines = [f"{path}\0{hashlib.sha256(below[path]).hexdigest()}\n" for path in sorted(below)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def probed(files=None, *, meta=True, distributions=None, package=True, **host):
    wishes = {name: host.pop(name) for name in ("digests",) if name in host}
    modules = {"aiter": INIT} if package else {}
    if meta:
        # It has no __init__.py.
        modules["aiter_meta"] = Module(name="aiter_meta", locations=(f"{SITE}/aiter_meta",))
    content = {f"{SITE}/aiter/install_mode": "install", f"{SITE}/aiter/ops/gemm.py": ""} if package else {}
    made = FakeHost(files={**content, **(files or {})}, modules=modules, distributions=distributions, **host)
    return collect(made, "aiter", **wishes)


def amd(version="0.1.7.post2.dev18", name="amd-aiter"):
    path = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
    return {f"{path}/RECORD": "aiter/__init__.py,,\n"}, {
        name: Distribution(name=name, version=version, path=path)
    }


def test_the_wheel():
    files, distributions = amd()
    result = probed(
        {**KERNELS, **files, INIT: "import torch\n", VERSION_PY: "__version__ = '0.1.7.post2.dev18'\n"},
        distributions=distributions,
    )
    value = result.value
    assert (value["package_version"], value["package_version_source"]) == ("0.1.7.post2.dev18", VERSION_PY)
    assert (value["package_dist_name"], value["conflict"], value["commit"]) == ("amd_aiter", False, None)
    tops = {arch: f"{HSA}/{arch}" for arch in ("gfx942", "gfx950")}
    assert value["hsa_tree"] == {
        HSA: {
            "gfx942": {
                "file_count": 4,
                "co_count": 3,
                "combined_sha256": combined(KERNELS, tops["gfx942"]),
                "combined_identity": None,
            },
            "gfx950": {
                "file_count": 1,
                "co_count": 1,
                "combined_sha256": combined(KERNELS, tops["gfx950"]),
                "combined_identity": None,
            },
        }
    }
    assert [(each.kind, each.field) for each in result.reasons] == [("absent", "commit")]


def test_the_package_comes_before_its_version_module_and_that_before_metadata():
    files, distributions = amd("0.1.5")
    version = {VERSION_PY: SCM}
    first = probed({INIT: "__version__ = '0.1.12'\n", **version, **files}, distributions=distributions).value
    assert (first["package_version"], first["package_version_source"]) == ("0.1.12", INIT)
    second = probed({INIT: "", **version, **files}, distributions=distributions).value
    assert (second["package_version"], second["commit"]) == ("0.1.11.dev32+g9a469a608", "9a469a608")
    third = probed({INIT: "", **files}, distributions=distributions).value
    assert third["package_version"] == "0.1.5"


@pytest.mark.parametrize(
    "name, written", [("amd-aiter", "amd_aiter"), ("amd_aiter", "amd_aiter"), ("aiter", "aiter")]
)
def test_the_distribution(name, written):
    files, distributions = amd("0.1.5", name)
    assert probed(files, distributions=distributions).value["package_dist_name"] == written


def test_both_distributions():
    """PyPI's aiter is another program: pip installs one over the other."""
    files, distributions = amd("0.1.5")
    more, others = amd("0.13.20191203", "aiter")
    result = probed({**files, **more, INIT: ""}, distributions=distributions | others)
    value = result.value
    assert (value["package_version"], value["package_dist_name"], value["conflict"]) == (None, None, True)
    assert [each["name"] for each in value["providers"]] == ["amd-aiter", "aiter"]


def test_the_other_program():
    path = f"{SITE}/aiter-0.13.20191203.dist-info"
    host = FakeHost(
        files={INIT: "from .azip import azip\n", f"{path}/RECORD": "aiter/__init__.py,,\n"},
        modules={"aiter": INIT},
        distributions={"aiter": Distribution(name="aiter", version="0.13.20191203", path=path)},
    )
    result = collect(host, "aiter")
    assert (result.value["package_version"], result.value["package_dist_name"]) == ("0.13.20191203", "aiter")
    assert result.kinds("") == ["unsupported"]
    assert "another program" in next(each.detail for each in result.reasons if not each.field)


def test_no_metadata():
    result = probed({INIT: "__version__ = '0.1.5'\n"})
    assert (result.value["package_version"], result.value["package_dist_name"]) == ("0.1.5", None)
    assert result.kinds("package_dist_name") == ["absent"]


def test_no_code_objects():
    result = probed({INIT: SCM}, meta=False)
    assert (result.value["hsa_tree"], result.kinds("hsa_tree")) == (None, ["absent"])
    assert HSA in next(each.detail for each in result.reasons if each.field == "hsa_tree")


def test_beside_the_package_also_without_a_module_of_that_name():
    assert list(probed({INIT: SCM, **KERNELS}, meta=False).value["hsa_tree"]) == [HSA]


def test_a_source_tree_has_them_beside_the_package():
    """``pip install -e``: there is no install_mode, and the tree lies in the checkout."""
    origin = "/src/aiter/aiter/__init__.py"
    host = FakeHost(files={origin: SCM, "/src/aiter/hsa/gfx942/a.co": b"x"}, modules={"aiter": origin})
    assert list(collect(host, "aiter").value["hsa_tree"]) == ["/src/aiter/hsa"]


def test_an_installed_package_does_not():
    assert list(probed({INIT: SCM, **KERNELS, f"{SITE}/hsa/gfx942/a.co": b"x"}).value["hsa_tree"]) == [HSA]


def test_the_sources_of_pytorch():
    files = {"/src/pytorch/third_party/aiter/hsa/gfx942/a.co": b"x"}
    result = probed(files, package=False, meta=False, env={"AORTA_PYTORCH_SRC": "/src/pytorch/"})
    tree = result.value["hsa_tree"]
    assert list(tree) == ["/src/pytorch/third_party/aiter/hsa"]
    assert tree["/src/pytorch/third_party/aiter/hsa"]["gfx942"]["co_count"] == 1
    assert [(each.kind, each.field) for each in result.reasons] == [("absent", "")]


def test_w2_the_sources_of_pytorch_may_not_be_looked_at():
    env = {"AORTA_PYTORCH_SRC": "/private/pytorch"}
    result = probed({INIT: SCM, **KERNELS}, env=env, links={"/private": errno.EACCES})
    assert list(result.value["hsa_tree"]) == [HSA]
    assert result.kinds("hsa_tree") == ["denied"]


@pytest.mark.parametrize("value, kinds", [("src", ["unsupported"]), ("", []), ("/nowhere", [])])
def test_sources_that_are_not_there(value, kinds):
    result = probed({INIT: SCM, **KERNELS}, env={"AORTA_PYTORCH_SRC": value})
    assert (list(result.value["hsa_tree"]), result.kinds("hsa_tree")) == ([HSA], kinds)


def test_each_tree_once_by_its_real_path():
    env = {"AORTA_PYTORCH_SRC": "/src"}
    links = {"/src": "/real", "/real/third_party/aiter/hsa": HSA}
    assert list(probed({INIT: SCM, **KERNELS}, env=env, links=links).value["hsa_tree"]) == [HSA]


def test_bytecode_is_of_the_installation():
    """Two installations of one wheel differ in it."""
    cache = {f"{HSA}/gfx942/fmoe/__pycache__/codegen.cpython-311.pyc": b"x", f"{HSA}/__pycache__/a.pyc": b"y"}
    assert probed({INIT: SCM, **KERNELS, **cache}).value == probed({INIT: SCM, **KERNELS}).value


def test_an_unreadable_file_leaves_no_digest_and_the_counts():
    result = probed({INIT: SCM, **KERNELS, f"{HSA}/gfx942/a.co": errno.EACCES, f"{HSA}/gfx950/b.co": b"x"})
    tree = result.value["hsa_tree"][HSA]
    assert (tree["gfx942"]["combined_sha256"], tree["gfx942"]["co_count"]) == (None, 4)
    assert (tree["gfx942"]["file_count"], tree["gfx950"]["co_count"]) == (5, 2)
    assert tree["gfx950"]["combined_sha256"] is not None
    assert result.kinds("hsa_tree") == ["denied"]


def test_links():
    """A link tree links each file; a link to a directory would be walked twice."""
    links = {
        f"{HSA}/gfx942/link.co": "all_reduce.co",
        f"{HSA}/gfx942/more": "fmoe",
        f"{HSA}/gfx90a": "gfx942",
    }
    result = probed({INIT: SCM, **KERNELS}, links=links)
    tree = result.value["hsa_tree"][HSA]
    expected = {**KERNELS, f"{HSA}/gfx942/link.co": b"one"}
    assert tree["gfx942"]["combined_sha256"] == combined(expected, f"{HSA}/gfx942")
    assert (tree["gfx942"]["co_count"], tree["gfx90a"]) == (4, tree["gfx942"])
    assert result.kinds("hsa_tree") == []


def test_a_link_to_nothing():
    result = probed({INIT: SCM, **KERNELS}, links={f"{HSA}/gfx942/gone.co": "x", f"{HSA}/gfx90a": "y"})
    tree = result.value["hsa_tree"][HSA]
    assert (tree["gfx942"]["co_count"], tree["gfx942"]["combined_sha256"]) == (4, None)
    assert (list(tree), result.kinds("hsa_tree")) == (["gfx942", "gfx950"], ["expected"])


def test_a_directory_that_may_not_be_listed():
    class Closed(FakeHost):
        def scan(self, path, **options):
            if path in closed:
                raise PermissionError(errno.EACCES, "no")
            return super().scan(path, **options)

    closed = [f"{HSA}/gfx942/fmoe"]
    host = Closed(files={INIT: SCM, **KERNELS}, modules={"aiter": INIT})
    result = collect(host, "aiter")
    assert set(result.value["hsa_tree"][HSA]["gfx942"].values()) == {None}
    assert result.value["hsa_tree"][HSA]["gfx950"]["file_count"] == 1
    assert result.kinds("hsa_tree") == ["denied"]
    closed[:] = [HSA]
    result = collect(host, "aiter")
    assert (result.value["hsa_tree"], result.kinds("hsa_tree")) == (None, ["denied"])


def test_an_empty_architecture():
    tree = probed({INIT: SCM, **KERNELS}, dirs=[f"{HSA}/gfx90a"], nodes={f"{HSA}/gfx90a/pipe": "p"}).value[
        "hsa_tree"
    ]
    assert tree[HSA]["gfx90a"] == {
        "file_count": 0,
        "co_count": 0,
        "combined_sha256": hashlib.sha256(b"").hexdigest(),
        "combined_identity": None,
    }


def test_without_digests():
    result = probed({INIT: SCM, **KERNELS}, digests="none")
    tree = result.value["hsa_tree"][HSA]["gfx942"]
    assert tree == {"file_count": 4, "co_count": 3, "combined_sha256": None, "combined_identity": None}
    assert set(result.kinds("hsa_tree")) == {"not_requested"}


@pytest.mark.parametrize("more", [{"digests": "identity"}, {"filesystems": {"/sp": "nfs4"}}])
def test_by_identity(more):
    tree = probed({INIT: SCM, **KERNELS}, **more).value["hsa_tree"][HSA]["gfx942"]
    assert (tree["co_count"], tree["combined_sha256"]) == (3, None)
    assert len(tree["combined_identity"]) == 64
    other = {**KERNELS, f"{HSA}/gfx942/fmoe.co": b"other"}
    changed = probed({INIT: SCM, **other}, **more).value["hsa_tree"][HSA]["gfx942"]
    assert changed["combined_identity"] != tree["combined_identity"]


def test_more_files_than_any_tree_has(monkeypatch):
    monkeypatch.setattr("aorta_collectors.packages.hsa_tree.MOST", 2)
    result = probed({INIT: SCM, **KERNELS})
    assert set(result.value["hsa_tree"][HSA]["gfx942"].values()) == {None}
    assert result.kinds("hsa_tree") == ["unsupported"]
