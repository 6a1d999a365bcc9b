"""What ``loaded_libraries`` tells of a file."""

from typing import Annotated

from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Word


class Origin(Word):
    """Whose a file is."""

    TORCH_BUNDLED = "torch_bundled"
    ROCM_ROOT = "rocm_root"
    WHEEL = "wheel"
    BUCK_LINK_TREE = "buck_link_tree"
    OTHER = "other"


class VersionSource(Word):
    """Who told a version."""

    TORCH = "torch"
    TORCH_CONFIG = "torch_config"
    FILE_NAME = "file_name"


class Basis(Word):
    """How an entry came about."""

    OBSERVED = "observed"
    PREDICTED = "predicted"


@frozen
class OtherCopy:
    """Another file of the same library."""

    path: Annotated[str | None, Fact("Real path of the file.")] = None
    origin: Annotated[Origin | None, Fact("Whose it is, as for the mapped one.")] = None


@frozen
class Difference:
    """Two files where one section reads as if there was one."""

    section: Annotated[str | None, Fact("The section about the installed library, e.g. rccl.")] = None
    path: Annotated[str | None, Fact("Real path of the library that it describes.")] = None
    same_content: Annotated[
        bool | None, Fact("Whether both have the same sha256; null where they were not both hashed.")
    ] = None
    statement: Annotated[str | None, Fact("The same in one sentence.")] = None


@frozen
class Banner:
    """One start of RCCL. What it did not print is null."""

    version: Annotated[str | None, Fact("RCCL's version, e.g. 2.21.5.")] = None
    branch: Annotated[str | None, Fact("Branch that it was built from, e.g. HEAD.")] = None
    commit: Annotated[str | None, Fact("Abbreviated commit that it was built from.")] = None
    dirty: Annotated[bool | None, Fact("Whether it was built from changed sources: a plus behind it.")] = None
    hip_version: Annotated[
        str | None, Fact("HIP version as printed, e.g. 6.3.42134-a9a80e791; it may end in a dash.")
    ] = None
    rocm_version: Annotated[str | None, Fact("ROCm version as printed, e.g. 6.2.4.0-139.")] = None
    lib_path: Annotated[str | None, Fact("The library that the process had loaded, as printed.")] = None


@frozen
class LoadedLibrary:
    """One file."""

    library: Annotated[
        str | None,
        Fact("Which library it is, by its file name: torch, hip, rccl, rccl_net_plugin, hipblaslt, …."),
    ] = None
    path: Annotated[str | None, Fact("The file as it is mapped: its real path.")] = None
    soname: Annotated[str | None, Fact("DT_SONAME, e.g. librccl.so.1; null where it has none.")] = None
    build_id: Annotated[str | None, Fact("GNU build id; null where the linker was told to write none.")] = (
        None
    )
    digest: Annotated[
        str | None,
        Fact("sha256 of the file; identity on a file system of the network, unless asked for otherwise."),
    ] = None
    version: Annotated[
        str | None,
        Fact(
            "Its version, where torch tells it of what it uses, or the name of the file ends in one.",
            caveat="The number in a name counts the interface first: libMIOpen.so.1.0 is of MIOpen 3.",
        ),
    ] = None
    version_source: Annotated[
        VersionSource | None,
        Fact(
            "torch (asked at run time), torch_config (HIP's at run time; MIOpen's is the one that torch was"
            " built with, told of a bundled one alone) or file_name."
        ),
    ] = None
    origin: Annotated[
        Origin | None,
        Fact(
            "torch_bundled (among torch's own libraries), rocm_root (the resolved root), wheel (another"
            " Python package), buck_link_tree or other."
        ),
    ] = None
    deleted: Annotated[
        bool | None, Fact("Whether it is mapped although the file was removed or replaced since.")
    ] = None
    replaced: Annotated[
        bool | None, Fact("Of a deleted one: whether another file is at that path now. Else null.")
    ] = None
    basis: Annotated[
        Basis | None,
        Fact(
            "observed (it is mapped) or predicted (what an import of torch would map, by what its libraries"
            " need), where no process with torch could be looked at.",
            caveat="A prediction does not know what is opened by name at run time.",
        ),
    ] = None
    process: Annotated[
        str | None,
        Fact(
            "self, or torch_child for a process that did nothing but import torch. Null for a prediction.",
            caveat="The child stands for the job only as far as it has the same environment.",
        ),
    ] = None
    other_copies: Annotated[
        tuple[OtherCopy, ...] | None,
        Fact(
            "Other files of this library: in LD_LIBRARY_PATH, beside torch, in wheels, in the ROCm root and"
            " where ld.so.conf leads."
        ),
    ] = None
    differs_from: Annotated[
        Difference | None,
        Fact(
            "Where this is not the file that the section hip, rccl, hipblaslt, rocblas or miopen describes,"
            " or a library of torch's and not the one beside torch: which file that is. All null where it is"
            " the same one, or none is described."
        ),
    ] = None
    banners: Annotated[
        tuple[Banner, ...] | None,
        Fact(
            "What RCCLs that were loaded from this file wrote to NCCL_DEBUG_FILE when they started.",
            caveat="By the path in it; the log may be of another process, or of an earlier run.",
        ),
    ] = None
