"""The module that an import would take, as every section of a package finds it."""

import errno

import pytest

from aorta.testing import Distribution, FakeHost, Module, collect
from aorta.testing.hosts import DenyingHost

SECTIONS = {"triton": "triton", "torchrec": "torchrec", "aiter": "aiter", "fbgemm": "fbgemm_gpu"}


def of_package(section, value):
    """Return what a section says of its package alone."""
    return {name: each for name, each in value.items() if not name.startswith("pytorch_")}


@pytest.mark.parametrize("section, module", SECTIONS.items())
def test_not_installed(section, module):
    result = collect(FakeHost(), section)
    assert set(of_package(section, result.value).values()) == {None}
    assert set(result.kinds()) == {"absent"}
    assert f"{module} is not installed for this interpreter" in {reason.detail for reason in result.reasons}
    assert result.record.status == "ok"


@pytest.mark.parametrize("section, module", SECTIONS.items())
def test_a_directory_without_a_package(section, module):
    """PEP 420: a directory that is just called so can be imported, and holds nothing."""
    files = {f"/data/{module}/version.py": "__version__ = '9.9'\n"}
    host = FakeHost(files=files, modules={module: Module(name=module, locations=(f"/data/{module}",))})
    result = collect(host, section)
    assert set(of_package(section, result.value).values()) == {None}
    assert set(result.kinds()) == {"absent"}
    assert any(
        f"only a directory without a package: /data/{module}" in each.detail for each in result.reasons
    )


@pytest.mark.parametrize("section, module", SECTIONS.items())
def test_a_directory_that_may_not_be_looked_into_can_be_a_package(section, module):
    host = FakeHost(
        files={f"/sp/{module}": errno.EACCES},
        modules={module: Module(name=module, locations=(f"/sp/{module}",))},
    )
    result = collect(host, section)
    assert set(of_package(section, result.value).values()) == {None}
    assert "denied" in result.kinds()
    assert not any("without a package" in each.detail for each in result.reasons)


@pytest.mark.parametrize("section, module", SECTIONS.items())
def test_metadata_without_a_package(section, module):
    name = module.replace("_", "-")
    left = Distribution(name=name, version="1.2", path=f"/sp/{module}-1.2.dist-info")
    result = collect(FakeHost(distributions={name: left}), section)
    assert result.value.get("package_version") is None
    assert set(result.kinds()) == {"absent"}
    told = f"metadata without the package {module}: {name} 1.2 (/sp/{module}-1.2.dist-info)"
    assert told in {reason.detail for reason in result.reasons}


@pytest.mark.parametrize("section", SECTIONS)
def test_denied_everywhere(section):
    result = collect(DenyingHost(), section)
    assert set(of_package(section, result.value).values()) == {None}
    assert set(result.kinds()) == {"denied"}


def test_relative_paths_count_from_the_working_directory():
    """A zip file that was started by a relative path leaves the paths of its modules relative."""
    host = FakeHost(
        files={"/data/app.pyz/torchrec/version.py": "__version__ = '1.8.0'\n"},
        links={"/proc/self/cwd": "/data"},
        modules={
            "torchrec": Module(
                name="torchrec", origin="app.pyz/torchrec/__init__.py", locations=("app.pyz/torchrec",)
            )
        },
        distributions={
            "torchrec": Distribution(name="torchrec", version="1.8.0", path="/data/app.pyz/t.dist-info")
        },
    )
    assert collect(host, "torchrec").value["package_version"] == "1.8.0"


def test_relative_paths_without_a_working_directory():
    host = FakeHost(modules={"triton": Module(name="triton", origin="app.pyz/triton/__init__.py")})
    result = collect(host, "triton")
    assert (result.value["package_version"], result.kinds("")) == (None, ["blocked"])
