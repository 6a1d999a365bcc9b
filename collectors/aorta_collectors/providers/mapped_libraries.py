"""The shared libraries that a process has mapped: this one, or the one that imported torch to be asked."""

import posixpath
import re
from collections.abc import Iterator

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.plugin import provider
from aorta_collectors.providers.gap import Gap
from aorta_collectors.providers.torch_facts import IN_PROCESS, TorchFacts
from aorta_collectors.tree.libraries import is_library

MAPS = "/proc/self/maps"
LIMIT = 64 << 20
DELETED = " (deleted)"
SELF, TORCH_CHILD = "self", "torch_child"


@frozen
class MappedFile:
    """One mapped library. ``deleted``: the file was removed or replaced since, and is still in use."""

    path: str
    device: str = ""
    inode: int = 0
    deleted: bool = False

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return posixpath.basename(self.path)


@frozen
class MappedLibraries:
    """The libraries of a process, in the order of their addresses, each file once.

    ``process`` is self for the process that takes the snapshot, torch_child for one that did nothing but
    import torch. ``files`` is null, with ``gap``, where no process was looked at.
    """

    process: str | None = None
    files: tuple[MappedFile, ...] | None = None
    gap: Gap | None = None


@provider(model=MappedLibraries, needs=(TorchFacts,), timeout_s=10)
def provide(ctx: Context) -> MappedLibraries:
    """Libraries mapped by the process that uses torch."""
    torch = ctx.need(TorchFacts)
    own = ctx.data(MAPS, LIMIT) if ctx.request.import_strategy == IN_PROCESS else None
    if own is not None and own.value is not None:
        # A path may hold any bytes; they must not cost the others.
        lines = own.value.decode("utf-8", "surrogateescape")
        return MappedLibraries(process=SELF, files=tuple(parse_maps(lines)))
    if torch.maps is not None:
        return MappedLibraries(process=TORCH_CHILD, files=tuple(parse_maps(torch.maps)))
    if own is not None:
        return MappedLibraries(process=SELF, gap=Gap.of(own, MAPS))
    return MappedLibraries(process=TORCH_CHILD, gap=Gap.of(torch.told("mapped"), "torch"))


def parse_maps(text: str) -> Iterator[MappedFile]:
    """Yield the shared libraries in a text of ``/proc/PID/maps``, each file once."""
    seen: set[MappedFile] = set()
    # Whatever else may end a line can stand in a path.
    for line in text.split("\n"):
        # Addresses, permissions, offset, device, inode, path: the last may hold blanks.
        fields = line.split(None, 5)
        path = fields[5].removesuffix(DELETED) if len(fields) == 6 else ""
        if not path.startswith("/") or not is_library(posixpath.basename(path)):
            continue
        found = MappedFile(
            path=_unescaped(path),
            device=fields[3],
            inode=int(fields[4]) if re.fullmatch(r"\d{1,20}", fields[4]) else 0,
            deleted=fields[5].endswith(DELETED),
        )
        if found not in seen:
            seen.add(found)
            yield found


def _unescaped(path: str) -> str:
    """Return a path as it is: the kernel writes a line feed in it as four characters."""
    return path.replace("\\012", "\n")
