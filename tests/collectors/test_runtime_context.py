import errno

import pytest

from aorta.testing import FakeHost, collect

ROOT = "29 1 259:2 / / rw - ext4 /dev/sda1 rw\n23 29 0:22 / /proc rw - proc proc rw\n"
INTERPRETER = {"version": "3.12.1", "executable": "/x", "path": []}


def place(files=None, prefix="/usr", base=None, **more):
    observed = {"interpreter": {**INTERPRETER, "prefix": prefix, "base_prefix": base or prefix}}
    return collect(FakeHost(files, observed=observed, **more), "runtime_context")


@pytest.mark.parametrize(
    ("files", "type_"),
    [
        ({"/proc/self/mountinfo": ROOT}, "baremetal"),
        ({"/.dockerenv": ""}, "docker"),
        ({"/run/.containerenv": ""}, "podman"),
        ({"/.singularity.d/labels.json": "{}"}, "singularity"),
        ({"/run/systemd/container": "apptainer"}, "singularity"),
        ({"/run/systemd/container": "lxc"}, "baremetal"),
        ({"/proc/self/cgroup": f"0::/cri-containerd-{'a' * 64}.scope\n"}, "baremetal"),
    ],
)
def test_type_keeps_its_four_values(files, type_):
    assert place(files).value["type"] == type_


def test_baremetal_is_never_claimed_unseen():
    result = place()
    assert result.value["type"] is None
    assert result.kinds("type") == ["absent"]
    denied = place({"/proc/self/mountinfo": errno.EACCES})
    assert (denied.value["type"], denied.kinds("type")) == (None, ["denied"])


def test_a_venv():
    result = place({"/proc/self/mountinfo": ROOT}, "/home/user/venv", "/usr")
    assert result.value == {
        "type": "baremetal",
        "python_env": "venv",
        "venv_path": "/home/user/venv",
        "conda_env_name": None,
        "conda_prefix": None,
    }
    assert result.reasons == ()


def test_w17_the_variable_of_a_conda_shell_does_not_beat_the_prefix():
    result = place({"/proc/self/mountinfo": ROOT}, "/w/.venv", "/usr", env={"CONDA_DEFAULT_ENV": "base"})
    assert (result.value["python_env"], result.value["venv_path"]) == ("venv", "/w/.venv")
    (reason,) = result.reasons
    assert (reason.kind.value, reason.subject, reason.partial) == ("absent", "CONDA_DEFAULT_ENV", False)
    assert "'base'" in reason.detail


def test_an_environment_that_could_not_be_told_has_a_reason():
    result = place({"/opt/conda": errno.EACCES, "/proc/self/mountinfo": ROOT}, "/opt/conda")
    assert result.value["python_env"] is None
    assert result.kinds("python_env") == ["denied"]
