"""``--junit FILE`` of ``aorta sweep run`` and ``show``: where the XML goes, and what it may replace."""

import os
from collections.abc import Mapping
from typing import Any

from aorta.cli.errors import Failure
from aorta.instrumentation.write import check_writable, told


def check_junit(path: str) -> None:
    """Tell before trials take their hours that a file could not be written. Raises Failure."""
    try:
        check_writable(path)
    except OSError as error:
        raise Failure(told(error, path)) from None


def write_junit(path: str, document: Mapping[str, Any]) -> None:
    """Write the XML of a run; directories are made, and only XML is replaced. Raises Failure."""
    from aorta.sweep.matrix.junit import junit
    from aorta.validate.report import write

    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        write(path, junit(document))
    except OSError as error:
        raise Failure(told(error, path)) from None
