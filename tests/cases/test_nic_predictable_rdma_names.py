"""Names by topology or GUID carry no vendor, and a GUID in a name is masked."""

import json

from aorta.testing import collect
from tests.parts.nic_hosts import AINIC, CX7, THOR2, Nics

CASE = "nic-predictable-rdma-names"

DEVICES = {
    "rocep229s0": AINIC,
    "roceensp1": AINIC,
    "ibp0s12f4": CX7,
    "rocex020000fffe000001": CX7,
    "bnxt_re_bond0": THOR2,
}
GUID = "020000fffe000001"


def host():
    nics = Nics()
    for at, (name, ids) in enumerate(DEVICES.items()):
        bdf = f"0000:{at + 16:02x}:00.0"
        nics.function(bdf, ids).rdma(name, bdf)
        nics.files[f"{nics.place(bdf)}/infiniband/{name}/board_id"] = b"\xff"
    return nics.host()


def test_the_driver_says_whose_it_is():
    value = collect(host(), "nics").value
    assert value["ainic"]["rdma_devices"] == ["rocep229s0", "roceensp1"]
    assert value["cx7"]["rdma_devices"] == ["ibp0s12f4", "rocex<redacted>"]
    assert value["broadcom"]["rdma_devices"] == ["bnxt_re_bond0"]
    assert value["cx7"]["links"][1]["device"] == "rocex<redacted>"


def test_the_address_in_a_name_is_nowhere():
    for section in ("nics", "nic_devices"):
        result = collect(host(), section)
        told = json.dumps(result.value) + "".join(
            reason.text + str(reason.subject) for reason in result.reasons
        )
        assert GUID not in told
        assert "rocex<redacted>" in told


def test_an_interface_named_by_its_address():
    bdf = "0000:10:00.0"
    nics = Nics().function(bdf, CX7).net("enx020000000001", bdf)
    for section in ("nics", "nic_devices"):
        result = collect(nics.host(), section)
        told = json.dumps(result.value) + str(result.record) + str(result.reasons)
        assert "020000000001" not in told
