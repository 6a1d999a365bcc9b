"""Counting by mangled names, against what c++filt prints of them."""

import re
import time

import pytest

from aorta.host.live import LiveHost
from aorta_collectors.mangled import qualified_names
from aorta_collectors.providers.torch_symbols import COMPOSABLE_KERNEL, MARKERS
from aorta_collectors.pytorch import symbols
from aorta_collectors.pytorch.symbols import count, wanted
from tests.parts import cxx_library, torches

ALL = (*MARKERS, COMPOSABLE_KERNEL)
OTHER = (
    "ck_tile::",
    "names::aiter::",
    "outer::ck::",
    "aiter::inner::",
    "ck_tile::TileFmhaShape",
    "aiter::Plain",
)
#: What real libraries of a torch for CPUs hold, rare and frequent.
REAL = (
    "at::native::",
    "c10::",
    "torch::jit::",
    "at::",
    "c10::impl::Op",
    "detail::",
    "_attention",
    "ck::",
    "impl::",
)


def oracle(lines, marker):
    """Return how many printed names hold a marker; what has :: begins with a whole name."""
    start = r"(?<![A-Za-z0-9_])" if "::" in marker else ""
    return sum(re.search(start + re.escape(marker), line) is not None for line in lines)


def dynamic_symbols(path, pattern="."):
    host = LiveHost()
    try:
        return host.elf(str(path), pattern, timeout=60).symbols
    finally:
        host.close()


def library_of(name):
    from pathlib import Path

    root = Path(torches.python()).parent.parent
    return next(root.glob(f"lib/python3*/site-packages/torch/lib/{name}"))


@pytest.mark.parametrize("marker", [*ALL, *OTHER])
def test_a_library_with_all_positions_of_a_name(marker):
    names = dynamic_symbols(cxx_library.built())
    expected = oracle(cxx_library.printed(names), marker)
    assert count(names, [marker]) == {marker: expected}
    assert expected > 0


def test_names_that_only_look_like_it_are_none():
    names = dynamic_symbols(cxx_library.built())
    lines = cxx_library.printed(names)
    for marker in ("aiter::", "ck::", "ck_tile::FmhaFwd", "pytorch_flash::"):
        assert sum(marker in line for line in lines) > count(names, [marker])[marker]


def test_what_is_asked_of_the_file_leaves_nothing_out():
    everything, chosen = (
        dynamic_symbols(cxx_library.built()),
        dynamic_symbols(cxx_library.built(), wanted(ALL)),
    )
    assert len(chosen) < len(everything)
    assert count(chosen, ALL) == count(everything, ALL)


@pytest.mark.parametrize("library", ["libtorch_cpu.so", "libtorch_python.so"])
def test_a_real_torch(library):
    names = dynamic_symbols(library_of(library))
    lines = cxx_library.printed(names)
    assert count(names, REAL) == {marker: oracle(lines, marker) for marker in REAL}


PAIR = re.compile(r"(?=(?<![A-Za-z0-9_])([A-Za-z_]\w*)::([A-Za-z_]\w*|[~*{(\[]))")


def pairs(text):
    """Return which names stand before which."""
    return {pair for pair in PAIR.findall(text) if pair[0] not in ("std", "const")}


@pytest.mark.parametrize("library", ["made", "libtorch_python.so"])
def test_all_qualified_names_are_those_that_are_printed(library):
    names = dynamic_symbols(cxx_library.built() if library == "made" else library_of(library))
    names = [name for name in names if name.startswith("_Z")]
    assert len(names) > 300
    for name, line in zip(names, cxx_library.printed(names), strict=True):
        told = set().union(*(pairs(text) for text in qualified_names(name)))
        assert {pair for pair in told if not pair[1].startswith("operator")} == {
            pair for pair in pairs(line) if not pair[1].startswith("operator")
        }, name


def test_300_000_symbols_are_counted_in_half_a_second():
    path = library_of("libtorch_cpu.so")
    host = LiveHost()
    try:
        started = time.process_time()
        names = host.elf(str(path), wanted(ALL), timeout=60).symbols
        count(names, ALL)
        spent = time.process_time() - started
    finally:
        host.close()
    every = len(dynamic_symbols(path))
    assert every > 70_000
    # Of the processor alone, and twice the goal: other tests run beside this one.
    assert spent * 300_000 / every < 1.0


