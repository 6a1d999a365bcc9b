"""What an interpreter runs at its start may be what its torch needs."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest

from tests.parts.pages import ROOT


@pytest.mark.parametrize(("line", "importable"), [("import sys; sys.needed = 1", True), ("", False)])
def test_a_torch_that_needs_a_startup_file(tmp_path, line, importable):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    [site] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "needed.pth").write_text(f"{line}\n")
    (site / "torch").mkdir()
    (site / "torch" / "__init__.py").write_text("import sys\nsys.needed\n__version__ = '2.9.1'\n")
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/collectors:{sysconfig.get_path('purelib')}"}
    done = subprocess.run(
        [str(tmp_path / "venv/bin/python"), "-m", "aorta", "env", "probe", "--quiet", "-o", "env.json"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    build = json.loads((tmp_path / "env.json").read_text())["pytorch_build"]
    assert build["importable"] is importable
    assert (build["import_error"] is None) is importable
