"""The orchestrator survives every collector, keeps its clocks, and blames nobody else."""

import os
import sys
import threading
import time
from typing import Annotated, Any

import attrs
import pytest

from aorta.collect import orchestrator
from aorta.collect.orchestrator import Orchestrator, slots
from aorta.collect.request import Request
from aorta.model.fact import Fact
from aorta.model.vocabulary import Coverage, Detail, Provenance, ReasonKind, Status
from aorta.plugin import collector, provider
from aorta.plugin.registry import Candidate, Registry
from aorta.testing import FakeHost

TEXT = Annotated[str | None, Fact("A word.")]
JSON = Annotated[Any, Fact("Anything.")]


@attrs.frozen(kw_only=True)
class Roots:
    """What a provider makes."""

    root: Annotated[str | None, Fact("x")] = None


@attrs.frozen(kw_only=True)
class Model:
    """What a section makes."""

    word: Annotated[str | None, Fact("x")] = None
    more: Annotated[str | None, Fact("x", detail=Detail.FULL)] = None
    sure: Annotated[str | None, Fact("x", always=True)] = None


def section(name, function, model=TEXT, **wishes):
    def collect(ctx):
        """A section."""
        return function(ctx)

    return collector(section=name, model=model, provenance=Provenance.PROCESS, **wishes)(collect)


def making(function, model=Roots, **wishes):
    def make(ctx):
        """A value."""
        return function(ctx)

    return provider(model=model, **wishes)(make)


class Plugin:
    def __init__(self, functions):
        self.__dict__.update({f"f{n:03}": function for n, function in enumerate(functions)})


def registry(*functions):
    return Registry([Candidate(name="test", source="builtin", plugin=Plugin(functions))])


def ran(*functions, host=None, **wishes):
    run = Orchestrator(registry(*functions), host or FakeHost(), Request(**wishes))
    run.run()
    return run


@pytest.fixture
def release():
    """An event that lets hanging functions end after the test."""
    event = threading.Event()
    yield event
    event.set()
    for thread in list(orchestrator._hanging.values()):
        thread.join(5)


def test_a_good_section():
    run = ran(section("a", lambda ctx: "x"))
    result = run.results["a"]
    assert (result.value, result.plain, result.reasons, result.record.status) == ("x", "x", (), Status.OK)
    assert result.record.provenance == (Provenance.PROCESS,)
    assert result.record.plugin == "test"
    assert run.abandoned == []


class Own(BaseException):
    """Not an Exception."""


def raising(error):
    def function(ctx):
        raise error

    return function


@pytest.mark.parametrize(
    "error",
    [
        ValueError("secret words"),
        SystemExit(0),
        Own(),
        KeyboardInterrupt(),
        RecursionError(),
        MemoryError(),
        GeneratorExit(),
    ],
)
def test_what_is_raised_costs_one_section(error):
    run = ran(section("a", raising(error)), section("b", lambda ctx: "x"))
    result = run.results["a"]
    assert (result.plain, result.record.status) == (None, Status.FAILED)
    (reason,) = result.reasons
    line = raising.__code__.co_firstlineno + 2
    assert reason.kind is ReasonKind.FAILED
    assert reason.detail == f"{type(error).__name__} at {__file__}:{line}"
    assert run.results["b"].plain == "x"


def test_the_place_is_in_the_collector_file():
    run = ran(
        section("a", lambda ctx: ctx.request.timeouts["nope"]),
        section("b", lambda ctx: __import__("json").loads("{")),
    )
    for name in "ab":
        assert run.results[name].reasons[0].detail.rpartition(":")[0].endswith(__file__)


@pytest.mark.parametrize(
    ("value", "model", "text"),
    [
        (3, TEXT, "returned int, declared is str"),
        ("x", Model, "returned str, declared is Model"),
        ({"word": "x"}, Model, "returned dict, declared is Model"),
        (None, Model, "returned NoneType, declared is Model"),
        ("gfx942", Annotated[tuple[str, ...] | None, Fact("x")], "returned str, declared is list"),
        ([], Annotated[dict[str, int] | None, Fact("x")], "returned list, declared is map"),
        (1, Annotated[bool | None, Fact("x")], "returned int, declared is bool"),
        ("no", Annotated[Status | None, Fact("x")], "returned str, declared is Status"),
    ],
)
def test_another_type_than_declared(value, model, text):
    result = ran(section("a", lambda ctx: value, model)).results["a"]
    assert result.record.status is Status.FAILED
    assert result.reasons[0].detail == text


