"""A project of Buck for each test."""

import pytest

from tests.parts.buck import Project
from tests.parts.probing import gone


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    yield made
    assert gone(str(tmp_path / "bin"), within_s=2.0) == {}
