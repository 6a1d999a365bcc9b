"""A snapshot and nothing else, with the dependencies of the trainer: ``capture [FILE]``.

The file is the argument, else AORTA_ENV_OUTPUT. Exit status 0 written, 1 not written, 2 no file named.
"""

import os
import sys


def main() -> int:
    """Write a snapshot, from the first process of each node; ``{rank}`` is its rank."""
    arguments = sys.argv[1:] or [os.environ.get("AORTA_ENV_OUTPUT", "")]
    if len(arguments) != 1 or not arguments[0]:
        sys.stderr.write("usage: capture FILE, or AORTA_ENV_OUTPUT=FILE capture\n")
        return 2
    rank = os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or "0"
    local_rank = os.environ.get("LOCAL_RANK") or os.environ.get("SLURM_LOCALID") or "0"
    if local_rank != "0":
        return 0
    try:
        from aorta.instrumentation import capture_to

        capture_to(arguments[0].replace("{rank}", rank))
    except Exception as error:
        sys.stderr.write(f"no snapshot written: {type(error).__name__}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
