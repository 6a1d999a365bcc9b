"""The configuration text of a torch build."""

import pytest

from aorta_collectors.pytorch.config import (
    BUILD_FLAGS,
    BuildConfig,
    build_flags,
    built_with,
    defines_option,
    flag_value,
    parse_config,
    parse_defines,
    parse_settings,
)
from tests.parts.torch_builds import CONFIG, CPU_CONFIG, FLAGS


def test_a_build_for_rocm():
    config = parse_config(CONFIG)
    assert (config.hip_runtime, config.miopen) == ("7.2.26015", "3.5.1")
    assert config.cxx_flags == FLAGS
    assert config.cuda_flags is None
    assert list(config.settings) == [
        *("BLAS_INFO", "BUILD_TYPE", "CXX_COMPILER", "CXX_FLAGS", "LAPACK_INFO", "TORCH_VERSION", "USE_CUDA"),
        *("USE_CUDNN", "USE_MKL", "USE_NCCL", "USE_ROCM"),
    ]
    assert config.settings["USE_ROCM"] == "ON"
    assert config.defines["LIBKINETO_NOXPUPTI"] == "ON"
    assert config.defines["NDEBUG"] is None


def test_crlf_and_no_end_of_line():
    assert parse_config(CONFIG.replace("\n", "\r\n")) == parse_config(CONFIG)
    assert parse_config(CONFIG.rstrip()) == parse_config(CONFIG)


@pytest.mark.parametrize("text", ["", "\n", "PyTorch built with:\n", "noise", "- Build settings:"])
def test_a_text_without_such_lines(text):
    assert parse_config(text) == BuildConfig()


def test_other_lines_are_not_taken_for_these():
    text = "  - HIP Runtime\n  - MIOpen-something 1\n  - CUDA Runtime 12.8\n  - CuDNN 91.0.2  (built against CUDA 12.9)\n"
    lines = (
        "HIP Runtime",
        "MIOpen-something 1",
        "CUDA Runtime 12.8",
        "CuDNN 91.0.2  (built against CUDA 12.9)",
    )
    assert parse_config(text) == BuildConfig(lines=lines)
    assert parse_config("- GCC 9.3\n  - Build settings: A=1, \n").lines == ("GCC 9.3",)
    assert parse_config("  - HIP Runtime 6.2.41133\n  - HIP Runtime 9\n").hip_runtime == "6.2.41133"


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", {}),
        ("A=1", {"A": "1"}),
        ("A=1, B=2, ", {"A": "1", "B": "2"}),
        ("A=x, y, B=2", {"A": "x, y", "B": "2"}),
        (
            "CXX_FLAGS= -DA=1 -DB -Wl,-z,now -Wno-x=2, B=",
            {"CXX_FLAGS": "-DA=1 -DB -Wl,-z,now -Wno-x=2", "B": ""},
        ),
        (
            "ARCH=-gencode;arch=compute_80,code=sm_80, Z=1",
            {"ARCH": "-gencode;arch=compute_80,code=sm_80", "Z": "1"},
        ),
        ("A=1, A=2", {"A": "2"}),
        ("nothing", {}),
    ],
)
def test_settings(text, settings):
    assert parse_settings(text) == settings


@pytest.mark.parametrize(
    ("flags", "defines"),
    [
        ("", {}),
        ("-DUSE_FBGEMM_GENAI", {"USE_FBGEMM_GENAI": None}),
        ("-DA -DB=1 -DC= -D D=2", {"A": None, "B": "1", "C": "", "D": "2"}),
        ("-D__CUDA_NO_HALF__ -fno-D -xDY -DN(x)=1", {"__CUDA_NO_HALF__": None}),
        ("-DS=\"a b\" -DT='c d' -DU", {"S": '"a b"', "T": "'c d'", "U": None}),
        ("-DA=1\n-DA=2", {"A": "2"}),
    ],
)
def test_defines(flags, defines):
    assert parse_defines(flags) == defines


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ON", True),
        ("1", True),
        ("True", True),
        ("OFF", False),
        ("0", False),
        ("false", False),
        ("Release", "Release"),
        ("", ""),
    ],
)
def test_values(text, value):
    assert flag_value(text) is value or flag_value(text) == value


def config_of(flags="", **settings):
    return BuildConfig(settings=settings, defines=parse_defines(flags), cxx_flags=flags)


def test_the_list_is_fixed_and_what_is_not_named_is_not_off():
    assert build_flags(BuildConfig()) == dict.fromkeys(BUILD_FLAGS)
    assert len(BUILD_FLAGS) == 17
    flags = build_flags(parse_config(CONFIG))
    assert flags == {
        **dict.fromkeys(BUILD_FLAGS),
        "USE_ROCM": True,
        "USE_CUDA": False,
        "USE_CUDNN": False,
        "USE_FBGEMM": True,
        "USE_NCCL": True,
        "USE_MKL": True,
        "USE_KINETO": True,
        "BUILD_TYPE": "Release",
    }
    assert build_flags(parse_config(CPU_CONFIG))["USE_ROCM"] is False


def test_settings_come_before_defines_and_aliases():
    assert build_flags(config_of("-DUSE_MKL", USE_MKL="OFF"))["USE_MKL"] is False
    assert build_flags(config_of("-DUSE_MIOPEN", CAFFE2_USE_MIOPEN="OFF"))["USE_MIOPEN"] is False
    assert build_flags(config_of("-DCAFFE2_USE_MIOPEN"))["USE_MIOPEN"] is True
    assert build_flags(config_of("-DUSE_MKLDNN=0"))["USE_MKLDNN"] is False


def test_w_fbgemm_is_not_fbgemm_genai():
    assert build_flags(config_of("-DUSE_FBGEMM_GENAI"))["USE_FBGEMM"] is None
    assert build_flags(config_of("-DUSE_FBGEMM"))["USE_FBGEMM_GENAI"] is None


@pytest.mark.parametrize(
    ("flags", "value"),
    [
        ("-DUSE_ROCM_CK_SDPA", True),
        ("-DUSE_ROCM_CK_SDPA=0", False),
        ("-DUSE_ROCM_CK_SDPA_X", False),
        ("", False),
    ],
)
def test_an_option_of_the_flags(flags, value):
    assert defines_option(config_of(flags), "USE_ROCM_CK_SDPA") is value
    assert built_with(config_of(flags), "USE_ROCM_CK_SDPA") is value


def test_an_option_without_flags():
    assert defines_option(BuildConfig(), "X") is None
    assert built_with(BuildConfig(), "X") is None
    assert built_with(BuildConfig(settings={"X": "ON"}), "X") is True
    assert built_with(BuildConfig(settings={"Y": "ON"}), "X") is None
    assert built_with(BuildConfig(cuda_flags="-DX", defines={}), "X") is True
