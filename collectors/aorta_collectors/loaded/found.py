"""The files that ``loaded_libraries`` lists: those that are mapped, and those that an import would map."""

import posixpath
from collections.abc import Iterable, Iterator

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta_collectors.loaded.families import family_of
from aorta_collectors.providers.mapped_libraries import (
    SELF,
    TORCH_CHILD,
    MappedFile,
    MappedLibraries,
    parse_maps,
)
from aorta_collectors.providers.torch_facts import CHILD, TorchFacts


@frozen
class Found:
    """A file before anything else is known of it."""

    path: str
    family: str
    deleted: bool = False
    process: str | None = None


def find(ctx: Context, torch: TorchFacts, mapped: MappedLibraries) -> list[Found]:
    """Return the files of interest, by library and path."""
    found = list(_observed(mapped.files or (), mapped.process))
    rehearsed = torch.maps if torch.strategy == CHILD and mapped.process == SELF else None
    if rehearsed is not None:
        # The import was not done in this process: it would have harmed it, or taken too long.
        found += _observed(parse_maps(rehearsed), TORCH_CHILD)
    elif torch.package is not None and (mapped.files is None or torch.importable is not True):
        found += _predicted(ctx, torch.package, {file.path for file in found})
    return sorted(found, key=lambda each: (each.family, each.path))


def _observed(files: Iterable[MappedFile], process: str | None) -> Iterator[Found]:
    for file in files:
        family = family_of(file.name)
        if family is not None:
            yield Found(path=file.path, family=family, deleted=file.deleted, process=process)


def _predicted(ctx: Context, package: str, known: set[str]) -> list[Found]:
    from aorta_collectors.loaded.prediction import predict

    prediction = predict(ctx, package)
    for trouble in prediction.troubles:
        ctx.take(trouble, "")
    named = ((path, family_of(posixpath.basename(path))) for path in prediction.paths)
    return [Found(path=path, family=family) for path, family in named if family and path not in known]
