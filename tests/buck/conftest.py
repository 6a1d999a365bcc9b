"""A project of Buck for each test."""

import os
from pathlib import Path

import pytest

from tests.parts.buck import Project
from tests.parts.buck_secrets import SECRETS
from tests.parts.probing import gone


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    yield made
    assert gone(str(tmp_path / "bin"), within_s=2.0) == {}


@pytest.fixture
def clean(project):
    """Return a function that looks through all that a run wrote."""

    def check(ran, *but):
        assert SECRETS.in_text(ran.out) == []
        assert SECRETS.in_text(ran.err) == []
        # What the test itself wrote: what the stand-in was told, and was called with.
        own = {project.log, project.folder / "buck2.json", *but}
        places = [project.folder, Path(os.environ["XDG_RUNTIME_DIR"])]
        assert SECRETS.in_files(places, own) == {}
        return ran

    return check
