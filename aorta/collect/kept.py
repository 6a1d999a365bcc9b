"""``Kept``: results of earlier captures of this process, to take over where nothing they asked can differ."""

from collections.abc import Iterable, Mapping

from aorta.collect.orchestrator import Orchestrator
from aorta.collect.result import Result
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import Scope, Status
from aorta.plugin.registry import Registry

Values = tuple[tuple[str, str | None], ...]


@frozen
class _Entry:
    """One result, the variables that it and its needs asked for, and the values that these had."""

    result: Result
    names: frozenset[str]
    values: Values


class Kept:
    """Results by section and provider, each with the values of the variables that it rests on.

    A result of scope ``process``, or that needs one of such a scope, is never kept. One that failed or
    timed out is: trying again in every capture would cost its deadline each time.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._entries: dict[str, list[_Entry]] = {}
        self._chains = {spec.name: registry.graph([spec.name]) for spec in registry.specs()}
        #: What may be kept at all.
        self.lasting = {name for name, chain in self._chains.items() if self._lasts(chain)}

    def _lasts(self, chain: Iterable[str]) -> bool:
        collectors, providers = self._registry.collectors, self._registry.providers
        scopes = [(collectors.get(name) or providers[name]).scope for name in chain]
        return Scope.PROCESS not in scopes

    def keep(self, run: Orchestrator, environ: Mapping[str, str]) -> list[Result]:
        """Keep what a finished capture found out by itself; return the results as they will be taken over."""
        new = []
        for name in self.lasting - run.earlier.keys():
            result = run.results.get(name)
            if result is None or result.record.status is Status.NOT_REQUESTED:
                continue
            asked = [run.results[other].variables for other in self._chains[name] if other in run.results]
            names = frozenset().union(*asked)
            entry = _Entry(result=_taken_over(result), names=names, values=_values(names, environ))
            self._entries.setdefault(name, []).append(entry)
            new.append(entry.result)
        return new

    def under(self, environ: Mapping[str, str]) -> dict[str, Result]:
        """Return the results that hold in an environment."""
        known: dict[frozenset[str], Values] = {}
        found = {}
        for name, entries in self._entries.items():
            for entry in entries:
                if entry.names not in known:
                    known[entry.names] = _values(entry.names, environ)
                if known[entry.names] == entry.values:
                    found[name] = entry.result
                    break
        return found


def _values(names: frozenset[str], environ: Mapping[str, str]) -> Values:
    """Return the values of variables; a name that ends in ``*`` stands for all that begin so."""
    beginnings = tuple(name[:-1] for name in names if name.endswith("*"))
    asked = {name: environ.get(name) for name in names if not name.endswith("*")}
    if beginnings:
        asked.update((name, value) for name, value in environ.items() if name.startswith(beginnings))
    return tuple(sorted(asked.items()))


def _taken_over(result: Result) -> Result:
    status = Status.REUSED if result.usable else result.record.status
    return evolve(result, record=evolve(result.record, status=status, elapsed_s=0.0, commands=()))
