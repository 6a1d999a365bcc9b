"""Whether the copy that is mapped is the one that a section about the installed library describes."""

import functools
import posixpath
from typing import Any

from aorta.collect import Answer, Context
from aorta.model.frozen import frozen
from aorta_collectors.loaded.model import Difference
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.libraries import pick
from aorta_collectors.tree.links import is_one_file, resolve

#: The sections by family, with the name by which they look for the library.
SECTIONS = {
    "hip": "libamdhip64.so",
    "rccl": "librccl.so",
    "hipblaslt": "libhipblaslt.so",
    "rocblas": "librocblas.so",
    "miopen": "libMIOpen.so",
}

TORCH = "torch"

#: What is said of the other file, by whether its content is the same.
CONTENT = {None: "", True: ", a copy with equal content", False: ", which has another content"}


@frozen
class Mapped:
    """A file as far as the comparison goes; ``deed`` says what a process does with it."""

    family: str
    path: str
    deed: str
    deleted: bool = False


class Compared:
    """Compares mapped files with what the ROCm root holds."""

    def __init__(self, ctx: Context, roots: RocmRoots, torch_dir: str | None) -> None:
        self._ctx = ctx
        self._roots = roots
        self._torch_dir = torch_dir
        self._picked = functools.cache(self._pick)

    def _pick(self, name: str) -> Answer[str]:
        return self._roots.unseen or pick(self._ctx, self._roots.lib_dirs, name)

    def difference(self, mapped: Mapped) -> Answer[Difference | None]:
        """Return the difference, None where there is none or no section describes the library.

        Fails with the reason for which it is not known what the section describes.
        """
        if mapped.family == TORCH:
            return self._of_torch(mapped)
        name = SECTIONS.get(mapped.family)
        picked: Answer[Any] = self._picked(name) if name is not None else Answer()
        if picked.value is None:
            return Answer() if name is None or picked.absent else picked
        if not mapped.deleted and self._leads_to(mapped.path, picked.value):
            return Answer()
        return Answer(value=self._described(mapped, picked.value))

    def _of_torch(self, mapped: Mapped) -> Answer[Difference | None]:
        """Compare a library of torch with the one of that name beside torch."""
        name = posixpath.basename(mapped.path)
        own = posixpath.join(self._torch_dir or "/", name)
        if self._torch_dir is None or own == mapped.path or not self._ctx.stat(own).ok:
            return Answer()
        if not mapped.deleted and self._leads_to(mapped.path, own):
            return Answer()
        same = None if mapped.deleted else self._same_content(mapped.path, own)
        return Answer(
            value=Difference(
                section="pytorch_build",
                path=own,
                same_content=same,
                statement=f"{mapped.deed} {mapped.path}, not torch's own {own}{CONTENT[same]}",
            )
        )

    def _leads_to(self, path: str, other: str) -> bool:
        if path == other or resolve(self._ctx, path).value == other:
            return True
        return is_one_file(self._ctx.stat(path), self._ctx.stat(other))

    def _described(self, mapped: Mapped, picked: str) -> Difference:
        same = None if mapped.deleted else self._same_content(mapped.path, picked)
        what = f"the {mapped.family} of the ROCm root is {picked}{CONTENT[same]}"
        if mapped.path == picked:
            what = f"{mapped.family} describes the file that is there now"
        gone = ", which was removed or replaced since" if mapped.deleted else ""
        return Difference(
            section=mapped.family,
            path=picked,
            same_content=same,
            statement=f"{mapped.deed} {mapped.path}{gone}; {what}",
        )

    def _same_content(self, path: str, other: str) -> bool | None:
        one, two = self._ctx.stat(path).value, self._ctx.stat(other).value
        if one is not None and two is not None and one.size != two.size:
            return False
        first, second = self._ctx.digest(path), self._ctx.digest(other)
        return first.value == second.value if first.ok and second.ok else None
