"""The snapshot has every key, in order, whatever happened; and says what happened."""

import json
import os
import threading
import time
from typing import Annotated, Any

import attrs
import jsonschema
import pytest

from aorta.collect import merge as merging
from aorta.collect.orchestrator import Orchestrator
from aorta.collect.request import Request
from aorta.instrumentation import capture
from aorta.model.codec import dump, to_json
from aorta.model.fact import Fact
from aorta.model.schema import document_schema
from aorta.model.sections import ORDER
from aorta.model.snapshot import Collection
from aorta.model.vocabulary import PARTS, Coverage, Detail, Provenance, ReasonKind
from aorta.plugin import collector
from aorta.plugin.discovery import discover
from aorta.testing import Completed, FakeHost, Outcome

TEXT = Annotated[str | None, Fact("A word.")]


def section(name, function, model=TEXT, **wishes):
    def collect(ctx):
        """A section."""
        return function(ctx)

    collect.__name__ = name.replace(".", "_").replace("-", "_")
    return collector(section=name, model=model, provenance=Provenance.PROCESS, **wishes)(collect)


def document(*functions, **wishes):
    made = dump(capture(registry=discover(functions, outside=False), host=FakeHost(), **wishes))
    json.loads(to_json(made))
    return made


def still(document, *without):
    """Return a document without what differs from run to run, and without some sections' traces."""
    plain = json.loads(json.dumps(document))
    plain.pop("captured_at")
    plain["partial"] = plain["partial_reasons"] = None
    about = plain["collection"]
    about["elapsed_s"] = about["argv"] = None
    for records in (about["collectors"], about["providers"]):
        for record in records.values():
            record["elapsed_s"] = None
            for command in record["commands"]:
                command["elapsed_s"] = command["shared"] = None
    for name in without:
        plain["extensions"].pop(name, None)
        about["collectors"].pop(name, None)
        about["reasons"] = [one for one in about["reasons"] if one["section"] != name]
    about["plugins"] = [one for one in about["plugins"] if one["source"] == "builtin"]
    return plain


class Own(BaseException):
    pass


def raises(error):
    def function(ctx):
        raise error

    return function


def hangs(ctx):
    HANGING.wait(5)


HANGING = threading.Event()

MISBEHAVING = {
    "exception": raises(ValueError("x")),
    "base": raises(Own()),
    "exit": raises(SystemExit(0)),
    "interrupt": raises(KeyboardInterrupt()),
    "hangs": hangs,
    "type": lambda ctx: b"bytes",
    "recursion": lambda ctx: (f := lambda: f())(),
    "cover": lambda ctx: ctx.cover("gpu", "perhaps"),
    "part": lambda ctx: ctx.cover("__class__", Coverage.SEEN),
    "kind": lambda ctx: ctx.note("mood", "", "x"),
    "need": lambda ctx: ctx.need(dict),
    "redacted": lambda ctx: ctx.redacted.update({1, None, "A"}),
    "field": lambda ctx: ctx.note(ReasonKind.FAILED, None, None),
}


@pytest.mark.parametrize("name", MISBEHAVING)
def test_all_other_sections_stay_as_they_are(name):
    bad = section(f"bad.{name}", MISBEHAVING[name], timeout_s=0.3)
    before = still(document())
    after = document(bad)
    cleaned = still(after, f"bad.{name}")
    cleaned["collection"]["redacted"] = before["collection"]["redacted"]
    assert cleaned == before
    assert after["extensions"][f"bad.{name}"] == {"schema": f"bad.{name}/1", "data": None}
    record = after["collection"]["collectors"][f"bad.{name}"]
    if name not in ("redacted", "field"):
        assert after["partial"]
        assert record["status"] == ("timed_out" if name == "hangs" else "failed")
        (text,) = after["partial_reasons"]
        assert f"bad.{name}: " in text
        assert f"(plugin {__name__}.bad_{name})" in text
    HANGING.set()
    HANGING.clear()


