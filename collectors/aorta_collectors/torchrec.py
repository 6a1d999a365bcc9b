"""Which TorchRec an import would take, told by its text and by metadata, each by its own name.

Importing it would load torch and FBGEMM and ask for a GPU, and release wheels keep their commit in
``version.py`` alone. Metadata may be of another copy: it stands for the package only where the
distribution holds that very package.
"""

from collections.abc import Sequence
from typing import Annotated

from aorta.collect import Context, Distribution, Module
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.packages.model import Claim, Provider
from aorta_collectors.packages.pep440 import is_version, same_version
from aorta_collectors.packages.target import find, installed

TEXTS = ("version.py",)
DISTRIBUTIONS = ("torchrec", "torchrec-nightly", "torchrec-cpu", "torchrec-nightly-cpu")

#: Metadata that is just found beside a package may be older than its text.
PROOFS = (Claim.RECORD, Claim.EDITABLE)


@frozen
class Torchrec:
    """The TorchRec that an import would take, and what metadata says."""

    package_version: Annotated[
        str | None,
        Fact(
            "Version of what would be imported: of its version.py, else of the distribution that holds it.",
            caveat="Installed, not imported.",
        ),
    ] = None
    commit: Annotated[str | None, Fact("Commit of what would be imported, 7 to 40 hexadecimal digits.")] = (
        None
    )
    source_version: Annotated[str | None, Fact("__version__ in version.py of the package.")] = None
    source_commit: Annotated[str | None, Fact("git_version in version.py of the package.")] = None
    distribution_version: Annotated[
        str | None, Fact("Version in the metadata first on the path.", caveat="May be of another copy.")
    ] = None
    providers: Annotated[
        tuple[Provider, ...] | None, Fact("Installed distributions that claim the package.")
    ] = None
    conflict: Annotated[bool | None, Fact("Whether more than one claims it.")] = None


@collector(
    section="torchrec",
    model=Torchrec,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    timeout_s=10,
)
def collect(ctx: Context) -> Torchrec:
    """TorchRec package: version and commit by its text and by metadata."""
    candidates, hidden = installed(ctx, DISTRIBUTIONS)
    if hidden is not None:
        ctx.take(hidden, "distribution_version")
    metadata = _metadata_version(ctx, candidates)
    module = ctx.take(find(ctx, "torchrec", candidates), "")
    if module is None:
        return Torchrec(distribution_version=metadata)
    if not candidates and hidden is None:
        ctx.note(ReasonKind.ABSENT, "distribution_version", "no metadata of torchrec")
    # Most machines have no such package, and need none of this.
    from aorta_collectors.packages.identity import note_claims, sources, versionless
    from aorta_collectors.packages.ownership import claims_of

    claims = claims_of(ctx, candidates, module, hidden)
    note_claims(ctx, claims, module)
    read = sources(ctx, module, TEXTS)
    said = next((each.version for each in read if each.version and is_version(each.version)), None)
    commit = next((each.commit for each in read if each.commit), None)
    version = said or _promoted(claims.providers)
    if version is None and read:
        ctx.take(versionless(read), "package_version")
    elif version is None:
        text = f"{module.origin} is a single file, which has no version.py, and no metadata holds it"
        ctx.note(ReasonKind.ABSENT, "package_version", text, subject=module.origin)
    if said is not None and metadata is not None:
        _note_other_copy(ctx, module, said, metadata)
    return Torchrec(
        package_version=version,
        commit=_commit(ctx, version, commit),
        source_version=said,
        source_commit=commit,
        distribution_version=metadata,
        providers=claims.providers,
        conflict=claims.conflict,
    )


def _metadata_version(ctx: Context, candidates: Sequence[Distribution]) -> str | None:
    """Return the version of the metadata that comes first, and note where it is none or not alone."""
    versions = list(dict.fromkeys(each.version for each in candidates if each.version))
    if not versions:
        if candidates:
            text = f"{candidates[0].path}: no version in it"
            ctx.note(ReasonKind.ABSENT, "distribution_version", text, subject=candidates[0].path)
        return None
    first, *others = versions
    if not is_version(first):
        text = f"{first[:60]!r} is no version by PEP 440"
        ctx.note(ReasonKind.UNPARSED, "distribution_version", text, subject=candidates[0].path)
    differing = [each for each in others if not same_version(first, each)]
    if differing:
        text = f"metadata of several versions: {', '.join(each[:60] for each in (first, *differing))}"
        ctx.note(ReasonKind.EXPECTED, "distribution_version", text)
    return first


def _note_other_copy(ctx: Context, module: Module, said: str, metadata: str) -> None:
    """Note that the package and the metadata are not of one copy, where their versions tell it."""
    if is_version(metadata) and not same_version(said, metadata):
        text = f"the package says {said}, metadata {metadata}: one of them is of another copy"
        ctx.note(ReasonKind.EXPECTED, "package_version", text, subject=module.origin)


def _promoted(providers: Sequence[Provider]) -> str | None:
    """Return the version of the distributions that are proved to hold the package, if it is one."""
    proved = [each.version for each in providers if each.claim in PROOFS]
    versions = {each for each in proved if each is not None and is_version(each)}
    return versions.pop() if len(versions) == len(proved) == 1 else None


def _commit(ctx: Context, version: str | None, told: str | None) -> str | None:
    """Return the commit of what would be imported: the one that it tells, else the one in its version."""
    from aorta_collectors.packages.commit import bare_commit, commit_in_version

    commit = told or commit_in_version(version or "") or bare_commit(version or "")
    if commit is None:
        ctx.note(ReasonKind.ABSENT, "commit", f"none is told beside the version {version or 'unknown'}")
    return commit
