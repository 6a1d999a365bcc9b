"""``Kept``: results of earlier captures of this process, to take over where nothing they asked can differ."""

from collections.abc import Mapping

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

    A result of scope ``process``, or that needs one, is kept only where aorta's own code made it of
    variables alone. One that failed or timed out is kept too: trying again in every capture would cost its
    deadline each time.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._entries: dict[str, list[_Entry]] = {}
        self._chains = {spec.name: registry.graph([spec.name]) for spec in registry.specs()}
        self._own = {record.name for record in registry.plugins if record.source == "builtin"}
        #: What does not rest on the process.
        self.lasting = {name for name, chain in self._chains.items() if all(map(self._lasts, chain))}

    def _lasts(self, name: str) -> bool:
        spec = self._registry.collectors.get(name) or self._registry.providers[name]
        return spec.scope is not Scope.PROCESS

    def keep(self, run: Orchestrator, environ: Mapping[str, str]) -> list[Result]:
        """Keep what a finished capture found out by itself; return the results as they will be taken over."""
        new = []
        for name, result in run.results.items():
            chain = self._chains[name]
            if name in run.earlier or result.record.status is Status.NOT_REQUESTED:
                continue
            if not all(self._lasts(other) or self._is_made_of_variables(run, other) for other in chain):
                continue
            asked = [
                run.results[other].variables | run.results[other].passed_on
                for other in chain
                if other in run.results
            ]
            names = frozenset().union(*asked)
            taken = _taken_over(result, anew=name not in self.lasting)
            entry = _Entry(result=taken, names=names, values=_values(names, environ))
            self._entries.setdefault(name, []).append(entry)
            new.append(entry.result)
        return new

    def _is_made_of_variables(self, run: Orchestrator, name: str) -> bool:
        result = run.results.get(name)
        return result is not None and not result.looked and self._registry.plugin_of[name] in self._own

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


def _taken_over(result: Result, *, anew: bool) -> Result:
    """Return a result for later captures; ``anew`` is what the same variables make again."""
    if anew:
        return result
    status = Status.REUSED if result.usable else result.record.status
    return evolve(result, record=evolve(result.record, status=status, elapsed_s=0.0, commands=()))