@pytest.mark.parametrize(
    ("value", "model", "plain"),
    [
        (None, TEXT, None),
        (Status.OK, Annotated[Status | None, Fact("x")], "ok"),
        ({"a": 1}, Annotated[dict[str, int] | None, Fact("x")], {"a": 1}),
        (3, Annotated[float | None, Fact("x")], 3.0),
        ([], Annotated[tuple[str, ...] | None, Fact("x")], []),
    ],
)
def test_what_fits(value, model, plain):
    result = ran(section("a", lambda ctx: value, model)).results["a"]
    assert (result.plain, result.record.status) == (plain, Status.OK)


def test_a_provider_of_another_type_blocks_with_its_name():
    run = ran(making(lambda ctx: "x"), section("a", lambda ctx: ctx.need(Roots).root, needs=(Roots,)))
    assert run.results["Roots"].reasons[0].detail == "returned str, declared is Roots"
    assert run.results["a"].record.status is Status.BLOCKED
    assert run.results["a"].reasons[0].detail == "needs Roots, which is failed"


def test_needs_are_met_and_providers_leave_records():
    run = ran(
        section("a", lambda ctx: ctx.need(Roots).root, needs=(Roots,)), making(lambda ctx: Roots(root="/r"))
    )
    assert run.results["a"].plain == "/r"
    assert run.results["Roots"].record.status is Status.OK
    assert run.results["Roots"].record.provenance == ()


def test_a_section_that_is_needed():
    run = ran(
        section("a", lambda ctx: Model(word="x", sure="y"), Model),
        section("b", lambda ctx: ctx.need(Model).word, needs=(Model,)),
    )
    assert run.results["b"].plain == "x"


def test_an_undeclared_need_fails():
    run = ran(making(lambda ctx: Roots()), section("a", lambda ctx: ctx.need(Roots)))
    assert run.results["a"].reasons[0].detail.startswith("UndeclaredNeedError at ")


def test_a_chain_of_blocked_names_each_what_it_needs():
    run = ran(
        making(raising(ValueError())),
        section("a", lambda ctx: Model(), Model, needs=(Roots,)),
        section("b", lambda ctx: "x", needs=(Model,)),
        section("c", lambda ctx: "x"),
    )
    assert [run.results[name].record.status.value for name in ("Roots", "a", "b", "c")] == [
        "failed",
        "blocked",
        "blocked",
        "ok",
    ]
    assert run.results["b"].reasons[0].detail == "needs a, which is blocked"
    assert run.results["b"].reasons[0].kind is ReasonKind.BLOCKED


def hang(release, seconds=30):
    release.wait(seconds)
    return "late"


def test_a_section_past_its_deadline(release):
    begun = time.monotonic()
    line = hang.__code__.co_firstlineno + 1
    run = ran(
        section(
            "a",
            lambda ctx: (ctx.note(ReasonKind.DENIED, "x", "seen before"), hang(release))[1],
            timeout_s=0.2,
        ),
        section("b", lambda ctx: "x"),
    )
    assert 0.2 <= time.monotonic() - begun < 15
    result = run.results["a"]
    assert (result.plain, result.record.status, run.abandoned) == (None, Status.TIMED_OUT, ["a"])
    noted, reason = result.reasons
    assert noted.detail == "seen before"
    assert reason.kind is ReasonKind.TIMED_OUT
    assert reason.detail == f"it had 0.2 s and a was at {__file__}:{line}"
    assert reason.subject == result.record.hung_at == f"{__file__}:{line}"
    assert 0.2 <= result.record.elapsed_s < 15
    assert run.results["b"].plain == "x"


def test_a_late_answer_is_dropped(release):
    run = ran(
        section("a", lambda ctx: hang(release), timeout_s=0.1),
        section("b", lambda ctx: time.sleep(0.5) or "x"),
    )
    before = run.results["a"]
    release.set()
    (thread,) = [one for one in run._threads if one.name == "aorta a"]
    thread.join(5)
    assert run.results["a"] is before
    assert before.plain is None


def test_an_abandoned_one_is_not_started_again(release):
    calls = []
    function = section("a", lambda ctx: calls.append(1) or hang(release), timeout_s=0.1)
    ran(function)
    again = ran(function)
    assert calls == [1]
    assert again.results["a"].record.status is Status.TIMED_OUT
    assert again.results["a"].reasons[0].detail == "still hangs since an earlier capture of this process"
    release.set()
    orchestrator._hanging[function].join(5)
    assert ran(function).results["a"].plain == "late"


def test_timeouts_can_be_given(release):
    run = ran(section("a", lambda ctx: hang(release), timeout_s=60), timeouts={"a": 0.1})
    assert run.results["a"].reasons[0].detail.startswith("it had 0.1 s")


