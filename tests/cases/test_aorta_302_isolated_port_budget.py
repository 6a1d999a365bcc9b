"""The ports of trials are 1000 within the valid range, each used once; what is no such range is an error."""

import pytest

from aorta.launch.identity import Identity
from aorta.launch.ports import MEETING, PORT_BASE, PORTS, told_base
from aorta.launch.tasks import LaunchError
from aorta.sweep.ranks.ports import TrialPorts

CASE = "aorta-302-isolated-port-budget"


@pytest.mark.parametrize("base", ["65000", "30k", "", "80"])
def test_a_base_that_does_not_hold_all_ports_is_refused_before_anything_runs(base):
    with pytest.raises(LaunchError, match=f"{PORT_BASE} is {base!r}, not a number from 1024 to 64536"):
        told_base({PORT_BASE: base})


def test_no_port_comes_twice():
    ports = TrialPorts({PORT_BASE: "30000"}, Identity(size=2, address="127.0.0.1"))
    found = []
    with pytest.raises(LaunchError, match=f"{PORT_BASE}=30000 on each is used once"):
        while True:
            with ports.held() as port:
                found.append(port)
    assert len(found) == len(set(found)) <= PORTS - MEETING
    assert 30000 <= min(found)
    assert max(found) < 31000
