"""Which FBGEMM GPU operators an import would take, and whether torch has FBGEMM inside."""

from typing import Annotated

from aorta.collect import Answer, Context, Module
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.packages import INIT
from aorta_collectors.packages.model import Provider
from aorta_collectors.packages.target import find, installed
from aorta_collectors.providers.torch_facts import TorchFacts

#: Where older releases kept the same.
TEXTS = ("docs/version.py", "_fbgemm_gpu_version.py", INIT)

#: Distributions that bring a package called fbgemm_gpu.
DISTRIBUTIONS = (
    "fbgemm-gpu",
    "fbgemm-gpu-rocm",
    "fbgemm-gpu-cpu",
    "fbgemm-gpu-genai",
    "fbgemm-gpu-hstu",
    "fbgemm-gpu-nightly",
    "fbgemm-gpu-nightly-rocm",
    "fbgemm-gpu-nightly-cpu",
    "fbgemm-gpu-nightly-genai",
    "fbgemm-gpu-genai-nightly",
    "fbgemm-gpu-hstu-nightly",
    "fbgemm-gpu-test",
    "fbgemm-gpu-test-rocm",
    "fbgemm-gpu-test-cpu",
    "fbgemm-gpu-genai-test",
)


@frozen
class Fbgemm:
    """The fbgemm_gpu that an import would take, and torch's own FBGEMM."""

    package_version: Annotated[
        str | None,
        Fact(
            "Version in fbgemm_gpu's build record or text, e.g. 1.8.0; else its distribution's.",
            caveat="Installed, not imported.",
        ),
    ] = None
    package_version_source: Annotated[
        str | None, Fact("File that the version stands in, or the metadata directory.")
    ] = None
    package_dist_name: Annotated[
        str | None, Fact("Distribution that claims the package, e.g. fbgemm_gpu-rocm; null where several do.")
    ] = None
    package_variant: Annotated[
        str | None, Fact("What it was built for, in its own word: rocm, cuda, cpu, docs.")
    ] = None
    commit: Annotated[
        str | None,
        Fact("Commit in the version or beside it, 7 to 40 hexadecimal digits; releases tell none."),
    ] = None
    providers: Annotated[
        tuple[Provider, ...] | None, Fact("Installed distributions that claim the package.")
    ] = None
    conflict: Annotated[
        bool | None, Fact("Whether more than one claims it: the files are then of who came last.")
    ] = None
    pytorch_use_fbgemm: Annotated[
        bool | None,
        Fact(
            "Whether torch was compiled with -DUSE_FBGEMM.",
            caveat="torch's own copy for the CPU, not fbgemm_gpu.",
            provenance=(Provenance.PROCESS,),
        ),
    ] = None
    pytorch_use_fbgemm_genai: Annotated[
        bool | None,
        Fact("Whether torch was compiled with -DUSE_FBGEMM_GENAI.", provenance=(Provenance.PROCESS,)),
    ] = None


@collector(
    section="fbgemm",
    model=Fbgemm,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(TorchFacts,),
    timeout_s=10,
)
def collect(ctx: Context) -> Fbgemm:
    """FBGEMM GPU operators, and torch's use of FBGEMM."""
    use, genai = "pytorch_use_fbgemm", "pytorch_use_fbgemm_genai"
    use_fbgemm, use_genai = _defined(ctx, "USE_FBGEMM", use), _defined(ctx, "USE_FBGEMM_GENAI", genai)
    candidates, hidden = installed(ctx, DISTRIBUTIONS)
    module = find(ctx, "fbgemm_gpu", candidates)
    if module.value is None:
        _note_missing(ctx, module)
        return Fbgemm(pytorch_use_fbgemm=use_fbgemm, pytorch_use_fbgemm_genai=use_genai)
    # Most machines have no such package, and need none of this.
    from aorta_collectors.packages.build_record import build_records, variant_of
    from aorta_collectors.packages.identity import identify, note_claims, sources
    from aorta_collectors.packages.ownership import claims_of, owner_name

    claims = claims_of(ctx, candidates, module.value, hidden)
    note_claims(ctx, claims, module.value)
    read = [*build_records(ctx, module.value), *sources(ctx, module.value, TEXTS)]
    found = identify(ctx, read, claims)
    variant = variant_of(read)
    if variant is None:
        ctx.note(ReasonKind.ABSENT, "package_variant", "the package does not say what it was built for")
    return Fbgemm(
        package_version=found.version,
        package_version_source=found.version_source,
        package_dist_name=owner_name(ctx, claims),
        package_variant=variant,
        commit=found.commit,
        providers=claims.providers,
        conflict=claims.conflict,
        pytorch_use_fbgemm=use_fbgemm,
        pytorch_use_fbgemm_genai=use_genai,
    )


def _note_missing(ctx: Context, module: Answer[Module]) -> None:
    for field in (
        "package_version",
        "package_version_source",
        "package_dist_name",
        "package_variant",
        "commit",
        "providers",
        "conflict",
    ):
        ctx.take(module, field)


def _defined(ctx: Context, name: str, field: str) -> bool | None:
    """Tell whether torch was compiled with an option; what its configuration does not tell is null."""
    torch = ctx.need(TorchFacts)
    if not torch.installed:
        ctx.take(torch.told("config"), field)
        return None
    from aorta_collectors.pytorch.config import build_config, defines_option

    config = ctx.take(build_config(torch), field)
    if config is None:
        return None
    defined = defines_option(config, name)
    if defined is None:
        detail = "torch's configuration does not tell the flags of the compiler"
        ctx.note(ReasonKind.UNPARSED, field, detail, subject="torch")
    return defined
