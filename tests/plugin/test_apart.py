"""A collector in a process of its own has the context that it would have here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aorta.collect.apart import wire
from aorta.collect.apart.distant import DistantContext
from aorta.collect.context import Context

ROOT = Path(__file__).resolve().parents[2]

HEAD = """
import os
from typing import Annotated, Any
import attrs
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Coverage, Detail, Provenance, ReasonKind
from aorta.plugin import collector, env_names, provider
from aorta_collectors import providers as ours
"""

#: Asks everything that a context is asked, and tells what came of it.
PLUGIN = (
    HEAD
    + '''
@attrs.frozen
class Roots:
    where: str
    table: dict

@provider(model=Roots, needs=(ours.RocmRoots,))
def provide(ctx):
    """A value of a plugin."""
    return Roots(where=type(ctx.need(ours.RocmRoots)).__name__, table={"of": {1, 2}, "code": compile})

@env_names
def names():
    return ["TEST_SITE_*"]

@collector(
    section="site.all", model=Annotated[Any, Fact("Anything.")], provenance=Provenance.PROCESS, needs=(Roots,),
    timeout_s=30,
)
def collect(ctx: Context):
    """All that can be asked."""
    folder = os.environ["TEST_FOLDER"]
    roots = ctx.need(Roots)
    tree = ctx.digest_tree(folder + "/tree", members=lambda n: n.endswith(".dat"), descend=lambda n: n == "in")
    first, second = ctx.commands(["sh", "-c", "echo one"], ["no-such-tool"])
    ctx.note(ReasonKind.ABSENT, "word", "a note", subject="it")
    return {
        "here": os.getpid() == int(os.environ["TEST_PID"]) if "TEST_PID" in os.environ else None,
        "roots": [roots.where, sorted(roots.table["of"]), roots.table["code"] is compile],
        "text": ctx.text(folder + "/text").value,
        "read": ctx.read(folder + "/text", "x"),
        "lines": ctx.lines(folder + "/text", "x"),
        "none": ctx.text(folder + "/none").kind,
        "data": len(ctx.data(folder + "/large").value),
        "pieces": [len(piece.value) for piece in ctx.pieces(folder + "/large", 1 << 20)],
        "no_pieces": [piece.kind for piece in ctx.pieces(folder + "/none")],
        "find": ctx.find(folder + "/text", "^(t.o)").value,
        "link": ctx.link(folder + "/link").value,
        "stat": [ctx.stat(folder + "/text").value.size, ctx.stat(folder + "/link", follow=False).value.kind],
        "scan": [entry.name for entry in ctx.scan(folder).value],
        "sizes": [entry.size for entry in ctx.scan(folder + "/tree/in", details=True).value],
        "tree": [[file.name, file.size, file.digest.value] for file in tree.value.files],
        "combined": tree.value.combined().value,
        "digest": ctx.digest(folder + "/text").value,
        "method": ctx.digest_method(folder),
        "elf": [ctx.elf("/bin/sh").value.bits, ctx.elf(folder + "/text").kind],
        "symbols": ctx.elf(os.environ["TEST_LIBRARY"], "^memcp").value.symbols,
        "command": [first.stdout, first.ok, second.kind],
        "sudo": ctx.command(["id"], sudo=True).kind,
        "env": [ctx.env("TEST_SITE_NAME"), ctx.env("TEST_NONE"), ctx.env_names("TEST_SITE_")],
        "distribution": ctx.distribution("attrs").value.name,
        "module": ctx.module("no_such_module").value,
        "interpreter": sorted(ctx.observe("interpreter").value)[:2],
        "own": ctx.observe("site.own", lambda: {"said": "by itself"}).value,
        "own_fails": ctx.observe("site.fails", lambda: 1 / 0).kind,
        "own_denied": ctx.observe("site.denied", lambda: open("/proc/1/mem", "w")).kind is not None,
        "wants": [ctx.wants(Detail.COMPACT), ctx.wants(Detail.FULL)],
        "path": bool(ctx.search_path(("/extra",))),
        "time": 0 < ctx.remaining() <= 30 and 0 < ctx.allowance() <= 30,
    }
'''
)


def library():
    with open("/proc/self/maps", encoding="utf-8") as file:
        return next(line.split()[-1] for line in file if "/libc.so" in line or "/libc-" in line)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("apart")
    (folder / "text").write_text("one\ntwo\nthree\n")
    (folder / "large").write_bytes(b"x" * (3 << 20))
    (folder / "link").symlink_to("text")
    (folder / "tree" / "in").mkdir(parents=True)
    (folder / "tree" / "a.dat").write_text("a")
    (folder / "tree" / "in" / "b.dat").write_text("bb")
    (folder / "tree" / "c.txt").write_text("c")
    plugins = folder.parent / "plugins-of-apart"
    plugins.mkdir(exist_ok=True)
    (plugins / "site_all.py").write_text(PLUGIN)
    env = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{ROOT}/collectors:{plugins}",
        "TEST_FOLDER": str(folder),
        "TEST_SITE_NAME": "a",
        "TEST_LIBRARY": library(),
    }

    def run(name, *words):
        out = plugins / f"{name}.json"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "aorta",
                "env",
                *words,
                *(() if words[0] == "record" else ("-o", str(out))),
            ],
            env=env,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(out.read_text()) if out.exists() else None

    recording = plugins / "recording.jsonl"
    plugin = ("--plugin", "site_all", "--extended")
    found = {"apart": run("apart", "probe", *plugin)}
    run("record", "record", *plugin, str(recording))
    found["replayed"] = run("replayed", "probe", "--replay", str(recording), *plugin)
    program = (
        "import os, json, site_all; os.environ['TEST_PID'] = str(os.getpid())\n"
        "from aorta.instrumentation import capture\nfrom aorta.model.codec import dump\n"
        "print(json.dumps(dump(capture(plugins=[site_all], sections=['site.all'], detail='full'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=90,
    )
    found["object"] = json.loads(done.stdout)
    return found


def data(document):
    assert document["collection"]["collectors"]["site.all"]["status"] == "ok", document["partial_reasons"]
    return {
        name: value for name, value in document["extensions"]["site.all"]["data"].items() if name != "here"
    }


def test_every_question_is_answered(made):
    told = data(made["apart"])
    assert told["roots"] == ["RocmRoots", [1, 2], True]
    assert told["text"] == "one\ntwo\nthree\n"
    assert told["none"] == "absent"
    assert told["pieces"] == [1 << 20] * 3
    assert told["no_pieces"] == ["absent"]
    assert told["find"] == ["two"]
    assert told["link"] == "text"
    assert [name for name, *_ in told["tree"]] == ["a.dat", "in/b.dat"]
    assert told["combined"].startswith("content-sha256:")
    assert "memcpy" in told["symbols"]
    assert told["command"] == ["one\n", True, "no_tool"]
    assert told["sudo"] == "not_requested"
    assert told["env"] == ["a", None, ["TEST_SITE_NAME"]]
    assert told["own"] == {"said": "by itself"}
    assert told["own_fails"] == "failed"


def test_an_object_runs_here_and_sees_the_same(made):
    """A plugin that is given as an object may want the application's own memory."""
    assert made["object"]["extensions"]["site.all"]["data"]["here"] is True
    assert data(made["object"]) == data(made["apart"])


