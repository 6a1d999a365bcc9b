"""A node without one vendor's cards: present is false, without a reason; missing tools are no failure."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.nic_hosts import CX7, THOR2, Nics

CASE = "aorta-202-nic-vendor-absent"

LSPCI = "0000:09:00.0 0200: 14e4:1760 (rev 11)\n0000:41:00.0 0200: 15b3:1021\n"


@pytest.mark.parametrize(
    "host",
    [
        FakeHost(commands={"lspci -D -n": LSPCI}),
        Nics().function("0000:09:00.0", THOR2).function("0000:41:00.0", CX7).host(),
    ],
)
def test_an_absent_vendor_is_no_failure(host):
    result = collect(host, "nics")
    assert [result.value[key]["present"] for key in ("ainic", "broadcom", "cx7")] == [False, True, True]
    assert [reason for reason in result.reasons if "ainic" in reason.text] == []
    assert not any("nicctl" in record.argv for record in result.record.commands)
    assert [reason.text for reason in result.reasons if reason.partial] == []
    assert result.record.status == "ok"


def test_a_present_card_that_could_not_be_read_has_reasons():
    result = collect(Nics().function("0000:09:00.0", THOR2).host(), "nics")
    assert {reason.field for reason in result.reasons} == {"broadcom.driver_version", "broadcom.firmware"}