@pytest.mark.parametrize(
    ("name", "marker", "number"),
    [
        ("_ZN5aiter3runEv", "aiter::", 1),
        ("_ZNK5aiter4Type3runEv", "aiter::", 1),
        ("_ZN3foo5aiter3runEv", "aiter::", 1),
        ("_Z5aiter3Foo", "aiter::", 0),  # a function of that name
        ("_Z3foo5aiter", "aiter::", 0),  # a class of that name
        ("_Z3foo5aiterNS_3BarE", "aiter::", 1),  # and a member of it, by repetition
        ("_Z3fooM5aiteri", "aiter::", 1),  # int aiter::*
        ("_ZZ5aitervE1x", "aiter::", 0),  # aiter()::x
        ("_ZZ5aiterE1x", "aiter::", 1),  # aiter::x
        ("_ZN5aiterIiE3runEv", "aiter::", 0),  # aiter<int>::run
        ("_ZN5aiterB3abi3runEv", "aiter::", 0),  # aiter[abi:abi]::run
        ("_ZN6waiter3runEv", "aiter::", 0),
        ("_ZN6aiter_3runEv", "aiter::", 0),
        ("_Z11N5aiter3fooPv", "aiter::", 0),  # an identifier that spells it
        ("_ZN7ck_tile6kentryINS_13FmhaFwdKernelEEEvv", "ck_tile::FmhaFwd", 1),
        ("_Z6kentryIN7ck_tile3FooENS0_7FmhaFwdEEvv", "ck_tile::FmhaFwd", 1),
        ("_Z6kentryIN7ck_tile3FooENS1_7FmhaFwdEEvv", "ck_tile::FmhaFwd", 0),  # S1_ is Foo
        ("_Z6kentryIN7ck_tile3FooENS_7FmhaFwdEEvv", "ck_tile::FmhaFwd", 0),  # S_ is kentry
        ("_Z6kentryIN1a7ck_tile3FooENS1_7FmhaFwdEEvv", "ck_tile::FmhaFwd", 1),
        ("_Z6kentryILi256EN7ck_tile7FmhaFwdEEvv", "ck_tile::FmhaFwd", 1),
        ("_Z1fI5aiterENT_4typeES1_", "aiter::", 1),  # aiter::type f<aiter>(aiter)
        ("_ZTVN5aiter3FooE", "aiter::", 1),
        ("_ZGVZN5aiter3runEvE1x", "aiter::", 1),
        ("_ZN5aiter3runEv.cold", "aiter::", 1),
        ("_ZN5aiter3run", "ck::", 0),
        ("_ZN2at5blockE", "ck::", 0),
        ("_ZN2ck3runEv", "ck::", 1),
        ("mha_fwd_ck", "mha_fwd_ck", 1),
        ("aiter::run", "aiter::", 0),  # no mangled name
        ("_Z", "aiter::", 0),
        ("_ZN5aiter", "aiter::", 0),
        ("_ZN5aiter3runEvE", "ck::", 0),
        ("", "aiter::", 0),
    ],
)
def test_single_names(name, marker, number):
    assert count([name], [marker]) == {marker: number}


def test_names_of_a_dropped_return_type_are_not_printed():
    name = "_ZZ1fIiEN5aiter3FooET_E1x"
    assert cxx_library.printed([name]) == ["f<int>(int)::x"]
    assert count([name], ["aiter::"]) == {"aiter::": 0}


def test_deep_names_end():
    assert count(["_Z1f" + "P" * 20_000 + "5aiter"], ["aiter::"]) == {"aiter::": 0}
    doubling = "_Z1fI" + "J5aiterE" + "E" + "v" * 10 + "".join("L_Z1gIJT_T_EEvvE" for _ in range(60))
    assert count([doubling], ["aiter::"]) == {"aiter::": 0}


def test_a_glance_and_a_reading_agree(monkeypatch):
    names = dynamic_symbols(cxx_library.built())
    quick = count(names, ALL)
    monkeypatch.setattr(symbols._Mention, "at_a_glance", lambda _self, _name: None)
    assert count(names, ALL) == quick
