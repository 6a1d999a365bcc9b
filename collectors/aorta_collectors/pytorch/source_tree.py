"""How torch was installed, where the tree is that it was built from, and the commits in it."""

from typing import Annotated, Literal

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Word
from aorta_collectors.providers.torch_facts import TorchFacts


class InstallKind(Word):
    """How torch came here."""

    WHEEL = "wheel"
    EDITABLE = "editable"
    SOURCE = "source"
    UNKNOWN = "unknown"


@frozen
class SourceTree:
    """How torch was installed; ``path`` is the top of the tree it was built from."""

    install_kind: InstallKind | None = None
    path: str | None = None


@frozen
class SubmoduleCommits:
    """Commits that are checked out under ``third_party`` of the source tree."""

    composable_kernel: Annotated[str | None, Fact("Commit of third_party/composable_kernel.")] = None
    aiter: Annotated[str | None, Fact("Commit of third_party/aiter.")] = None
    fbgemm: Annotated[str | None, Fact("Commit of third_party/fbgemm.")] = None
    _source: Annotated[Literal["git"] | None, Fact("git where one of them was told.")] = None


def source_tree(ctx: Context, torch: TorchFacts) -> SourceTree:
    """Return how torch was installed; notes against install_kind and source_path what is not known."""
    del ctx, torch
    return SourceTree()


def submodule_commits(ctx: Context, tree: SourceTree) -> SubmoduleCommits:
    """Return the commits of the submodules; notes against submodule_commits what is not known."""
    del ctx, tree
    return SubmoduleCommits()