def test_a_replay_runs_here_and_says_the_same(made):
    """A recording holds what was asked: nothing can hang, and nothing is asked of this machine."""
    assert data(made["replayed"]) == data(made["apart"])


def test_what_it_asked_stands_in_its_record(made):
    for document in (made["apart"], made["object"]):
        record = document["collection"]["collectors"]["site.all"]
        assert [command["argv"] for command in record["commands"]] == [
            ["sh", "-c", "echo one"],
            ["no-such-tool"],
        ]
        assert sum(record["digests"].values()) == 2 + 1
        (reason,) = [one for one in document["collection"]["reasons"] if one["detail"] == "a note"]
        assert (reason["section"], reason["kind"], reason["field"], reason["subject"]) == (
            "site.all",
            "absent",
            "word",
            "it",
        )
    assert made["apart"]["env_vars"]["TEST_SITE_NAME"] == "a"


def test_nothing_of_a_context_is_missing():
    """A question that is added to the context must be one that another process can ask."""
    own = {name for name, value in vars(Context).items() if not name.startswith("_")}
    here = {"remaining", "wants", "take", "read", "lines", "digest", "search_path", "begin", "need_packed"}
    asked = {name for name in own if name in vars(DistantContext)}
    assert own - here == asked


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1 << 70,
        0.5,
        "x",
        b"x",
        [1],
        (1,),
        {"a": {1}},
        frozenset({1}),
        bytearray(b"x"),
        Path("/x"),
        os.strerror,
        OSError(2, "no"),
    ],
)
def test_what_can_be_loaded(value):
    import pickle

    data = pickle.dumps(value, protocol=4)
    if value is os.strerror:
        with pytest.raises(wire.ForeignError, match="strerror is no part of a model"):
            wire.plain(data)
    elif isinstance(value, OSError):
        assert wire.plain(data).errno == 2
    else:
        assert wire.plain(data) == value


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "builtins.getattr", "subprocess.Popen", "nowhere.X", "os.nothing"]
)
def test_what_cannot_be_loaded(name):
    module, _, member = name.rpartition(".")
    with pytest.raises(wire.ForeignError):
        wire.plain(f"c{module}\n{member}\n.".encode())
