"""The shared libraries that a process has mapped: this one, or the one that imported torch to be asked."""

import posixpath
import re
from collections.abc import Iterator

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.plugin import provider
from aorta_collectors.providers.gap import Gap
from aorta_collectors.providers.torch_facts import IN_PROCESS, TorchFacts

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
    told = torch.told("mapped")
    if isinstance(told.value, list):
        text = "\n".join(line for line in told.value if isinstance(line, str))
        return MappedLibraries(process=TORCH_CHILD, files=tuple(parse_maps(text)))
    if own is not None:
        return MappedLibraries(process=SELF, gap=Gap.of(own, MAPS))
    return MappedLibraries(process=TORCH_CHILD, gap=Gap.of(told, "torch"))


def parse_maps(text: str) -> Iterator[MappedFile]:
    """Yield the shared libraries in a text of ``/proc/PID/maps``, each file once."""
    seen: set[MappedFile] = set()
    # Whatever else may end a line can stand in a path.
    for line in text.split("\n"):
        # Addresses, permissions, offset, device, inode, path: the last may hold blanks.
        fields = line.split(None, 5)
        if len(fields) < 6 or not fields[5].startswith("/") or not _is_library(fields[5]):
            continue
        path = _unescaped(fields[5].removesuffix(DELETED))
        found = MappedFile(
            path=path,
            device=fields[3],
            inode=int(fields[4]) if re.fullmatch(r"\d{1,20}", fields[4]) else 0,
            deleted=fields[5].endswith(DELETED),
        )
        if found not in seen:
            seen.add(found)
            yield found


def _is_library(path: str) -> bool:
    name = posixpath.basename(path.removesuffix(DELETED))
    return name.endswith(".so") or ".so." in name


def _unescaped(path: str) -> str:
    """Return a path as it is: the kernel writes a line feed in it as four characters."""
    return path.replace("\\012", "\n")
