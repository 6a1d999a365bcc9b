"""Which symbols torch's HIP library has, and why that is not known."""

import errno

import pytest

from aorta.testing import provide
from aorta_collectors.mangled import qualified_names
from aorta_collectors.providers import TorchSymbols, torch_symbols
from tests.parts import cxx_library
from tests.parts.torch_builds import CPU, HIP, LIB, host

LIBRARY = f"{LIB}/libtorch_hip.so"


def symbols(*arguments, **world):
    return provide(host(*arguments, **world), TorchSymbols).typed


@pytest.mark.parametrize("step", [3, 4096])
def test_a_library(monkeypatch, step):
    monkeypatch.setattr(torch_symbols, "STEP", step)
    found = symbols(files={LIBRARY: cxx_library.built().read_bytes()})
    assert found.path == LIBRARY
    assert found.gap is None
    assert set(found.counts) == {*torch_symbols.MARKERS, "ck::"}
    assert all(number > 0 for number in found.counts.values())


def test_a_library_that_is_none():
    found = symbols(files={LIBRARY: b"\x7fELF and no more"})
    assert (found.path, found.counts, found.gap.kind) == (LIBRARY, None, "unparsed")


def test_no_library():
    gap = symbols().gap
    assert gap.kind == "expected"
    assert HIP in gap.detail
    assert symbols(CPU).gap.kind == "absent"


def test_denied():
    assert symbols(files={LIBRARY: errno.EACCES}).gap.kind == "denied"


def test_no_directory_of_libraries():
    assert symbols(dirs=()).gap.kind == "expected"
    assert symbols(CPU, dirs=()).gap.kind == "unsupported"
    assert symbols(dirs=(), observed=False).gap.kind == "unsupported"


def test_torch_is_not_there():
    from aorta.testing import FakeHost

    assert provide(FakeHost(), TorchSymbols).typed.gap.kind == "absent"


def test_the_time_is_over(monkeypatch):
    monkeypatch.setattr("aorta.collect.context.Context.remaining", lambda _self: 0.0)
    gap = symbols(files={LIBRARY: cxx_library.built().read_bytes()}).gap
    assert gap.kind == "timed_out"


def test_the_reader_is_what_counts():
    assert qualified_names("_ZN2ck3runEv") == ["ck::run"]
