"""What outside plugins add to a capture."""

import argparse
import statistics
import sys
from pathlib import Path

from tests.bench.compare import timed
from tests.bench.measuring import ROOT, Figure, Line, NotMeasuredError, bare_environment
from tests.parts.pages import blocks

#: The most that one plugin, which reads one file, may add to a capture of a bare machine, in seconds.
MOST_S = 0.5


def plugin_apart(folder: Path, options: argparse.Namespace) -> Line:
    """One plugin by name: rehearsed, imported, and run in a process of its own."""
    [source] = [block for block in blocks("docs/write-a-collector.md") if block.title == "site_burnin.py"]
    (folder / source.title).write_text(source.text)
    env = {**bare_environment(folder), "PYTHONPATH": f"{folder}:{ROOT}:{ROOT}/collectors"}
    command = [sys.executable, "-m", "aorta", "env", "probe", "-o", str(folder / "env.json")]
    cases = {"without": command, "with": [*command, "--plugin", "site_burnin"]}
    for each in cases.values():
        timed(each, env)
    if "site.burnin" not in (folder / "env.json").read_text():
        raise NotMeasuredError("the section of the plugin is not in the snapshot")
    took: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(options.pairs):
        for name in list(cases) if number % 2 == 0 else list(cases)[::-1]:
            took[name].append(timed(cases[name], env))
    added = statistics.median(b - a for a, b in zip(took["without"], took["with"], strict=True))
    told = f"one plugin adds {added * 1000:.0f} ms to {statistics.median(took['without']) * 1000:.0f} ms"
    return f"{told}, {options.pairs} pairs", f"{MOST_S * 1000:.0f} ms", added <= MOST_S


FIGURES: dict[str, Figure] = {"plugin_apart": plugin_apart}
