"""Figures of a capture whatever it finds: recorded hosts, dead mounts, hanging tools, start-up."""

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from tests.bench.measuring import (
    ROOT,
    Figure,
    Line,
    NotMeasuredError,
    aorta,
    bare_environment,
    found,
    python,
    ratio,
)
from tests.faults.test_dead_mount import CASES
from tests.faults.test_laptop import HARMLESS, calls_in
from tests.parts.fake_tools import make
from tests.parts.fuse import hanging_mount
from tests.parts.laptop import laptop
from tests.parts.probing import environment, gone, probe

DEADLINE_S = 5
#: Seconds after its deadline in which a probe must have ended.
OVER_S = 0.5


def hosts(folder: Path, _: argparse.Namespace) -> Line:
    """Recorded hosts of which every statement holds."""
    names = sorted((ROOT / "tests" / "hosts").glob("*.jsonl"))
    sections = _sections_built()
    pairs = [_statements(name, folder / "host.json", sections) for name in names]
    whole = sum(held == number for held, number in pairs)
    told = f"{whole} of {len(names)} recorded hosts; {sum(held for held, _ in pairs)} of"
    told += f" {sum(number for _, number in pairs)} statements about the {len(sections)} keys built"
    return told, "12 of 12", whole == len(names) == 12


def _statements(recording: Path, out: Path, sections: list[str]) -> tuple[int, int]:
    """Return how many statements about a host hold, and how many there are."""
    aorta("env", "probe", "--extended", "--replay", recording, "-o", out)
    expect = recording.with_name(recording.name.replace(".jsonl", ".expect.yaml"))
    told = python("tests/hosts/check_expect.py", out, expect, "--sections", ",".join(sections)).stdout
    held, number = map(int, found(r"(\d+) of (\d+) statements hold", told))
    return held, number


def _sections_built() -> list[str]:
    """Return the sections that have a collector, and the document's own keys."""
    listed = json.loads(aorta("env", "collectors", "--json").stdout)
    names = [one["section"] for one in listed["collectors"]]
    return [*names, "partial", "partial_reasons", "schema_version", "schema_compat", "collection"]


def isolation(_: Path, __: argparse.Namespace) -> Line:
    """Sets of evidence whose isolation is told right."""
    told = python("tests/isolation/check_variants.py", "tests/isolation/variants.yaml").stdout
    held, number = map(int, found(r"(\d+) of (\d+) sets hold", told))
    return f"{held} of {number} isolation sets", "36 of 36", held == number == 36


def contract(_: Path, __: argparse.Namespace) -> Line:
    """The contract, over every collector and provider of the registry."""
    return _tests("tests/contract", "contract tests over the registry")


def fuzz(_: Path, __: argparse.Namespace) -> Line:
    """Damaged and noisy input of every parser, 2,000 examples each."""
    return _tests("tests/fuzz", "tests of random input")


def matrix(_: Path, __: argparse.Namespace) -> Line:
    """One bad file, tool, variable or signal at a time, and what it may cost."""
    return _tests("tests/faults", "tests of faults")


def reader(_: Path, __: argparse.Namespace) -> Line:
    """Documents of the 1.x line."""
    return _tests("tests/documents", "tests of the 1.x reader")


def _tests(place: str, what: str) -> Line:
    told = python("-m", "pytest", "-q", place).stdout
    passed = int((re.findall(r"(\d+) passed", told) or ["0"])[0])
    others = re.findall(r"\d+ (?:failed|errors?|skipped)", told)
    return f"{passed} {what}{''.join(f', {one}' for one in others)}", "all", bool(passed) and not others


def mount(folder: Path, _: argparse.Namespace) -> Line:
    """A dead mount at ROCM_PATH, LD_LIBRARY_PATH, PATH, at all three, and with hanging tools on top."""
    path, worst, whole = make(folder / "parts"), {}, True
    with hanging_mount() as point:
        dead = f"{point}/hang"
        names = ("rocm_path", "ld_library_path", "path", "all_three")
        cases = {name: CASES[name][1](dead=dead, link="", path=path) for name in names}
        cases["all_three and hanging tools"] = {**cases["all_three"], "TOOLS_HANG": "fork"}
        for name, more in cases.items():
            out = folder / f"{name}.json"
            done = probe(out, {**environment(folder, path), **more}, "--deadline", DEADLINE_S)
            subjects = {reason["subject"] for reason in done.reasons("timed_out")} if done.document else set()
            whole = whole and done.code == 0 and point in subjects
            worst[name] = done.elapsed_s - DEADLINE_S
    name = max(worst, key=lambda one: worst[one])
    told = f"a dead mount ends {worst[name]:+.2f} s after the deadline at worst ({name})"
    return (
        told + ("" if whole else ", a document is not whole"),
        f"{OVER_S} s",
        whole and worst[name] <= OVER_S,
    )


