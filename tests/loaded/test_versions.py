import pytest

from aorta_collectors.loaded.versions import parse_library_versions, parse_suffix

CONFIG = """PyTorch built with:
  - GCC 13.3
  - HIP Runtime 7.2.26015
  - MIOpen 3.5.1
  - Magma 2.7.2
  - Build settings: BUILD_TYPE=Release, HIP Runtime 1.2.3
"""


def test_what_torch_says_of_its_libraries():
    assert parse_library_versions(CONFIG) == {"hip": "7.2.26015", "miopen": "3.5.1"}
    assert parse_library_versions(CONFIG.replace("\n", "\r\n").replace("\r", "")) == parse_library_versions(
        CONFIG
    )
    assert parse_library_versions("") == {}


def test_two_numbers_are_none():
    assert parse_library_versions(CONFIG + "  - HIP Runtime 6.4.4\n") == {"miopen": "3.5.1"}
    assert parse_library_versions(CONFIG + "  - MIOpen 3.5.1\n")["miopen"] == "3.5.1"


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/opt/rocm/lib/librccl.so.1.0.70200", "1.0.70200"),
        ("libamdhip64.so.7.2.70200", "7.2.70200"),
        ("libaotriton_v2.so.0.11.1", "0.11.1"),
        ("librccl.so.1", None),
        ("librccl.so", None),
        ("/a.so.1.2/librccl.so", None),
        ("librccl.so.1.0.x", None),
        ("librccl.so.1.0-dirty", None),
        ("librccl.so.١.٢", None),
        ("", None),
    ],
)
def test_the_end_of_a_name(path, version):
    assert parse_suffix(path) == version
