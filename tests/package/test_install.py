"""The ways to install: editable, plain, as a wheel; what lands where; `python -m aorta`."""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.parts.wheels import checkout

CLEAN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "AORTA_PLUGINS")}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, env=CLEAN, **options).stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Return a copy of the source tree as a checkout would hold it."""
    return checkout(tmp_path_factory.mktemp("source"))


def environment(folder):
    run(sys.executable, "-m", "venv", str(folder))
    return str(folder / "bin" / "python")


@pytest.mark.timeout(300)
def test_the_wheel_holds_two_packages_and_their_types(source, tmp_path):
    run(sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(source))
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"aorta", "aorta_collectors"}
    assert {"aorta/py.typed", "aorta_collectors/py.typed", "aorta/__main__.py"} <= set(names)
    assert "aorta_collectors/providers/rocm_roots.py" in names


@pytest.mark.timeout(300)
@pytest.mark.parametrize("how", ["editable", "plain"])
def test_pip_install_and_first_snapshot(source, tmp_path, how):
    python = environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "-q", *(["-e"] if how == "editable" else []), str(source))
    for command in ([str(tmp_path / "env" / "bin" / "aorta")], [python, "-m", "aorta"]):
        assert run(*command, "--version", cwd="/").startswith("aorta")
        out = tmp_path / f"{len(command)}.json"
        run(*command, "env", "probe", "--extended", "-o", str(out), cwd="/")
        assert run(*command, "env", "show", str(out), "--field", "schema_version", cwd="/") == '"2.0"\n'
    module = run(python, "-m", "aorta.instrumentation._probe_main", "-", cwd="/")
    assert module.lstrip().startswith("{")
