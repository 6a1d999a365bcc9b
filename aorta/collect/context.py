"""``Context``: what a collector works with. Failures of the machine become reasons, never exceptions."""

import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from aorta.collect.answer import Answer, CommandAnswer, asked, command_answer, unasked_answer
from aorta.collect.commands import CommandPool
from aorta.collect.digests import FULL, IDENTITY, NONE, Digests
from aorta.collect.packed import Packed, opened, packed
from aorta.collect.request import Request
from aorta.collect.tree_digest import TreeDigest, digest_tree
from aorta.host.elf import Elf
from aorta.host.observe import OBSERVATIONS
from aorta.host.protocol import (
    PLAIN,
    READ_LIMIT,
    SYSTEM_DIRECTORIES,
    Argv,
    Completed,
    Distribution,
    Entry,
    Host,
    Manner,
    Module,
    Stat,
    shown,
)
from aorta.model.frozen import frozen
from aorta.model.reason import Reason
from aorta.model.redact import redact, redact_argv
from aorta.model.snapshot import CommandRecord, DigestCount
from aorta.model.vocabulary import PARTS, Coverage, Detail, Outcome, ReasonKind

T = TypeVar("T")
Model = TypeVar("Model")

COMMAND_TIMEOUT_S = 5.0

#: Where programs are looked for when PATH is not set, as the C library does.
DEFAULT_PATH = "/bin:/usr/bin"

#: The part of a section's time, and the most seconds of it, that no question may use up: what was
#: seen until then is told, while a section that is past its deadline loses all.
RESERVED_PART, RESERVED_S = 0.2, 0.5

#: The part of a capture's last seconds that one long question may take, so that others still follow.
LONG_PART = 0.7

#: The most characters of a reason's sentence, and the most reasons of one section.
NOTE_LIMIT = 1000
NOTES_LIMIT = 200


class UndeclaredNeedError(Exception):
    """A collector asked for something that it does not declare under ``needs``."""


@frozen
class Shared:
    """What all contexts of one capture have in common."""

    host: Host
    request: Request
    commands: CommandPool
    digests: Digests
    listings: dict[tuple[str, bool], Answer[list[Entry]]] = attrs.field(factory=dict)
    turns: dict[str, threading.Lock] = attrs.field(factory=dict)