def test_order():
    made = document(section("zeta.a", lambda ctx: "x"), section("alpha.b", lambda ctx: "y"))
    names = list(made)
    assert names[:3] == ["schema_version", "schema_compat", "captured_at"]
    assert names[3:-4] == list(ORDER)
    assert names[-4:] == ["partial", "partial_reasons", "collection", "extensions"]
    assert list(made["extensions"]) == ["zeta.a", "alpha.b"]
    assert list(made["collection"]["collectors"])[-2:] == ["zeta.a", "alpha.b"]
    assert list(made["collection"]["collectors"])[:-2] == list(ORDER)


def test_only_the_sections_asked_for_have_values():
    made = document(sections=("amdgpu_driver",))
    seen = discover(outside=False)
    for name in ORDER:
        if name != "amdgpu_driver" and name in seen.collectors:
            assert not has_value(made[name]), name
            assert made["collection"]["collectors"][name]["status"] == "not_requested"
    assert made["collection"]["collectors"]["amdgpu_driver"]["status"] in ("ok", "partial")
    left_out = document(without=("host",))
    (reason,) = [one for one in left_out["collection"]["reasons"] if one["section"] == "host"]
    assert (reason["kind"], reason["detail"]) == ("not_requested", "left out by the caller")
    assert not has_value(left_out["host"])


def has_value(plain: Any) -> bool:
    if isinstance(plain, dict):
        return any(has_value(member) for member in plain.values())
    return plain is not None


def test_a_document_can_be_changed_without_changing_the_next():
    first = document()
    first["nics"]["ainic"]["present"] = "changed"
    first["pytorch_build"]["flags"]["build_settings"] = "changed"
    second = document()
    assert second["nics"]["ainic"]["present"] is None
    assert second["pytorch_build"]["flags"]["build_settings"] is None


@pytest.mark.parametrize(
    ("states", "merged"),
    [
        ([], "unknown"),
        (["absent"], "absent"),
        (["absent", "unknown"], "unknown"),
        (["unknown", "seen"], "seen"),
        (["seen", "absent"], "seen"),
        (["absent", "absent"], "absent"),
    ],
)
def test_coverage(states, merged):
    functions = [section(f"cov.c{n}", covering(state)) for n, state in enumerate(states)]
    made = document(*functions, sections=tuple(f"cov.c{n}" for n in range(len(states))))
    assert made["collection"]["coverage"]["torch"] == merged
    assert tuple(made["collection"]["coverage"]) == PARTS


def covering(state):
    def function(ctx):
        ctx.cover("torch", Coverage(state))

    return function


def test_expectations():
    made = document(expect=("torch", "gpu"))
    told = [
        (one["section"], one["detail"]) for one in made["collection"]["reasons"] if one["kind"] == "expected"
    ]
    assert told == [
        ("gpus", "expected by the caller (--expect gpu), and not seen"),
        ("pytorch_version", "expected by the caller (--expect torch), and not seen"),
    ]
    assert made["partial"]
    seen = document(section("cov.torch", covering("seen")), expect=("torch",))
    assert not [one for one in seen["collection"]["reasons"] if one["kind"] == "expected"]
    with pytest.raises(ValueError, match="of gpu, torch, rdma"):
        document(expect=("moon",))


@pytest.mark.parametrize(
    ("claim", "state", "told"),
    [
        ("buck2_run", "absent", True),
        ("buck2_action", "absent", True),
        ("buck2_action", "unknown", False),
        ("buck2_run", "seen", False),
        ("direct", "absent", False),
        (None, "absent", False),
    ],
)
def test_a_buck_target_has_its_torch(claim, state, told):
    made = document(section("cov.torch", covering(state)), probe_invocation=claim, sections=("cov.torch",))
    found = [one for one in made["collection"]["reasons"] if one["kind"] == "expected"]
    assert bool(found) is told is made["partial"]
    assert all("inside the target" in one["detail"] and one["section"] == "pytorch_version" for one in found)


