"""Recorded hosts with broken answers: no document breaks, no defect shows, nothing unseen is claimed."""

import base64
import functools
import glob
import json
import os
import random
import re

import jsonschema
import pytest

from aorta.host.replay import open_recording
from aorta.instrumentation.environment import capture
from aorta.model.codec import dump, to_json
from aorta.model.schema import document_schema
from aorta.plugin.discovery import discover
from tests.hosts.check_expect import down, steps_of

HERE = os.path.dirname(__file__)
HOSTS = sorted(os.path.basename(path)[: -len(".jsonl")] for path in glob.glob(f"{HERE}/*.jsonl"))
SEEDS = range(60)

#: A defect is told by the type of its exception; a tool's own traceback (FileNotFoundError) is none.
DEFECT = re.compile(
    r"\w+(?:Error|Exception) at \S+:\d+|(?:Type|Value|Attribute|Key|Index|Unicode\w*|Recursion)Error: "
)
GARBAGE = (
    *("", "\n", "\0", "\x1b[31m", "\u00e9\U0001f600", "\r\n", "{", "[]", "null", "NaN", '{"a": 1}', "[[[["),
    *(
        "9" * 400,
        "0x",
        "-1",
        "1e999",
        "18446744073709551616",
        "\u0663\u0664",
        "\u00b2",
        "gfx",
        "/",
        "//",
        "..",
    ),
    *("a" * 5000, "\ufffd", " ", "\t", "=", '"', "\\", "%s", "{}", "ffff:ff:ff.f", "\u2028", "\x0c", "5_0"),
)
ERRNOS = (
    "EACCES",
    "EPERM",
    "EIO",
    "ENOENT",
    "ELOOP",
    "ENOTDIR",
    "EISDIR",
    "ESTALE",
    "EINVAL",
    "ETIMEDOUT",
    "ENODEV",
)
FORMS = (
    None,
    [],
    {},
    "",
    1,
    True,
    1.5,
    [None],
    {"a": None},
    {"prefix": 3, "machine": [], "root": "no"},
    [[1], 2],
)
PLACED = ("read", "bytes", "stat", "link", "scan")


@functools.cache
def lines(name):
    with open(os.path.join(HERE, f"{name}.jsonl"), encoding="utf-8") as file:
        return tuple(json.loads(line) for line in file)


@functools.cache
def validator():
    return jsonschema.Draft202012Validator(document_schema(discover(outside=False)))


def document(recording, **options):
    host = open_recording("\n".join(json.dumps(line) for line in recording))
    return json.loads(to_json(dump(capture(host=host, **options))), parse_constant=pytest.fail)


def check(found):
    """Look for what no broken machine may bring about."""
    validator().validate(found)
    assert [each for each in found["collection"]["reasons"] if DEFECT.search(each["detail"])] == []
    records = {**found["collection"]["collectors"], **found["collection"]["providers"]}
    assert [name for name, record in records.items() if record["status"] in ("failed", "timed_out")] == []


def garbled(rng, text):
    at = rng.randrange(len(text) + 1)
    rows = text.split("\n")
    rows[rng.randrange(len(rows))] = rng.choice(GARBAGE)
    return rng.choice(
        (
            rng.choice(GARBAGE),
            text[:at],
            text[at:],
            text.replace("\n", "\r\n"),
            text[:at] + rng.choice(GARBAGE) + text[at:],
            "\n".join(rng.sample(text.split("\n"), text.count("\n") + 1)),
            "\n".join(rows),
            text * 2,
            re.sub(r"\d+", lambda _: str(rng.choice((0, -1, 1 << 63, 10**30))), text),
            text.replace(" ", "\x1b[1m"),
        )
    )