class Context:
    """The door of one collector run.

    The ``Answer`` forms (``text``, ``link``, ``stat``, ``scan``, ``command``, ``digest``) leave it to the
    collector what a failure means. ``take(answer, field)`` and the short forms (``read``, ``lines``)
    return the value or None and note the reason against ``field``.
    """

    def __init__(
        self,
        shared: Shared,
        section: str,
        *,
        deadline: float,
        needs: Mapping[type[Any], Any] | None = None,
        last: bool = False,
    ) -> None:
        self._shared = shared
        self._section = section
        now = time.monotonic()
        self._deadline = deadline - min(RESERVED_S, RESERVED_PART * max(0.0, deadline - now))
        self._needs = needs or {}
        #: Whether the whole capture ends when this run has to.
        self.last = last
        self._noted: set[Reason] = set()
        self.reasons: list[Reason] = []
        self.command_records: list[CommandRecord] = []
        self.variables: set[str] = set()
        #: Variables that a program may have looked at by itself.
        self.passed_on: set[str] = set()
        #: Whether anything but variables was asked for: what was not can not have changed.
        self.looked = False
        self.redacted: set[str] = set()
        self.coverage: dict[str, Coverage] = {}
        self.digest_count = DigestCount()
        #: Whether the run is past its deadline: what it still says is not heard.
        self.abandoned = False

    @property
    def request(self) -> Request:
        """Return what the caller asked for and claimed."""
        return self._shared.request

    @property
    def _machine(self) -> Shared:
        """Return what answers questions about the machine."""
        self.looked = True
        return self._shared

    @property
    def host_kind(self) -> str:
        """Return ``live`` or ``replay``."""
        return self._shared.host.kind

    def remaining(self) -> float:
        """Return the seconds that questions may still take, a little less than the section has left."""
        return max(0.0, self._deadline - time.monotonic())

    def allowance(self) -> float:
        """Return the seconds that one long question may take: others wait for its answer."""
        return self.remaining() * (LONG_PART if self.last else 1.0)

    def wants(self, detail: Detail) -> bool:
        """Tell whether that much detail was asked for."""
        return detail is Detail.COMPACT or self.request.detail is Detail.FULL

    def need(self, model: type[Model]) -> Model:
        """Return the value of a declared need."""
        if model not in self._needs:
            raise UndeclaredNeedError(f"{self._section} does not declare needs=({model.__name__},)")
        value: Model = opened(self._needs[model])
        return value

    def need_packed(self, model: type[Any]) -> bytes:
        """Return the value of a declared need as another process can load it."""
        value = self._needs.get(model)
        return value.data if isinstance(value, Packed) else packed(self.need(model)).data

    def begin(self, timeout_s: float) -> float:
        """Let questions take no more than a collector has that begins now; return until when (monotonic)."""
        left = timeout_s - min(RESERVED_S, RESERVED_PART * timeout_s)
        self._deadline = min(self._deadline, time.monotonic() + left)
        return self._deadline

    # Reasons

    def note(self, kind: ReasonKind, field: str, text: str, *, subject: str | None = None) -> None:
        """Note why ``field`` (dotted, empty for the whole section) is missing.

        Raises ValueError for a kind that there is not. Beyond 200 reasons only their number is kept.
        """
        reason = Reason(
            section=self._section,
            kind=ReasonKind(kind),
            field=_bounded(str(field)),
            subject=_bounded(redact(_looked_at(subject))) if subject else None,
            detail=_bounded(redact(_looked_at(text))),
        )
        if reason in self._noted:
            return
        self._noted.add(reason)
        if len(self._noted) <= NOTES_LIMIT:
            self.reasons.append(reason)
            return
        more = f"and {len(self._noted) - NOTES_LIMIT} more reasons"
        self.reasons[NOTES_LIMIT:] = [Reason(section=self._section, kind=reason.kind, detail=more)]

    def cover(self, part: str, state: Coverage) -> None:
        """Say whether a part of the machine (gpu, rocm, torch, rdma, isolation) was seen at all.

        Raises ValueError for another part or state.
        """
        if part not in PARTS:
            raise ValueError(f"{part!r} is none of {', '.join(PARTS)}")
        self.coverage[part] = Coverage(state)

    def take(self, answer: Answer[T], field: str) -> T | None:
        """Return an answer's value, or note against ``field`` why there is none and return None."""
        if answer.kind is not None:
            self.note(answer.kind, field, answer.detail, subject=answer.subject)
            return None
        return answer.value

    # Files

    def text(self, path: str, limit: int = READ_LIMIT) -> Answer[str]:
        """Read the first ``limit`` bytes of a file as UTF-8."""
        return asked(path, lambda: self._machine.host.read_text(path, limit, timeout=self.remaining()))

    def data(self, path: str, limit: int = READ_LIMIT) -> Answer[bytes]:
        """Read the first ``limit`` bytes of a file."""
        return asked(path, lambda: self._machine.host.read_bytes(path, limit, timeout=self.remaining()))

    def pieces(self, path: str, size: int = READ_LIMIT) -> Iterator[Answer[bytes]]:
        """Read a file of any size piece by piece; an answer that failed is the last."""
        for offset in itertools.count(0, size):
            piece = asked(path, functools.partial(self._piece, path, size, offset))
            if not piece.ok or piece.value:
                yield piece
            if len(piece.value or b"") < size:
                return

    def _piece(self, path: str, size: int, offset: int) -> bytes:
        return self._machine.host.read_bytes(path, size, timeout=self.remaining(), offset=offset)

    def find(self, path: str, pattern: str) -> Answer[list[str]]:
        """Return what group 1 of a pattern matches in a file's lines; nothing else of it is told or kept."""
        return asked(path, lambda: self._machine.host.find(path, pattern, timeout=self.remaining()))

    def link(self, path: str) -> Answer[str]:
        """Read the text of a symbolic link."""
        return asked(path, lambda: self._machine.host.link(path, timeout=self.remaining()))

    def stat(self, path: str, *, follow: bool = True) -> Answer[Stat]:
        """Look at a path; with ``follow`` at what it leads to."""
        return asked(path, lambda: self._machine.host.stat(path, timeout=self.remaining(), follow=follow))

    def scan(self, path: str, *, details: bool = False) -> Answer[list[Entry]]:
        """List a directory, sorted by name: names and kinds; with ``details`` sizes and times too.

        A directory is listed once a capture, so that all sections see the same.
        """
        host, known = self._machine.host, self._shared.listings
        turn, limit = self._shared.turns.setdefault(path, threading.Lock()), self.remaining()
        if not turn.acquire(timeout=limit):
            detail = f"{path}: not listed within {limit:.3g} s"
            return Answer(kind=ReasonKind.TIMED_OUT, subject=path, detail=detail)
        try:
            details = details or (path, True) in known
            if (path, details) not in known:
                known[path, details] = asked(
                    path, lambda: host.scan(path, timeout=self.remaining(), details=details)
                )
            return known[path, details]
        finally:
            turn.release()

    def digest(self, path: str) -> Answer[str]:
        """Return ``sha256:`` and the hexadecimal digest of a file, read once a capture."""
        return self.digests([(path, None)], NONE if self.request.digests == NONE else FULL)[0]

    def digests(self, files: Sequence[tuple[str, Entry | None]], method: str = FULL) -> list[Answer[str]]:
        """Return the digests of several files by one method, hashed side by side.

        Each file is named by its path and, where a listing with details gave one, its entry.
        """
        if method == NONE:
            return [_left_out(path) for path, _ in files]
        engine = self._machine.digests
        told = engine.files(files, self.remaining(), method)
        hashed = sum(read for _, read in told)
        count, good = self.digest_count, sum(answer.ok for answer, _ in told)
        self.digest_count = DigestCount(
            hashed=count.hashed + hashed, remembered=count.remembered + good - hashed
        )
        for path, _ in files if engine.wrong else ():
            if path in engine.wrong:
                self.note(ReasonKind.FAILED, "", engine.wrong[path], subject=path)
        return [answer for answer, _ in told]

    def digest_method(self, path: str) -> str:
        """Return how the files of a large directory are looked at: as asked for, else by where it lies."""
        if self.request.digests is not None:
            return self.request.digests
        return IDENTITY if self._machine.digests.filesystem(path, None).may_hang else FULL

    def digest_tree(
        self, path: str, *, members: Callable[[str], bool], descend: Callable[[str], bool] = lambda _: False
    ) -> Answer[TreeDigest]:
        """Return the digests of a directory's files whose names ``members`` takes.

        Of the directories in it those are entered, one level deep, whose names ``descend`` takes.
        """
        return digest_tree(self, self._machine.digests, path, members, descend)

    def elf(self, path: str, symbols: str | None = None) -> Answer[Elf]:
        """Return what an ELF file says to the dynamic linker; ``unparsed`` where it is none.

        ``symbols`` is a regular expression: the defined dynamic symbols whose mangled names it is
        found in are told too.
        """
        return self._machine.digests.elf(path, symbols, self.remaining())

    def read(self, path: str, field: str) -> str | None:
        """Return a file's text without surrounding blanks, or note why not; blank text is None."""
        text = self.take(self.text(path), field)
        return (text.strip() or None) if text is not None else None

    def lines(self, path: str, field: str) -> list[str] | None:
        """Return a file's lines, or note why not."""
        text = self.take(self.text(path), field)
        return text.splitlines() if text is not None else None

    # Commands

    def command(
        self,
        argv: Argv,
        *,
        timeout: float = COMMAND_TIMEOUT_S,
        path: Sequence[str] = (),
        sudo: bool = False,
        manner: Manner = PLAIN,
    ) -> CommandAnswer:
        """Run one command; see ``commands``."""
        return self.commands(argv, timeout=timeout, path=path, sudo=sudo, manner=manner)[0]

    def commands(
        self,
        *argvs: Argv,
        timeout: float = COMMAND_TIMEOUT_S,
        path: Sequence[str] = (),
        sudo: bool = False,
        manner: Manner = PLAIN,
    ) -> list[CommandAnswer]:
        """Run commands side by side and answer in order.

        ``path`` lists directories to look in after PATH. With ``sudo`` the commands need root: they
        run (as ``sudo -n``, result labelled as root's view) only when the caller allowed it, else the
        answer is ``not_requested`` and names the command to run. ``manner`` says how else they run:
        in the caller's directory, reading files with secrets, printing very much.
        """
        for argv in argvs:
            if isinstance(argv, str):
                raise TypeError(f"a command is its words, {tuple(argv.split())!r:.200}, not a text")
        if sudo and not self.request.sudo:
            return [_not_allowed(argv) for argv in argvs]
        limit = min(timeout, self.remaining())
        lines = [("sudo", "-n", *argv) if sudo else tuple(argv) for argv in argvs]
        start = self._machine.commands.start
        tickets = [start(line, limit, path, manner) for line in lines]
        answers = []
        for line, first in zip(lines, tickets, strict=True):
            ticket, done = self._machine.commands.wait(first)
            # A program may look at any variable; where there is none, PATH alone decided.
            found = isinstance(done, Exception) or done.outcome is not Outcome.NOT_FOUND
            self.passed_on.add("*" if found else "PATH")
            if isinstance(done, Exception):
                answers.append(unasked_answer(shown(line), done))
                continue
            self._record(line, done, shared=ticket.shared, as_root=sudo)
            # What ends early because the whole capture does is no fault of the tool.
            budget = self.last and limit < timeout
            answers.append(command_answer(shown(line), done, limit, budget=budget))
        return answers

    def _record(self, line: Argv, done: Completed, *, shared: bool, as_root: bool) -> None:
        self.command_records.append(
            CommandRecord(
                argv=redact_argv(shown(line)),
                outcome=done.outcome,
                exit_code=done.exit_code,
                elapsed_s=round(done.elapsed_s, 4),
                shared=shared,
                as_root=as_root,
            )
        )

    def search_path(self, path: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the directories that ``command`` looks in: PATH, ``path``, those of the system."""
        listed = (self.env("PATH") or DEFAULT_PATH).split(":")
        places = (place for place in (*listed, *path, *SYSTEM_DIRECTORIES) if place.startswith("/"))
        return tuple(dict.fromkeys(places))

    # Environment and interpreter

    def env(self, name: str) -> str | None:
        """Return a variable of the environment asked about; it is remembered that it was asked for."""
        self.variables.add(name)
        overlay = self.request.env
        return overlay.get(name) if overlay is not None else self._shared.host.env(name)

    def env_names(self, prefix: str = "") -> list[str]:
        """Return the names of the set variables that begin with ``prefix``, sorted."""
        self.variables.add(f"{prefix}*")
        overlay = self.request.env
        if overlay is None:
            return self._shared.host.env_names(prefix)
        return sorted(name for name in overlay if name.startswith(prefix))

    def distribution(self, name: str) -> Answer[Distribution | None]:
        """Look up an installed distribution; a value of None says that there is none."""
        return asked(name, lambda: self._machine.host.distribution(name))

    def module(self, name: str) -> Answer[Module | None]:
        """Find where a module would be imported from, without importing it; None: nowhere."""
        return asked(name, lambda: self._machine.host.module(name))

    def resource(self, path: str, limit: int = READ_LIMIT) -> Answer[str]:
        """Read a text file of a Python package, also of one that lies in a zip file."""
        return asked(path, lambda: self._machine.host.resource(path, limit).decode("utf-8"))

    def torch(self, timeout: float) -> Answer[dict[str, Any]]:
        """Ask torch what it says of itself, as the caller wants that to be done.

        ``timeout`` is in seconds; see ``aorta.host.interpreter.report`` for the answer.
        """
        # Where the whole capture's end is near, what is told has to be looked at in what is left.
        self.passed_on.add("*")
        limit, how = min(timeout, self.allowance()), self.request.torch_how
        return asked("torch", lambda: self._machine.host.torch(how, timeout=limit))

    def observe(self, key: str, function: Callable[[], Any] | None = None) -> Answer[Any]:
        """Ask what the running interpreter says of itself: a key of ``aorta.host.observe`` or one's own."""
        question = function or OBSERVATIONS[key]
        return asked(key, lambda: self._machine.host.observe(key, question))


def _left_out(path: str) -> Answer[str]:
    return Answer(kind=ReasonKind.NOT_REQUESTED, subject=path, detail=f"{path}: left out by --digests none")


def _looked_at(text: Any) -> str:
    """Return the part of a text that is looked through for secrets, more than is told of it."""
    return str(text)[: 4 * NOTE_LIMIT]


def _bounded(text: str) -> str:
    return text if len(text) <= NOTE_LIMIT else f"{text[: NOTE_LIMIT - 1]}…"


def _not_allowed(argv: Argv) -> CommandAnswer:
    line = " ".join(("sudo", "-n", *shown(argv)))
    return CommandAnswer(
        kind=ReasonKind.NOT_REQUESTED,
        subject=line,
        detail=f"needs root: allow it with --sudo (or AORTA_SUDO=1), which runs {line}",
    )
