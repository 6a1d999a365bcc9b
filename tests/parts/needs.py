"""One decision for tests that need a part which not every machine has."""

import os
import shutil

import pytest


def need(part: str | bool, reason: str) -> None:
    """Skip the test when a part is missing; where ``CI=true`` promises all parts, fail it.

    ``part`` is the name of a program, or whether the part is there.
    """
    if shutil.which(part) if isinstance(part, str) else part:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"missing in CI: {reason}")
    pytest.skip(reason)
