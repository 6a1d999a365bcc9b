"""The version of a loaded library, where something says it: torch about what it uses, or the file's name."""

import functools
import posixpath
import re
from collections.abc import Mapping, Sequence

from aorta.collect import Answer, Elf
from aorta_collectors.loaded.found import Found
from aorta_collectors.loaded.model import Origin, VersionSource
from aorta_collectors.providers.mapped_libraries import SELF, TORCH_CHILD
from aorta_collectors.providers.torch_facts import CHILD, IN_PROCESS, TorchFacts
from aorta_collectors.pytorch.config import parse_config


@functools.cache
def _suffix() -> re.Pattern[str]:
    return re.compile(r"\.so\.(\d{1,9}(?:\.\d{1,9}){1,5})", re.ASCII)


def parse_suffix(path: str) -> str | None:
    """Return the version at the end of a file's name: 1.0.70200 of ``librccl.so.1.0.70200``.

    A single number is the interface's, as in ``librccl.so.1``: it says which programs fit, not which
    release it is. So does none.
    """
    name = posixpath.basename(path)
    found = _suffix().fullmatch(name, name.find(".so."))
    return found[1] if found is not None else None


class Versions:
    """Who tells which version of what."""

    def __init__(self, torch: TorchFacts, found: Sequence[Found], elves: Mapping[str, Answer[Elf]]) -> None:
        self._asked = {IN_PROCESS: SELF, CHILD: TORCH_CHILD}.get(torch.strategy)
        near = [file for file in found if file.process == self._asked]
        families = [file.family for file in near]
        self._alone = {family for family in families if families.count(family) == 1}
        linked = (elves[file.path].value for file in near if file.family == "torch" and file.path in elves)
        self._needed = {name for elf in linked if elf is not None for name in elf.needed}
        self._sonames = {path: elf.value.soname for path, elf in elves.items() if elf.value is not None}
        self._nccl = torch.text("nccl")
        config = parse_config(torch.text("config") or "")
        self._config = {"hip": config.hip_runtime, "miopen": config.miopen}

    def of(self, file: Found, origin: Origin) -> tuple[str | None, VersionSource | None]:
        """Return a version and who told it. Torch speaks of what it is linked with, if there is one such."""
        used = {posixpath.basename(file.path), self._sonames.get(file.path)}
        told_here = file.process is not None and file.process == self._asked
        if told_here and file.family in self._alone and not self._needed.isdisjoint(used):
            if file.family in ("rccl", "nccl") and self._nccl:
                return self._nccl, VersionSource.TORCH
            told = self._config.get(file.family)
            if told and (file.family != "miopen" or origin is Origin.TORCH_BUNDLED):
                return told, VersionSource.TORCH_CONFIG
        named = parse_suffix(file.path)
        return named, VersionSource.FILE_NAME if named else None
