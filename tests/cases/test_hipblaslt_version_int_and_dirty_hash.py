"""The number that hipBLASLt prints can be looked up, and a dirty build is never equal to a clean one."""

import json

import pytest

from aorta.testing import collect
from tests.parts.kernel_trees import LT, ROOT, header, host

CASE = "hipblaslt-version-int-and-dirty-hash"


@pytest.mark.parametrize(
    ("version", "tweak", "printed", "dirty"),
    [
        ("0.8.0", "56aab12f-dirty", 800, True),
        ("0.15.0", "d5f81531", 1500, False),
        ("1.0.0", "5b515cf1bc", 100000, False),
    ],
)
def test_number_words_and_dirt(version, tweak, printed, dirty):
    value = collect(host({LT: header("HIPBLASLT", version, tweak)}), "hipblaslt").value
    assert (value["package_version"], value["version_code"]) == (version, printed)
    assert (value["rocm_release_tweak"], value["tweak_dirty"]) == (tweak, dirty)


@pytest.mark.parametrize(
    ("tweak", "same"), [("56aab12f", True), ("56aab12f-dirty", None), ("d5f81531", False)]
)
def test_a_dirty_build_matches_no_commit(tweak, same):
    pin = "56aab12f" + "0" * 32
    manifest = json.dumps({"submodules": [{"submodule_name": "rocm-libraries", "pin_sha": pin}]})
    files = {LT: header("HIPBLASLT", "0.8.0", tweak), f"{ROOT}/share/therock/therock_manifest.json": manifest}
    assert collect(host(files), "hipblaslt").value["upstream_commit_matches_tweak"] is same
