"""The environment without coverage's own measuring of child processes.

Measured, a child imports more, opens files at its end, and looks into every directory of ``sys.path``:
a test of exactly these things would be one of coverage.
"""

import os

UNCOVERED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