def mutated(rng, line):
    """Return another answer to the same question."""
    op, line = line["op"], dict(line)
    if op in PLACED and rng.random() < 0.3:
        return {"op": op, "path": line["path"], "errno": rng.choice(ERRNOS)}
    if op == "read" and "text" in line:
        line["text"] = garbled(rng, line["text"])
    elif op == "bytes" and "b64" in line:
        data = base64.b64decode(line["b64"])
        line["b64"] = base64.b64encode(rng.choice((b"", data[: len(data) // 2], rng.randbytes(80)))).decode()
    elif op == "run":
        line["exit"] = rng.choice((0, 0, 0, 1, 2, 126, 127, 255, -11))
        line["out"] = garbled(rng, line.get("out", ""))
    elif op == "env" and isinstance(line.get("value"), str):
        line["value"] = garbled(rng, line["value"]).replace("\0", "")
    elif op == "link" and "target" in line:
        line["target"] = rng.choice(("/nowhere", "..", "/", line["path"], "/dev/null", "a" * 300, "\n"))
    elif op == "observe":
        line["value"] = rng.choice(FORMS)
    elif op == "stat" and "kind" in line:
        line["kind"] = rng.choice(("file", "dir", "char", "link", "fifo"))
    return line


@pytest.mark.parametrize("seed", SEEDS)
def test_a_broken_recording_brings_no_defect(seed):
    rng = random.Random(seed)  # noqa: S311  (repeatable on purpose)
    first, *rest = lines(HOSTS[seed % len(HOSTS)])
    part, loss = rng.choice((0.01, 0.1, 0.5, 1.0)), rng.choice((0.0, 0.0, 0.05, 0.3))
    only = rng.choice((None, None, "run", "read", "observe"))
    broken = [first]
    for line in rest:
        if rng.random() < loss:
            continue
        mine = only in (None, line["op"]) and rng.random() < part
        broken.append(mutated(rng, line) if mine else line)
    check(document(broken, detail=rng.choice(("full", "compact"))))


@pytest.mark.parametrize("value", FORMS)
def test_observations_of_any_form(value):
    broken = [{**line, "value": value} if line.get("op") == "observe" else line for line in lines(HOSTS[4])]
    check(document(broken))


def leaves(value, path=""):
    if isinstance(value, dict):
        for key, member in value.items():
            yield from leaves(member, f"{path}.{key}" if path else key)
    else:
        yield path, value


#: What rests on several sources or tells what was found; a lost source may change it, never silently.
SEVERAL = {
    "gpu_arch.source",
    "gpus",
    "nic_devices",
    "library_linkage.census.unlistable_dirs",
    "library_linkage.libraries",
    "library_linkage.torch_census.unlistable_dirs",
    "loaded_libraries",
    "rocm.candidates",
    "rocm.other_roots",
    "captured_at",
    "partial",
    "partial_reasons",
}
#: Sections about the root that is used: without the first choice they are about the next.
OF_ROOT = (
    *("rocm.", "rccl.", "hip.", "therock.", "hipblaslt.", "rocblas.", "composable_kernel.", "tensile."),
    *("tensile_catalog.", "miopen.", "miopen_catalog.", "rocfft_catalog.", "library_linkage."),
)
#: How a catalog says of itself that it was not seen.
UNSEEN_CATALOG = re.compile(r"(?:tensile|miopen|rocfft)_catalog\.(?:.*\.)?(status|reason)")
ISOLATION = (
    "collection.",
    "isolation.",
    "docker",
    "runtime_context.",
    "container_detected",
    "execution_context.",
    "probe_",
)


@pytest.mark.parametrize("place", ["/opt", "/usr", "/etc", "/dev", "/home", "/sys/class"])
@pytest.mark.parametrize("name", HOSTS[::2])
def test_a_place_that_breaks_turns_no_value_into_another(name, place):
    whole, broken = document(lines(name)), document(without(name, place, "EIO"))
    before, same_root = dict(leaves(whole)), whole["rocm"]["root"] == broken["rocm"]["root"]
    for path, value in leaves(broken):
        if path in SEVERAL or path.startswith(ISOLATION) or (not same_root and path.startswith(OF_ROOT)):
            continue
        if (word := UNSEEN_CATALOG.fullmatch(path)) and (word[1] == "reason" or value == "partial"):
            continue
        assert value in (None, "unknown", before.get(path)), path
    for part in ("gpu", "rocm", "rdma", "torch"):
        was, now = (each["collection"]["coverage"][part] for each in (whole, broken))
        assert now in (was, "unknown"), part


#: What must not be said where the place was not seen: a value each of these paths may not have.
CLAIMS = {
    "/sys": {
        "collection.coverage.rdma": "absent",
        "collection.coverage.gpu": "absent",
        "amdgpu_driver.status": "absent",
        "amdgpu_driver.module_loaded": False,
        "amdgpu_driver.kfd_sysfs_present": False,
        "gpus": [],
        "nic_devices": [],
        "gpu_arch.denied_nodes": 0,
        "gpu_arch.agent_count": 0,
        "gpu_arch.gfx_targets": [],
        "host.iommu.groups": 0,
        "host.numa.node_count": 0,
        "host.numa.nodes": [],
        "host.cpu.governors": [],
    },
    "/proc": {
        "container_detected": False,
        "isolation.container": False,
        "host.memory_bytes": 0,
        "host.swap_bytes": 0,
        "host.kernel_command_line": "",
        "host.iommu.parameters": [],
        "host.cpu.logical": 0,
    },
    "/opt": {
        "collection.coverage.rocm": "absent",
        "therock.status": "absent",
        "rocm.candidates": [],
        "rocm.other_roots": [],
        "rocm.layout": "none",
        "rocm.root_source": "none",
    },
}
#: Root that leaves nothing else to find: a tree elsewhere may say what it holds.
ELSEWHERE = {"therock.status": "rocm.root"}


def without(name, place, error):
    """Return a recording whose place is not there, an empty directory, or refuses with an error."""
    kept = [line for line in lines(name) if not f"{line.get('path', '')}/".startswith(f"{place}/")]
    if error is None:
        return kept
    if error == "empty":
        return [*kept, {"op": "stat", "path": place, "kind": "dir", "mode": 0o755}]
    return [*kept, {"op": "stat", "path": place, "errno": error}]


#: A closed recording without /opt says that there is none, so there it has to refuse.
WAYS = [
    *((place, error) for place in CLAIMS for error in ("EACCES", "EIO")),
    *((place, error) for place in ("/sys", "/proc") for error in (None, "empty")),
]


@pytest.mark.parametrize(("place", "error"), WAYS)
@pytest.mark.parametrize("name", HOSTS)
def test_nothing_is_claimed_about_a_place_that_was_not_seen(name, place, error):
    found = document(without(name, place, error))
    check(found)
    for path, claim in CLAIMS[place].items():
        said = functools.reduce(down, steps_of(path), found)
        other = ELSEWHERE.get(path)
        if other and functools.reduce(down, steps_of(other), found) is not None:
            continue
        assert (type(said), said) != (type(claim), claim), path
    if error in ("EACCES", "EIO"):
        assert found["partial"]
