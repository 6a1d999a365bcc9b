"""The orchestrator: runs collectors and providers, survives all of them, and keeps two clocks.

Each section has its own deadline, which starts when its needs are met and it has a slot; the capture
has one for all. Work happens on plain daemon threads, since a pool of ``concurrent.futures`` waits for
its threads at exit. A thread past its deadline is abandoned: its late answer is dropped.
"""

import graphlib
import os
import queue
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import attrs

from aorta.collect.apart.lost import START_S, LostError, NotApartError
from aorta.collect.commands import CommandPool
from aorta.collect.context import Context, Shared
from aorta.collect.digests import Digests
from aorta.collect.guard import guarded
from aorta.collect.memory import PROCESS
from aorta.collect.request import Request
from aorta.collect.result import Result, missing, succeeded
from aorta.host.protocol import Host
from aorta.model.vocabulary import Detail, ReasonKind, Status
from aorta.plugin.declare import CollectorSpec, Spec, code_of
from aorta.plugin.registry import Registry

#: Functions whose thread was abandoned in this process and still hangs: they are not started again.
_hanging: dict[Any, threading.Thread] = {}


@attrs.define(kw_only=True)
class Running:
    """One collector at work."""

    spec: Spec
    ctx: Context
    thread: threading.Thread
    started: float
    deadline: float


@attrs.frozen
class Ended:
    """What a worker thread reports."""

    name: str
    result: Result


def slots() -> int:
    """Return how many collectors run at once."""
    return min(8, 4 * (os.cpu_count() or 1))


