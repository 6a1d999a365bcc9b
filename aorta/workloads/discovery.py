"""Which workloads there are: the built-in tuple, ``AORTA_WORKLOADS``, entry points of ``aorta.workloads``.

A class is imported when it is asked for. A built-in name is found without a look at the others, and keeps
its meaning whatever is installed. A Buck ``.par`` has no distribution metadata: there the variable serves.
"""

import importlib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from aorta.model.frozen import evolve, frozen
from aorta.workloads.protocol import Workload

#: The built-in workloads: the name, and where the class is.
BUILTIN = (
    ("command", "aorta.workloads.command:Command"),
    ("ranks", "aorta.workloads.ranks:Ranks"),
    ("race", "aorta.workloads.race:Race"),
    ("training", "aorta.workloads.training:Training"),
)

GROUP = "aorta.workloads"
VARIABLE = "AORTA_WORKLOADS"

BUILT_IN, ENVIRONMENT, ENTRY_POINT = SOURCES = ("builtin", "environment", "entry_point")
DECLARED, LOADED, FAILED = STATES = ("declared", "loaded", "failed")

_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*"
_TARGET = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"


class UnknownWorkloadError(LookupError):
    """No workload has the name; the text says what may be meant, and what there is."""


class BrokenWorkloadError(UnknownWorkloadError):
    """A workload of the name is declared but cannot be used; the text says why."""


@frozen
class Found:
    """One declared workload. ``target`` is ``module:Class``; ``problem`` says why it cannot be used.

    ``status`` is declared (nobody has imported it), loaded or failed; ``owner`` is who declares it.
    """

    name: str
    source: str
    target: str
    owner: str
    status: str = DECLARED
    problem: str | None = None

    def load(self) -> type[Workload]:
        """Import the class. Raises BrokenWorkloadError."""
        if self.problem is not None:
            raise BrokenWorkloadError(self.problem)
        return _loaded(self)


def find(name: str) -> type[Workload]:
    """Return a workload's class by its name.

    Raises UnknownWorkloadError, or BrokenWorkloadError, which is one, where its class cannot be had.
    """
    return located(name).load()


def located(name: str) -> Found:
    """Return where a workload is, without importing it. Raises UnknownWorkloadError."""
    built_in = next((one for one in _built_in() if one.name == name), None)
    if built_in is not None:
        return built_in
    every = found()
    owners = [one for one in every if one.name == name]
    if not owners:
        raise UnknownWorkloadError(_unknown(name, every))
    return owners[0]


def found(*, load: bool = False) -> list[Found]:
    """Return all declared workloads, built-in ones first.

    With ``load`` each class is imported, outside ones in another process first, and told whether it can
    be used.
    """
    every = list(_told_apart([*_built_in(), *_of_variable(), *_of_entry_points()]))
    if not load:
        return every
    lost = _rehearsed([one for one in every if one.source != BUILT_IN and one.problem is None])
    return [_tried(one, lost.get(one.target.partition(":")[0])) for one in every]


def _built_in() -> Iterator[Found]:
    return (Found(name=name, source=BUILT_IN, target=target, owner="aorta") for name, target in BUILTIN)


def _of_variable() -> Iterator[Found]:
    for word in filter(None, (word.strip() for word in os.environ.get(VARIABLE, "").split(","))):
        name, equals, target = (part.strip() for part in word.partition("="))
        if not equals:
            name, target = _snake(word.rpartition(":")[2].rpartition(".")[2]), word
        one = Found(name=name, source=ENVIRONMENT, target=target, owner=f"{VARIABLE} ({word})")
        if not re.fullmatch(_TARGET, target) or not re.fullmatch(_NAME, name):
            problem = f"{VARIABLE}: {word!r} is neither module:Class nor NAME=module:Class"
            one = evolve(one, name=name or word, status=FAILED, problem=problem)
        yield one


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _of_entry_points() -> Iterator[Found]:
    from aorta.plugin.entry_points import declared, owner_of

    try:
        points = declared(GROUP)
    except Exception as error:
        problem = f"the entry points of {GROUP} cannot be read: {_said(error)}"
        yield Found(
            name=GROUP, source=ENTRY_POINT, target="", owner="entry points", status=FAILED, problem=problem
        )
        return
    for point in points:
        target = point.value.partition("[")[0].strip()
        one = Found(
            name=point.name,
            source=ENTRY_POINT,
            target=target,
            owner=owner_of(point) or f"a distribution that declares {point.value}",
        )
        if not re.fullmatch(_TARGET, target):
            problem = f"{one.owner}: {point.value!r} is not module:Class"
            one = evolve(one, status=FAILED, problem=problem)
        yield one


