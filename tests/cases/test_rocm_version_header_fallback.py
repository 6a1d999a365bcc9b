"""Only rocm-core's header tells the version."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "rocm-version-header-fallback"
HEADER = '#define ROCM_VERSION_MAJOR   6\n#define ROCM_VERSION_MINOR   0\n#define ROCM_VERSION_PATCH   2\n#define ROCM_BUILD_INFO "6.0.2.0-115-a4d5e1c"\n'


@pytest.mark.parametrize("place", ["rocm-core/rocm_version.h", "rocm/rocm_version.h"])
def test_the_header_is_a_fallback(place):
    host = FakeHost(files={f"/opt/rocm/include/{place}": HEADER, "/opt/rocm/lib/x": ""})
    result = collect(host, "rocm")
    assert (result.value["version"], result.value["version_source"], result.value["version_dev"]) == (
        "6.0.2",
        "header",
        None,
    )
    assert not any(reason.partial for reason in result.reasons)


def test_a_header_without_the_numbers_is_told():
    result = collect(
        FakeHost(files={"/opt/rocm/include/rocm-core/rocm_version.h": "// empty\n", "/opt/rocm/lib/x": ""}),
        "rocm",
    )
    assert result.value["version"] is None
    assert "unparsed" in result.kinds("version")
