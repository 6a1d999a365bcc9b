"""Metadata without a version, and two dist-info folders: rocm and torch."""

from aorta.testing import Distribution, FakeHost, collect, torch_report

CASE = "py-metadata-none-or-stale"
SITE = "/venv/lib/python3.12/site-packages"


def test_none_is_missing_and_the_next_answers():
    result = collect(
        FakeHost(distributions={"rocm": Distribution(name="rocm", version=None), "rocm-sdk-core": "7.14.0"}),
        "rocm",
    )
    assert (result.value["version"], result.value["version_source"]) == ("7.14.0", "pip:rocm-sdk-core")


def test_nothing_but_none():
    result = collect(FakeHost(distributions={"rocm": Distribution(name="rocm", version=None)}), "rocm")
    assert (result.value["version"], result.value["version_source"]) == (None, None)
    assert result.kinds("version") == ["absent"]


def test_all_folders_are_listed():
    first, stale = f"{SITE}/rocm-7.14.0.dist-info", f"{SITE}/rocm-7.13.0.dist-info"
    rocm = Distribution(name="rocm", version="7.14.0", path=first, others=(stale,))
    value = collect(FakeHost(distributions={"rocm": rocm}), "rocm").value
    assert (value["version"], value["version_metadata"]) == ("7.14.0", [first, stale])


def test_the_file_of_the_package_that_is_imported_comes_before_metadata():
    core = f"{SITE}/_rocm_sdk_core"
    host = FakeHost(
        files={f"{core}/.info/version": "7.14.0\n"},
        modules={"_rocm_sdk_core": f"{core}/__init__.py"},
        distributions={"rocm": "7.13.0"},
    )
    value = collect(host, "rocm").value
    assert (value["version"], value["version_source"], value["version_metadata"]) == (
        "7.14.0",
        "version_file",
        None,
    )


def test_torch_tells_its_version_and_what_metadata_say_stands_beside():
    stale = f"{SITE}/torch-1.12.1+cu116.dist-info"
    own = Distribution(
        name="torch", version="1.12.1+cu116", path=stale, others=(f"{SITE}/torch-x.dist-info",)
    )
    host = FakeHost(
        modules={"torch": f"{SITE}/torch/__init__.py"},
        distributions={"torch": own},
        observed={"torch": torch_report(version="1.13.1+cu116")},
    )
    value = collect(host, "pytorch_build").value
    assert (value["version"], value["version_source"]) == ("1.13.1+cu116", "torch")
    assert value["distribution_version"] == "1.12.1+cu116"
    assert value["other_metadata"] == [f"{SITE}/torch-x.dist-info"]
