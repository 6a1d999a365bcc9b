import errno

import pytest

from aorta.model.vocabulary import ReasonKind
from aorta.testing import FakeHost, provide
from aorta_collectors.providers import PythonFacts


def facts(prefix="/usr", base=None, *, files=None, dirs=(), env=None, **more):
    said = {"version": "3.12.1", "executable": f"{prefix}/bin/python3", "prefix": prefix}
    observed = {"interpreter": {**said, "base_prefix": base or prefix, "path": ["", "/x", 3]}}
    return provide(FakeHost(files, dirs=dirs, env=env, observed=observed, **more), PythonFacts).typed


def test_system():
    seen = facts()
    assert (seen.env, seen.venv_path, seen.conda_env_name, seen.gap) == ("system", None, None, None)
    assert seen.path == ("", "/x")
    assert seen.version == "3.12.1"
    assert seen.executable == "/usr/bin/python3"


def test_a_venv_needs_no_variable():
    seen = facts("/opt/venv", "/usr")
    assert (seen.env, seen.venv_path, seen.conda_prefix) == ("venv", "/opt/venv", None)


def test_w17_a_venv_in_a_conda_shell_is_a_venv():
    conda = {"CONDA_DEFAULT_ENV": "base", "CONDA_PREFIX": "/opt/conda"}
    seen = facts("/srv/job/.venv", "/opt/conda", dirs=["/opt/conda/conda-meta"], env=conda)
    assert (seen.env, seen.venv_path, seen.conda_env_name) == ("venv", "/srv/job/.venv", None)
    assert (seen.conda_prefix, seen.stale_conda) == ("/opt/conda", None)
    other = facts("/srv/job/.venv", "/usr", env=conda)
    assert (other.env, other.conda_prefix, other.stale_conda) == ("venv", None, "base")


@pytest.mark.parametrize(
    ("prefix", "dirs", "env", "name"),
    [
        ("/opt/conda/envs/train", (), {}, "train"),
        ("/scratch/env1", (), {"CONDA_DEFAULT_ENV": "/scratch/env1"}, "/scratch/env1"),
        ("/opt/conda", ["/opt/conda/condabin"], {}, "base"),
        ("/opt/mini", (), {"CONDA_DEFAULT_ENV": "base", "CONDA_PREFIX": "/opt/mini"}, "base"),
        ("/opt/mini", (), {}, "/opt/mini"),
    ],
)
def test_names_of_conda_environments(prefix, dirs, env, name):
    seen = facts(prefix, dirs=[f"{prefix}/conda-meta", *dirs], env=env)
    assert (seen.env, seen.conda_env_name, seen.stale_conda) == ("conda", name, None)


def test_a_stale_variable_in_another_conda_environment():
    env = {"CONDA_DEFAULT_ENV": "other", "CONDA_PREFIX": "/opt/conda/envs/other"}
    seen = facts("/opt/conda/envs/train", dirs=["/opt/conda/envs/train/conda-meta"], env=env)
    assert (seen.conda_env_name, seen.stale_conda) == ("train", "other")


def test_a_refused_look_is_no_system_python():
    seen = facts("/opt/conda", files={"/opt/conda": errno.EACCES})
    assert seen.env is None
    assert seen.gap.kind is ReasonKind.DENIED


def test_an_interpreter_that_tells_nothing():
    for said in (None, "text", {}):
        result = provide(FakeHost(observed={"interpreter": said}), PythonFacts)
        assert result.typed.env is None
        assert result.typed.gap is not None
