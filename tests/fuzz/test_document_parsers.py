"""Documents, recordings, paths of fields, arguments and variables: an answer or a refusal in words."""

import json
import os
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta.cli.errors import Failure
from aorta.cli.target import check_apart, expand
from aorta.cli.tasks import Tasks, tasks_of
from aorta.collect.memory import FORMAT, _loaded
from aorta.host.replay import open_recording
from aorta.instrumentation._probe_main import UsageError, parse
from aorta.instrumentation.filekind import held_in
from aorta.model.document import DocumentError, parse_json, version_of
from aorta.model.fieldpath import MissingFieldError, PathSyntaxError, look_up, parse_path, shown_step
from aorta.model.redact import redact, redact_argv, redact_value
from tests.parts.hostile import Row, check_damage, check_long, check_noise
from tests.parts.old_documents import codec

MANY = settings(max_examples=2000, deadline=None, derandomize=True)
CODEC = codec()
DOCUMENT = json.dumps(
    {
        "schema_version": "2.0",
        "captured_at": "2026-01-01T00:00:00Z",
        "rocm": {"version": "7.2.0", "candidates": []},
        "gpus": [{"bdf": "0000:1b:00.0", "vram_bytes": 206141652992, "ras": {"umc": {"correctable": 1}}}],
        "env_vars": {"NCCL_DEBUG": "INFO"},
        "collection": {"reasons": [], "collectors": {}},
        "extensions": {"a.b": [1.5, None, "x"]},
    },
    indent=1,
)
RECORDING = "\n".join(
    map(
        json.dumps,
        [
            {"recording": 1, "world": "accesses", "created": "2026-01-01T00:00:00Z"},
            {"op": "read", "path": "/etc/x", "text": "a\n"},
            {"op": "bytes", "path": "/etc/y", "b64": "AAEC", "offset": 3},
            {"op": "stat", "path": "/x", "kind": "file", "mode": 420, "size": 1, "follow": False},
            {"op": "scan", "path": "/d", "entries": [{"name": "a", "kind": "link"}]},
            {"op": "run", "argv": ["a", "-b"], "exit": 1, "out": "x", "err": "y", "elapsed_s": 0.25},
            {"op": "run", "argv": ["c"], "outcome": "timed_out", "exit": None},
            {"op": "env", "name": "A", "value": None},
            {"op": "env", "prefix": "B", "names": ["BC"]},
            {"op": "dist", "name": "torch", "found": {"name": "torch", "version": "2", "others": []}},
            {"op": "module", "name": "torch", "found": {"name": "torch", "locations": ["/x"]}},
            {
                "op": "elf",
                "path": "/l.so",
                "value": {"bits": 64, "byte_order": "little", "machine": "m", "needed": []},
            },
            {"op": "observe", "name": "uname", "value": {"release": "6"}},
            {"op": "link", "path": "/l", "errno": "EACCES"},
            {"op": "read", "path": "/m/x", "type": "DeadMountError", "error": "dead", "mount": "/m"},
            {"op": "clock", "now": "2026-01-01T00:00:00Z"},
        ],
    )
)
SCRATCH = tempfile.TemporaryDirectory(prefix="aorta-")
BOOT = "00000000-0000-4000-8000-000000000001"
MEMORY = json.dumps({"aorta": FORMAT, "boot": BOOT, "sha256": {"/x": ["a", 1, None]}})
PATHS = ("gpus[0].bdf", 'env_vars["A"].x[-1]', "nics[name=a b].y['k.z']", 'a[b="c\\u00e9"]')


def recording(text):
    """Open a recording, and ask it all that it was asked: whatever failed then, fails the same way."""
    if not text.lstrip().startswith("{"):
        raise ValueError("the name of a file")
    host = open_recording(text)
    for kind, *rest in getattr(host, "_answers", ()):
        if kind in ("read", "link", "sha256"):
            try:
                {"read": host.read_text, "link": host.link, "sha256": host.sha256}[kind](rest[0])
            except (OSError, ValueError, RuntimeError):
                pass
    return True


