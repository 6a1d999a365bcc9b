"""Whatever a configuration text or a symbol table holds: no exception, nothing made up."""

from hypothesis import given, settings
from hypothesis import strategies as st

from aorta_collectors.mangled import qualified_names
from aorta_collectors.providers.torch_symbols import MARKERS
from aorta_collectors.pytorch.config import (
    build_flags,
    built_with,
    parse_config,
    parse_defines,
    parse_settings,
)
from aorta_collectors.pytorch.symbols import count

MANY = settings(max_examples=2000, deadline=None, derandomize=True)
PIECES = st.sampled_from(
    [
        *(
            "  - Build settings: ",
            "  - HIP Runtime ",
            "  - MIOpen ",
            "  - ROCm ",
            "\n",
            "\r\n",
            ", ",
            ",",
            "=",
            " ",
        ),
        *(
            "USE_ROCM=ON",
            "CXX_FLAGS= ",
            "CUDA_FLAGS=",
            "-DUSE_FBGEMM",
            "-D",
            "-DX=1",
            "OFF",
            "7.2.26015",
            '"',
            "\x1b[0m",
        ),
        *("\udcff", "İ", "\x85", "٣"),
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=14).map("".join))
CODES = st.sampled_from(
    [
        *(
            "_Z",
            "_ZN",
            "_ZTV",
            "_ZZ",
            "N",
            "E",
            "I",
            "J",
            "S_",
            "S0_",
            "St",
            "T_",
            "T0_",
            "5aiter",
            "2ck",
            "7ck_tile",
        ),
        *(
            "7FmhaFwd",
            "13pytorch_flash",
            "3foo",
            "999x",
            "0",
            "Lb1E",
            "Li2E",
            "L_Z",
            "X",
            "sr",
            "cl",
            "fp_",
            "Dp",
            "DT",
        ),
        *(
            "P",
            "K",
            "R",
            "F",
            "M",
            "A3_",
            "Ul",
            "E_",
            "C1",
            "D0",
            "cv",
            "pl",
            "B3abi",
            "v",
            "i",
            "_",
            ".cold",
            "tl",
            "dt",
        ),
    ]
)
SYMBOLS = st.one_of(st.text(max_size=60), st.lists(CODES, max_size=16).map("".join))


@MANY
@given(TEXTS)
def test_configurations(text):
    config = parse_config(text)
    for value in (config.hip_runtime, config.miopen):
        assert value is None or (value in text and value.strip() == value != "")
    for name, value in (config.settings or {}).items():
        assert f"{name}=" in text
        assert value in text
    assert set(config.defines or {}) <= set(parse_defines(text))
    assert all(isinstance(value, (bool, str, type(None))) for value in build_flags(config).values())
    assert built_with(config, "USE_FBGEMM") in (None, True, False)


@MANY
@given(TEXTS)
def test_settings_and_defines(text):
    assert all(name and value == value.strip() for name, value in parse_settings(text).items())
    for name, value in parse_defines(text).items():
        assert name in text
        assert value is None or value in text


@MANY
@given(st.lists(SYMBOLS, max_size=4))
def test_symbols(names):
    found = count(names, MARKERS)
    assert list(found) == list(MARKERS)
    for marker, number in found.items():
        assert 0 <= number <= sum(marker.split("::")[0] in name for name in names)


@MANY
@given(SYMBOLS)
def test_mangled_names(name):
    try:
        told = qualified_names(f"_Z{name}")
    except ValueError:
        return
    assert all(isinstance(text, str) for text in told)