@pytest.mark.parametrize("deadline", [0, -5, float("inf"), float("nan")])
def test_a_deadline_is_a_positive_number(deadline):
    with pytest.raises(ValueError, match="a number of seconds above 0"):
        document(deadline_s=deadline)


def test_a_bad_deadline_in_the_environment_ends_no_job(monkeypatch):
    monkeypatch.setenv("AORTA_DEADLINE_S", "abc")
    made = dump(capture(host=FakeHost(), registry=discover(outside=False)))
    assert made["collection"]["deadline_s"] == 60.0
    (line,) = made["partial_reasons"]
    assert line == "collection: AORTA_DEADLINE_S is 'abc': a number of seconds above 0; 60 s were taken"


def test_dead_mounts_are_told():
    class Host(FakeHost):
        def dead_mounts(self):
            return ["/mnt/nfs"]

    made = dump(capture(registry=discover(outside=False), host=Host()))
    (reason,) = [one for one in made["collection"]["reasons"] if one["subject"] == "/mnt/nfs"]
    assert (reason["section"], reason["kind"]) == ("collection", "timed_out")
    assert made["collection"]["reasons"][-1] == reason


def test_a_clock_that_was_not_recorded():
    class Host(FakeHost):
        def now(self):
            from aorta.host.protocol import NotRecordedError

            raise NotRecordedError("clock")

    assert dump(capture(registry=discover(outside=False), host=Host()))["captured_at"] is None


# When aorta itself is broken


def test_a_broken_orchestrator_still_gives_a_full_document(monkeypatch):
    whole = document()

    def broken(self):
        if self.results:
            raise RuntimeError("a defect")
        return await_(self)

    await_ = Orchestrator._await
    monkeypatch.setattr(Orchestrator, "_await", broken)
    made = document()
    assert list(made) == list(whole)
    jsonschema.Draft202012Validator(document_schema(discover(outside=False))).validate(made)
    assert made["partial"]
    assert any(text.startswith("collection: RuntimeError in ") for text in made["partial_reasons"])


@pytest.mark.parametrize("part", ["_coverage", "_records", "_ordered", "remarks"])
def test_a_broken_merge_still_gives_a_full_document(monkeypatch, part):
    whole = document(section("ext.a", lambda ctx: "x"))

    def broken(*_):
        raise RuntimeError("a defect")

    monkeypatch.setattr(merging, part, broken)
    made = document(section("ext.a", lambda ctx: "x"))
    for name in (*ORDER, "extensions"):
        assert made[name] == whole[name], name
    assert list(made) == list(whole)
    assert made["partial_reasons"] == ["collection: RuntimeError in aorta itself"]


def test_last_resort_with_nothing_collected():
    run = Orchestrator(discover(outside=False), FakeHost(), Request())
    made = dump(merging.last_resort(run, Collection(), RuntimeError()))
    assert set(ORDER) <= set(made)
    assert not any(has_value(made[name]) for name in ORDER)
    assert made["partial"]


# What an outside plugin does to the process


