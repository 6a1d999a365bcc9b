"""``SeveralNodes``: a snapshot of each node of a run, and in what the nodes differ that should be alike."""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.matrix.run_facts import NodeFacts
from aorta.sweep.planning.plan import PlannedCell
from aorta.sweep.ranks.hello import Hello
from aorta.sweep.ranks.leader import Leader
from aorta.sweep.ranks.messages import AGAIN, DESCRIBE, HOST, LEFT
from aorta.sweep.run.captures import Captures, HostChange, described, environment_file
from aorta.sweep.run.leftovers import end_leftovers
from aorta.sweep.run.store import HOST_AFTER, HOST_ENV, NODES, RunDirectory
from aorta.sweep.run.team import left_by
from aorta.sweep.slug import slug

#: Seconds that another node gets for a snapshot: its own deadline, and what is left to send it.
WAIT_S = 90.0


@frozen
class Node:
    """A node: its name in files and texts, and its ranks, of which the first takes its snapshots."""

    name: str
    ranks: tuple[int, ...]


def nodes_of(places: Sequence[Hello]) -> list[Node]:
    """Return the nodes of ranks; where two have one host name, their numbers tell them apart."""
    found: dict[tuple[int | None, str], list[int]] = {}
    for place in places:
        found.setdefault((place.node, place.host), []).append(place.rank)
    hosts = [host for _, host in found]
    return [
        Node(name=host if hosts.count(host) == 1 else f"{host}.{node}", ranks=tuple(ranks))
        for (node, host), ranks in found.items()
    ]


class SeveralNodes:
    """The nodes of the ranks that a leader leads; its own is the first."""

    def __init__(self, leader: Leader, places: Sequence[Hello]) -> None:
        self._leader = leader
        self._own, *self._others = nodes_of(places)

    def hosts(self, own_digest: str) -> tuple[NodeFacts, ...]:
        """Return the nodes with the digests of their hosts' snapshots; null where one did not tell it."""
        told = self._asked(HOST, "host_digest")
        rows = [(self._own, own_digest), *((node, told.get(node.name)) for node in self._others)]
        return tuple(NodeFacts(node=node.name, ranks=node.ranks, host_digest=digest) for node, digest in rows)

    def ask_for_hosts(self) -> None:
        """Let the other nodes begin with their snapshots."""
        self._tell(HOST)

    def describe(self, run: RunDirectory, cell: PlannedCell, captures: Captures) -> Iterable[str]:
        """Leave each node's snapshot of a cell's environment, and return what sets one apart."""
        environment = cell.environment
        self._tell(DESCRIBE, cell=cell.name, environment=environment.name)
        own = described(captures, cell)
        run.write(environment_file(environment, "env.json"), own)
        texts = {self._own.name: own, **self._asked(DESCRIBE, "text", environment=environment.name)}
        for node in self._others:
            if node.name not in texts:
                yield f"environment {environment.name}: node {node.name} gave no snapshot"
        files = {
            environment_file(environment, NODES, f"{slug(name)}.json"): text for name, text in texts.items()
        }
        for name, text in files.items():
            run.write(name, text)
        yield from (f"environment {environment.name}: {text}" for text in odd_nodes(files))

    def look_again(self, run: RunDirectory, captures: Captures) -> Iterable[str]:
        """Look at all nodes' hosts, at the same time."""
        self._tell(AGAIN)
        if change := captures.host_change():
            yield left_by(run, f"the host of {self._own.name}", change, HOST_ENV, HOST_AFTER)
        answers = self._asked(AGAIN, "change")
        for node in self._others:
            host = f"the host of {node.name}"
            if given := answers.get(node.name):
                change = HostChange(**given)
                before, after = (
                    os.path.join(NODES, slug(node.name), name) for name in (HOST_ENV, HOST_AFTER)
                )
                run.write(before, change.before)
                yield left_by(run, host, change, before, after)
            elif node.name not in answers and self._leader.members[node.ranks[0]].gone is None:
                yield f"{host} was not looked at again: it gave no answer in {WAIT_S:g} s"

    def end_leftovers(self, run_id: str) -> list[str]:
        """End what an aorta that was killed left of a run on all nodes; return lines that say so."""
        self._tell(LEFT, run_id=run_id)
        lines = end_leftovers(run_id)
        answers = self._asked(LEFT, "text")
        return [*lines, *(f"{node}: {text}" for node, text in answers.items() if text)]

    def _tell(self, kind: str, **members: str) -> None:
        """Send an order to the other nodes."""
        self._leader.tell([node.ranks[0] for node in self._others], kind, **members)

    def _asked(self, kind: str, member: str, **about: str) -> dict[str, Any]:
        """Return what the other nodes answer, by their names; those that are lost answer nothing.

        An answer that says it is ``about`` something else came too late for the question before.
        """
        answers: dict[int, Any] = {}

        def is_complete() -> bool:
            for rank, message in self._leader.take(kind):
                if all(message.get(name) == value for name, value in about.items()):
                    answers[rank] = message[member]
            return all(
                node.ranks[0] in answers or self._leader.members[node.ranks[0]].gone is not None
                for node in self._others
            )

        self._leader.wait(is_complete, time.monotonic() + WAIT_S)
        return {node.name: answers[node.ranks[0]] for node in self._others if node.ranks[0] in answers}


def change_message(change: HostChange | None) -> dict[str, Any] | None:
    """Return how a host is another than it was as JSON values."""
    made: Any = change
    return None if change is None else attrs.asdict(made)


def odd_nodes(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield in what nodes differ that a job needs alike, by the rules of ``aorta validate pair``."""
    if len(texts) < 2:
        return
    from aorta.validate.document import Document
    from aorta.validate.job import RULES
    from aorta.validate.options import Options

    documents = [Document(file=name, data=json.loads(text)) for name, text in texts.items()]
    for rule in RULES:
        if rule.id != "job.rank" and rule.check is not None:
            yield from (said.text for said in rule.check(documents, Options()))
