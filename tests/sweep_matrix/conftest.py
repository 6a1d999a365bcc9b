"""Runs on disk, and the command line that shows them."""

import pytest

from aorta.sweep.matrix.run_facts import COMPLETE, State
from tests.cli.conftest import cli, environ

from .made import matrix

__all__ = ["cli", "environ"]


@pytest.fixture
def run(tmp_path):
    """Return a function that writes a run's matrix, and returns the run's directory."""

    def write(
        cells, summaries, where="triage_results/T-1/command/2026-11-30T12-00-00", state=None, **options
    ):
        made, folder = matrix(cells, summaries, **options), tmp_path / where
        folder.mkdir(parents=True)
        state = state or State(word=COMPLETE)
        (folder / "matrix.json").write_text(made.json_text(state))
        (folder / "matrix.md").write_text(made.markdown(state))
        return folder

    return write
