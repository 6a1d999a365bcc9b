"""Measure every figure that aorta promises, and print one line each: ``figure: measured (limit) ok|short``.

    python -m tests.bench.figures                                  # all that needs no peer
    python -m tests.bench.figures --peer /opt/peer/bin/aorta       # the ratios too
    python -m tests.bench.figures --only mount,tools               # some of them

The peer is an installed ``amd-aorta==0.3.0`` in an environment of its own; ratios are medians of pairs that
run in turn, and below 1 aorta is faster. A figure that cannot be measured here says why. Exit status: 1
when a figure is short.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import pytest

from tests.bench import beside_torch, capture, files, gate, matrix, plugin, ranks, sweeps
from tests.bench.measuring import Figure, Line, NotMeasuredError

FIGURES = {
    **capture.FIGURES,
    **files.FIGURES,
    **beside_torch.FIGURES,
    **gate.FIGURES,
    **plugin.FIGURES,
    **sweeps.FIGURES,
    **matrix.FIGURES,
    **ranks.FIGURES,
}


def measured(figure: Figure, options: argparse.Namespace) -> Line | str:
    """Return a figure's line, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return figure(Path(folder).resolve(), options)
        except (NotMeasuredError, pytest.skip.Exception, pytest.fail.Exception) as error:
            return str(error)
        except Exception as error:
            return f"{type(error).__name__}: {error}", "to be measured", False


def main() -> int:
    """Measure and print; return 1 when a figure is short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", default="", help="the program to compare with, e.g. /opt/peer/bin/aorta")
    parser.add_argument("--pairs", type=int, default=11, help="pairs of a ratio (default 11)")
    parser.add_argument("--only", default="", help=f"some of: {','.join(FIGURES)}")
    options = parser.parse_args()
    chosen = [name for name in options.only.split(",") if name] or list(FIGURES)
    if unknown := set(chosen) - set(FIGURES):
        parser.error(f"no figure {', '.join(sorted(unknown))}")
    short = 0
    for name in chosen:
        line = measured(FIGURES[name], options)
        if isinstance(line, str):
            print(f"{name}: not measured: {line}", flush=True)
            continue
        told, limit, ok = line
        short += not ok
        print(f"{name}: {told} ({limit}) {'ok' if ok else 'short'}", flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
