import errno

import pytest

from aorta.model.vocabulary import ReasonKind
from aorta.testing import FakeHost, provide
from aorta_collectors.providers import KfdTopology
from aorta_collectors.providers.kfd_topology import KfdNode, parse_properties
from tests.parts.gpu_hosts import CPU, MI300X, NODES, kfd


def topology(**host):
    return provide(FakeHost(**host), KfdTopology).typed


def test_nodes_are_ordered_by_number_not_as_text():
    seen = topology(files=kfd(CPU, CPU, *[MI300X] * 9))
    assert seen.present is True
    assert [node.number for node in seen.gpus] == list(range(2, 11))
    assert seen.gpus[0].gfx_target == "gfx942"
    assert seen.gpus[0].name == "ip discovery"
    assert seen.gpus[0].gpu_id == 28002
    assert seen.gpus[0].get("unique_id") == 1000000000000000102
    assert seen.nodes[0].name is None


def test_no_kfd():
    seen = topology(dirs=["/sys/class"])
    assert (seen.present, seen.nodes, seen.unread) == (False, (), ())


def test_no_sysfs():
    for dirs in ((), ("/sys",)):
        seen = topology(dirs=dirs)
        assert (seen.present, seen.nodes, seen.unread) == (None, (), ())


@pytest.mark.parametrize("text", ["", "garbage\n"])
def test_properties_without_any_property_hide_no_gpu(text):
    seen = topology(files={**kfd(CPU), f"{NODES}/1/properties": text, f"{NODES}/1/gpu_id": "0\n"})
    assert [(node.number, node.kind) for node in seen.broken] == [(1, ReasonKind.UNPARSED)]


def test_a_device_cgroup_refuses_some_nodes():
    seen = topology(files=kfd(CPU, MI300X, refused={2: errno.EPERM, 3: errno.EACCES, 4: errno.EIO}))
    assert [node.number for node in seen.denied] == [2, 3]
    assert [(node.number, node.kind) for node in seen.broken] == [(4, ReasonKind.FAILED)]
    assert len(seen.gpus) == 1


def test_a_listing_that_is_refused():
    seen = topology(files={NODES: errno.EACCES})
    assert seen.present is None
    assert [(each.number, each.kind, each.subject) for each in seen.unread] == [
        (None, ReasonKind.DENIED, NODES)
    ]


def test_old_kernels_tell_no_target_and_properties_may_be_damaged():
    files = {
        f"{NODES}/1/properties": "simd_count 256\nvendor_id 4098\nbroken\ngfx_target_version 99999999999999999999999\n",
        f"{NODES}/1/gpu_id": "no number\n",
        f"{NODES}/note": "x",
    }
    node = topology(files=files).gpus[0]
    assert (node.gfx_target, node.gpu_id, node.get("simd_count")) == (None, None, 256)


def test_a_version_that_is_no_target():
    assert KfdNode(number=1, properties={"gfx_target_version": 91616}).gfx_target is None


@pytest.mark.parametrize("text", ["", "\n\n", "a b\n", "key  1\n", "key 1 2\n"])
def test_lines_of_another_form_are_left_out(text):
    assert parse_properties(text) == {}
