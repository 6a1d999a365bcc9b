"""The contract's assertion finds each way of breaking it, and says which it was."""

import ctypes
import glob
import os
import re
import shutil
import socket
import subprocess
import time
from typing import Annotated, Any

import attrs
import pytest

from aorta.model.fact import Fact
from aorta.model.vocabulary import Detail, Provenance
from aorta.plugin import collector, provider
from aorta.testing import FakeHost, assert_contract, collect, contract, provide, record, replay

TEXT = Annotated[str | None, Fact("A word.")]


@attrs.frozen(kw_only=True)
class Kit:
    """What a provider makes."""

    word: Annotated[str | None, Fact("x")] = None


@attrs.frozen(kw_only=True)
class Made:
    """What a section makes."""

    word: Annotated[str | None, Fact("x")] = None
    parts: Annotated[tuple[Kit, ...] | None, Fact("x")] = None
    table: Annotated[dict[str, Kit] | None, Fact("x", keys=("a",))] = None


def section(function, model=TEXT, **wishes):
    def collect(ctx):
        """A section."""
        return function(ctx)

    return collector(section="acme.word", model=model, provenance=Provenance.PROCESS, **wishes)(collect)


def make_kit(ctx):
    """A kit."""
    return Kit(word=ctx.read("/kit", "word"))


def refused(function, plugins=()):
    with pytest.raises(AssertionError) as caught:
        assert_contract(function, plugins=plugins)
    return str(caught.value)


def test_good_ones():
    assert_contract(section(lambda ctx: ctx.read("/x", "")))
    assert_contract(section(lambda ctx: "x"))
    assert_contract(section(lambda ctx: ctx.command(["x"]).stdout or None))
    assert_contract(
        section(lambda ctx: Made(word=ctx.read("/x", "word"), parts=(Kit(),), table={"b": Kit()}), Made)
    )
    assert_contract("amdgpu_driver")
    assert_contract("RocmRoots")


def test_one_with_needs():
    kit = provider(model=Kit)(make_kit)
    assert_contract(section(lambda ctx: ctx.need(Kit).word, needs=(Kit,)), plugins=[kit])
    assert_contract(kit)


def test_a_section_for_extended_only():
    assert_contract(section(lambda ctx: ctx.read("/x", ""), detail=Detail.FULL))
    assert "on an empty host" in refused(section(lambda ctx: 1 / 0, detail=Detail.FULL))


def test_one_that_fails_on_an_empty_host():
    text = refused(section(lambda ctx: ctx.text("/x").value.strip()))
    assert re.search(
        r"acme.word failed on an empty host: acme.word: AttributeError at .*test_assert_contract.py:\d+", text
    )


def test_one_that_fails_when_denied():
    def function(ctx):
        assert ctx.text("/x").absent
        return "x"

    assert "acme.word failed on a host that denies everything: acme.word: AssertionError" in refused(
        section(function)
    )


def test_one_that_fails_where_all_hangs(monkeypatch):
    monkeypatch.setattr(contract, "HANG_S", 2.0)

    def function(ctx):
        if ctx.command(["x"]).kind == "timed_out":
            raise ValueError

    assert "acme.word fails where everything hangs: acme.word: ValueError" in refused(section(function))


def test_an_undeclared_need():
    kit = provider(model=Kit)(make_kit)
    assert "UndeclaredNeedError" in refused(section(lambda ctx: ctx.need(Kit).word), plugins=[kit])


def test_another_type_of_value():
    assert "returned int, declared is str" in refused(section(lambda ctx: 3))
    assert refused("nowhere") == "'nowhere' is no section and no provider"
    broken = section(lambda ctx: "x", timeout_s=0)
    assert re.search(r"acme.word is declared wrongly: .*:\d+: acme.word has the deadline 0", refused(broken))


def made(**values):
    return section(lambda ctx: Made(**values), Made)


def test_a_value_of_another_type_inside():
    told = "the value of acme.word on an empty host is not as declared: word: expected str, got int"
    assert refused(made(word=3)) == told
    assert "table.b.word: expected str, got float" in refused(made(table={"b": Kit(word=float("nan"))}))


def test_what_an_exception_says_and_where_it_was_raised():
    def function(ctx):
        return int(ctx.text("/x").value)

    with pytest.raises(AssertionError, match=r"TypeError at .*: int\(\) argument must be") as caught:
        assert_contract(section(function))
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_command_that_is_a_text():
    text = refused(section(lambda ctx: ctx.command("nvme list").stdout or None))
    assert text.endswith("a command is its words, ('nvme', 'list'), not a text")


