"""ROCm variables are shown under every vendor, unset canonical ones as null."""

from aorta.testing import FakeHost, collect

CASE = "vllm-collect-env-rocm-prefixes"


def test_every_variable_is_there_with_its_value():
    env = {
        "HSA_OVERRIDE_GFX_VERSION": "9.4.2",
        "HSA_NO_SCRATCH_RECLAIM": "1",
        "MIOPEN_FIND_MODE": "3",
        "RCCL_MSCCL_ENABLE": "0",
        "NCCL_MIN_NCHANNELS": "112",
        "PYTORCH_TUNABLEOP_ENABLED": "1",
        "TORCH_BLAS_PREFER_HIPBLASLT": "1",
        "HIP_FORCE_DEV_KERNARG": "1",
        "GPU_MAX_HW_QUEUES": "2",
    }
    value = collect(FakeHost(env=env), "env_vars").value
    assert value.items() >= env.items()
    assert value["HIP_VISIBLE_DEVICES"] is None


def test_near_miss_names_of_a_family_are_visible():
    value = collect(
        FakeHost(env={"MIOPEN_USER_DB": "/tmp/x", "HSA_OVERRIDE_GFX_VERSION_1": "10.3.0"}), "env_vars"
    ).value
    assert value["MIOPEN_USER_DB"] == "/tmp/x"
    assert value["MIOPEN_USER_DB_PATH"] is None
    assert value["HSA_OVERRIDE_GFX_VERSION_1"] == "10.3.0"
