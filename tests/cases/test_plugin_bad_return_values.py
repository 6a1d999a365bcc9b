"""An outside plugin returns what JSON cannot hold, or misbehaves: it costs its own section at most."""

import datetime as dt
import json
import math
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
from typing import Annotated, Any

import attrs
import pytest

from aorta.instrumentation import capture, capture_to
from aorta.model.codec import dump, parse_json
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost

CASE = "plugin-bad-return-values"

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANY = Annotated[Any, Fact("Anything.")]


@attrs.frozen(kw_only=True)
class Typed:
    """A model of an honest plugin."""

    word: Annotated[str | None, Fact("x")] = None


def document(function, tmp_path, model=ANY):
    def collect(ctx):
        """A section."""
        return function()

    spec = collector(section="acme.bad", model=model, provenance=Provenance.PROCESS)(collect)
    target = tmp_path / "env.json"
    capture_to(target, registry=discover([spec], outside=False), host=FakeHost())
    assert os.path.getsize(target) < 4 << 20
    return parse_json(target.read_text(encoding="utf-8"))


def sections(made):
    return {
        name: value
        for name, value in made.items()
        if name not in ("captured_at", "partial", "partial_reasons", "collection", "extensions")
    }


@pytest.fixture(scope="module")
def healthy():
    return sections(json.loads(json.dumps(dump(capture(registry=discover(outside=False), host=FakeHost())))))


def loop():
    value: dict[str, Any] = {"a": 1}
    value["me"] = value
    return value


VALUES = {
    "null": (lambda: None, None, None),
    "list": (list, [], None),
    "text": (lambda: "text", "text", None),
    "int-key": (lambda: {1: "int key"}, {}, "expected str as a key, got int"),
    "bytes": (lambda: {"a": b"\xff"}, {"a": None}, "bytes is not JSON"),
    "set": (lambda: {"a": {1}}, {"a": None}, "set is not JSON"),
    "nan": (lambda: {"a": math.nan}, {"a": None}, "nan is not a JSON number"),
    "infinity": (lambda: {"a": math.inf}, {"a": None}, "inf is not a JSON number"),
    "path": (lambda: {"a": pathlib.Path("/x")}, {"a": None}, "PosixPath is not JSON"),
    "datetime": (
        lambda: {"a": dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)},
        {"a": None},
        "datetime is not JSON",
    ),
    "surrogate": (lambda: {"a": "x\udcff"}, {"a": "x\\xff"}, "bytes that are not UTF-8"),
    "huge": (lambda: {"a": 10**400}, {"a": None}, "a number of more than 64 bits"),
    "long": (lambda: "x" * (100 << 20), None, "a text of 104857600 characters"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name, tmp_path, healthy):
    function, value, told = VALUES[name]
    made = document(function, tmp_path)
    assert made["extensions"]["acme.bad"]["data"] == value
    assert sections(made) == healthy
    assert made["partial"] == (told is not None)
    if told:
        (text,) = made["partial_reasons"]
        assert told in text
        assert text.startswith("acme.bad")
        assert f"(plugin {__name__}.collect)" in text


def test_a_value_that_holds_itself(tmp_path, healthy):
    made = document(loop, tmp_path)
    assert made["extensions"]["acme.bad"]["data"]["me"]["a"] == 1
    assert "nested deeper than 40" in made["partial_reasons"][0]
    assert sections(made) == healthy


@pytest.mark.parametrize("value", [None, [], "text", {"word": "x"}, Typed])
def test_another_type_than_declared(value, tmp_path, healthy):
    made = document(lambda: value, tmp_path, Typed)
    assert made["extensions"]["acme.bad"]["data"] == {"word": None}
    assert f"returned {type(value).__name__}, declared is Typed" in made["partial_reasons"][0]
    assert sections(made) == healthy


class Own(BaseException):
    pass


def changes_folder():
    os.chdir("/")
    return "x"


def edits_environment():
    os.environ["ACME"] = "1"
    return "x"


def starts_thread():
    threading.Thread(target=threading.Event().wait, args=(0.5,), daemon=True).start()
    return "x"


def leaves():
    sys.exit(0)


def own():
    raise Own


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (leaves, "SystemExit at "),
        (own, "Own at "),
        (changes_folder, "the working directory changed; it was put back"),
        (edits_environment, "the environment changed; it was put back: ACME"),
        (starts_thread, None),
    ],
)
def test_behaviours(function, text, tmp_path, healthy, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environ = dict(os.environ)
    made = document(function, tmp_path)
    assert sections(made) == healthy
    assert (os.getcwd(), dict(os.environ)) == (str(tmp_path), environ)
    if text is None:
        assert made["extensions"]["acme.bad"]["data"] == "x"
    else:
        (told,) = made["partial_reasons"]
        assert text in told


PLUGIN = """
import os, sys
from typing import Annotated, Any
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector
{at_import}

@collector(section="acme.bad", model=Annotated[Any, Fact("x")], provenance=Provenance.PROCESS)
def collect(ctx):
    "A section."
    {at_run}
    return "x"
"""


def captured(tmp_path, at_import="", at_run="pass"):
    (tmp_path / "acme_bad.py").write_text(PLUGIN.format(at_import=at_import, at_run=at_run))
    program = textwrap.dedent("""
        from aorta.instrumentation import capture_to
        capture_to("env.json", sections=["acme.bad", "host"] if {run} else ["host"])
        print("the application goes on")
    """).format(run=not at_import)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "collectors"), str(tmp_path)])
    environ = {**os.environ, "PYTHONPATH": paths, "AORTA_PLUGINS": "acme_bad"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done, tmp_path / "env.json"


@pytest.mark.parametrize(
    "statement", ["raise ValueError('x')", "sys.exit(0)", "class B(BaseException): pass\nraise B"]
)
def test_at_import(statement, tmp_path):
    done, target = captured(tmp_path, at_import=statement)
    assert (done.returncode, done.stdout) == (0, "the application goes on\n"), done.stderr
    made = parse_json(target.read_text())
    (record,) = [one for one in made["collection"]["plugins"] if one["name"] == "acme_bad"]
    assert record["status"] == "failed"
    assert made["host"]["kernel_release"]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("os._exit(3)", "its process gave no value: it ended with exit status 3"),
        ("os.abort()", "its process gave no value: it was ended by SIGABRT at"),
        ("sys.exit(0)", "SystemExit at"),
    ],
)
def test_what_only_another_process_can_hold(statement, told, tmp_path):
    """``os._exit`` ends the process it is called in, and that is the collector's own."""
    done, target = captured(tmp_path, at_run=statement)
    assert (done.returncode, done.stdout) == (0, "the application goes on\n"), done.stderr
    made = parse_json(target.read_text())
    (text,) = [one for one in made["partial_reasons"] if one.startswith("acme.bad")]
    assert told in text
    assert made["host"]["kernel_release"]
