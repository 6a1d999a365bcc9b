"""Two distributions provide the triton package: whichever came last has written the files."""

import pytest

from aorta.testing import Distribution, FakeHost, collect

CASE = "triton-two-distributions"
SITE = "/venv/lib/python3.12/site-packages"
INIT = f"{SITE}/triton/__init__.py"


def host(*, text="__version__ = '3.1.0'\n", **versions):
    files, distributions = {INIT: text}, {}
    for name, version in versions.items():
        path = f"{SITE}/{name}-{version}.dist-info"
        files[f"{path}/RECORD"] = "triton/__init__.py,sha256=x,1\n"
        distributions[name] = Distribution(name=name.replace("_", "-"), version=version, path=path)
    return FakeHost(files=files, modules={"triton": INIT}, distributions=distributions)


def providers(**given):
    value = collect(host(**given), "triton").value
    return sorted(f"{each['name']} {each['version']}" for each in value["providers"]), value["conflict"]


def test_both_are_named_and_the_conflict_is_flagged():
    found = providers(pytorch_triton_rocm="3.1.0", triton="3.1.0")
    assert found == (["pytorch-triton-rocm 3.1.0", "triton 3.1.0"], True)


def test_the_version_is_that_of_the_files_whichever_name_is_asked_for():
    value = collect(host(pytorch_triton_rocm="3.0.0", triton="3.2.0"), "triton").value
    assert (value["package_version"], value["package_version_source"]) == ("3.1.0", INIT)
    bare = collect(host(text="", pytorch_triton_rocm="3.0.0", triton="3.2.0"), "triton")
    assert (bare.value["package_version"], bare.kinds("package_version")) == (None, ["unparsed"])


@pytest.mark.parametrize(
    "name", ["triton", "pytorch_triton_rocm", "pytorch_triton", "triton_rocm", "fbtriton"]
)
def test_each_alone_is_no_conflict(name):
    assert providers(**{name: "3.1.0"}) == ([f"{name.replace('_', '-')} 3.1.0"], False)


def test_metadata_of_another_place_is_no_conflict():
    """A second copy further down the path is hidden by the first: nothing is overwritten."""
    other = Distribution(name="pytorch-triton-rocm", version="3.0.0", path="/usr/lib/p-3.0.0.dist-info")
    given = host(triton="3.1.0")
    both = FakeHost(
        tree=given.tree,
        modules={"triton": INIT},
        distributions={"triton": given.distribution("triton"), "pytorch-triton-rocm": other},
    )
    value = collect(both, "triton").value
    assert ([each["name"] for each in value["providers"]], value["conflict"]) == (["triton"], False)
