"""The lines with which RCCL starts tell what was really loaded; whose machine it was is not kept."""

from aorta.testing import FakeHost, collect
from aorta_collectors.loaded.banner import parse_banner
from aorta_collectors.providers.mapped_libraries import MAPS
from tests.parts.loaded_files import elf, maps

CASE = "rccl-banner-block"
LOG = """node-a:58192:58192 [0] NCCL INFO NET/Plugin: Using internal network plugin.
RCCL version : 2.21.5-HEAD:9a0e6a1
HIP version  : 6.3.42134-a9a80e791
ROCm version : 6.3.3.0-74-cbc70b5
Hostname     : node-a
Librccl path : /opt/rocm-6.3.3/lib/librccl.so.1
---- second host ----
RCCL version : 2.21.5-main:a29a210+
HIP version  : 6.2.41134-
ROCm version : 6.2.4.0-139
Hostname     : node-b
Librccl path : /opt/rocm/lib/librccl.so.1
"""


def test_each_start_is_one_banner():
    first, second = parse_banner(LOG)
    assert (first.version, first.branch, first.commit, first.dirty) == ("2.21.5", "HEAD", "9a0e6a1", False)
    assert (first.hip_version, first.rocm_version) == ("6.3.42134-a9a80e791", "6.3.3.0-74-cbc70b5")
    assert first.lib_path == "/opt/rocm-6.3.3/lib/librccl.so.1"
    assert (second.branch, second.commit, second.dirty) == ("main", "a29a210", True)
    assert (second.hip_version, second.rocm_version) == ("6.2.41134-", "6.2.4.0-139")
    assert second.lib_path == "/opt/rocm/lib/librccl.so.1"


def test_the_banner_stands_with_the_library_that_it_names():
    library = "/opt/rocm-6.3.3/lib/librccl.so.1.0.60303"
    host = FakeHost(
        {MAPS: maps(library), library: elf("librccl.so.1"), "/logs/rccl.log": LOG},
        links={"/opt/rocm-6.3.3/lib/librccl.so.1": "librccl.so.1.0.60303"},
        env={"NCCL_DEBUG_FILE": "/logs/rccl.log"},
    )
    result = collect(host, "loaded_libraries", import_strategy="in_process")
    (entry,) = result.value
    assert [each["commit"] for each in entry["banners"]] == ["9a0e6a1"]
    assert "node-a" not in repr((result.value, result.reasons))
