"""The order of the tests, where their digests are remembered, and which signals they start with."""

import os
import signal

import pytest


def pytest_collection_modifyitems(items):
    """Leave the contract to the end: it adds an audit hook, which stays for the rest of the process.

    Up to Python 3.11 a thread that starts under coverage can die of one: installing a trace function is
    audited, and two threads must not do so at once.
    """
    items.sort(key=lambda item: "contract" in item.path.parts)


@pytest.fixture(scope="session", autouse=True)
def _signals_are_the_usual():
    """Give programs their usual signals: one that nohup made the tests ignore, they would ignore too."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _digests_are_remembered_for_these_tests_alone(tmp_path_factory):
    """Keep the digests of the tests away from those of the user who runs them."""
    place = tmp_path_factory.mktemp("runtime")
    place.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(place)
