"""Torch's libraries are hashed beside the import, each file once a capture."""

import threading

from aorta.testing import FakeHost, collect, provide
from aorta.testing.hosts import RefusingHost
from aorta_collectors.providers import TorchLibraries
from tests.parts.loaded_files import elf

LIB = "/sp/torch/lib"
FILES = {
    "/sp/torch/_C.so": elf(needed=["libtorch_python.so"], runpath="$ORIGIN/lib"),
    f"{LIB}/libtorch_python.so": elf(
        "libtorch_python.so", ["librccl.so", "libgfortran.so.5"], runpath="$ORIGIN"
    ),
    f"{LIB}/librccl.so": elf("librccl.so.1"),
    f"{LIB}/libgfortran.so.5": elf("libgfortran.so.5"),
    f"{LIB}/libMIOpen.so": elf("libMIOpen.so.1"),
}
MODULES = {"torch": "/sp/torch/__init__.py"}
WANTED = [f"{LIB}/libtorch_python.so", f"{LIB}/librccl.so"]


class Counting(FakeHost):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.hashed = []
        self.lock = threading.Lock()

    def sha256(self, path, *, timeout=None):
        with self.lock:
            self.hashed.append(path)
        return super().sha256(path)


def test_those_that_an_import_would_map_and_no_others():
    host = Counting(FILES, modules=MODULES)
    told = provide(host, TorchLibraries, without=("library_linkage",))
    assert list(told.typed.paths) == WANTED
    assert sorted(path for path in host.hashed if path.startswith(LIB)) == sorted(WANTED)
    assert told.record.status == "ok"


def test_the_section_asks_for_nothing_twice():
    host = Counting(FILES, modules=MODULES)
    provide(host, TorchLibraries)
    assert len(host.hashed) == len(set(host.hashed))


def test_only_for_who_wants_it():
    host = Counting(FILES, modules=MODULES)
    assert provide(host, TorchLibraries, without=("loaded_libraries",)).typed.paths == ()
    assert not any(path.startswith(LIB) for path in host.hashed)


def test_the_caller_may_want_no_digests():
    host = Counting(FILES, modules=MODULES)
    told = provide(host, TorchLibraries, digests="none")
    assert (host.hashed, told.reasons) == ([], ())


def test_no_torch():
    assert provide(FakeHost(), TorchLibraries).typed.paths == ()
    assert provide(FakeHost(modules={"torch": "/x/torch.py"}), TorchLibraries).typed.paths == ()
    assert provide(RefusingHost(), TorchLibraries).typed.paths == ()


def test_the_section_does_not_depend_on_it():
    host = FakeHost(FILES, modules=MODULES)
    result = collect(host, "loaded_libraries", import_strategy="child")
    assert [each["path"] for each in result.value] == [f"{LIB}/librccl.so", f"{LIB}/libtorch_python.so"]
