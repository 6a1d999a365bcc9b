"""Nothing that one capture saw is told by another: not on another node, not in the same process."""

import os

from aorta.instrumentation import capture, capture_to
from aorta.model.codec import dump
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost

CASE = "cached-topology-reused-on-other-node"

REGISTRY = discover(outside=False)


def node(version):
    """Return a node with one GPU; ``gfx_target_version`` is 90402 for gfx942, 90500 for gfx950."""
    folder = "/sys/class/kfd/kfd/topology/nodes/1"
    properties = f"cpu_cores_count 0\nsimd_count 304\ngfx_target_version {version}\nvendor_id 4098\ndevice_id 29857\nlocation_id 256\ndomain 0\n"
    return FakeHost(
        {
            "/sys/class/kfd/kfd/topology/generation_id": "1\n",
            f"{folder}/gpu_id": "1234\n",
            f"{folder}/properties": properties,
            "/sys/class/kfd/kfd/topology/nodes/0/gpu_id": "0\n",
            "/sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 64\nsimd_count 0\n",
        },
        nodes={"/dev/kfd": "c"},
    )


def test_each_run_sees_its_own_node():
    first = dump(capture(registry=REGISTRY, host=node(90402)))
    second = dump(capture(registry=REGISTRY, host=node(90500)))
    assert list(first["gpu_arch"]["gfx_targets"]) == ["gfx942"]
    assert list(second["gpu_arch"]["gfx_targets"]) == ["gfx950"]
    assert dump(capture(registry=REGISTRY, host=FakeHost()))["gpu_arch"]["gfx_targets"] in (None, [])


def test_nothing_is_kept_in_a_home_directory(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(home))
    capture_to(tmp_path / "env.json", registry=REGISTRY)
    assert os.listdir(home) == []
    assert sorted(os.listdir(tmp_path)) == ["env.json", "home"]
