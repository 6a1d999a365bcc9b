"""Packages as installers and archives really leave them: editable, zipped, namespaces, another interpreter's."""

import json
import os
import subprocess
import sys
import zipapp

import pytest

from aorta.host.live import LiveHost
from aorta.testing import collect
from tests.parts.needs import need
from tests.parts.system import may_install

#: What a package that must not be imported does when it is.
REFUSES = "raise SystemExit('imported')\n"
SHA = "e2a8e5b8f489fb02bc5a2d065ed9c343d2656b41"

#: Asks this very process, as a capture inside an application does.
ASK = """
import json, sys
from aorta.host.live import LiveHost
from aorta.testing import collect

host = LiveHost()
told = {section: collect(host, section) for section in ("triton", "torchrec", "fbgemm", "aiter")}
host.close()
print(json.dumps({section: [result.value, [str(reason) for reason in result.reasons]]
                  for section, result in told.items()}))
assert not {"triton", "torchrec", "fbgemm_gpu", "aiter"} & set(sys.modules)
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def project(folder, name, package, version, text):
    """Make the sources of a distribution; ``package`` is where its package lies, src/NAME or NAME."""
    setup = f"[build-system]\nrequires = ['setuptools>=68']\nbuild-backend = 'setuptools.build_meta'\n[project]\nname = {name!r}\nversion = {version!r}\n"
    where = "where = ['src']\n" if package.startswith("src/") else f"include = [{package!r}]\n"
    write(folder / "pyproject.toml", f"{setup}[tool.setuptools.packages.find]\n{where}")
    write(folder / package / "__init__.py", f"{REFUSES}{text}")
    return folder


def ask(command, *paths, cwd):
    """Run a program that prints what four sections told; return it by section."""
    path = os.pathsep.join([*map(str, paths), *(entry for entry in sys.path if entry)])
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=cwd, env={**env, "PYTHONPATH": path}, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def elsewhere(python, section):
    """Return what a section says of another interpreter."""
    host = LiveHost(python=str(python))
    try:
        return collect(host, section, import_strategy="child")
    finally:
        host.close()


@pytest.fixture(scope="module")
def editable(tmp_path_factory):
    """An environment with editable installs: by a path file (src), by setuptools' finder (flat), and a wheel."""
    need(may_install(), "pip installs here; to allow it: AORTA_TEST_INSTALL=1 make test")
    folder = tmp_path_factory.mktemp("editable")
    source = project(folder / "a b", "torchrec", "src/torchrec", "1.8.0", "")
    write(source / "src/torchrec/version.py", "__version__ = 'Unknown'\ngit_version = 'Unknown'\n")
    flat = project(folder / "flat", "amd-aiter", "aiter", "0.1.11", "")
    write(flat / "hsa/gfx942/a.co", "x")
    write(flat / "aiter/_version.py", "__version__ = version = '0.1.11.dev32+g9a469a608'\n")
    wheel = project(folder / "wheel", "triton", "triton", "3.4.0+git12345678", "__version__ = '3.4.0'\n")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    pip = [python, "-m", "pip", "install", "-q"]
    subprocess.run([*pip, "-e", source, "-e", flat, wheel], check=True, cwd=folder)
    return python, folder


@pytest.mark.timeout(180)
@pytest.mark.parametrize("how", ["another interpreter", "inside"])
def test_editable_installs(editable, how, tmp_path):
    python, folder = editable
    if how == "inside":
        told = {section: value for section, (value, _) in ask([python, "-c", ASK], cwd=tmp_path).items()}
    else:
        told = {section: elsewhere(python, section).value for section in ("torchrec", "aiter", "triton")}
    torchrec, amd, triton = told["torchrec"], told["aiter"], told["triton"]
    assert (torchrec["package_version"], torchrec["source_version"]) == ("1.8.0", None)
    assert [each["claim"] for each in torchrec["providers"]] == ["editable"]
    assert (amd["package_version"], amd["commit"]) == ("0.1.11.dev32+g9a469a608", "9a469a608")
    assert (amd["package_dist_name"], amd["providers"][0]["claim"]) == ("amd_aiter", "editable")
    assert list(amd["hsa_tree"]) == [str(folder / "flat/hsa")]
    assert (triton["package_version"], triton["commit"]) == ("3.4.0", "12345678")
    assert [each["claim"] for each in triton["providers"]] == ["record"]


