#!/usr/bin/env python3
"""Check a Buck client's snapshot and its workloads', as ``aorta validate pair`` does, from a bare checkout.

    python3 scripts/validate_buck_env_pair.py CLIENT WORKLOAD...

Needs Python 3.10 and its standard library alone; nothing has to be installed.
"""

import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036 - this file itself is read by older ones
    sys.stderr.write("validate_buck_env_pair.py needs Python 3.10 or newer\n")
    sys.exit(2)

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# A checkout may be somebody else's, and is left as it is.
sys.dont_write_bytecode = True

from aorta.validate.program import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
