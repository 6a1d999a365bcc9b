"""What ``pytorch_build`` tells of a torch build."""

from typing import Annotated, Literal

from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Word
from aorta_collectors.providers.torch_facts import VersionSource
from aorta_collectors.providers.torch_symbols import MARKERS

PROCESS = (Provenance.PROCESS,)
FILES = (Provenance.FILESYSTEM,)
COMPILED = "What torch was compiled with, not what is loaded."
BUNDLED = ("libaotriton_v2.so",)
CK_OPTIONS = ("USE_ROCM_CK_SDPA", "USE_ROCM_CK_GEMM")
SUBMODULES = ("composable_kernel", "aiter", "fbgemm")

#: Names of ``build_flags`` and the names that builds have for them, in the order they are looked for.
BUILD_FLAGS: dict[str, tuple[str, ...]] = {
    name: (name,)
    for name in (
        *("USE_FLASH_ATTENTION", "USE_ROCM_CK_SDPA", "USE_AOTRITON", "USE_MEM_EFF_ATTENTION"),
        *("DISABLE_AOTRITON", "USE_ROCM", "USE_CUDA", "USE_CUDNN", "USE_MIOPEN", "USE_FBGEMM"),
        *("USE_FBGEMM_GENAI", "USE_NCCL", "USE_MKL", "USE_MKLDNN", "USE_OPENMP", "USE_KINETO", "BUILD_TYPE"),
    )
}
BUILD_FLAGS["USE_MIOPEN"] = ("USE_MIOPEN", "CAFFE2_USE_MIOPEN")


class InstallKind(Word):
    """How torch came here; wheel is any installed copy with metadata of its own."""

    WHEEL = "wheel"
    EDITABLE = "editable"
    SOURCE = "source"
    UNKNOWN = "unknown"


@frozen
class SubmoduleCommits:
    """Commits that are checked out in the source tree now; the build may have been of others."""

    composable_kernel: Annotated[str | None, Fact("Commit of third_party/composable_kernel.")] = None
    aiter: Annotated[str | None, Fact("Commit of third_party/aiter.")] = None
    fbgemm: Annotated[str | None, Fact("Commit of third_party/fbgemm.")] = None
    _source: Annotated[Literal["git"] | None, Fact("git where one of them was told.")] = None
    superproject: Annotated[
        str | None,
        Fact(
            "Commit of the source tree itself.",
            caveat="Where git_commit is another, torch was not built from it.",
        ),
    ] = None
    recorded: Annotated[
        dict[str, str | None] | None,
        Fact("Commits that the superproject's commit names for the submodules.", keys=SUBMODULES),
    ] = None


@frozen
class Flags:
    """The text of ``torch.__config__.show()``, taken apart."""

    build_settings: Annotated[
        dict[str, str] | None,
        Fact("Pairs of the line of build settings, values as they stand there.", provenance=PROCESS),
    ] = None
    cxx_defines: Annotated[
        dict[str, str | None] | None,
        Fact(
            "Macros that CXX_FLAGS defines, by name; null: without a value.",
            caveat="Of the C++ compiler: what HIP code was compiled with is in ninja_hipcc.",
            provenance=PROCESS,
        ),
    ] = None
    cxx_flags_raw: Annotated[str | None, Fact("CXX_FLAGS as it stands there.", provenance=PROCESS)] = None
    cuda_flags_raw: Annotated[
        str | None, Fact("CUDA_FLAGS as it stands there; newer builds name it.", provenance=PROCESS)
    ] = None
    config_lines: Annotated[
        tuple[str, ...] | None,
        Fact(
            "The other lines of the text: compilers and libraries that torch was built with, e.g. GCC 13.3.",
            caveat="CPU capability is what was chosen on this machine; HIP Runtime needs a device.",
            provenance=PROCESS,
        ),
    ] = None
    gpu_arch_list: Annotated[
        tuple[str, ...] | None,
        Fact(
            "Architectures that GPU code was compiled for, e.g. gfx942, in torch's order. Null for a build"
            " without GPU code.",
            caveat="Told by the build, not by a device: which GPUs are here is in gpu_arch and gpus.",
            provenance=PROCESS,
        ),
    ] = None


