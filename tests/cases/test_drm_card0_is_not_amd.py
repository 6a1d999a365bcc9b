"""Card numbers say nothing: vendor and device decide, connectors are no cards, xcp nodes are partitions."""

from aorta.testing import FakeHost, collect
from aorta_collectors.gpu.drm import DrmNode
from tests.parts.gpu_hosts import CPU, MI300X, kfd

CASE = "drm-card0-is-not-amd"

FILES = {
    "/sys/class/drm/card0/device/vendor": "0x1a03\n",
    "/sys/class/drm/card1-DP-1/status": "disconnected\n",
}
LINKS = {
    "/sys/class/drm/card1/device": "../../../0000:1b:00.0",
    "/sys/class/drm/renderD128/device": "../../../0000:1b:00.0",
    "/sys/class/drm/card46/device": "../../devices/platform/amdgpu_xcp.39",
}


def test_cards_by_vendor():
    files = {
        **FILES,
        "/sys/class/drm/card1/device/vendor": "0x1002\n",
        "/sys/class/drm/renderD128/device/vendor": "0x1002\n",
    }
    host = FakeHost(
        files=files, links={"/sys/class/drm/card46/device": LINKS["/sys/class/drm/card46/device"]}
    )
    result = collect(host, "gpus")
    assert result.value is None
    assert "card1" in result.reasons[0].detail
    assert "card0" not in result.reasons[0].detail
    assert "card1-DP-1" not in result.reasons[0].detail


def test_the_gpus_card_is_the_one_of_its_device():
    (gpu,) = collect(FakeHost(files={**kfd(CPU, MI300X), **FILES}, links=LINKS), "gpus").value
    assert gpu["drm_card"] == "card1"


def test_a_partitions_card():
    links = {**LINKS, "/sys/class/drm/renderD174/device": "../../devices/platform/amdgpu_xcp.39"}
    node = {**MI300X, "drm_render_minor": 174}
    (gpu,) = collect(FakeHost(files={**kfd(CPU, node), **FILES}, links=links), "gpus").value
    assert gpu["drm_card"] == "card46"


def test_nodes_by_themselves():
    partition = DrmNode(name="card46", device="amdgpu_xcp.39")
    assert (partition.partition, partition.amd) == (True, False)
    assert not DrmNode(name="card1", device="0000:1b:00.0", vendor=0x1002).partition
