"""``Snapshot``: the sections and the envelope around them."""

from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.frozen import frozen
from aorta.model.reason import Reason
from aorta.model.vocabulary import Coverage, Detail, Outcome, Provenance, Scope, Status

SCHEMA_VERSION = "2.0"
SCHEMA_COMPAT = "1.17"


@frozen
class Tool:
    """Which aorta made the document. ``revision`` is a commit where the install tells one."""

    name: str = "aorta"
    version: str = ""
    revision: str | None = None
    dirty: bool | None = None


@frozen
class User:
    """Who ran the capture, by number."""

    uid: int | None = None
    root: bool | None = None


@frozen
class CommandRecord:
    """One command that a collector asked for; ``shared`` means another one had asked before."""

    argv: tuple[str, ...]
    outcome: Outcome
    exit_code: int | None = None
    elapsed_s: float = 0.0
    shared: bool = False
    as_root: bool = False


@frozen
class DigestCount:
    """How many digests are of files that this capture read, and how many were remembered from before."""

    hashed: int = 0
    remembered: int = 0


@frozen
class Record:
    """How one collector fared."""

    status: Status
    elapsed_s: float = 0.0
    provenance: tuple[Provenance, ...] = ()
    scope: Scope | None = None
    detail: Detail = Detail.COMPACT
    plugin: str = ""
    digests: DigestCount = attrs.field(factory=DigestCount)
    commands: tuple[CommandRecord, ...] = ()
    hung_at: str | None = None


@frozen
class PluginRecord:
    """One plugin that was found, and what became of it."""

    name: str
    version: str | None = None
    source: str = "builtin"
    module: str | None = None
    sections: tuple[str, ...] = ()
    status: str = "loaded"
    detail: str = ""


@frozen
class Covered:
    """Which parts of the machine were seen at all."""

    gpu: Coverage = Coverage.UNKNOWN
    rocm: Coverage = Coverage.UNKNOWN
    torch: Coverage = Coverage.UNKNOWN
    rdma: Coverage = Coverage.UNKNOWN
    isolation: Coverage = Coverage.UNKNOWN


@frozen
class Collection:
    """How the snapshot came about.

    ``import_strategy`` is how torch was asked: child (a process of its own), in_process, or static (not
    at all). ``executable`` is the interpreter that ran aorta, ``python`` the one that the sections about
    Python describe where that is another.
    """

    tool: Tool = attrs.field(factory=Tool)
    detail: Detail = Detail.COMPACT
    deadline_s: float | None = None
    elapsed_s: float | None = None
    import_strategy: str | None = None
    host_kind: str = "live"
    user: User = attrs.field(factory=User)
    executable: str | None = None
    python: str | None = None
    argv: tuple[str, ...] | None = None
    collectors: Mapping[str, Record] = attrs.field(factory=dict)
    providers: Mapping[str, Record] = attrs.field(factory=dict)
    plugins: tuple[PluginRecord, ...] = ()
    reasons: tuple[Reason, ...] = ()
    coverage: Covered = attrs.field(factory=Covered)
    redacted: tuple[str, ...] = ()
    upgraded_from: str | None = None


@frozen
class Snapshot:
    """One capture.

    ``plain`` is what the document says: JSON values, checked, by section. ``sections`` is the typed
    view of the same: an instance of the section's model where that is known, else the plain data.
    ``newer`` is the whole document when a newer minor version wrote it: it is passed on as it stood,
    and says itself whether it is partial, since its kinds of reasons may not be known here.
    """

    schema_version: str = SCHEMA_VERSION
    schema_compat: str = SCHEMA_COMPAT
    captured_at: str | None = None
    sections: Mapping[str, Any] = attrs.field(factory=dict)
    plain: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    extensions: Mapping[str, Any] = attrs.field(factory=dict)
    collection: Collection = attrs.field(factory=Collection)
    newer: Mapping[str, Any] | None = attrs.field(default=None, repr=False)

    @property
    def partial(self) -> bool:
        """Tell whether something that should have been seen was not."""
        if self.newer is not None:
            return self.newer.get("partial") is not False
        return any(reason.partial for reason in self.collection.reasons)

    @property
    def partial_reasons(self) -> list[str]:
        """Return one line for each reason that makes the snapshot partial."""
        if self.newer is not None:
            told = self.newer.get("partial_reasons")
            return [text for text in told if isinstance(text, str)] if isinstance(told, list) else []
        return [reason.text for reason in self.collection.reasons if reason.partial]