def test_an_abandoned_one_frees_its_slot(release):
    hanging = [section(f"h{n}", lambda ctx: hang(release), timeout_s=0.2) for n in range(slots())]
    run = ran(*hanging, section("z", lambda ctx: "x", timeout_s=0.1))
    assert run.results["z"].plain == "x"
    assert len(run.abandoned) == slots()


def test_a_clock_starts_with_a_slot():
    """More sections than slots, each with less time than all of them take."""
    many = [section(f"s{n}", lambda ctx: time.sleep(0.6) or "x", timeout_s=2.0) for n in range(slots() * 5)]
    run = ran(*many)
    assert {result.plain for result in run.results.values()} == {"x"}


def test_the_overall_deadline(release):
    begun = time.monotonic()
    run = ran(
        making(lambda ctx: hang(release)),
        section("a", lambda ctx: "x", needs=(Roots,)),
        section("b", lambda ctx: "x"),
        section("c", lambda ctx: hang(release), timeout_s=0.1),
        deadline_s=0.3,
    )
    assert time.monotonic() - begun < 15
    kinds = {name: result.reasons[-1].kind.value for name, result in run.results.items() if result.reasons}
    assert kinds == {"Roots": "budget", "a": "budget", "c": "timed_out"}
    assert (
        run.results["Roots"]
        .reasons[0]
        .detail.startswith(f"the capture had 0.3 s and Roots was at {__file__}:")
    )
    assert run.results["a"].reasons[0].detail == "the capture's 0.3 s were over before it started"
    assert run.results["b"].plain == "x"


def test_no_time_at_all():
    run = ran(section("a", lambda ctx: "x"), making(lambda ctx: Roots()), deadline_s=0)
    assert {name: result.reasons[0].kind for name, result in run.results.items()} == {
        "a": ReasonKind.BUDGET,
        "Roots": ReasonKind.BUDGET,
    }


def test_full_is_not_run_in_compact():
    calls = []
    functions = [
        section(
            "a", lambda ctx: calls.append(1) or Model(word="x", more="y", sure="z"), Model, detail=Detail.FULL
        ),
        section("b", lambda ctx: "x", needs=(Model,)),
    ]
    run = ran(*functions)
    assert calls == []
    assert run.results["a"].plain == {"word": None, "more": None, "sure": None}
    assert run.results["a"].record.status is Status.NOT_REQUESTED
    assert run.results["a"].reasons[0].detail == "part of --extended"
    # What rests on something nobody asked for is not asked for either.
    assert run.results["b"].reasons[0].kind is ReasonKind.NOT_REQUESTED
    assert not run.results["b"].reasons[0].partial
    run = ran(*functions, detail=Detail.FULL)
    assert run.results["a"].plain == {"word": "x", "more": "y", "sure": "z"}
    assert run.results["b"].plain == "x"


def test_full_facts_are_null_in_compact():
    function = section("a", lambda ctx: Model(word="x", more="y", sure="z"), Model)
    assert ran(function).results["a"].plain == {"word": "x", "more": None, "sure": "z"}


def test_a_promise_that_is_not_kept():
    run = ran(
        section("a", lambda ctx: Model(word="x"), Model),
        section("b", lambda ctx: "x"),
    )
    (reason,) = run.results["a"].reasons
    assert (reason.kind, reason.field) == (ReasonKind.FAILED, "sure")
    assert reason.detail.endswith("promises a value and gave none")
    explained = ran(section("a", lambda ctx: ctx.note(ReasonKind.DENIED, "sure", "no") or Model(), Model))
    assert [reason.kind for reason in explained.results["a"].reasons] == [ReasonKind.DENIED]


def test_reasons_make_partial():
    def noting(kind):
        return ran(section("a", lambda ctx: ctx.note(kind, "", "x") or "x")).results["a"].record.status

    assert noting(ReasonKind.ABSENT) is Status.OK
    assert noting(ReasonKind.DENIED) is Status.PARTIAL


def test_only_what_is_asked_for_and_what_it_needs():
    calls = []

    def counted(name, value):
        return lambda ctx: calls.append(name) or value

    functions = [
        making(counted("Roots", Roots())),
        section("a", counted("a", "x"), needs=(Roots,)),
        section("b", counted("b", "x")),
    ]
    run = ran(*functions, sections=("a",))
    assert sorted(calls) == ["Roots", "a"]
    assert sorted(run.results) == ["Roots", "a"]
    assert run.wanted() == ["a"]
    calls.clear()
    assert sorted(ran(*functions, sections=("b",)).results) == ["b"]
    assert sorted(ran(*functions, without=("a",)).results) == ["Roots", "b"]