def tools(folder: Path, _: argparse.Namespace) -> Line:
    """All tools hang: by themselves, and in a child that keeps the output open."""
    path, worst, left = make(folder / "parts"), -1e9, 0
    for how in ("1", "fork"):
        env = environment(folder, path, TOOLS_HANG=how)
        done = probe(folder / f"{how}.json", env, "--sudo", "--deadline", DEADLINE_S)
        left += len(gone(f"TEST_MARKER={folder}", within_s=0.5))
        worst = max(worst, done.elapsed_s - DEADLINE_S if done.document else 1e9)
    told = f"hanging tools end {worst:+.2f} s after the deadline at worst, {left} processes left"
    return told, f"{OVER_S} s, 0 left", worst <= OVER_S and left == 0


def slow(folder: Path, options: argparse.Namespace) -> Line:
    """Every tool takes two seconds."""
    env = {"PATH": make(folder / "parts"), "HOME": str(folder), "LANG": "C.UTF-8", "TOOLS_DELAY_S": "2"}
    return ratio("2 s slow tools", "slow", ["env", "probe", "-o", "/dev/null"], env, options, 0.12, pairs=1)


def help_(folder: Path, options: argparse.Namespace) -> Line:
    """``aorta --help``."""
    return ratio("--help", "help", ["--help"], bare_environment(folder), options, 0.50)


def bare(folder: Path, options: argparse.Namespace) -> Line:
    """A probe of a machine with nothing on it."""
    return ratio(
        "bare probe", "probe", ["env", "probe", "-o", "/dev/null"], bare_environment(folder), options, 0.90
    )


def calls(folder: Path, _: argparse.Namespace) -> Line:
    """Command lines that run more than once in a capture with all tools."""
    log = folder / "log"
    probe(folder / "env.json", environment(folder, make(folder / "parts"), TOOLS_LOG=log), "--sudo")
    made = calls_in(log.read_text(encoding="utf-8"))
    twice = [call for call, times in Counter(made).items() if times > 1]
    told = f"{len(made)} commands, {len(twice)} of them more than once"
    return told, "0 more than once", bool(made) and not twice


def bare_metal(folder: Path, _: argparse.Namespace) -> Line:
    """A machine without ROCm."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    wrapper = laptop(folder)
    done = probe(folder / "env.json", environment(folder, path), "--fail-on-partial", wrapper=wrapper)
    kinds = Counter(reason["kind"] for reason in done.reasons() if reason["kind"] not in HARMLESS)
    coverage = done.document["collection"]["coverage"]
    runtime = done.document["isolation"]["runtime"]
    told = f"exit {done.code}, {sum(kinds.values())} reasons that make it partial, isolation {runtime}"
    seen = [part for part, state in coverage.items() if state != "absent"]
    told += f", coverage {'but ' + ', '.join(seen) if seen else 'all'} absent"
    ok = done.code == 0 and not kinds and not seen
    return told, "exit 0, 0 reasons, none, all absent", ok and runtime == "none"


def coverage(_: Path, __: argparse.Namespace) -> Line:
    """Branch coverage of the last `make test`."""
    if not (ROOT / ".coverage").exists():
        raise NotMeasuredError("no .coverage here; `make test` writes it")
    told = python("-m", "coverage", "report", "--format=total", "--precision=1").stdout.strip()
    (percent,) = found(r"^([\d.]+)$", told)
    return f"branch coverage {percent} %", "90 %", float(percent) >= 90


FIGURES: dict[str, Figure] = {
    "hosts": hosts,
    "isolation": isolation,
    "contract": contract,
    "mount": mount,
    "tools": tools,
    "slow": slow,
    "help": help_,
    "bare": bare,
    "calls": calls,
    "laptop": bare_metal,
    "coverage": coverage,
    "reader": reader,
    "fuzz": fuzz,
    "matrix": matrix,
}
