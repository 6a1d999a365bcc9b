"""Identity of the MIOpen under the resolved root."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.python_facts import PythonFacts
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.catalog import MIOPEN
from aorta_collectors.tree.kernel_library import (
    KernelLibrary,
    LibraryCopy,
    describe,
)

LIBRARY = KernelLibrary(
    soname="libMIOpen.so",
    headers=("miopen/version.h",),
    prefix="MIOPEN_VERSION_",
    kernels="../share/miopen/db",
    family=MIOPEN,
    variable="MIOPEN_SYSTEM_DB_PATH",
    empty_counts=False,
)


@frozen
class MIOpen:
    """The MIOpen of the resolved root."""

    rocm_release_tweak: Annotated[
        str | None,
        Fact(
            "MIOPEN_VERSION_TWEAK of the header, as it stands; some releases have none.",
            caveat="Identifies the ROCm release that it was built in, not a commit of MIOpen.",
        ),
    ] = None
    package_version: Annotated[
        str | None,
        Fact("Version of the header, e.g. 3.5.1.", caveat="The header's: runtime installs have none."),
    ] = None
    header_path: Annotated[str | None, Fact("The header that was read.")] = None
    lib_path: Annotated[
        str | None, Fact("Real path of the library file.", caveat="Installed, not loaded.")
    ] = None
    lib_hash: Annotated[str | None, Fact("sha256 of that file.", caveat="Installed, not loaded.")] = None
    kernel_db_dir: Annotated[
        str | None, Fact("The databases installed with it, whatever MIOPEN_SYSTEM_DB_PATH names for a run.")
    ] = None
    kernel_db_revision: Annotated[
        str | None,
        Fact(
            "filenames-sha256 over the names of the text databases in that directory.",
            caveat="Names only. The catalog hashes contents.",
        ),
    ] = None
    other_libraries: Annotated[
        tuple[LibraryCopy, ...] | None,
        Fact("Other files of this library that a process could load instead, with their databases."),
    ] = None


@collector(
    section="miopen",
    model=MIOpen,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots, PythonFacts),
    timeout_s=45,
)
def collect(ctx: Context) -> MIOpen:
    """MIOpen version, library digest, database names and other copies."""
    return MIOpen(**describe(ctx, LIBRARY)[1])
