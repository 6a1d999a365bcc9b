"""The build system of the tree that this process stands in."""

from typing import Annotated, Literal

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.buck_checkout import BuckCheckout, BuildKind


@frozen
class BuildSystem:
    """The Buck2 project of the working directory and its revision."""

    kind: Annotated[
        BuildKind | None,
        Fact("buck2 where buck2 itself finds its project here, none where there is no project or no buck2."),
    ] = None
    buck2_version: Annotated[
        str | None, Fact("What buck2 --version prints after its name; words in <> are its own.")
    ] = None
    repo_root: Annotated[str | None, Fact("The project's directory, of buck2 root --kind project.")] = None
    revision: Annotated[
        str | None,
        Fact(
            "The commit that is checked out there; hg's own text, + for a changed tree.",
            caveat="Not what is changed.",
        ),
    ] = None
    revision_source: Annotated[
        Literal["git", "hg", "sl"] | None, Fact("The version control that told it: git, hg, sl.")
    ] = None
    dirty: Annotated[
        bool | None,
        Fact(
            "Whether tracked files are changed; null where telling it would run programs that the checkout's"
            " own configuration names.",
            caveat="Untracked files do not count, nor changes within submodules.",
        ),
    ] = None


@collector(
    section="build_system",
    model=BuildSystem,
    provenance=Provenance.CLIENT_HOST,
    scope=Scope.NAMESPACE,
    needs=(BuckCheckout,),
    timeout_s=25,
)
def collect(ctx: Context) -> BuildSystem:
    """The Buck2 project of the working directory, and its revision."""
    checkout = ctx.need(BuckCheckout)
    if checkout.kind is not BuildKind.BUCK2 or checkout.root is None:
        if checkout.gap is not None:
            checkout.gap.note(ctx, "kind" if checkout.kind is None else "repo_root")
        return BuildSystem(kind=checkout.kind)
    if checkout.gap is not None:
        checkout.gap.note(ctx, "buck2_version")
    # Only where there is a project.
    from aorta_collectors.buck.revision import revision_of

    revision = revision_of(ctx, checkout.root)
    if revision.gap is not None:
        revision.gap.note(ctx, "revision")
    if revision.dirty_gap is not None:
        revision.dirty_gap.note(ctx, "dirty")
    return BuildSystem(
        kind=checkout.kind,
        buck2_version=checkout.version,
        repo_root=checkout.root,
        revision=revision.text,
        revision_source=revision.source.value if revision.source else None,
        dirty=revision.dirty,
    )
