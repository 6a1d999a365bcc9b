"""``Hello``: what each rank tells rank 0 of itself, and what ranks may not differ in."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from aorta.launch.identity import Identity
from aorta.model.frozen import evolve, frozen
from aorta.model.text import listed

#: How many ranks are named in a line, and lines are told of one kind.
FEW = 4


@frozen
class Hello:
    """One rank. ``facts`` are what all ranks must have alike: a name to a text, null where it is not known.

    ``problems`` keep this rank from running. ``job`` names the launched job: another one's is no peer.
    ``starts`` are the jobs that it is of, and how often each began again.
    """

    rank: int
    size: int
    host: str
    pid: int
    job: str | None = None
    local_rank: int | None = None
    local_size: int | None = None
    node: int | None = None
    starts: Mapping[str, int] = attrs.field(factory=dict)
    facts: Mapping[str, str | None] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """Return how the rank is called in texts."""
        return f"rank {self.rank} on {self.host}"


_NUMBER, _TEXT = (int, type(None)), (str, type(None))
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "rank": int,
    "size": int,
    "host": str,
    "pid": int,
    "job": _TEXT,
    "local_rank": _NUMBER,
    "local_size": _NUMBER,
    "node": _NUMBER,
    "starts": dict,
    "facts": dict,
    "problems": (list, tuple),
}


def hello_of(
    identity: Identity,
    facts: Mapping[str, str | None],
    problems: Sequence[str] = (),
    starts: Mapping[str, int] | None = None,
) -> Hello:
    """Return what this process tells."""
    return Hello(
        rank=identity.rank,
        size=identity.size,
        host=os.uname().nodename,
        pid=os.getpid(),
        job=identity.job,
        local_rank=identity.local_rank,
        local_size=identity.local_size,
        node=identity.node,
        starts=dict(starts or {}),
        facts=dict(facts),
        problems=tuple(problems),
    )


def as_message(hello: Hello) -> dict[str, Any]:
    """Return a hello as the members of a message."""
    made: Any = hello
    return attrs.asdict(made)


def from_message(message: Mapping[str, Any]) -> Hello:
    """Return the hello that a message holds; what another version of aorta says beside it does not count.

    Raises TypeError for what is none.
    """
    given = {name: message[name] for name in _KINDS if name in message}
    for name, value in given.items():
        if not isinstance(value, _KINDS[name]) or isinstance(value, bool):
            raise TypeError(name)
    if given.get("rank", 0) < 0 or not all(isinstance(one, str) for one in given.get("problems", ())):
        raise TypeError("rank or problems")
    if not all(isinstance(one, str | None) for one in given.get("facts", {}).values()):
        raise TypeError("facts")
    if not all(type(one) is int for one in given.get("starts", {}).values()):
        raise TypeError("starts")
    return Hello(**{**given, "problems": tuple(given.get("problems", ()))})


def disagreements(hellos: Sequence[Hello]) -> list[str]:
    """Return what keeps ranks from running together, one line each; nothing where all is in order."""
    told: dict[str, list[str]] = {}
    for hello in hellos:
        for line in hello.problems:
            told.setdefault(line, []).append(hello.named)
    lines = [
        line if len(ranks) == len(hellos) else f"{_named(ranks)}: {line}" for line, ranks in told.items()
    ]
    sizes = {hello.named: str(hello.size) for hello in hellos}
    lines += _differing("WORLD_SIZE", sizes)
    # What cannot run anyway may not know its facts.
    able = [hello for hello in hellos if not hello.problems]
    for name in dict.fromkeys(name for hello in able for name in hello.facts):
        lines += _differing(name, {hello.named: hello.facts.get(name) for hello in able})
    return lines


def _differing(name: str, values: Mapping[str, str | None]) -> list[str]:
    """Return a line when ranks have different values; the most frequent is what others differ from."""
    found = list(values.values())
    if len(set(found)) < 2:
        return []
    usual = max(dict.fromkeys(found), key=found.count)
    odd = [named for named, value in values.items() if value != usual]
    other = {values[named] for named in odd}
    shown = " or ".join(sorted(str(value) for value in other))
    return [f"{name} is {shown} on {listed(odd)}, and {usual} on {_rest(values, usual)}"]


def _rest(values: Mapping[str, str | None], usual: str | None) -> str:
    alike = [named for named, value in values.items() if value == usual]
    return alike[0] if len(alike) == 1 else f"{alike[0]} and {len(alike) - 1} more"


def _named(ranks: Sequence[str]) -> str:
    return listed(ranks) if len(ranks) <= FEW else f"{listed(ranks[:FEW])} and {len(ranks) - FEW} more"


def same_places(hellos: Sequence[Hello]) -> Iterator[str]:
    """Yield what is odd about the places of ranks on their nodes: two that would take one GPU."""
    places: dict[tuple[str, int | None, int], list[str]] = {}
    for hello in hellos:
        if hello.local_rank is not None:
            key = (hello.host, hello.node, hello.local_rank)
            places.setdefault(key, []).append(str(hello.rank))
    for (host, _, local_rank), ranks in places.items():
        if len(ranks) > 1:
            told = f"ranks {_named(ranks)} on {host} are all told LOCAL_RANK {local_rank}"
            yield f"{told}: of several GPUs they take one"


def placed(hellos: Sequence[Hello]) -> list[Hello]:
    """Return hellos in the order of ranks, their places on their nodes counted where nobody told them."""
    ordered = sorted(hellos, key=lambda hello: hello.rank)
    nodes: dict[Any, list[Hello]] = {}
    for hello in ordered:
        nodes.setdefault((hello.host, hello.node), []).append(hello)
    return [
        evolve(
            hello,
            local_rank=group.index(hello) if hello.local_rank is None else hello.local_rank,
            local_size=len(group) if hello.local_size is None else hello.local_size,
            node=list(nodes).index((hello.host, hello.node)) if hello.node is None else hello.node,
        )
        for hello in ordered
        for group in [nodes[(hello.host, hello.node)]]
    ]
