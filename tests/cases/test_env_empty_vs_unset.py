"""Set to nothing is not unset, and a text stays a text."""

from aorta.testing import FakeHost, collect

CASE = "env-empty-vs-unset"


def test_empty_unset_and_zero():
    value = collect(FakeHost(env={"HIP_VISIBLE_DEVICES": "", "NCCL_IB_DISABLE": "0"}), "env_vars").value
    assert value["HIP_VISIBLE_DEVICES"] == ""
    assert value["ROCR_VISIBLE_DEVICES"] is None
    assert value["NCCL_IB_DISABLE"] == "0"


def test_an_empty_extra_name_is_there():
    assert collect(FakeHost(env={"LD_PRELOAD": ""}), "env_vars").value["LD_PRELOAD"] == ""