def test_a_reason_against_a_field_that_is_not_there():
    def function(ctx):
        return Made(word=ctx.read("/x", "wrod"), parts=ctx.note("absent", "parts[0].word", "no part"))

    told = "against 'wrod', which is no field: word, parts, table"
    assert refused(section(function, Made)).endswith(told)


@attrs.frozen(kw_only=True)
class Drive:
    """What a drive says."""

    there: Annotated[bool | None, Fact("Whether it is there.")] = None
    number: Annotated[int | None, Fact("How many.")] = None
    names: Annotated[tuple[str, ...] | None, Fact("Their names.")] = None
    kits: Annotated[tuple[Kit, ...] | None, Fact("Kits.")] = None


@pytest.mark.parametrize(
    ("value", "claim"),
    [
        (lambda ctx: Drive(there=ctx.stat("/dev/x").ok), "there is False"),
        (lambda ctx: Drive(number=len(ctx.scan("/x").value or ())), "number is 0"),
        (lambda ctx: Drive(names=tuple(each.name for each in ctx.scan("/x").value or ())), "names is []"),
        (lambda ctx: Drive(kits=(Kit(word=ctx.command(("x",)).stdout),)), "kits[].word is ''"),
    ],
)
def test_a_claim_about_what_was_denied(value, claim):
    told = f"claims what it did not see, on a host that denies everything: {claim}; what was not seen is null"
    assert told in refused(section(value, Drive))
    # A variable is no refused question, nor is what needs say.
    assert_contract(section(lambda ctx: Drive(there=ctx.env("X") is not None and ctx.stat("/x").ok), Drive))


def test_a_machine_without_anything_is_not_partial():
    def function(ctx):
        ctx.note("expected", "word", "every node of the site has one")

    text = refused(section(lambda ctx: Made(word=function(ctx)), Made))
    told = (
        "acme.word.word: every node of the site has one (expected); say one of absent, no_tool, unsupported"
    )
    assert told in text


def test_a_need_that_is_given_and_an_error_that_is_kept():
    kit = provider(model=Kit)(make_kit)
    needs = section(lambda ctx: ctx.need(Kit).word, needs=(Kit,))
    assert collect(FakeHost(), needs, plugins=[kit], given=[Kit(word="given")]).value == "given"
    with pytest.raises(LookupError, match="nothing makes Made"):
        collect(FakeHost(), needs, plugins=[kit], given=[Made()])
    failed = collect(FakeHost(), section(lambda ctx: int("x")))
    assert failed.kinds() == ["failed"]
    assert isinstance(failed.error, ValueError)
    assert collect(FakeHost(), section(lambda ctx: "x")).error is None


def test_two_values_of_one_machine():
    numbers = iter(range(100))
    text = refused(section(lambda ctx: Made(word="w" * 200 + str(next(numbers))), Made))
    assert text.startswith("acme.word says two things of one machine, so no recording could be replayed: {")
    assert "…, then {" in text


def test_one_that_prints():
    def function(ctx):
        print("hello")

    told = "acme.word prints 'hello\\nhello': what it has to tell is its value and its reasons"
    assert refused(section(function)) == told


def test_what_declares_nothing():
    for wrong, name in ((opened, "opened"), (contract, "aorta.testing.contract"), (5, "5")):
        with pytest.raises(TypeError, match=f"{name}: give a function under @collector or @provider"):
            assert_contract(wrong)
        with pytest.raises(TypeError, match=name):
            collect(FakeHost(), wrong)


def test_the_name_of_a_built_in_section_is_not_that_section():
    def function(ctx):
        """A section."""

    theirs = collector(section="rocm", model=TEXT, provenance=Provenance.PROCESS)(function)
    told = "rocm is declared wrongly: .*: the section 'rocm' of an outside plugin is named 'vendor.name'"
    assert re.fullmatch(told, refused(theirs))
    with pytest.raises(LookupError, match=told):
        collect(FakeHost(), theirs)


def test_a_provider_of_a_plugin():
    kit = provider(model=Kit)(make_kit)
    assert provide(FakeHost({"/kit": "x"}), Kit, plugins=[kit]).typed == Kit(word="x")
    with pytest.raises(LookupError, match=r"nothing makes Kit; give plugins=\[MODULE\]"):
        provide(FakeHost(), Kit)
    with pytest.raises(LookupError, match="nothing makes Kit: .*has the deadline 0"):
        provide(FakeHost(), Kit, plugins=[provider(model=Kit, timeout_s=0)(make_kit)])


def opened(ctx):
    with open(os.devnull):
        return "x"


