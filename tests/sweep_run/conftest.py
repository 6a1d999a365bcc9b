import pytest

from tests.parts.sweeps import Sweeps


@pytest.fixture
def sweeps(tmp_path):
    sweeps = Sweeps(tmp_path)
    yield sweeps
    sweeps.end()
