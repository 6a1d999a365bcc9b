"""Section ``env_vars``: fixed names, families, secrets, bytes that are no text."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.testing import FakeHost, collect
from aorta_collectors.env_names import CANONICAL, CANONICAL_GROUPS, EXTRA, FAMILIES

ROOT = Path(__file__).resolve().parents[2]


def env_vars(**env):
    return collect(FakeHost(env=env), "env_vars")


def test_the_138_names_of_the_1x_line_are_all_there():
    listed = (Path(__file__).parent / "canonical_env_names.txt").read_text().split()
    assert len(listed) == len(CANONICAL) == len(set(CANONICAL)) == 138
    assert set(CANONICAL) == set(listed)
    result = env_vars()
    assert list(result.value) == list(CANONICAL)
    assert set(result.value.values()) == {None}
    assert result.reasons == ()


def test_data_tables_are_tidy():
    assert all(meaning.strip() for group in CANONICAL_GROUPS.values() for meaning in group.values())
    assert all(prefix.endswith("_") and source for prefix, source in FAMILIES.items())
    assert all(meaning and name not in CANONICAL for name, meaning in EXTRA.items())
    assert list(FAMILIES) == sorted(FAMILIES)
    assert list(EXTRA) == sorted(EXTRA)
    assert not any(name.startswith(tuple(FAMILIES)) for name in EXTRA)


def test_values_are_texts_as_they_stand():
    result = env_vars(
        NCCL_IB_GID_INDEX="1", NCCL_NET_PLUGIN="none", PYTORCH_ROCM_ARCH="gfx90a;gfx942", IONIC_LOCKFREE="all"
    )
    assert result.value["NCCL_IB_GID_INDEX"] == "1"
    assert result.value["NCCL_NET_PLUGIN"] == "none"
    assert result.value["PYTORCH_ROCM_ARCH"] == "gfx90a;gfx942"
    assert result.value["IONIC_LOCKFREE"] == "all"
    assert result.value["HIP_VISIBLE_DEVICES"] is None


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_AUDIT",
        "ROCM_PATH",
        "CUDA_VISIBLE_DEVICES",
        "HSA_ENABLE_SDMA",
        "NCCL_DEBUG",
        "NCCL_ALGO",
        "NCCL_PROTO",
        "NCCL_IB_DISABLE",
        "NCCL_P2P_DISABLE",
        "PYTORCH_HIP_ALLOC_CONF",
        "PYTORCH_TUNABLEOP_ENABLED",
        "AMD_SERIALIZE_KERNEL",
        "HIP_FORCE_DEV_KERNARG",
        "ROCM_TARGET_LST",
        "OMP_NUM_THREADS",
        "HSA_OVERRIDE_GFX_VERSION_1",
        "MIOPEN_USER_DB",
        "UCX_NET_DEVICES",
        "FI_PROVIDER",
        "GLOO_SOCKET_IFNAME",
        "TORCHINDUCTOR_CACHE_DIR",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING",
        "ROCFFT_RTC_CACHE_PATH",
        "LANG",
        "LC_ALL",
        "PATH",
        "PYTHONPATH",
        "FBGEMM_NO_JK2",
        "TRITON_CACHE_DIR",
        "AMDGCN_X",
    ],
)
def test_family_names_only_when_set(name):
    assert name not in env_vars().value
    assert env_vars(**{name: "x"}).value[name] == "x"


def test_other_variables_stay_out():
    value = env_vars(
        HOSTNAME="n", USER="u", SLURM_JOB_USER="u", MASTER_ADDR="a", HTTPS_PROXY="http://p", NOT_NCCL_X="1"
    ).value
    assert set(value) == set(CANONICAL)


def test_secret_name_and_secret_part():
    result = env_vars(VLLM_API_KEY="abc", TORCH_HUB_URL="https://u:p@h/x", NCCL_DEBUG="INFO", ROCM_TOKEN="")
    assert result.value["VLLM_API_KEY"] == "[redacted]"
    assert result.value["TORCH_HUB_URL"] == "https://[redacted]@h/x"
    assert result.value["NCCL_DEBUG"] == "INFO"
    assert result.value["ROCM_TOKEN"] == ""
    assert result.redacted == {"VLLM_API_KEY", "TORCH_HUB_URL"}


def test_the_overlaid_environment_is_asked():
    result = collect(FakeHost(env={"NCCL_DEBUG": "INFO"}), "env_vars", env={"NCCL_ALGO": "Ring"})
    assert result.value["NCCL_ALGO"] == "Ring"
    assert "NCCL_DEBUG" not in result.value


def test_w2_a_bad_path_in_a_variable_costs_nothing():
    files = {"/locked": errno.EACCES, "/locked/db": errno.EACCES}
    made = FakeHost(files=files, env={"MIOPEN_SYSTEM_DB_PATH": "/locked/db", "HSA_XNACK": "1"})
    result = collect(made, "env_vars")
    assert result.value["MIOPEN_SYSTEM_DB_PATH"] == "/locked/db"
    assert result.value["HSA_XNACK"] == "1"
    assert result.reasons == ()


def test_w24_lone_surrogates_are_written_as_escapes():
    result = env_vars(NCCL_SOCKET_IFNAME="eth0\udcff", NCCL_IB_HCA="\ud800", HSA_XNACK="1")
    assert result.value["NCCL_SOCKET_IFNAME"] == "eth0\\xff"
    assert result.kinds("NCCL_SOCKET_IFNAME") == ["unparsed"]
    assert result.value["HSA_XNACK"] == "1"
    json.dumps(result.value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def test_w24_a_name_that_is_no_text():
    result = env_vars(**{"NCCL_\udcff": "x"})
    assert result.value["NCCL_\\xff"] == "x"


def test_w32_the_users_own_locale_is_shown():
    result = env_vars(LANG="cs_CZ.UTF-8", LC_MESSAGES="cs_CZ.UTF-8")
    assert result.value["LANG"] == result.value["LC_MESSAGES"] == "cs_CZ.UTF-8"


def test_long_values():
    result = env_vars(LD_LIBRARY_PATH="/a:" * 40000, NCCL_X="a" * (2 << 20))
    assert len(result.value["LD_LIBRARY_PATH"]) == 120000
    assert result.value["NCCL_X"] is None
    assert result.kinds("NCCL_X") == ["unparsed"]


SCRIPT = """
import json, sys
from aorta.host.live import LiveHost
from aorta.testing import collect
host = LiveHost()
made = [collect(host, name) for name in ("env_vars", "launcher")]
text = json.dumps([[m.value, [r.text for r in m.reasons], sorted(m.redacted)] for m in made], ensure_ascii=False, allow_nan=False)
sys.stdout.buffer.write(text.encode("utf-8"))
"""


def test_a_real_process_with_raw_bytes():
    env = {
        b"PATH": os.fsencode(os.environ["PATH"]),
        b"PYTHONPATH": os.fsencode(f"{ROOT}:{ROOT}/collectors"),
        b"LANG": b"cs_CZ.UTF-8",
        b"NCCL_SOCKET_IFNAME": bytes.fromhex("65746880ff"),
        b"HIP_VISIBLE_DEVICES": b"",
        b"ROCM_API_KEY": b"\xffabc",
        b"SLURM_JOB_ID": b"7",
        b"SLURM_STEP_ID": b"0",
        b"SLURM_PROCID": b"1",
        b"SLURM_NTASKS": b"2\xff",
        b"SLURM_JOB_USER": b"alice",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, capture_output=True, check=True, timeout=100
    )
    (values, reasons, redacted), (launcher, why, _) = json.loads(done.stdout.decode("utf-8"))
    assert values["NCCL_SOCKET_IFNAME"] == "eth\\x80\\xff"
    assert any("NCCL_SOCKET_IFNAME" in text for text in reasons)
    assert values["HIP_VISIBLE_DEVICES"] == ""
    assert values["ROCR_VISIBLE_DEVICES"] is None
    assert values["LANG"] == "cs_CZ.UTF-8"
    assert values["ROCM_API_KEY"] == "[redacted]"
    assert redacted == ["ROCM_API_KEY"]
    assert (launcher["kind"], launcher["rank"], launcher["world_size"]) == ("slurm", 1, None)
    assert any("SLURM_NTASKS" in text for text in why)
    assert "alice" not in done.stdout.decode()


def test_this_process():
    live = LiveHost()
    value = collect(live, "env_vars").value
    live.close()
    for name, shown in value.items():
        if shown is None:
            assert name not in os.environ
        elif "[redacted]" not in shown and "\\x" not in shown:
            assert os.environ[name] == shown


def test_case_rccl_builtin_anp_by_env_shows_the_request():
    assert "RCCL_AINIC_ROCE" in CANONICAL
    value = env_vars(RCCL_AINIC_ROCE="1").value
    assert value["RCCL_AINIC_ROCE"] == "1"
    assert value["NCCL_NET_PLUGIN"] is None