@frozen
class BinaryIntrospection:
    """What the files beside torch show."""

    libtorch_hip_symbol_counts: Annotated[
        dict[str, int | None] | None,
        Fact(
            "Defined dynamic symbols of libtorch_hip.so that mention each text, as c++filt would print them;"
            " a text with :: begins with a whole name.",
            caveat="Some: it was compiled in. None proves nothing: symbols may be hidden.",
            keys=MARKERS,
        ),
    ] = None
    torch_lib_bundled: Annotated[
        dict[str, bool | None] | None,
        Fact("Whether a file of that name, or with a version after it, lies beside them.", keys=BUNDLED),
    ] = None
    cxx_flags_use_defines: Annotated[
        dict[str, bool | None] | None,
        Fact(
            "Whether CXX_FLAGS turns these options on.",
            caveat="Options of the build: exporting them at run time does nothing.",
            keys=CK_OPTIONS,
        ),
    ] = None


@frozen
class CacheEntry:
    """One cache entry."""

    type: Annotated[str | None, Fact("BOOL, STRING, PATH, FILEPATH, INTERNAL, STATIC or UNINITIALIZED.")] = (
        None
    )
    value: Annotated[str | None, Fact("The value as it stands there, secrets redacted.")] = None


@frozen
class CmakeCache:
    """The entries of the build's CMake cache that concern features."""

    _source_file: Annotated[str | None, Fact("The file that was read.")] = None
    entries: Annotated[
        dict[str, CacheEntry] | None,
        Fact(
            "Entries by name, sorted; of several of one name the last, which is the one that counts.",
            caveat="As last configured, which may be after the build.",
        ),
    ] = None


@frozen
class NinjaTarget:
    """The compile lines of one target's HIP sources, taken together."""

    defines: Annotated[
        dict[str, str | None] | None,
        Fact(
            "Macros by name, sorted, of DEFINES and of -D among the flags; null: without a value.",
            caveat="Of any compile line; of several values the first.",
        ),
    ] = None
    use_defines_present: Annotated[dict[str, bool] | None, Fact("Whether each of 27 macros is there.")] = None
    codegen_flags_present: Annotated[dict[str, bool] | None, Fact("Whether each of 7 flags is there.")] = None
    offload_archs: Annotated[tuple[str, ...] | None, Fact("GPU targets that are compiled for, sorted.")] = (
        None
    )
    mixed_defines: Annotated[
        tuple[str, ...] | None, Fact("Macros that not all compile lines have, or not with one value.")
    ] = None
    compile_lines: Annotated[int | None, Fact("HIP sources of the target.")] = None


@frozen
class NinjaHipcc:
    """How the HIP sources of a source build were compiled."""

    _source_file: Annotated[str | None, Fact("The file that was read.")] = None
    _parser: Annotated[
        Literal["ninja_defines", "legacy_findhip_per_source"] | None,
        Fact("ninja_defines where there are compile rules for HIP; the other form is known, not read."),
    ] = None
    _legacy_scripts_scanned: Annotated[
        int | None, Fact("Scripts of the FindHIP form that were read: 0 where there are such.")
    ] = None
    targets: Annotated[
        dict[str, NinjaTarget] | None,
        Fact(
            "What was found of torch_hip, torch_cpu, c10_hip, ck_sdpa and mslk.",
            caveat="As last configured, which may be after the build.",
        ),
    ] = None


