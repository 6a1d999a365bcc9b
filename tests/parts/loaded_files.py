"""Small libraries that need one another, texts of ``/proc/self/maps``, and a question to a context."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta.testing import collect
from tests.parts.elf_files import handmade

NEEDED, RPATH, RUNPATH = 1, 15, 29


def elf(soname="", needed=(), *, rpath=None, runpath=None, bits=64, machine=62):
    """Return a library that says this to the linker."""
    tags = [(NEEDED, name) for name in needed]
    tags += [(RPATH, rpath)] if rpath is not None else []
    tags += [(RUNPATH, runpath)] if runpath is not None else []
    return handmade(bits, "<", tags=tags, soname=soname, machine=machine)


def maps(*paths):
    """Return the lines of a process that has mapped these; `` (deleted)`` may stand behind one."""
    return "".join(
        f"7f{number:010x}-7f{number + 1:010x} r-xp 00000000 08:01 {1000 + number}    {path}\n"
        for number, path in enumerate(paths)
    )


def asked(host, question, needs=()):
    """Return what a function of a Context says on a host."""
    said = []

    @collector(
        section="test.asked",
        model=Annotated[str | None, Fact("Nothing.")],
        provenance=Provenance.PROCESS,
        scope=Scope.PROCESS,
        needs=needs,
        timeout_s=10,
    )
    def ask(ctx: Context) -> None:
        """Ask."""
        said.append(question(ctx))

    collect(host, ask)
    return said[0]
