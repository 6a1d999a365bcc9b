"""What outside plugins add beside sections: asked of each by itself, and a broken one costs its own."""

import functools
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aorta.collect.apart.lost import START_S, LostError, NotApartError
from aorta.collect.guard import kept
from aorta.collect.request import Request
from aorta.host.protocol import Host
from aorta.model.frozen import evolve
from aorta.model.redact import redact
from aorta.plugin.declare import LIBRARIES_HOOK, NAMES_HOOK, RegistrationError, place_of
from aorta.plugin.registry import Registry, told

#: The provider whose deadline follows the caller's, and by how much it is longer.
QUERY, MARGIN_S = "BuckGraph", 10.0

#: Seconds that one hook may take, its process's start among them, and the part of a capture's time.
LIMIT_S, PART = START_S + 5.0, 0.2

#: Seconds that the end of a process may take to be noticed.
LATE_S = 1.0

#: The most names that one plugin may add.
MOST = 1000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\*?")


def extended(request: Request, registry: Registry, host: Host) -> Request:
    """Return a request with what plugins add to it, less the time that this took."""
    begun = time.monotonic()
    left = request.deadline_s - request.spent_s
    extensions = Extensions(registry, host, min(LIMIT_S, max(0.1, PART * left)))
    timeouts = dict(request.timeouts)
    libraries: dict[str, str] = {}
    if request.buck_target is not None:
        libraries = extensions.libraries()
        if QUERY in registry.providers:
            timeouts.setdefault(QUERY, request.buck_timeout + MARGIN_S)
    names = extensions.env_names()
    return evolve(
        request,
        buck_libraries={**libraries, **request.buck_libraries},
        env_names=names,
        timeouts=timeouts,
        complaints=(*request.complaints, *extensions.complaints),
        spent_s=request.spent_s + time.monotonic() - begun,
    )


class Extensions:
    """Asks the hooks of a registry; ``complaints`` says what was wrong with some."""

    def __init__(self, registry: Registry, host: Host, limit_s: float = LIMIT_S) -> None:
        self._registry = registry
        self._host = host
        self._limit_s = limit_s
        self.complaints: list[str] = []

    def libraries(self) -> dict[str, str]:
        """Return further libraries of Buck graphs, name to pattern."""
        from aorta.buck.endless import is_endless
        from aorta.buck.libraries import check_libraries

        found: dict[str, str] = {}
        for plugin, given in self._given(LIBRARIES_HOOK):
            try:
                if not isinstance(given, Mapping):
                    raise TypeError(f"{type(given).__name__} is no mapping of names to patterns")
                patterns = check_libraries(given)
                for name in filter(lambda name: is_endless(patterns[name]), patterns):
                    raise ValueError(f"the pattern of {name} repeats what it repeats, and may never end")
                found.update(patterns)
            except (TypeError, ValueError) as error:
                self._complain(plugin, LIBRARIES_HOOK, error)
        return found

    def env_names(self) -> tuple[str, ...]:
        """Return further names of environment variables."""
        found: dict[str, None] = {}
        for plugin, given in self._given(NAMES_HOOK):
            try:
                found.update(dict.fromkeys(_names(given)))
            except (TypeError, ValueError) as error:
                self._complain(plugin, NAMES_HOOK, error)
        return tuple(found)

    def _given(self, hook: str) -> Iterator[tuple[str, Any]]:
        """Yield what each plugin gives, side by side where they have processes of their own."""
        calls = [_Call(*pair) for pair in self._registry.hooks.get(hook, ())]
        apart = [call for call in calls if self._runs_apart(call)]
        until = time.monotonic() + self._limit_s
        for call in apart:
            from aorta.collect.apart.parent import evaluate_apart

            call.start(functools.partial(evaluate_apart, call.function, self._host, self._limit_s))
        for call in calls:
            if call not in apart:
                call.start(call.guarded)
                call.wait(time.monotonic() + self._limit_s)
        for call in apart:
            # Its process ends at the limit, and is told of a moment later.
            call.wait(until + LATE_S)
            if isinstance(call.error, NotApartError):
                call.start(call.guarded)
                call.wait(time.monotonic() + self._limit_s)
        for call in calls:
            if call.complaint is not None:
                self._say(call.plugin, hook, call.complaint)
            if call.given is not None:
                yield call.plugin, call.given[0]

    def _runs_apart(self, call: "_Call") -> bool:
        if call.plugin not in self._registry.named or self._host.workers() is None:
            return False
        from aorta.collect.apart.parent import is_importable

        return is_importable(call.function.__module__)

    def _complain(self, plugin: str, hook: str, error: Exception) -> None:
        self._say(plugin, hook, f"{type(error).__name__}: {error}")

    def _say(self, plugin: str, hook: str, text: str) -> None:
        said = redact(text.partition("\n")[0][:300])
        self.complaints.append(f"what the plugin {plugin} adds by {hook} is left out: {said}")


class _Call:
    """One call of a hook on a thread, which is left alone where it does not end."""

    def __init__(self, plugin: str, function: Callable[[], Any]) -> None:
        self.plugin = plugin
        self.function = function
        self.given: tuple[Any] | None = None
        self.error: BaseException | None = None
        self.changed: list[str] = []
        self._over = False
        self._thread: threading.Thread | None = None

    def start(self, call: Callable[[], Any]) -> None:
        self.error, self._over = None, False
        self._thread = threading.Thread(
            target=self._run, args=(call,), name=f"hook {self.plugin}", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError as error:
            self.error, self._thread = error, None

    def _run(self, call: Callable[[], Any]) -> None:
        try:
            self.given = (call(),)
        except BaseException as error:
            self.error = error

    def guarded(self) -> Any:
        with kept(self.changed.append, lambda: self._over):
            return self.function()

    def wait(self, until: float) -> None:
        if self._thread is not None:
            self._thread.join(max(0.0, until - time.monotonic()))
            if self._thread.is_alive():
                self._over = True
                self.error = TimeoutError("it does not end")

    @property
    def complaint(self) -> str | None:
        """Return what is wrong with it, None for nothing."""
        error = self.error
        if error is None:
            return "; ".join(self.changed) or None
        if isinstance(error, (LostError, RegistrationError)):
            return str(error)
        return f"{told(error)} at {place_of(self.function)}"


def _names(given: Any) -> list[str]:
    if isinstance(given, (str, bytes)) or not isinstance(given, (list, tuple, set, frozenset)):
        raise TypeError(f"{type(given).__name__} is no list of names")
    if len(given) > MOST:
        raise ValueError(f"{len(given)} names, {MOST} at most")
    for name in given:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{str(name)[:60]!r} is no name of a variable")
    return list(given)