def steps(text):
    """Read a path, look it up, and read again what is shown of it."""
    found = parse_path(text)
    try:
        look_up(json.loads(DOCUMENT), text)
    except MissingFieldError:
        pass
    for step in found:
        if step.kind != "match":
            assert parse_path(shown_step(step, first=True)) == [step]
    return [step.what for step in found]


def remembered(text):
    path = os.path.join(SCRATCH.name, "m.json")
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    return _loaded(path, BOOT)


def written(text):
    name = expand(text, Tasks(size=4, rank=1, local_rank=0, nodes=2), {"SLURM_JOB_ID": text})
    check_apart(text, Tasks(size=4, rank=1), every_rank=False)
    assert text != "{job}" or "/" not in name
    return name


def tasks(text):
    rank, _, size = text.partition(" ")
    return tasks_of(
        {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "SLURM_STEP_ID": size, "GROUP_RANK": rank}
    )


def shown(text):
    """Take secrets out of a text in every way that there is."""
    redact_argv(text.split())
    redact_value("A_PROXY", text)
    redact_value(text, "value")
    return redact(text)


ROWS = [
    Row(
        "JSON",
        parse_json,
        (DOCUMENT, '{"a": 1}'),
        "crlf trailing ended",
        words=None,
        raises=(DocumentError,),
        none=lambda found: False,
    ),
    Row(
        "version",
        lambda text: version_of(parse_json(text)),
        (DOCUMENT,),
        "crlf",
        words=None,
        raises=(DocumentError,),
    ),
    Row(
        "document",
        lambda text: CODEC.load(parse_json(text)).schema_version,
        (DOCUMENT,),
        "crlf",
        words=None,
        raises=(DocumentError,),
    ),
    Row("recording", recording, (RECORDING,), "crlf trailing ended", r"\A\{"),
    Row("field", steps, PATHS, "", words=None, raises=(PathSyntaxError,)),
    Row(
        "kind of a file",
        lambda text: held_in(text.encode("utf-8", "surrogatepass")).kind,
        (DOCUMENT, RECORDING),
        "crlf trailing ended",
        words=None,
    ),
    Row("memory on disk", remembered, (MEMORY,), "crlf trailing ended", words=None, none=lambda found: False),
    Row(
        "arguments",
        lambda text: parse(text.split(" ")),
        ("--extended out.json", "--execution-context=native -- -x"),
        "",
        words=None,
        raises=(UsageError,),
        long=False,
    ),
    Row(
        "file to write",
        written,
        ("env-{host}-{rank}.json", "{job}"),
        "",
        words=None,
        raises=(Failure,),
        long=False,
    ),
    Row("tasks", tasks, ("1 4", "0 1"), "", words=None, raises=(Failure,)),
    Row(
        "redaction",
        shown,
        ("HF_TOKEN=abc https://u:p@h/x --api-key k\n", '"auth": "QUJDREVGR0hJSktM"'),
        "",
        words=None,
        long=False,
    ),
]


@MANY
@given(number=st.integers(0, 2**32), text=st.text(max_size=30))
def test_damage_brings_an_answer_or_a_refusal(number, text):
    for row in ROWS:
        check_damage(row, number, text)


@MANY
@given(number=st.integers(0, 2**32))
def test_noise_changes_nothing(number):
    for row in ROWS:
        if row.noise:
            check_noise(row, number)


@pytest.mark.parametrize("row", [row for row in ROWS if row.long], ids=str)
def test_no_line_takes_for_ever(row):
    check_long(row)


@pytest.mark.parametrize(
    "line",
    [
        {"op": "run", "argv": ["a"], "exit": 0, "elapsed_s": 10**400},
        {"op": "elf", "path": "/x", "value": {"bits": 64, "byte_order": "l", "machine": "m", "needed": 5}},
        {
            "op": "elf",
            "path": "/x",
            "value": {"bits": 64, "byte_order": "l", "machine": "m", "symbols": "ab"},
        },
    ],
)
def test_a_line_of_a_recording_is_refused_in_words(line):
    head = json.dumps({"recording": 1, "world": "closed"})
    with pytest.raises(ValueError, match="recording, line 2: "):
        open_recording(f"{head}\n{json.dumps(line)}")
