"""The order of the tests."""


def pytest_collection_modifyitems(items):
    """Leave the contract to the end: it adds an audit hook, which stays for the rest of the process.

    Up to Python 3.11 a thread that starts under coverage can die of one: installing a trace function is
    audited, and two threads must not do so at once.
    """
    items.sort(key=lambda item: "contract" in item.path.parts)
