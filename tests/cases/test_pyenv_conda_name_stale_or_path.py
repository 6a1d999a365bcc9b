"""CONDA_DEFAULT_ENV does not describe the interpreter."""

from aorta.testing import FakeHost, collect

CASE = "pyenv-conda-name-stale-or-path"

ROOT = {"/proc/self/mountinfo": "29 1 259:2 / / rw - ext4 /dev/sda1 rw\n"}


def context(prefix, base=None, *, conda=False, env=None):
    said = {"version": "3.12.1", "executable": f"{prefix}/bin/python", "path": [], "prefix": prefix}
    return collect(
        FakeHost(
            {**ROOT, **({f"{base or prefix}/conda-meta/history": ""} if conda else {})},
            env=env,
            observed={"interpreter": {**said, "base_prefix": base or prefix}},
        ),
        "runtime_context",
    )


def test_conda_without_variables_is_named_by_its_prefix():
    value = context("/opt/conda/envs/train", conda=True).value
    assert (value["python_env"], value["conda_env_name"]) == ("conda", "train")


def test_a_stale_variable_of_the_system_python_is_noted():
    env = {"CONDA_DEFAULT_ENV": "train", "CONDA_PREFIX": "/opt/conda/envs/train"}
    result = context("/usr", env=env)
    assert (result.value["python_env"], result.value["conda_env_name"]) == ("system", None)
    (reason,) = result.reasons
    assert reason.subject == "CONDA_DEFAULT_ENV"
    assert "'train'" in reason.detail
    assert not reason.partial


def test_an_environment_without_a_name_is_its_path():
    result = context("/scratch/me/env1", conda=True, env={"CONDA_DEFAULT_ENV": "/scratch/me/env1"})
    assert (result.value["python_env"], result.value["conda_env_name"]) == ("conda", "/scratch/me/env1")
    assert result.reasons == ()


def test_a_venv_on_conda_is_a_venv_and_shows_its_base():
    value = context("/srv/job/.venv", "/opt/conda", conda=True, env={"CONDA_DEFAULT_ENV": "base"}).value
    assert (value["python_env"], value["venv_path"]) == ("venv", "/srv/job/.venv")
    assert (value["conda_prefix"], value["conda_env_name"]) == ("/opt/conda", None)


def test_a_venv_without_its_variable_is_a_venv():
    value = context("/opt/venv", "/usr").value
    assert (value["python_env"], value["venv_path"]) == ("venv", "/opt/venv")
