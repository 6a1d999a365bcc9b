"""The content of mode files, by digest: an edited one cannot hide behind an equal fingerprint.

They may hold secret values, so of their text only the names of further mode files are read.
"""

import hashlib
import json
import posixpath
from collections.abc import Sequence
from typing import Annotated, TypeVar

from aorta.collect import Answer, Context, Manner
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind
from aorta_collectors.buck.failures import read
from aorta_collectors.providers.buck_checkout import BuckCheckout, BuildKind, parse_root
from aorta_collectors.providers.gap import Gap

T = TypeVar("T")

FIELD = "mode_file_contents"

#: What a mode file names further ones by: a line of its own, or the line after --flagfile.
INCLUDES = r"^[ \t]*(?:@|--flagfile\r?\n[ \t]*)(\S.*?)[ \t]*\r?$"

#: The most files that are followed; buck2 itself knows no limit, and runs for ever in a circle.
MOST = 64

QUESTION_S = 30.0


@frozen
class ModeContent:
    """One mode file, named by the caller or by another one."""

    mode: Annotated[str | None, Fact("As it was written, without the @.")] = None
    path: Annotated[str | None, Fact("Where it was found.", provenance=(Provenance.CLIENT_HOST,))] = None
    digest: Annotated[
        str | None,
        Fact(
            "sha256 of its bytes.",
            caveat="A mode file in Python is run by buck2: its bytes do not tell what it prints.",
            provenance=(Provenance.CLIENT_HOST,),
        ),
    ] = None


class ModeFiles:
    """Finds mode files as buck2 does: ``cell//path`` in that cell, else here, else in the cell of here."""

    def __init__(self, ctx: Context, checkout: BuckCheckout) -> None:
        self._ctx = ctx
        self._checkout = checkout
        self._cells: dict[str, Answer[str]] = {}
        #: Why some could not be read.
        self.gaps: list[Gap] = []

    def contents(self, modes: Sequence[str]) -> list[ModeContent]:
        """Return the files in the order in which buck2 reads them."""
        found: list[ModeContent] = []
        todo = list(modes)
        seen: set[str] = set()
        while todo:
            mode = todo.pop(0)
            if len(found) == MOST:
                text = f"more than {MOST} mode files name one another"
                self.gaps.append(Gap(kind=ReasonKind.UNSUPPORTED, subject=mode, detail=text))
                found.append(ModeContent(mode=mode))
                break
            content, includes = self._content(mode)
            found.append(content)
            if content.path is not None and content.path not in seen:
                seen.add(content.path)
                todo = [*includes, *todo]
        return found

    def _content(self, mode: str) -> tuple[ModeContent, list[str]]:
        if mode == "-":
            text = "options from standard input"
            self.gaps.append(Gap(kind=ReasonKind.UNSUPPORTED, subject="@-", detail=text))
            return ModeContent(mode=mode), []
        file = mode.partition("#")[0]
        place = self._place(file)
        path = self._take(place)
        if path is None:
            return ModeContent(mode=mode), []
        digest = self._take(self._ctx.digests([(path, None)])[0])
        if digest is None or file.endswith(".py"):
            return ModeContent(mode=mode, path=path, digest=digest), []
        includes = self._take(self._ctx.find(path, INCLUDES))
        return ModeContent(
            mode=mode, path=path, digest=digest if includes is not None else None
        ), includes or []

    def _take(self, answer: Answer[T]) -> T | None:
        if answer.kind is not None:
            self.gaps.append(Gap.of(answer, answer.subject or ""))
        return answer.value

    def _place(self, file: str) -> Answer[str]:
        cell, slashes, path = file.partition("//")
        if (slashes and not file.startswith("/")) or file.startswith("//"):
            return self._in_cell(cell, path)
        if file.startswith("/"):
            return Answer(value=file, subject=file)
        if self._checkout.folder is None:
            return Answer(
                kind=ReasonKind.UNSUPPORTED, subject=file, detail="the working directory is not told"
            )
        here = posixpath.join(self._checkout.folder, file)
        if self._ctx.stat(here).kind is not ReasonKind.ABSENT:
            return Answer(value=here, subject=here)
        return self._in_cell("", file)

    def _in_cell(self, cell: str, path: str) -> Answer[str]:
        if cell not in self._cells:
            self._cells[cell] = self._cell(cell)
        root = self._cells[cell]
        return Answer(value=posixpath.join(root.value, path), subject=path) if root.value else root

    def _cell(self, cell: str) -> Answer[str]:
        if self._checkout.kind is not BuildKind.BUCK2:
            text = f"where the cell {cell or 'of this directory'} is was not asked"
            return Answer(kind=ReasonKind.BLOCKED, subject=cell, detail=text)
        from aorta.buck.answers import parse_cells

        argv = ("buck2", "audit", "cell", "--json", cell) if cell else ("buck2", "root")
        timeout = min(QUESTION_S, self._ctx.request.buck_timeout)
        answer = self._ctx.command(argv, timeout=timeout, manner=Manner(as_caller=True))
        what = f"the question where the cell {cell or 'of this directory'} is"
        found, gap = read(answer, parse_cells, what) if cell else read(answer, parse_root, what)
        place = found.get(cell) if isinstance(found, dict) else found
        if place is not None:
            return Answer(value=place, subject=cell)
        if gap is not None:
            return Answer(kind=gap.kind, subject=gap.subject, detail=gap.detail)
        return Answer(kind=ReasonKind.UNPARSED, subject=cell, detail=f"{what}: buck2 did not name it")


def combined(contents: Sequence[ModeContent]) -> str | None:
    """Return one digest over all files in their order, None where one of them is missing or there is none."""
    if not contents or any(content.digest is None for content in contents):
        return None
    pairs = [[content.mode, content.digest] for content in contents]
    text = json.dumps(pairs, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"
