import errno

import pytest

from aorta.model.vocabulary import Coverage, ReasonKind
from aorta.testing import FakeHost, provide
from aorta_collectors.providers import RdmaDevices


def test_names_are_sorted():
    result = provide(
        FakeHost(dirs=["/sys/class/infiniband/mlx5_1", "/sys/class/infiniband/ionic_0"]), RdmaDevices
    )
    assert result.typed.names == ("ionic_0", "mlx5_1")
    assert result.coverage["rdma"] is Coverage.SEEN


def test_no_subsystem_and_no_device_are_both_absent():
    none = provide(FakeHost(dirs=["/sys/kernel"]), RdmaDevices)
    assert (none.typed.names, none.typed.kind) == ((), ReasonKind.ABSENT)
    empty = provide(FakeHost(dirs=["/sys/class/infiniband"]), RdmaDevices)
    assert (empty.typed.names, empty.typed.kind) == ((), None)
    assert none.coverage["rdma"] is empty.coverage["rdma"] is Coverage.ABSENT


@pytest.mark.parametrize("dirs", [(), ("/sys",)])
def test_without_sysfs_nothing_is_absent(dirs):
    result = provide(FakeHost(dirs=dirs), RdmaDevices)
    assert result.coverage["rdma"] is Coverage.UNKNOWN
    assert (result.typed.kind, result.typed.detail) == (ReasonKind.UNSUPPORTED, "no sysfs is mounted here")


def test_a_refused_listing_is_unknown():
    result = provide(FakeHost({"/sys/class/infiniband": errno.EACCES}), RdmaDevices)
    assert result.coverage["rdma"] is Coverage.UNKNOWN
    assert result.typed.kind is ReasonKind.DENIED
    assert "Permission denied" in result.typed.detail
