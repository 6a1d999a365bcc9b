"""The libraries of ROCm, of torch and of collectives that the process really has mapped.

Sections such as ``rccl`` describe what is installed. What is mapped here can be another file: a wheel's
own, a copy that ``LD_LIBRARY_PATH`` leads to, a file that was replaced since.
"""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.loaded.found import find
from aorta_collectors.loaded.model import LoadedLibrary
from aorta_collectors.providers.mapped_libraries import MappedLibraries
from aorta_collectors.providers.python_facts import PythonFacts
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.providers.torch_facts import TorchFacts


@collector(
    section="loaded_libraries",
    model=Annotated[
        tuple[LoadedLibrary, ...] | None,
        Fact(
            "The mapped libraries of ROCm, torch and collectives, by library and path; empty: none of them.",
            caveat="Not mapped yet is not unused: network plugins come with the first collective.",
        ),
    ],
    provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
    scope=Scope.PROCESS,
    needs=(MappedLibraries, TorchFacts, RocmRoots, PythonFacts),
    timeout_s=45,
)
def collect(ctx: Context) -> tuple[LoadedLibrary, ...] | None:
    """ROCm, torch and collective libraries that the process has mapped, and where they come from."""
    torch, mapped = ctx.need(TorchFacts), ctx.need(MappedLibraries)
    found = find(ctx, torch, mapped)
    if mapped.gap is not None:
        # What is predicted stands for what could not be seen; why it was not is told all the same.
        mapped.gap.note(ctx, "process" if found else "")
    if not found:
        return None if mapped.gap is not None else ()
    # Most machines have none of these libraries, and need none of this.
    from aorta_collectors.loaded.description import described

    return tuple(described(ctx, found))
