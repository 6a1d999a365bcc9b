"""Jobs of several ranks that are ended with their test."""

import pytest

from tests.parts import losses, torches
from tests.workloads.launching import free_port


@pytest.fixture
def by_hand(tmp_path):
    """Return a function that starts the ranks of a sweep by hand."""
    started = []

    def start(recipe, *words, **more):
        started.append(losses.ByHand(tmp_path, recipe, *words, port=free_port(), **more))
        return started[-1]

    yield start
    for job in started:
        job.end()


@pytest.fixture
def torchrun(tmp_path):
    """Return a function that starts a sweep under torchrun."""
    started = []

    def start(recipe, *words, **more):
        started.append(losses.torchrun(tmp_path, torches.python(), recipe, *words, **more))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=100)
