"""Figures of the gate: a client's snapshot and those of many workloads."""

import argparse
import json
import os
import statistics
from pathlib import Path

from tests.bench.compare import COMMANDS, timed
from tests.bench.measuring import ROOT, Figure, Line
from tests.parts.pairs import captured, client, workload

WORKLOADS = 64

#: Bytes that a workload's document has at least: that of a large node, captured in full.
SIZE = 600_000


def pair(folder: Path, _: argparse.Namespace) -> Line:
    """A client and 64 workloads, as large as real ones and each another, by the command."""
    document = workload()
    parts: list[object] = []
    while len(json.dumps(document, indent=2)) < SIZE:
        parts.append(captured("a-mi300x-cx7-ubuntu2204-bare"))
        document["extensions"] = {"bench": parts}
    (folder / "client.json").write_text(json.dumps(client(), indent=2), encoding="utf-8")
    names = []
    for rank in range(WORKLOADS):
        document["launcher"]["rank"] = rank
        names.append(str(folder / f"rank{rank}.json"))
        Path(names[-1]).write_text(json.dumps(document, indent=2), encoding="utf-8")
    command = [COMMANDS["probe"][0], "validate", "pair", str(folder / "client.json"), *names]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/collectors"}
    timed(command, env)
    took = statistics.median(timed(command, env) for _ in range(5))
    size = sum(os.path.getsize(name) for name in names) / 1e6
    return f"a client and {WORKLOADS} workloads of {size:.0f} MB in {took:.2f} s", "1.5 s", took <= 1.5


FIGURES: dict[str, Figure] = {"validate_pair": pair}
