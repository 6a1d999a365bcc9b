"""``Context``: what a collector works with. Failures of the machine become reasons, never exceptions."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from aorta.collect.answer import Answer, CommandAnswer, asked, command_answer
from aorta.collect.commands import CommandPool
from aorta.collect.digests import Digests
from aorta.collect.request import Request
from aorta.host.observe import OBSERVATIONS
from aorta.host.protocol import READ_LIMIT, Argv, Distribution, Entry, Host, Module, Stat, shown
from aorta.model.redact import redact
from aorta.model.reason import Reason
from aorta.model.snapshot import CommandRecord, DigestCount
from aorta.model.vocabulary import Coverage, Detail, ReasonKind

T = TypeVar("T")
Model = TypeVar("Model")

COMMAND_TIMEOUT_S = 5.0


class UndeclaredNeedError(Exception):
    """A collector asked for something that it does not declare under ``needs``."""


@attrs.frozen(kw_only=True)
class Shared:
    """What all contexts of one capture have in common."""

    host: Host
    request: Request
    commands: CommandPool
    digests: Digests


class Context:
    """The door of one collector run.

    The ``Answer`` forms (``text``, ``link``, ``stat``, ``scan``, ``command``, ``digest``) leave it to the
    collector what a failure means. ``take(answer, field)`` and the short forms (``read``, ``lines``)
    return the value or None and note the reason against ``field``.
    """

    def __init__(
        self, shared: Shared, section: str, *, deadline: float, needs: Mapping[type[Any], Any] | None = None
    ) -> None:
        self._shared = shared
        self._section = section
        self._deadline = deadline
        self._needs = needs or {}
        self.reasons: list[Reason] = []
        self.command_records: list[CommandRecord] = []
        self.variables: set[str] = set()
        self.redacted: set[str] = set()
        self.coverage: dict[str, Coverage] = {}
        self.digest_count = DigestCount()

    @property
    def request(self) -> Request:
        """Return what the caller asked for and claimed."""
        return self._shared.request

    @property
    def host_kind(self) -> str:
        """Return ``live`` or ``replay``."""
        return self._shared.host.kind

    def remaining(self) -> float:
        """Return the seconds left of this section's deadline, never negative."""
        return max(0.0, self._deadline - time.monotonic())

    def wants(self, detail: Detail) -> bool:
        """Tell whether that much detail was asked for."""
        return detail is Detail.COMPACT or self.request.detail is Detail.FULL

    def need(self, model: type[Model]) -> Model:
        """Return the value of a declared need."""
        if model not in self._needs:
            raise UndeclaredNeedError(f"{self._section} does not declare needs=({model.__name__},)")
        value: Model = self._needs[model]
        return value

    # Reasons

    def note(
        self, kind: ReasonKind, field: str, text: str, *, subject: str | None = None
    ) -> None:
        """Note why ``field`` (dotted, empty for the whole section) is missing."""
        detail, subject = redact(text), redact(subject) if subject else subject
        reason = Reason(section=self._section, kind=kind, field=field, subject=subject, detail=detail)
        if reason not in self.reasons:
            self.reasons.append(reason)

    def cover(self, part: str, state: Coverage) -> None:
        """Say whether a part of the machine (gpu, rocm, torch, rdma, isolation) was seen at all."""
        self.coverage[part] = state

    def take(self, answer: Answer[T], field: str) -> T | None:
        """Return an answer's value, or note against ``field`` why there is none and return None."""
        if answer.kind is not None:
            self.note(answer.kind, field, answer.detail, subject=answer.subject)
            return None
        return answer.value

    # Files

    def text(self, path: str, limit: int = READ_LIMIT) -> Answer[str]:
        """Read the first ``limit`` bytes of a file as UTF-8."""
        return asked(path, lambda: self._shared.host.read_text(path, limit, timeout=self.remaining()))

    def data(self, path: str, limit: int = READ_LIMIT) -> Answer[bytes]:
        """Read the first ``limit`` bytes of a file."""
        return asked(path, lambda: self._shared.host.read_bytes(path, limit, timeout=self.remaining()))

    def link(self, path: str) -> Answer[str]:
        """Read the text of a symbolic link."""
        return asked(path, lambda: self._shared.host.link(path, timeout=self.remaining()))

    def stat(self, path: str, *, follow: bool = True) -> Answer[Stat]:
        """Look at a path; with ``follow`` at what it leads to."""
        return asked(path, lambda: self._shared.host.stat(path, timeout=self.remaining(), follow=follow))

    def scan(self, path: str) -> Answer[list[Entry]]:
        """List a directory, sorted by name."""
        return asked(path, lambda: self._shared.host.scan(path, timeout=self.remaining()))

    def digest(self, path: str) -> Answer[str]:
        """Return ``sha256:`` and the hexadecimal digest of a file, read once a capture."""
        answer, hashed = self._shared.digests.file(path, self.remaining())
        count = self.digest_count
        self.digest_count = DigestCount(
            hashed=count.hashed + hashed, remembered=count.remembered + (answer.ok and not hashed)
        )
        return answer

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
    ) -> CommandAnswer:
        """Run one command; see ``commands``."""
        return self.commands(argv, timeout=timeout, path=path, sudo=sudo)[0]

    def commands(
        self,
        *argvs: Argv,
        timeout: float = COMMAND_TIMEOUT_S,
        path: Sequence[str] = (),
        sudo: bool = False,
    ) -> list[CommandAnswer]:
        """Run commands side by side and answer in order.

        ``path`` lists directories to look in after PATH. With ``sudo`` the commands need root: they
        run (as ``sudo -n``, result labelled as root's view) only when the caller allowed it, else the
        answer is ``not_requested`` and names the command to run.
        """
        if sudo and not self.request.sudo:
            return [_not_allowed(argv) for argv in argvs]
        limit = min(timeout, self.remaining())
        until = time.monotonic() + limit
        lines = [("sudo", "-n", *argv) if sudo else tuple(argv) for argv in argvs]
        jobs = [self._shared.commands.start(line, limit, path) for line in lines]
        answers = []
        for line, (job, shared) in zip(lines, jobs, strict=True):
            done = self._shared.commands.wait(job, until)
            self.command_records.append(
                CommandRecord(
                    argv=tuple(redact(word) for word in shown(line)),
                    outcome=done.outcome,
                    exit_code=done.exit_code,
                    elapsed_s=round(done.elapsed_s, 4),
                    shared=shared,
                    as_root=sudo,
                )
            )
            answers.append(command_answer(shown(line), done, limit))
        return answers

    # Environment and interpreter

    def env(self, name: str) -> str | None:
        """Return a variable of the environment asked about; it is remembered that it was asked for."""
        self.variables.add(name)
        overlay = self.request.env
        return overlay.get(name) if overlay is not None else self._shared.host.env(name)

    def env_names(self, prefix: str = "") -> list[str]:
        """Return the names of the set variables that begin with ``prefix``, sorted."""
        overlay = self.request.env
        if overlay is None:
            return self._shared.host.env_names(prefix)
        return sorted(name for name in overlay if name.startswith(prefix))

    def distribution(self, name: str) -> Answer[Distribution | None]:
        """Look up an installed distribution; a value of None says that there is none."""
        return asked(name, lambda: self._shared.host.distribution(name))

    def module(self, name: str) -> Answer[Module | None]:
        """Find where a module would be imported from, without importing it; None: nowhere."""
        return asked(name, lambda: self._shared.host.module(name))

    def observe(self, key: str, function: Callable[[], Any] | None = None) -> Answer[Any]:
        """Ask what the running interpreter says of itself: a key of ``aorta.host.observe`` or one's own."""
        question = function or OBSERVATIONS[key]
        return asked(key, lambda: self._shared.host.observe(key, question))


def _not_allowed(argv: Argv) -> CommandAnswer:
    line = " ".join(("sudo", "-n", *shown(argv)))
    return CommandAnswer(
        kind=ReasonKind.NOT_REQUESTED,
        subject=line,
        detail=f"needs root: allow it with --sudo (or AORTA_SUDO=1), which runs {line}",
    )