def archive(folder, *, metadata=True, main=ASK):
    """Make a directory with torchrec and fbgemm_gpu as an archive holds them."""
    write(folder / "__main__.py", main)
    write(folder / "torchrec/__init__.py", REFUSES)
    write(folder / "torchrec/version.py", f"__version__ = '1.8.0'\ngit_version = '{SHA}'\n")
    write(folder / "fbgemm_gpu/__init__.py", REFUSES)
    write(folder / "fbgemm_gpu/docs/target.default.json.py", '{"version": "1.8.0", "variant": "rocm"}')
    write(folder / "triton/__init__.py", f"{REFUSES}__version__ = '3.5.1+rocm7.2.1.gita272dfa8'\n")
    if metadata:
        info = folder / "torchrec-1.8.0.dist-info"
        write(info / "METADATA", "Metadata-Version: 2.1\nName: torchrec\nVersion: 1.8\n")
        write(info / "RECORD", "torchrec/__init__.py,,\ntorchrec/version.py,,\n")
    return folder


@pytest.mark.parametrize("name", ["app.pyz", "app.par"])
@pytest.mark.parametrize("relative", [True, False])
def test_an_archive_that_is_run(tmp_path, name, relative):
    zipapp.create_archive(archive(tmp_path / "app"), tmp_path / name)
    path = str(tmp_path / name)
    told = ask([sys.executable, name if relative else path], cwd=tmp_path)
    torchrec, reasons = told["torchrec"]
    assert (torchrec["package_version"], torchrec["commit"], reasons) == ("1.8.0", SHA, [])
    assert torchrec["distribution_version"] == "1.8"
    assert [(each["claim"], each["path"].rstrip("/")) for each in torchrec["providers"]] == [
        ("record", f"{path}/torchrec-1.8.0.dist-info")
    ]
    fbgemm = told["fbgemm"][0]
    assert (fbgemm["package_version"], fbgemm["package_variant"]) == ("1.8.0", "rocm")
    assert fbgemm["package_version_source"] == f"{path}/fbgemm_gpu/docs/target.default.json.py"
    assert (told["triton"][0]["commit"], told["triton"][0]["providers"]) == ("a272dfa8", [])


def test_an_archive_on_the_path_without_metadata(tmp_path):
    zipapp.create_archive(archive(tmp_path / "app", metadata=False), tmp_path / "app.par")
    torchrec, reasons = ask([sys.executable, "-c", ASK], tmp_path / "app.par", cwd=tmp_path)["torchrec"]
    assert (torchrec["package_version"], torchrec["commit"]) == ("1.8.0", SHA)
    assert (torchrec["distribution_version"], len(reasons)) == (None, 1)


def test_another_interpreter_with_an_archive_on_its_path(tmp_path):
    zipapp.create_archive(archive(tmp_path / "app"), tmp_path / "app.par")
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/app.par" exec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    torchrec = elsewhere(program, "torchrec").value
    assert (torchrec["package_version"], torchrec["commit"], torchrec["conflict"]) == ("1.8.0", SHA, False)


def test_a_broken_archive(tmp_path):
    zipapp.create_archive(archive(tmp_path / "app"), tmp_path / "app.par")
    content = (tmp_path / "app.par").read_bytes()
    (tmp_path / "app.par").write_bytes(content[: len(content) // 2])
    torchrec, reasons = ask([sys.executable, "-c", ASK], tmp_path / "app.par", cwd=tmp_path)["torchrec"]
    assert (torchrec["package_version"], len(reasons)) == (None, 1)


def test_namespaces_before_and_after_their_import(tmp_path):
    for name in ("torchrec", "triton", "fbgemm_gpu", "aiter"):
        write(tmp_path / name / "version.py", "__version__ = '9.9'\n")
    before = ask([sys.executable, "-c", ASK], tmp_path, cwd=tmp_path)
    importing = "import torchrec, triton, fbgemm_gpu, aiter\n" + ASK.replace("assert not", "assert")
    after = ask([sys.executable, "-c", importing], tmp_path, cwd=tmp_path)
    for told in (before, after):
        assert {told[name][0]["package_version"] for name in told} == {None}
        assert "only a directory without a package" in told["torchrec"][1][0]


def test_a_single_file_beside_a_version_module(tmp_path):
    write(tmp_path / "torchrec.py", REFUSES)
    write(tmp_path / "version.py", "__version__ = '6.6.6'\n")
    torchrec, _ = ask([sys.executable, "-c", ASK], tmp_path, cwd=tmp_path)["torchrec"]
    assert (torchrec["package_version"], torchrec["source_version"]) == (None, None)


def test_the_copy_that_comes_first_on_the_path(tmp_path):
    """Metadata of the installed copy says nothing of a checkout in front of it."""
    archive(tmp_path / "installed")
    write(tmp_path / "checkout/torchrec/__init__.py", REFUSES)
    paths = (tmp_path / "checkout", tmp_path / "installed")
    torchrec, _ = ask([sys.executable, "-c", ASK], *paths, cwd=tmp_path)["torchrec"]
    assert (torchrec["package_version"], torchrec["distribution_version"]) == (None, "1.8")
    assert torchrec["providers"] == []
