"""What ``build.ninja`` of a source build says of how HIP code was compiled."""

from typing import Annotated, Literal

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta_collectors.pytorch.source_tree import SourceTree


@frozen
class NinjaTarget:
    """The compile lines of one target's HIP sources, taken together."""

    defines: Annotated[dict[str, str | None] | None, Fact("Macros by name; null: without a value.")] = None
    use_defines_present: Annotated[
        dict[str, bool] | None, Fact("Which macros of a fixed list are there.")
    ] = None
    codegen_flags_present: Annotated[
        dict[str, bool] | None, Fact("Which flags of a fixed list are there.")
    ] = None
    offload_archs: Annotated[tuple[str, ...] | None, Fact("Targets of --offload-arch, sorted.")] = None


@frozen
class NinjaHipcc:
    """How the HIP sources of a source build were compiled."""

    _source_file: Annotated[str | None, Fact("The file that was read.")] = None
    _parser: Annotated[
        Literal["ninja_defines", "legacy_findhip_per_source"] | None, Fact("Which form the build has.")
    ] = None
    _legacy_scripts_scanned: Annotated[int | None, Fact("Scripts of the FindHIP form that were read.")] = None
    targets: Annotated[dict[str, NinjaTarget] | None, Fact("What was found, by target.")] = None


def describe(ctx: Context, tree: SourceTree) -> NinjaHipcc:
    """Return how HIP code was compiled; notes against ninja_hipcc what is not known."""
    del ctx, tree
    return NinjaHipcc()
