"""``Series``: many snapshots from one process, each of which asks only what may have changed.

A sweep takes one before every trial. What rests on this process or its variables is asked each time; the
rest is taken over from an earlier snapshot of the series whose environment had the same values of all the
variables that were asked for, and the snapshot says of what time that is.
"""

import hashlib
import json
import os
import resource
from collections.abc import Container, Mapping
from typing import Any

from aorta.collect.kept import Kept
from aorta.collect.merge import merge
from aorta.collect.orchestrator import Orchestrator
from aorta.collect.request import Request
from aorta.collect.result import Result
from aorta.host.protocol import Host
from aorta.instrumentation.about import envelope
from aorta.instrumentation.environment import CHILD, DEADLINE_S, live_host
from aorta.instrumentation.extensions import extended
from aorta.model.dump import Dumper
from aorta.model.essence import lasting, without_nulls
from aorta.model.frozen import evolve, frozen
from aorta.model.shape import shape_of
from aorta.model.snapshot import SCHEMA_VERSION, Collection, Snapshot
from aorta.model.vocabulary import Status
from aorta.plugin.registry import Registry

#: Of ``collection``: what stands once, in the first snapshot of a series.
ONCE = ("collectors", "providers", "plugins", "executable", "argv", "deadline_s", "elapsed_s")

_LIMITS = (
    resource.RLIMIT_MEMLOCK,
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_NPROC,
    resource.RLIMIT_STACK,
    resource.RLIMIT_CORE,
    resource.RLIMIT_AS,
)


@frozen
class Taken:
    """One snapshot of a series.

    ``text`` is its JSON as a trial embeds it: compact, without members that are null, and without the
    records of collectors, which stand in the first snapshot. ``digest`` (``sha256:…``) is of all sections
    less what is volatile, ``host_digest`` of those that do not rest on the process, and ``lasting`` has the
    digests of these one by one. ``snapshot`` is the whole; of one that is as the one before it is that one.
    """

    text: str
    digest: str
    host_digest: str
    lasting: Mapping[str, str]
    snapshot: Snapshot


class Series:
    """Snapshots of this machine under several environments, torch and all asked by processes of their own.

    ``python`` is the program of another interpreter whose packages are looked at. Each snapshot has
    ``deadline_s`` seconds. Raises nothing for what the machine does.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        python: str | None = None,
        deadline_s: float = DEADLINE_S,
        sudo: bool = False,
    ) -> None:
        self._registry = registry
        self._python = python
        self._request = Request(
            deadline_s=deadline_s,
            sudo=sudo,
            python=python,
            import_strategy=CHILD,
            plugins_apart=True,
        )
        self._kept = Kept(registry)
        self._since: dict[int, str | None] = {}
        self._places: dict[frozenset[tuple[str, str]], _Place] = {}
        self._state = state()
        self._written: dict[int, _Written] = {}

    def take(self, environ: Mapping[str, str]) -> Taken:
        """Take a snapshot of what a process with this environment would run on."""
        place = self._place(environ)
        run = Orchestrator(self._registry, place.host, place.request, place.earlier)
        try:
            run.run()
        finally:
            run.digests.close()
        if place.is_as_before(run):
            return place.again()
        snapshot = merge(run, envelope(run))
        place.remember(run, self._taken(run, snapshot))
        self._keep(run, environ, snapshot)
        return place.again(snapshot.captured_at)

    def close(self) -> None:
        """End what the snapshots left running."""
        for place in self._places.values():
            place.host.close()
        self._places.clear()

    def _place(self, environ: Mapping[str, str]) -> "_Place":
        if self._state != (now := state()):
            # This process is another one than before: in another directory, with other limits.
            self.close()
            self._kept, self._state = Kept(self._registry), now
        key = frozenset(environ.items())
        if key not in self._places:
            hidden = dict.fromkeys(name for name in os.environ if name not in environ)
            host = live_host(self._request.deadline_s, self._python, env={**hidden, **environ})
            request = extended(self._request, self._registry, host)
            self._places[key] = _Place(host, request)
        place = self._places[key]
        if place.stale:
            place.earlier, place.stale = self._kept.under(environ), False
        return place

    def _keep(self, run: Orchestrator, environ: Mapping[str, str], snapshot: Snapshot) -> None:
        new = self._kept.keep(run, environ)
        for result in new:
            self._since[id(result)] = snapshot.captured_at
        if new:
            for place in self._places.values():
                place.stale = True

    def _taken(self, run: Orchestrator, snapshot: Snapshot) -> Taken:
        """Return a snapshot whose text lacks its beginning: the time."""
        parts = {name: self._part(name, run.results[name]) for name in self._registry.collectors}
        tail = {
            "partial": snapshot.partial,
            "partial_reasons": snapshot.partial_reasons,
            "collection": self._collection(run, snapshot.collection),
        }
        members = [f'"{name}":{part.text}' for name, part in parts.items() if "." not in name]
        outside = [
            f'"{name}":{{"schema":"{name}/1","data":{part.text}}}'
            for name, part in parts.items()
            if "." in name
        ]
        return Taken(
            text=",".join([*members, _json(tail)[1:-1], f'"extensions":{{{",".join(outside)}}}']),
            digest=_combined(parts, parts),
            host_digest=_combined(parts, self._kept.lasting),
            lasting={name: part.digest.hex() for name, part in parts.items() if name in self._kept.lasting},
            snapshot=snapshot,
        )

    def _part(self, name: str, result: Result) -> "_Written":
        """Return a section's text and digest; of a result that is taken over they are made once."""
        known = self._written.get(id(result))
        if known is None:
            essence = lasting(result.plain, self._registry.collectors[name].shape)
            digest = hashlib.sha256(_json([name, essence]).encode()).digest()
            known = _Written(result, _json(without_nulls(result.plain)), digest)
            if id(result) in self._since:
                self._written[id(result)] = known
        return known

    def _collection(self, run: Orchestrator, collection: Collection) -> dict[str, Any]:
        """Return how the snapshot came about: of what was taken over only since when, and what is partial."""
        since: dict[str, list[str]] = {}
        for name, result in run.earlier.items():
            if name in self._registry.collectors and result.record.status is Status.REUSED:
                since.setdefault(str(self._since.get(id(result))), []).append(name)
        # A section that failed is taken over too, but is none of those that name their earlier snapshot.
        over = {name for name, result in run.earlier.items() if result.record.status is Status.REUSED}
        reasons = [reason for reason in collection.reasons if reason.partial or reason.section not in over]
        told = {
            name: getattr(collection, name) for name, _ in shape_of(Collection).fields if name not in ONCE
        }
        told["reasons"] = tuple(reasons)
        plain = {
            name: Dumper().dump(value, shape, "collection")
            for (name, shape) in shape_of(Collection).fields
            if (value := told.get(name)) is not None
        }
        told_of: dict[str, Any] = without_nulls({**plain, "reused": since})
        return told_of