def _told_apart(every: Iterable[Found]) -> Iterator[Found]:
    """Let one owner have a name: a built-in one, else nobody where two declare different classes."""
    owners: dict[str, list[Found]] = {}
    for one in every:
        known = owners.setdefault(one.name, [])
        if not any(other.target == one.target for other in known):
            known.append(one)
    for name, known in owners.items():
        both = " and by ".join(f"{one.owner} ({one.target})" for one in known)
        for one in known:
            if len(known) > 1 and one.source != BUILT_IN and one.problem is None:
                problem = f"the name {name} is taken twice: by {both}"
                yield evolve(one, status=FAILED, problem=problem)
            else:
                yield one


def _rehearsed(wanted: list[Found]) -> dict[str, str]:
    """Return the modules whose import does not end, or ends the process, and what they do."""
    if not wanted:
        return {}
    from aorta.plugin.rehearsal import rehearse
    from aorta.plugin.sources import LIMIT_S

    return rehearse(sorted({one.target.partition(":")[0] for one in wanted}), LIMIT_S)


def _tried(one: Found, lost: str | None) -> Found:
    if lost is not None:
        return evolve(one, status=FAILED, problem=f"{one.owner}: {one.target}: {lost}")
    try:
        one.load()
    except BrokenWorkloadError as error:
        return evolve(one, status=FAILED, problem=str(error))
    return evolve(one, status=LOADED)


def _loaded(one: Found) -> type[Workload]:
    from aorta.plugin.importing import imported
    from aorta.workloads.declared import faults

    where = f"workload {one.name} of {one.owner}"
    try:
        made, _ = imported(lambda: resolve(one.target))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        told = f"{_said(error)}{_way_out(one.target, error)}"
        raise BrokenWorkloadError(f"{where}: {one.target} cannot be imported: {told}") from error
    wrong = faults(made)
    if wrong:
        raise BrokenWorkloadError(f"{where}: {one.target} cannot be used: {'; '.join(wrong)}")
    workload: type[Workload] = made
    return workload


def resolve(target: str) -> Any:
    """Import what ``module:Class`` names."""
    module, _, path = target.partition(":")
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part)
    return value


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _way_out(target: str, error: BaseException) -> str:
    """Return what to do about a module that is not found itself; one that it imports is its own affair."""
    top = target.partition(":")[0].partition(".")[0]
    lost = isinstance(error, ModuleNotFoundError) and error.name == top
    return "; put the folder that holds it into PYTHONPATH" if lost else ""


def _unknown(name: str, every: list[Found]) -> str:
    import difflib

    names = sorted({one.name for one in every if one.problem is None})
    # A name that is made of a class's is nobody's choice.
    made = {one.name: one.target for one in every if one.owner == f"{VARIABLE} ({one.target})"}
    shown = [f"{one} ({made[one]} in {VARIABLE})" if one in made else one for one in names]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? There" if near else "there"
    broken = [one.problem for one in every if one.problem is not None and one.source != BUILT_IN]
    more = f" Declared but not usable: {'; '.join(broken[:3])}." if broken else ""
    own = "" if near or broken else f" One of your own is told by {VARIABLE}=NAME=module:Class."
    return f"no workload is called {name[:60]!r}: {hint} are {', '.join(shown)}.{more}{own}"
