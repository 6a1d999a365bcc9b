"""Pairs of snapshots for the gate: whole documents of recorded hosts, made into a client's and workloads'."""

import copy
import functools
import json
from pathlib import Path

from aorta.host.replay import open_recording
from aorta.instrumentation.environment import capture
from aorta.model.codec import dump
from aorta.plugin.discovery import discover
from aorta.validate.document import Document
from aorta.validate.judge import judge
from aorta.validate.options import Options
from tests.parts.old_documents import old

HOSTS = Path(__file__).resolve().parents[1] / "hosts"
CLIENT_HOST = "a-mi300x-cx7-ubuntu2204-bare"
WORKLOAD_HOST = "b-mi300x-docker-rocm720"

REVISION = "0123456789abcdef0123456789abcdef01234567"
FINGERPRINT = "sha256-v2:" + "ab" * 32

#: A value that takes a key away.
GONE = object()


@functools.cache
def _captured(host):
    return json.dumps(
        dump(capture(host=open_recording(str(HOSTS / f"{host}.jsonl")), registry=discover(outside=False)))
    )


def captured(host):
    """Return a fresh document of a recorded host."""
    return json.loads(_captured(host))


def hosts():
    """Return the names of the recorded hosts."""
    return sorted(path.stem for path in HOSTS.glob("*.jsonl"))


def changed(document, changes):
    """Return a copy with values set by their dotted paths; GONE takes a key away."""
    document = copy.deepcopy(document)
    for path, value in changes.items():
        *above, name = path.split(".")
        place = document
        for step in above:
            if not isinstance(place.get(step), dict):
                place[step] = {}
            place = place[step]
        if value is GONE:
            place.pop(name, None)
        else:
            place[name] = value
    return document


GRAPH = [
    {
        "name": name,
        "source": "buck",
        "revision": REVISION,
        "target": target,
        "configured_target": target,
        "role": "target",
    }
    for name, target in (
        ("pytorch", "//caffe2:torch"),
        ("hipblaslt", "//rocm:hipblaslt"),
        ("rccl", "//rocm:rccl"),
    )
]

CLIENT = {
    "build_system": {
        "kind": "buck2",
        "buck2_version": "buck2 2026-01-01",
        "repo_root": "/checkout",
        "revision": REVISION,
        "revision_source": "git",
        "dirty": False,
    },
    "buck_invocation.status": "success",
    "buck_invocation.target": "//job:train",
    "buck_invocation.context_source": "explicit",
    "buck_invocation.mode_files": ["//mode/opt"],
    "buck_invocation.context_fingerprint": FINGERPRINT,
    "buck_invocation.configured_root_target": "root//job:train (root//platforms:x#0123456789abcdef)",
    "library_introspection": GRAPH,
    "library_introspection_alternates": [],
    "execution_context.probe_invocation": "direct",
    "partial": False,
    "partial_reasons": [],
}

WORKLOAD = {
    "host.boot_id": "11111111-2222-3333-4444-555555555555",
    "execution_context.probe_invocation": "buck2_run",
    "buck_invocation.status": "not_requested",
    "launcher.node": "node0",
    "launcher.job_id": "7",
    "partial": False,
    "partial_reasons": [],
}


def client(changes=(), base=None):
    """Return a client's document that no rule has anything against."""
    return changed(changed(captured(CLIENT_HOST) if base is None else base, CLIENT), dict(changes))


def workload(changes=(), rank=0, base=None):
    """Return a workload's document that no rule has anything against."""
    document = captured(WORKLOAD_HOST) if base is None else base
    return changed(changed(document, {**WORKLOAD, "launcher.rank": rank}), dict(changes))


def old_client(version="1.13", changes=()):
    """Return a client's document of the 1.x line."""
    base = changed(old(version), {"schema_version": version})
    return client({"build_system": {"kind": "buck2", "revision": REVISION}, **dict(changes)}, base)


def old_workload(version="1.17-node", changes=(), rank=0):
    """Return a workload's document of the 1.x line."""
    whole = {
        "pytorch_version": "2.9.0+rocm7.0",
        "pytorch_build.git_commit": "b" * 40,
        "gpu_arch.gfx_targets": ["gfx942"],
        "rocm.version": "7.0.0",
        "launcher": GONE,
        "execution_context": {"probe_invocation": "buck2_run"},
        "buck_invocation": {"status": "not_requested"},
        "captured_at": f"2026-01-01T00:00:0{rank}Z",
        "partial": False,
        "partial_reasons": [],
    }
    return changed(old(version), {**whole, **dict(changes)})


def judged(one, *others, **options):
    """Return the verdict on documents, without any file."""
    names = ["client.json", *(f"w{number}.json" for number in range(len(others)))]
    read = [
        document if isinstance(document, Exception) else Document(name, document)
        for name, document in zip(names, (one, *others), strict=True)
    ]
    return judge(names, read, Options(**options))


def found(verdict):
    """Return the ids of the rules that found something."""
    return {finding.rule for finding in verdict.findings}


def texts(verdict, rule):
    """Return the lines of a rule's findings."""
    return [finding.line for finding in verdict.findings if finding.rule == rule]


def save(folder, **documents):
    """Write documents as ``NAME.json``; a text or bytes are written as they are. Return the paths."""
    paths = []
    for name, document in documents.items():
        path = folder / f"{name}.json"
        if isinstance(document, bytes):
            path.write_bytes(document)
        else:
            path.write_text(document if isinstance(document, str) else json.dumps(document))
        paths.append(path)
    return paths