class _Place:
    """One environment: a host that has it, the request for it, and what may be taken over in it.

    Nearly all snapshots in an environment are as the one before, and then cost no more than the look.
    """

    def __init__(self, host: Host, request: Request) -> None:
        self.host = host
        self.request = request
        self.earlier: Mapping[str, Result] = {}
        #: Whether there may be more to take over than ``earlier``.
        self.stale = True
        self._before: tuple[Mapping[str, Result], Mapping[str, Any]] | None = None
        self._taken: Taken | None = None

    def is_as_before(self, run: Orchestrator) -> bool:
        """Tell whether a capture took over the same, and found the same by itself."""
        return self._before is not None and run.earlier is self._before[0] and _found(run) == self._before[1]

    def remember(self, run: Orchestrator, taken: Taken) -> None:
        """Keep what a capture found, and what was made of it."""
        self._before, self._taken = (run.earlier, _found(run)), taken

    def again(self, captured_at: str | None = None) -> Taken:
        """Return the remembered snapshot as one of this moment."""
        if self._taken is None:
            raise RuntimeError("nothing was taken in this environment")
        head = _json({"schema_version": SCHEMA_VERSION, "captured_at": captured_at or self.host.now()})
        return evolve(self._taken, text=f"{head[:-1]},{self._taken.text}}}")


def _found(run: Orchestrator) -> dict[str, Any]:
    """Return what a capture found out by itself, without how long that took."""
    return {
        name: (result.plain, result.reasons, result.record.status, result.coverage, result.redacted)
        for name, result in run.results.items()
        if name not in run.earlier
    }


class _Written:
    """What a result is written as. It holds the result, so that its number stays its own."""

    def __init__(self, result: Result, text: str, digest: bytes) -> None:
        self.result = result
        self.text = text
        self.digest = digest


def state() -> tuple[Any, ...]:
    """Return what a process may change of itself and sections tell: directory, user, limits, namespaces."""
    spaces = [os.stat(f"/proc/self/ns/{name}").st_ino for name in ("mnt", "net", "pid")]
    limits = [resource.getrlimit(limit) for limit in _LIMITS]
    return os.getcwd(), os.getuid(), os.sched_getaffinity(0), tuple(limits), tuple(spaces)


def _combined(parts: "Mapping[str, _Written]", names: Container[str]) -> str:
    digests = [part.digest for name, part in parts.items() if name in names]
    return f"sha256:{hashlib.sha256(b''.join(digests)).hexdigest()}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