class Orchestrator:
    """One capture. ``results`` grows while it runs, so that whatever happens it can be written."""

    def __init__(
        self,
        registry: Registry,
        host: Host,
        request: Request,
        earlier: Mapping[str, Result] | None = None,
    ) -> None:
        self.registry = registry
        self.host = host
        self.request = request
        #: What is taken over from an earlier capture does not run.
        self.earlier = earlier or {}
        self.results: dict[str, Result] = dict(self.earlier)
        self.abandoned: list[str] = []
        self.started = time.monotonic()
        self.deadline = self.started + max(0.0, request.deadline_s - request.spent_s)
        self.commands = CommandPool(host)
        memory = PROCESS if request.cache and host.remembers else None
        self.digests = Digests(host, memory=memory, verify=request.verify_digests)
        self._shared = Shared(host=host, request=request, commands=self.commands, digests=self.digests)
        self._inbox: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._running: dict[str, Running] = {}
        self._threads: list[threading.Thread] = []
        self._slots = slots()
        self._apart = request.plugins_apart and host.workers() is not None
        self._outside = {record.name for record in registry.plugins if record.source != "builtin"}

    def wanted(self) -> list[str]:
        """Return the sections to run, in the registry's order."""
        chosen = self.request.sections
        return [
            section
            for section in self.registry.collectors
            if (chosen is None or section in chosen) and section not in self.request.without
        ]

    def _roots(self) -> list[str]:
        everything = self.request.sections is None
        roots = [*self.wanted(), *(self.registry.providers if everything else ())]
        return [name for name in roots if name not in self.earlier]

    def run(self) -> None:
        """Run what is wanted and what it needs, until all is done or the deadline is there."""
        sorter = graphlib.TopologicalSorter(self.registry.graph(self._roots()))
        sorter.prepare()
        ready: list[str] = []
        while sorter.is_active():
            ready = sorted([*ready, *sorter.get_ready()], key=self._urgency)
            settled = self._start_some(ready)
            if time.monotonic() >= self.deadline:
                break
            if not settled and self._running:
                settled = self._await()
            sorter.done(*settled)
        if sorter.is_active():
            self._cut()
        self._join()

    def _start_some(self, ready: list[str]) -> list[str]:
        """Start what there are slots for; return the names that got their result without running."""
        settled = []
        while ready and len(self._running) < self._slots and time.monotonic() < self.deadline:
            name = ready.pop(0)
            if not self._start(name):
                settled.append(name)
        return settled

    def running(self) -> list[str]:
        """Return the names of what runs now; any thread may ask."""
        return list(self._running.copy())

    def _urgency(self, name: str) -> tuple[int, float]:
        """Start providers first, then what may take longest."""
        spec = self._spec(name)
        return (isinstance(spec, CollectorSpec), -self._timeout(spec))

    def _spec(self, name: str) -> Spec:
        return self.registry.collectors.get(name) or self.registry.providers[name]

    def _timeout(self, spec: Spec) -> float:
        return self.request.timeouts.get(spec.name, spec.timeout_s)

    def _plugin(self, name: str) -> str:
        return self.registry.plugin_of.get(name, "")

    def _start(self, name: str) -> bool:
        """Start a collector; False when it got its result without running."""
        if name in self.earlier:
            return False
        spec = self._spec(name)
        early = self._refused(spec)
        if early is not None:
            self.results[name] = early
            return False
        now = time.monotonic()
        start_s = START_S if self._runs_apart(spec) else 0.0
        deadline = min(now + self._timeout(spec) + start_s, self.deadline)
        needs = {model: self.results[self.registry.maker(model).name].value for model in spec.needs}
        ctx = Context(self._shared, name, deadline=deadline, needs=needs, last=deadline >= self.deadline)
        thread = threading.Thread(target=self._work, args=(spec, ctx, now), name=f"aorta {name}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            text = "no thread could be started for it: this process may have no more of them, or no memory"
            self.results[name] = missing(
                spec, Status.FAILED, ReasonKind.FAILED, text, plugin=self._plugin(name)
            )
            return False
        self._running[name] = Running(spec=spec, ctx=ctx, thread=thread, started=now, deadline=deadline)
        self._threads.append(thread)
        return True

    def _refused(self, spec: Spec) -> Result | None:
        """Return the result of a collector that must not run, None for one that may."""
        plugin = self._plugin(spec.name)
        if spec.name in self.registry.blocked:
            text = self.registry.blocked[spec.name]
            return missing(spec, Status.NOT_REQUESTED, ReasonKind.NOT_REQUESTED, text, plugin=plugin)
        hanging = _hanging.get(spec.function)
        if hanging is not None and hanging.is_alive():
            text = "still hangs since an earlier capture of this process"
            return missing(spec, Status.TIMED_OUT, ReasonKind.TIMED_OUT, text, plugin=plugin)
        if isinstance(spec, CollectorSpec) and spec.detail is Detail.FULL is not self.request.detail:
            text = "part of --extended"
            return missing(spec, Status.NOT_REQUESTED, ReasonKind.NOT_REQUESTED, text, plugin=plugin)
        for model in spec.needs:
            name = self.registry.maker(model).name
            result = self.results[name]
            if not result.usable:
                status = result.record.status
                text = f"needs {name}, which is {status.value.replace('_', ' ')}"
                if status is Status.NOT_REQUESTED:
                    return missing(spec, status, ReasonKind.NOT_REQUESTED, text, plugin=plugin)
                return missing(spec, Status.BLOCKED, ReasonKind.BLOCKED, text, plugin=plugin)
        return None

    def _work(self, spec: Spec, ctx: Context, started: float) -> None:
        plugin = self._plugin(spec.name)
        try:
            value = self._call(spec, ctx)
            elapsed = time.monotonic() - started
            result = succeeded(spec, value, ctx, plugin=plugin, elapsed_s=elapsed)
        except LostError as error:
            hung = error.kind in (ReasonKind.TIMED_OUT, ReasonKind.BUDGET)
            result = missing(
                spec,
                Status.TIMED_OUT if hung else Status.FAILED,
                error.kind,
                str(error),
                plugin=plugin,
                elapsed_s=time.monotonic() - started,
                ctx=ctx,
                hung_at=error.place,
            )
        except BaseException as error:
            elapsed = time.monotonic() - started
            text = f"{type(error).__name__} at {_raised_at(error, spec)}"
            result = missing(
                spec, Status.FAILED, ReasonKind.FAILED, text, plugin=plugin, elapsed_s=elapsed, ctx=ctx
            )
        self._inbox.put(Ended(spec.name, result))

    def _call(self, spec: Spec, ctx: Context) -> Any:
        """Return what a collector returns; an outside plugin's runs in a process of its own where it can."""
        if self._plugin(spec.name) not in self._outside:
            return spec.function(ctx)
        if self._runs_apart(spec):
            from aorta.collect.apart.parent import run_apart

            try:
                return run_apart(spec, ctx, self.host, self._timeout(spec))
            except NotApartError as error:
                text = f"it ran in this process, since none of its own can be had: {error}"
                ctx.note(ReasonKind.UNSUPPORTED, "", text)
        return guarded(spec.function, ctx)

    def _runs_apart(self, spec: Spec) -> bool:
        if not self._apart or self._plugin(spec.name) not in self.registry.named:
            return False
        from aorta.collect.apart.parent import may_run_apart

        return may_run_apart(spec)

    def _await(self) -> list[str]:
        """Wait for the next end or the next deadline; return the names that are done with."""
        until = min(running.deadline for running in self._running.values())
        try:
            ended = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return self._abandon_late()
        if self._running.pop(ended.name, None) is None:
            return []
        self.results[ended.name] = ended.result
        return [ended.name]

    def _abandon_late(self) -> list[str]:
        now = time.monotonic()
        late = [name for name, running in self._running.items() if running.deadline <= now]
        for name in late:
            self._abandon(self._running.pop(name), now)
        return late

    def _abandon(self, running: Running, now: float) -> None:
        running.ctx.abandoned = True
        spec, elapsed = running.spec, now - running.started
        place = _hung_at(running.thread, spec)
        over = now >= self.deadline and running.deadline >= self.deadline
        kind = ReasonKind.BUDGET if over else ReasonKind.TIMED_OUT
        limit = self.request.deadline_s if over else self._timeout(spec)
        text = f"{'the capture' if over else 'it'} had {limit:g} s and {spec.name} was at {place}"
        self.results[spec.name] = missing(
            spec,
            Status.TIMED_OUT,
            kind,
            text,
            plugin=self._plugin(spec.name),
            elapsed_s=elapsed,
            ctx=running.ctx,
            hung_at=place,
        )
        self.abandoned.append(spec.name)
        _hanging[spec.function] = running.thread

    def _cut(self) -> None:
        """At the overall deadline: abandon what runs, name what never started."""
        while self._running:
            try:
                ended = self._inbox.get_nowait()
            except queue.Empty:
                break
            if self._running.pop(ended.name, None) is not None:
                self.results[ended.name] = ended.result
        now = time.monotonic()
        for name in list(self._running):
            self._abandon(self._running.pop(name), now)
        text = f"the capture's {self.request.deadline_s:g} s were over before it started"
        for name in self.registry.graph(self._roots()):
            if name not in self.results:
                self.results[name] = missing(
                    self._spec(name),
                    Status.TIMED_OUT,
                    ReasonKind.BUDGET,
                    text,
                    plugin=self._plugin(name),
                )

    def _join(self) -> None:
        """Let threads that are done with their work end, so that none is seen after the capture."""
        until = time.monotonic() + 0.2
        for thread in self._threads:
            if not any(thread is hanging for hanging in _hanging.values()):
                thread.join(max(0.0, until - time.monotonic()))
        if not self.abandoned:
            self.commands.join(until)


def _file_of(spec: Spec) -> str | None:
    code = code_of(spec.function)
    return code.co_filename if code is not None else None


def _raised_at(error: BaseException, spec: Spec) -> str:
    """Return ``file:line`` in the collector's file, else of the innermost frame."""
    place, trace, file = spec.place, error.__traceback__, _file_of(spec)
    innermost = place
    own = None
    while trace is not None:
        code = trace.tb_frame.f_code
        innermost = f"{code.co_filename}:{trace.tb_lineno}"
        if code.co_filename == file:
            own = innermost
        trace = trace.tb_next
    return own or innermost


def _hung_at(thread: threading.Thread, spec: Spec) -> str:
    """Return ``file:line`` where a thread is now: in the collector's file, else the innermost frame."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - there is no public way
    innermost, file = None, _file_of(spec)
    while frame is not None:
        here = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        innermost = innermost or here
        if frame.f_code.co_filename == file:
            return here
        frame = frame.f_back
    return innermost or spec.place