@pytest.mark.parametrize(
    ("function", "event"),
    [
        (opened, "open"),
        (lambda ctx: str(os.listdir("/")), "os.listdir"),
        (lambda ctx: str(list(os.scandir("/"))), "os.scandir"),
        (lambda ctx: os.putenv("AORTA_X", "1"), "os.putenv"),
        (lambda ctx: subprocess.run(["true"], check=False) and None, "subprocess.Popen"),
        (lambda ctx: socket.gethostname(), "socket.gethostname"),
        (lambda ctx: str(ctypes.CDLL(None)), "ctypes.dlopen"),
        (lambda ctx: os.environ.get("HOME"), "os.environ 'HOME'"),
        (lambda ctx: str(sorted(os.environ)), "os.environ"),
        (lambda ctx: str(glob.glob("/nowhere/*")), "glob.glob"),
        (lambda ctx: shutil.rmtree("/nowhere/at/all", ignore_errors=True), "shutil.rmtree"),
    ],
)
def test_input_and_output_of_its_own(function, event):
    text = refused(section(function))
    assert text.startswith("acme.word touches the machine by itself: ")
    assert event in text


def test_a_late_import_of_the_standard_library_is_no_input():
    def function(ctx):
        import colorsys

        return colorsys.__name__

    assert_contract(section(function))


def test_one_that_hangs_by_itself():
    def function(ctx):
        time.sleep(0 if ctx.text("/x").kind != "timed_out" else 9)

    # The host hangs longer than the section may take, so it is cut there whatever it does.
    assert_contract(section(function))


def test_a_provider_that_breaks():
    def make(ctx):
        """A kit."""
        return "x"

    assert "Kit failed on an empty host: Kit: returned str, declared is Kit" in refused(
        provider(model=Kit)(make)
    )


def test_collect_and_provide():
    kit = provider(model=Kit)(make_kit)
    function = section(lambda ctx: ctx.need(Kit).word, needs=(Kit,))
    result = collect(FakeHost({"/kit": "x"}), function, plugins=[kit])
    assert (result.value, result.typed, result.kinds()) == ("x", "x", [])
    result = collect(FakeHost({"/x": "v"}), section(lambda ctx: ctx.read("/gone", "f")))
    assert result.kinds("f") == ["absent"]
    assert result.kinds("g") == []
    with pytest.raises(LookupError, match="'acme.gone' is no section and no provider"):
        collect(FakeHost(), "acme.gone")
    with pytest.raises(LookupError, match="RocmRoots is no section: aorta.testing.provide runs a provider"):
        collect(FakeHost(), "RocmRoots")
    from aorta_collectors.providers import RocmRoots

    assert isinstance(provide(FakeHost(), RocmRoots).typed, RocmRoots)


def test_record_and_replay(tmp_path):
    path = tmp_path / "host.jsonl"
    host = record(FakeHost({"/x": "v\n"}, commands={"t": "out"}), path)
    function = section(lambda ctx: f"{ctx.read('/x', '')} {ctx.command(['t']).stdout}")
    first: Any = collect(host, function)
    host.close()
    assert first.value == "v out"
    assert collect(replay(path), function).value == "v out"


def test_a_value_that_lost_its_form():
    """What the orchestrator makes is checked once more, so that a defect of aorta's own is found too."""
    spec = section(lambda ctx: Made(), Made).aorta_spec
    whole = {"word": None, "parts": None, "table": {"a": {"word": None}}}
    contract._check_form(spec, whole, "here")
    for value, text in [
        ({"parts": None, "table": {"a": {"word": None}}}, "acme.word.word is not there"),
        ({**whole, "parts": [{}]}, r"acme.word.parts\[\].word is not there"),
        ({**whole, "word": 3}, "expected a text, got an integer @ acme.word.word"),
        ({**whole, "word": float("nan")}, "is not strict JSON"),
    ]:
        with pytest.raises(AssertionError, match=text):
            contract._check_form(spec, value, "here")


def test_one_that_takes_no_notice_of_its_time(monkeypatch):
    monkeypatch.setattr(contract, "MARGIN_S", -1.0)
    assert "took 0." in refused(section(lambda ctx: ctx.read("/x", "")))


def test_one_that_goes_on_although_an_answer_hangs(monkeypatch):
    monkeypatch.setattr(contract.HangingHost, "_refuse", contract.DenyingHost._refuse)
    monkeypatch.setattr(contract.HangingHost, "asked", True, raising=False)
    made = contract.HangingHost.__init__

    def asked(self):
        made(self)
        self.asked = True

    monkeypatch.setattr(contract.HangingHost, "__init__", asked)
    assert "is partial although an answer hangs: acme.word: /x: Permission denied" in refused(
        section(lambda ctx: ctx.read("/x", ""))
    )