@frozen
class PytorchBuild:
    """One build of torch."""

    version: Annotated[str | None, Fact("Version of torch, as in pytorch_version.")] = None
    version_source: Annotated[
        VersionSource | None, Fact("Who told it: torch, its version.py, or the metadata of its package.")
    ] = None
    rocm_local: Annotated[
        str | None,
        Fact(
            "ROCm release in what follows the + of the version; null where none is named.",
            caveat="The builder's word. No such word says nothing: ROCm's own images have none.",
        ),
    ] = None
    git_local: Annotated[
        str | None, Fact("Commit in what follows the + of the version; null where none is named.")
    ] = None
    distribution_version: Annotated[
        str | None, Fact("Version in the package's metadata where that is another one; else null.")
    ] = None
    other_metadata: Annotated[
        tuple[str, ...] | None, Fact("Further metadata directories of torch, left over or of other copies.")
    ] = None
    git_commit: Annotated[str | None, Fact("torch.version.git_version, a commit of PyTorch.")] = None
    hip_version: Annotated[
        str | None,
        Fact(
            "torch.version.hip, e.g. 7.2.26015-fc0010cf6a; null for a build without HIP.",
            caveat=f"{COMPILED} HIP's number is not ROCm's.",
        ),
    ] = None
    cuda_version: Annotated[
        str | None,
        Fact("torch.version.cuda; null for a build without CUDA, as those for ROCm.", caveat=COMPILED),
    ] = None
    rocm_version: Annotated[
        str | None, Fact("torch.version.rocm, e.g. 7.2.0; only newer builds have one.", caveat=COMPILED)
    ] = None
    debug: Annotated[bool | None, Fact("torch.version.debug: a debug build.")] = None
    hip_runtime: Annotated[
        str | None,
        Fact(
            "HIP Runtime of torch's configuration text, e.g. 7.2.26015.",
            caveat="Named only where torch finds a device.",
            provenance=PROCESS,
        ),
    ] = None
    miopen_runtime: Annotated[
        str | None,
        Fact(
            "MIOpen of torch's configuration text, e.g. 3.5.1.",
            caveat="Named only where torch finds a device.",
            provenance=PROCESS,
        ),
    ] = None
    importable: Annotated[
        bool | None,
        Fact("Whether import torch came to a good end; null where it came to none.", provenance=PROCESS),
    ] = None
    import_error: Annotated[
        str | None, Fact("Last line of the exception that an import ended with.", provenance=PROCESS)
    ] = None
    import_ended: Annotated[
        str | None,
        Fact("How the process that imported torch ended, where not by itself.", provenance=PROCESS),
    ] = None
    import_stderr: Annotated[
        str | None,
        Fact(
            "What was printed while torch was imported and asked: the start and the end of a long text.",
            caveat="Lines of native code are no failures of themselves.",
            provenance=PROCESS,
            volatile=True,
        ),
    ] = None
    file: Annotated[str | None, Fact("torch.__file__, or where it would be imported from.")] = None
    lib_dir: Annotated[str | None, Fact("The directory of torch's own libraries.")] = None
    install_kind: Annotated[
        InstallKind | None,
        Fact("wheel (any installed copy), editable, source, or unknown.", provenance=FILES),
    ] = None
    source_path: Annotated[
        str | None, Fact("Top of the source tree; null for an installed copy.", provenance=FILES)
    ] = None
    submodule_commits: Annotated[
        SubmoduleCommits, Fact("Commits checked out in the source tree now.", provenance=FILES)
    ] = SubmoduleCommits()
    flags: Annotated[Flags, Fact("The configuration text, taken apart.", provenance=PROCESS)] = Flags()
    build_flags: Annotated[
        dict[str, bool | str | None] | None,
        Fact(
            "Build options by name: on, off, or as they stand. Null where the text does not name it, which"
            " is not off.",
            caveat="Options of the build, no switches of run time.",
            provenance=PROCESS,
            keys=tuple(BUILD_FLAGS),
        ),
    ] = None
    binary_introspection: Annotated[
        BinaryIntrospection, Fact("What the files beside torch show.", provenance=FILES)
    ] = BinaryIntrospection()
    cmake_cache: Annotated[CmakeCache, Fact("CMake's cache of a source build.", provenance=FILES)] = (
        CmakeCache()
    )
    ninja_hipcc: Annotated[
        NinjaHipcc, Fact("How HIP code of a source build was compiled.", provenance=FILES)
    ] = NinjaHipcc()
