"""The bad-input matrix: real probes of one machine, each with one fault that costs no more than its sections.

Not all pairs of things and states are run; ``AORTA_TEST_MATRIX=all`` runs them.
"""

import concurrent.futures
import json
import os
import subprocess
import sys

import pytest

from aorta.plugin.discovery import discover
from tests.faults.matrix import SHOWN, paths_of, rows
from tests.parts import world
from tests.parts.needs import need
from tests.parts.probing import OWN_TO_A_RUN, environment, gone

EVERY = os.environ.get("AORTA_TEST_MATRIX") == "all"
#: Of a row whose tool hangs, and of all others.
SHORT_S, LONG_S = 6, 30
AT_ONCE = 6
#: When a probe is given up; it is to end with its deadline.
LIMIT_S = 45

#: Whoever is root may read what nobody may; in a user namespace root is somebody else, with the same files.
AS_A_USER = ("/usr/bin/unshare", "--user", "--map-user=65534", "--map-group=65534")

#: The mount namespace of each run is another, and a machine may be given memory while it runs.
IGNORED = {*OWN_TO_A_RUN, "probe_namespace"}


class Machine:
    """Runs probes in worlds with one fault each."""

    def __init__(self, folder):
        self.folder = folder
        world.prepare(folder)
        self.documents = {}

    def run(self, name, *words, planted=(), wrapper=(), out="env.json", **options):
        """Run ``aorta env WORDS -o out``; return the status, standard error and the folder."""
        place = self.folder / "runs" / f"{abs(hash(name)):x}"
        for folder in ("scratch", "home"):
            (place / folder).mkdir(parents=True)
        # The same names for all.
        more = {"HOME": "/opt/home", "TMPDIR": "/opt/home", **options}
        env = environment(place, "/opt/tools:/opt/basic", covered=False, **more)
        command = [*wrapper, sys.executable, "-m", "aorta", "env", *words, place / out]
        line = world.within(
            place / "scratch", self.folder / "opt", command, planted=planted, home=place / "home"
        )
        with open(place / "errors", "w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                line, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
            try:
                code = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                code = None
                process.kill()
                process.wait()
        return code, (place / "errors").read_text(encoding="utf-8"), place

    def probe(self, row):
        """Run a row; return the status, standard error, the document and what was left behind."""
        seconds = SHORT_S if row.is_slow else LONG_S
        words = ("probe", "--extended", "--deadline", str(seconds), "-o")
        user = AS_A_USER if row.state == "denied" else ()
        code, errors, place = self.run(row.name, *words, planted=[(row.state, row.path)], wrapper=user)
        path = place / "env.json"
        document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        files = {file.name for file in place.iterdir()} - {"scratch", "late", "home", "errors", "env.json"}
        files |= {file.name for file in (place / "home").rglob("*")} - {".cache", "aorta"}
        return code, errors, document, (files, gone(f"TEST_MARKER={place}", within_s=2))


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    need(os.geteuid() == 0, "needs root")
    need("unshare", "needs util-linux")
    return Machine(tmp_path_factory.mktemp("matrix"))


@pytest.fixture(scope="module")
def whole(machine):
    """Probe without a fault, as root and as a user."""
    words = ("probe", "--extended", "-o")
    found = {}
    for name, wrapper in (("root", ()), ("user", AS_A_USER)):
        code, errors, place = machine.run(name, *words, wrapper=wrapper)
        assert code == 0, errors
        found[name] = json.loads((place / "env.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def matrix(machine, whole):
    """Return the rows for what a probe without a fault looks at and runs."""
    code, errors, place = machine.run("recording", "record", out="host.jsonl")
    assert code == 0, errors
    lines = (place / "host.jsonl").read_text(encoding="utf-8").splitlines()
    paths = paths_of(map(json.loads, lines[1:]))
    return rows(paths, tools_of(whole["root"]), every=EVERY)


@pytest.fixture(scope="module")
def outcomes(machine, matrix):
    """Run all rows, those that take the deadline first; return what came of each."""
    order = sorted(matrix, key=lambda row: not row.is_slow)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(order, pool.map(machine.probe, order), strict=True))


def tools_of(document):
    """Return the programs that sections ran, each with the sections."""
    found = {}
    collection = document["collection"]
    for name, record in {**collection["collectors"], **collection["providers"]}.items():
        for command in record["commands"]:
            found.setdefault(command["argv"][0], set()).add(name)
    # Each can be the sign of a ROCm tree.
    for name in ("hipconfig", "rocminfo"):
        found.setdefault(name, {"gpus"}).add("RocmRoots")
    return dict(sorted(found.items()))


def dependents(names):
    """Return sections, and for a provider or a section that others need all that need it."""
    registry = discover(())
    every = {**registry.providers, **registry.collectors}
    found = set(names)
    while True:
        more = {
            name
            for name, each in every.items()
            if found & {getattr(one, "__name__", one) for one in each.needs}
        }
        # A section that needs another's model needs its section.
        if more <= found:
            return found
        found |= more


def leaves(value, path=""):
    """Yield path and value of everything in a value that is no container."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in items:
            yield from leaves(member, f"{path}.{key}")
    else:
        yield path, value


def reasons_of(document, section):
    return {
        (reason["kind"], reason["field"], reason["subject"], reason["detail"])
        for reason in document["collection"]["reasons"]
        # Interfaces of containers come and go on the machine meanwhile.
        if reason["section"] == section and "interfaces without a device" not in reason["detail"]
    }


def section_of(document, name):
    value = json.loads(json.dumps(document[name]))
    if name == "host":
        for node in value["numa"]["nodes"] or ():
            node.pop("memory_bytes")
        value.pop("memory_bytes")
    return value


def problems(row, outcome, before, allowed):
    """Yield what of a row does not hold."""
    code, errors, document, (files, processes) = outcome
    if code != 0 or document is None:
        yield f"exit status {code} (None: it does not end): {errors[-500:]}"
        return
    if not errors.startswith("wrote "):
        yield f"standard error: {errors[-500:]}"
    if files or processes:
        yield f"left behind: {files} {processes}"
    if len(json.dumps(document)) > len(json.dumps(before)) + 20_000:
        yield "the document swells"
    statuses = {name: record["status"] for name, record in document["collection"]["collectors"].items()}
    for name in document.keys() - IGNORED:
        if name not in before["collection"]["collectors"]:
            continue
        same = section_of(document, name) == section_of(before, name)
        new = reasons_of(document, name) - reasons_of(before, name)
        if name not in allowed:
            if not same:
                yield f"{name} says something else"
            if new or reasons_of(before, name) - reasons_of(document, name):
                yield f"{name} has other reasons: {new}"
            if statuses[name] != before["collection"]["collectors"][name]["status"]:
                yield f"{name} is {statuses[name]}"
        elif statuses[name] in ("failed", "timed_out", "blocked") and not row.ends:
            yield f"{name} is {statuses[name]}"
    yield from _silence(row, document, before, allowed)
    if row.ends:
        yield from _tool_problems(row, document)


def _silence(row, document, before, allowed):
    """Yield a complaint where values of a section differ, and no reason of the right kind tells why."""
    if SHOWN.match(row.path) or not row.kinds:
        return
    names = [name for name in allowed if name in document and name not in IGNORED]
    changed = [name for name in names if section_of(document, name) != section_of(before, name)]
    kinds = {kind for name in names for kind, *_ in reasons_of(document, name) - reasons_of(before, name)}
    if changed and not kinds & row.kinds:
        yield f"{changed} differ, told by {kinds or 'nothing'}, not by {set(row.kinds)}"


def _tool_problems(row, document):
    tool = row.path.rpartition("/")[2]
    ends = {
        command["outcome"]
        for record in document["collection"]["collectors"].values()
        for command in record["commands"]
        if command["argv"][0] == tool
    }
    if ends - row.ends:
        yield f"{tool} ended {ends}"


# All rows run in its set-up; the limit holds on a machine with much else to do.
@pytest.mark.timeout(3600 if EVERY else 400)
def test_every_row_costs_its_own_sections_alone(matrix, outcomes, whole):
    found = {}
    for row in matrix:
        before = whole["user" if row.state == "denied" else "root"]
        complaints = list(problems(row, outcomes[row], before, dependents(row.owners)))
        if complaints:
            found[row.name] = complaints
    assert found == {}