def test_a_section_that_cannot_get_a_thread(monkeypatch):
    start = threading.Thread.start

    def refuse(thread):
        if thread.name == "aorta a":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    run = ran(section("a", lambda ctx: "x"), section("b", lambda ctx: "y"))
    assert run.results["a"].record.status is Status.FAILED
    assert run.results["a"].reasons[0].detail.startswith("no thread could be started")
    assert run.results["b"].plain == "y"


def test_a_model_of_an_outside_class_that_breaks_while_written():
    class Text(str):
        __slots__ = ()

        def __eq__(self, other):
            raise ValueError

        __hash__ = None

    run = ran(
        section("a", lambda ctx: Text("x"), Annotated[Status | None, Fact("x")]),
        section("b", lambda ctx: "y"),
    )
    assert run.results["a"].record.status is Status.FAILED
    assert run.results["b"].plain == "y"


@pytest.mark.parametrize(
    "misuse", [lambda ctx: ctx.note("mood", "", "x"), lambda ctx: ctx.cover("gpu", "maybe")]
)
def test_misuse_of_the_context_costs_one_section(misuse):
    run = ran(section("a", lambda ctx: misuse(ctx) or "x"), section("b", lambda ctx: "y"))
    assert run.results["a"].reasons[0].detail.startswith("ValueError at ")
    assert run.results["b"].plain == "y"


def test_coverage_of_a_failed_section_is_not_taken():
    run = ran(section("a", lambda ctx: ctx.cover("gpu", Coverage.SEEN) or 1 / 0))
    assert run.results["a"].coverage == {}


def test_nothing_is_left_of_a_good_run():
    before = set(threading.enumerate())
    for _ in range(5):
        run = ran(section("a", lambda ctx: ctx.command(["x"]).detail))
        assert run.results["a"].plain == "x is not on PATH"
    assert set(threading.enumerate()) <= before


def test_the_result_does_not_depend_on_the_order_of_ending():
    def reasons(delay):
        def function(name):
            def collect(ctx):
                time.sleep(delay[name])
                ctx.note(ReasonKind.ABSENT, "", name)
                return name

            return collect

        from aorta.collect.merge import merge
        from aorta.model.snapshot import Collection

        run = ran(
            *[section(name, function(name)) for name in ("a", "b")],
            making(lambda ctx: ctx.note(ReasonKind.ABSENT, "", "r") or Roots()),
        )
        snapshot = merge(run, Collection())
        return [
            reason.detail for reason in snapshot.collection.reasons if reason.section in ("a", "b", "Roots")
        ]

    assert reasons({"a": 0.2, "b": 0}) == reasons({"a": 0, "b": 0.2}) == ["a", "b", "r"]


def test_slots():
    assert slots() == min(8, 4 * (os.cpu_count() or 1))
    assert sys.getswitchinterval() > 0


def test_an_answer_that_comes_late_while_others_run(release):
    def slow(ctx):
        time.sleep(0.3)
        release.set()
        time.sleep(0.3)
        return "x"

    run = ran(section("a", lambda ctx: hang(release), timeout_s=0.1), section("b", slow))
    assert (run.results["a"].plain, run.results["a"].record.status) == (None, Status.TIMED_OUT)
    assert run.results["b"].plain == "x"


def test_what_ended_just_before_the_deadline_counts(release):
    """The deadline comes while the orchestrator is busy: what has ended by then is taken, the rest is cut."""

    def moving(ctx):
        time.sleep(0.2)
        made.deadline = time.monotonic()
        time.sleep(0.05)
        return "a"

    made = Orchestrator(
        registry(
            section("a", moving), section("b", lambda ctx: "b"), section("c", lambda ctx: hang(release))
        ),
        FakeHost(),
        Request(),
    )
    assert made.running() == []
    made.run()
    assert (made.results["a"].plain, made.results["b"].plain) == ("a", "b")
    assert made.results["c"].reasons[0].kind is ReasonKind.BUDGET


def test_a_second_end_at_the_deadline_is_taken(release):
    def first(ctx):
        time.sleep(0.2)
        return "a"

    made = Orchestrator(registry(section("a", first), section("b", first)), FakeHost(), Request())
    await_ = made._await

    def late():
        names = await_()
        time.sleep(0.2)
        made.deadline = time.monotonic()
        return names

    made._await = late
    made.run()
    assert (made.results["a"].plain, made.results["b"].plain) == ("a", "a")
