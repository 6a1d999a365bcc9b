import pytest

from aorta_collectors.loaded.versions import parse_suffix


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
