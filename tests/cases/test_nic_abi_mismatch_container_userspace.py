"""The kernel shows an active device that the container's libibverbs rejects: both views, one reason."""

from aorta.testing import collect
from tests.parts.nic_hosts import AINIC, NO_DEVICES, ROOT, Nics

CASE = "nic-abi-mismatch-container-userspace"

COMPLAINT = (
    "libibverbs: Warning: Driver ionic does not support the kernel ABI of 4 (supports 1 to 1)"
    " for device /sys/class/infiniband/ionic_{}\n"
)
STDERR = "".join(COMPLAINT.format(at) for at in (0, 1, 0, 1))


def host(*, uverbs):
    nics = Nics().provider("ionic")
    for at, bdf in enumerate(("0000:01:00.0", "0000:02:00.0")):
        nics.function(bdf, AINIC).net(f"enp{at + 1}s0", bdf)
        nics.rdma(f"ionic_{at}", bdf, firmware="1.117.5-a-56", board=None)
        if uverbs:
            nics.uverbs(f"ionic_{at}", at, abi="4")
    return nics.host({"ibv_devices": {"stdout": NO_DEVICES, "stderr": STDERR}}, observed=ROOT)


def test_both_views_are_kept():
    for uverbs in (True, False):
        value = collect(host(uverbs=uverbs), "nic_devices").value
        assert [each["state"] for each in value] == ["ACTIVE", "ACTIVE"]
        assert [each["usable"] for each in value] == [False, False]
        assert all("abi_mismatch" in each["problems"] for each in value)
        verbs = value[0]["verbs"]
        assert (verbs["kernel_abi"], verbs["provider_abi"], verbs["listed"]) == (4, "1 to 1", False)
    card = collect(host(uverbs=True), "nics").value["ainic"]
    assert (card["present"], card["rdma_devices"]) == (True, ["ionic_0", "ionic_1"])


def test_repeated_warnings_are_one_reason_with_a_count():
    result = collect(host(uverbs=True), "nic_devices")
    (reason,) = [reason for reason in result.reasons if reason.field == "usable"]
    assert reason.partial
    assert "2 of 2 RDMA devices" in reason.detail
    assert "ABI 4" in reason.detail
    assert "1 to 1" in reason.detail
    assert result.record.status == "partial"
