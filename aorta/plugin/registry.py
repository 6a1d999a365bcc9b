"""The registry: which collectors and providers there are, checked before anything runs."""

import graphlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aorta.model.frozen import frozen
from aorta.model.redact import redact
from aorta.model.snapshot import PluginRecord
from aorta.plugin.declare import (
    HOOKS,
    HOOKS_ATTRIBUTE,
    THIS,
    CollectorSpec,
    ProviderSpec,
    RegistrationError,
    Spec,
    faults,
)
from aorta.plugin.manager import Manager, hooks_of, specs_of


@frozen
class Candidate:
    """A plugin that a discovery source gave: the object, or why there is none.

    ``version`` and ``distribution`` are those of what declares its entry point.
    ``named``: it was named, not given as an object, so that another process finds it by that name too.
    """

    name: str
    source: str
    plugin: Any = None
    module: str | None = None
    version: str | None = None
    distribution: str | None = None
    without: frozenset[str] = frozenset()
    named: bool = False
    status: str = "loaded"
    detail: str = ""


class Registry:
    """The declared collectors and providers of one set of plugins.

    Built-in plugins must be right: a fault in one raises ``RegistrationError``. An outside plugin
    with a fault is left out as a whole and its record in ``plugins`` says why. ``blocked`` maps what
    is declared but must not run to the reason. ``hooks`` maps a hook beside collecting to the plugins
    that implement it and their functions, ``named`` are the plugins that another process can import.
    """

    def __init__(self, candidates: Iterable[Candidate] = (), *, order: tuple[str, ...] = ()) -> None:
        #: Seconds that finding all took.
        self.took_s = 0.0
        self.collectors: dict[str, CollectorSpec] = {}
        self.providers: dict[str, ProviderSpec] = {}
        self.plugins: list[PluginRecord] = []
        self.plugin_of: dict[str, str] = {}
        self.blocked: dict[str, str] = {}
        self.named: set[str] = set()
        #: Names that were to be left out, of no plugin and no section.
        self.idle: tuple[str, ...] = ()
        self.hooks: dict[str, list[tuple[str, Callable[[], Any]]]] = {}
        self._makers: dict[type[Any], Spec] = {}
        self._manager = Manager()
        outside: list[tuple[Candidate, list[Spec]]] = []
        for candidate in candidates:
            specs = self._add(candidate)
            if specs and candidate.source != "builtin":
                outside.append((candidate, specs))
        self._settle(outside)
        self._sort(order)

    def maker(self, model: type[Any]) -> Spec:
        """Return the collector or provider that makes a class. Raises KeyError."""
        return self._makers[model]

    def specs(self) -> list[Spec]:
        """Return all declarations, providers first."""
        return [*self.providers.values(), *self.collectors.values()]

    def _add(self, candidate: Candidate) -> list[Spec]:
        if candidate.plugin is None:
            self._record(candidate, candidate.status, candidate.detail)
            return []
        try:
            _check_version(candidate)
            specs, hooks = specs_of(candidate.plugin), hooks_of(candidate.plugin)
            if not (specs or hooks) and candidate.source != "builtin":
                raise RegistrationError(
                    f"{candidate.name}: no @collector, @provider, @env_names or @buck_libraries in it"
                )
            for spec in specs:
                self._check(spec, specs, builtin=candidate.source == "builtin")
            self._manager.register(candidate.plugin, name=candidate.name)
        except BaseException as error:
            if candidate.source == "builtin" or isinstance(error, KeyboardInterrupt):
                raise
            self._drop(candidate, error)
            return []
        for spec in specs:
            self._enter(spec, candidate.name)
            if candidate.status == "blocked" or spec.name in candidate.without:
                self.blocked[spec.name] = candidate.detail
        for hook, function in hooks if candidate.status != "blocked" else ():
            self.hooks.setdefault(hook, []).append((candidate.name, function))
        names = tuple(spec.section for spec in specs if isinstance(spec, CollectorSpec))
        if candidate.named:
            self.named.add(candidate.name)
        self._record(candidate, candidate.status, candidate.detail, names)
        return specs

    def _check(self, spec: Spec, siblings: list[Spec], *, builtin: bool) -> None:
        for fault in faults(spec):
            raise RegistrationError(f"{spec.place}: {spec.name} {fault}")
        if isinstance(spec, CollectorSpec):
            self._check_section(spec, builtin=builtin)
        known: Spec | None = self.providers.get(spec.name) or self.collectors.get(spec.name)
        namesake = known or next((s for s in siblings if s is not spec and s.name == spec.name), None)
        if namesake is not None:
            raise RegistrationError(f"{spec.place}: the name {spec.name!r} is taken by {namesake.place}")
        twins = [other for other in siblings if other is not spec and other.makes is spec.makes]
        if spec.makes is not None and (twins or spec.makes in self._makers):
            other = twins[0] if twins else self._makers[spec.makes]
            raise RegistrationError(
                f"{spec.place}: {spec.name} makes {spec.makes.__name__}, which {other.place} makes too"
            )

    @staticmethod
    def _check_section(spec: CollectorSpec, *, builtin: bool) -> None:
        if not builtin and "." not in spec.section:
            raise RegistrationError(
                f"{spec.place}: the section {spec.section!r} of an outside plugin is named 'vendor.name'"
            )
        if builtin and "." in spec.section:
            raise RegistrationError(f"{spec.place}: the built-in section {spec.section!r} has a dot")

    def _enter(self, spec: Spec, plugin: str) -> None:
        if isinstance(spec, CollectorSpec):
            self.collectors[spec.section] = spec
        else:
            self.providers[spec.name] = spec
        if spec.makes is not None:
            self._makers[spec.makes] = spec
        self.plugin_of[spec.name] = plugin

    def _drop(self, candidate: Candidate, error: BaseException) -> None:
        if self._manager.is_registered(candidate.plugin):
            self._manager.unregister(candidate.plugin)
        self._record(candidate, "failed", told(error))

    def _remove(self, candidate: Candidate, specs: list[Spec], error: RegistrationError) -> None:
        for spec in specs:
            self.collectors.pop(spec.name, None)
            self.providers.pop(spec.name, None)
            self.plugin_of.pop(spec.name, None)
            if spec.makes is not None:
                self._makers.pop(spec.makes, None)
        for hook, functions in self.hooks.items():
            self.hooks[hook] = [pair for pair in functions if pair[0] != candidate.name]
        own = (candidate.name, candidate.module, "loaded")
        self.plugins = [each for each in self.plugins if (each.name, each.module, each.status) != own]
        self._drop(candidate, error)

    def _record(self, candidate: Candidate, status: str, detail: str, sections: tuple[str, ...] = ()) -> None:
        self.plugins.append(
            PluginRecord(
                name=candidate.name,
                version=candidate.version,
                source=candidate.source,
                module=candidate.module,
                sections=sections,
                status=status,
                detail=detail,
            )
        )

    def _settle(self, outside: list[tuple[Candidate, list[Spec]]]) -> None:
        """Check the needs of all together; leave out the outside plugins whose needs cannot be met."""
        pending = list(outside)
        while True:
            try:
                self._check_needs()
            except NeedError as error:
                guilty = next((pair for pair in pending if error.spec in pair[1]), None)
                if guilty is None:
                    raise
                pending.remove(guilty)
                self._remove(*guilty, error)
            else:
                return

    def _check_needs(self) -> None:
        for spec in self.specs():
            for needed in spec.needs:
                if needed not in self._makers:
                    raise NeedError(spec, f"needs {needed.__name__}, which nothing makes")
        try:
            graphlib.TopologicalSorter(self.graph()).prepare()
        except graphlib.CycleError as error:
            names = [str(name) for name in error.args[1]]
            cycle = [spec for spec in self.specs() if spec.name in names]
            outsiders = [spec for spec in cycle if self.plugin_of[spec.name] not in self._builtin()]
            raise NeedError((outsiders or cycle)[0], f"needs itself: {' -> '.join(names)}") from None

    def _builtin(self) -> set[str]:
        return {record.name for record in self.plugins if record.source == "builtin"}

    def graph(self, wanted: Iterable[str] | None = None) -> Mapping[str, set[str]]:
        """Return which name needs which, for all or for the wanted ones and what they need."""
        graph: dict[str, set[str]] = {}
        todo = list(wanted) if wanted is not None else [spec.name for spec in self.specs()]
        while todo:
            name = todo.pop()
            if name in graph:
                continue
            spec: Spec = self.collectors.get(name) or self.providers[name]
            graph[name] = {self._makers[needed].name for needed in spec.needs}
            todo.extend(graph[name])
        return graph

    def _sort(self, order: tuple[str, ...]) -> None:
        place = {section: number for number, section in enumerate(order)}
        ordered = sorted(self.collectors, key=lambda section: place.get(section, len(place)))
        self.collectors = {section: self.collectors[section] for section in ordered}


def _check_version(candidate: Candidate) -> None:
    """Raise RegistrationError for a plugin that wants a later version of the hooks."""
    wanted = getattr(candidate.plugin, HOOKS_ATTRIBUTE, HOOKS)
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        text = f"{HOOKS_ATTRIBUTE} is {wanted!r:.40}, which is no version; {THIS}"
        raise RegistrationError(f"{candidate.name}: {text}")
    if wanted > HOOKS:
        text = f"it is made for version {wanted} of the hooks, and {THIS}: a newer aorta is needed"
        raise RegistrationError(f"{candidate.name}: {text}")


def told(error: BaseException) -> str:
    """Return an error in one line, without what looks like a secret, whatever its own text does."""
    if isinstance(error, RegistrationError):
        return str(error)
    try:
        text = str(error).strip().partition("\n")[0][:TOLD_LENGTH]
    except Exception:
        text = ""
    return redact(f"{type(error).__name__}: {text}" if text else type(error).__name__)


TOLD_LENGTH = 300


class NeedError(RegistrationError):
    """A need that cannot be met; ``spec`` is the declaration at fault."""

    def __init__(self, spec: Spec, text: str) -> None:
        super().__init__(f"{spec.place}: {spec.name} {text}")
        self.spec = spec