def test_the_environment_and_directory_are_put_back(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("TAKEN", "1")

    def function(ctx):
        os.environ["NEW"] = os.environ["KEPT"] = "2"
        del os.environ["TAKEN"]
        os.chdir("/")
        return "x"

    before = dict(os.environ)
    made = document(section("acme.bad", function))
    assert dict(os.environ) == before
    assert os.getcwd() == str(tmp_path)
    assert made["extensions"]["acme.bad"]["data"] == "x"
    assert made["partial_reasons"] == [
        "acme.bad: while it ran, the working directory changed; it was put back",
        "acme.bad: while it ran, the environment changed; it was put back: KEPT, NEW, TAKEN",
    ]


def test_a_directory_that_is_gone(monkeypatch, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)

    def function(ctx):
        os.chdir("/")
        inner.rmdir()
        return "x"

    made = document(section("acme.bad", function))
    assert made["partial_reasons"] == [
        "acme.bad: while it ran, the working directory changed for good: No such file or directory"
    ]
    inner.mkdir()
    os.chdir(inner)
    inner.rmdir()
    assert document(section("acme.fine", lambda ctx: "x"))["partial_reasons"] == []


def test_what_an_abandoned_plugin_changes_later_is_not_undone(monkeypatch):
    monkeypatch.delenv("SET_BY_THE_APPLICATION", raising=False)
    go_on, ended = threading.Event(), threading.Event()

    def function(ctx):
        go_on.wait(10)
        ended.set()

    document(section("acme.slow", function, timeout_s=0.1))
    monkeypatch.setenv("SET_BY_THE_APPLICATION", "1")
    go_on.set()
    ended.wait(5)
    for thread in threading.enumerate():
        if thread.name == "aorta acme.slow":
            thread.join(5)
    assert os.environ["SET_BY_THE_APPLICATION"] == "1"


@attrs.frozen(kw_only=True)
class Loud:
    """A model with a value for --extended."""

    short: Annotated[str | None, Fact("x")] = None
    long: Annotated[str | None, Fact("x", detail=Detail.FULL)] = None


@pytest.mark.parametrize(("detail", "value"), [("compact", None), ("full", "l")])
def test_full_facts(detail, value):
    made = document(section("acme.loud", lambda ctx: Loud(short="s", long="l"), Loud), detail=detail)
    assert made["extensions"]["acme.loud"]["data"] == {"short": "s", "long": value}


def test_what_a_plugin_puts_among_the_notes_costs_nobody_else_anything():
    def abuse(ctx):
        ctx.reasons.append("a text")
        ctx.command_records.append(5)
        ctx.coverage["gpu"] = "plenty"
        return "x"

    made = document(section("acme.abuse", abuse))
    assert made["extensions"]["acme.abuse"]["data"] == "x"
    assert still(made, "acme.abuse")["host"] == still(document())["host"]
    assert made["collection"]["coverage"]["gpu"] in ("seen", "absent", "unknown")
    assert not any("aorta itself" in line for line in made["partial_reasons"])


def test_a_secret_that_a_tool_prints_is_in_no_section():
    secret = "hf_" + "a" * 30
    said = {
        "hipconfig --version": {
            "stdout": "6.4.1",
            "stderr": f"fetch https://me:{secret}@hub HF_TOKEN={secret}\n",
        }
    }
    host = FakeHost(commands={**said, "hipconfig --cpp_config": f"-DTOKEN={secret} -I/x"})
    made = dump(capture(registry=discover(outside=False), host=host))
    assert secret not in to_json(made)
    assert "[redacted]" in made["hip"]["cpp_config"]
    assert "hip.cpp_config" in made["collection"]["redacted"]


def test_a_map_names_its_secrets_by_their_keys():
    model = Annotated[dict[str, Any] | None, Fact("x")]
    made = document(section("acme.map", lambda ctx: {"api_key": "open sesame", "size": "12"}, model=model))
    assert made["extensions"]["acme.map"]["data"] == {"api_key": "[redacted]", "size": "12"}


def test_a_command_that_the_capture_cuts_is_no_fault_of_the_tool():
    class Slow(FakeHost):
        def run(self, argv, *, timeout, path=(), manner=None):
            until = timeout.until if hasattr(timeout, "until") else time.monotonic() + timeout
            time.sleep(max(0.0, until - time.monotonic()))
            return Completed(outcome=Outcome.TIMED_OUT, elapsed_s=0.1)

    made = dump(capture(registry=discover(outside=False), host=Slow(), deadline_s=0.6, sections=["hip"]))
    kinds = {one["kind"] for one in made["collection"]["reasons"] if one["section"] == "hip"}
    assert "timed_out" not in kinds
    assert "budget" in kinds
