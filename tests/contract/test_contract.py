"""Every built-in collector and provider holds the contract."""

import pytest

from aorta.plugin.discovery import discover
from aorta.testing import assert_contract

SPECS = {spec.name: spec for spec in discover(outside=False).specs()}


@pytest.mark.parametrize("name", SPECS)
def test_contract(name):
    assert_contract(SPECS[name])
