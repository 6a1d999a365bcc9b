"""How a workload stands to the client: namespace and host. Equality is a hint, never a proof."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aorta.validate.document import Document
from aorta.validate.value import known, shown

SAME, DIFFERENT, UNKNOWN = "same", "different", "unknown"


@dataclass(frozen=True)
class Relation:
    """``same``, ``different`` or ``unknown``, and what that rests on and proves."""

    word: str
    basis: str

    def as_json(self) -> dict[str, str]:
        """Return the relation as plain JSON values."""
        return {"relation": self.word, "basis": self.basis}


@dataclass(frozen=True)
class Standing:
    """The relations of one workload to the client."""

    file: str
    namespace: Relation
    host: Relation


def standing(client: Document, workload: Document) -> Standing:
    """Return how a workload stands to the client."""
    namespace = namespaces(client, workload)
    return Standing(workload.file, namespace, hosts(client, workload, namespace))


def namespaces(client: Document, workload: Document) -> Relation:
    """Compare ``probe_namespace``: only values of one kind that hold the boot are comparable."""
    one, other = client.at("probe_namespace"), workload.at("probe_namespace")
    if not (isinstance(one, str) and isinstance(other, str) and known(one) and known(other)):
        return Relation(UNKNOWN, "probe_namespace is not known on both sides")
    (kind, _, value), (other_kind, _, other_value) = one.partition(":"), other.partition(":")
    if not (value and other_value):
        return Relation(UNKNOWN, "probe_namespace is not of the form KIND:HEX")
    if kind != other_kind:
        return Relation(UNKNOWN, f"{shown(kind)} and {shown(other_kind)} are not comparable")
    if kind.endswith("-local"):
        return Relation(UNKNOWN, "made without the boot's id, so not comparable between hosts")
    if value != other_value:
        return Relation(DIFFERENT, "another boot or another namespace: proven")
    return Relation(SAME, "advisory: the numbers of namespaces are given out again")


def hosts(client: Document, workload: Document, namespace: Relation) -> Relation:
    """Compare what tells hosts apart, the surest first; a difference outweighs what is equal."""
    found = [
        relation
        for compared in (_boot, _kernel, _node, _machine, _gpus)
        if (relation := compared(client, workload))
    ]
    for word in (DIFFERENT, SAME):
        for relation in found:
            if relation.word == word:
                return relation
    if namespace.word == SAME:
        return Relation(SAME, "advisory: probe_namespace is equal, which holds the boot's id")
    return Relation(UNKNOWN, "nothing that both sides tell sets hosts apart")


def _texts(client: Document, workload: Document, *path: str) -> tuple[str, str] | None:
    one, other = client.at(*path), workload.at(*path)
    if isinstance(one, str) and isinstance(other, str) and known(one) and known(other):
        return one.strip(), other.strip()
    return None


def _boot(client: Document, workload: Document) -> Relation | None:
    pair = _texts(client, workload, "host", "boot_id")
    if pair is None:
        return None
    if pair[0] == pair[1]:
        return Relation(
            SAME, "advisory: host.boot_id is equal, which copies of one virtual machine may share"
        )
    return Relation(DIFFERENT, "host.boot_id differs: another host, or another boot of it")


def _gpus(client: Document, workload: Document) -> Relation | None:
    # Without one in common nothing follows: each may have been given some of one host's.
    if _serials(client) & _serials(workload):
        return Relation(SAME, "advisory: gpus[].unique_id has a serial number in common")
    return None


def _serials(document: Document) -> set[str]:
    rows = [row for row in document.listed("gpus") if isinstance(row, dict)]
    return {
        row["unique_id"] for row in rows if isinstance(row.get("unique_id"), str) and known(row["unique_id"])
    }


def _kernel(client: Document, workload: Document) -> Relation | None:
    for name in ("kernel_release", "kernel_version", "machine"):
        pair = _texts(client, workload, "host", name)
        if pair is not None and pair[0] != pair[1]:
            return Relation(DIFFERENT, f"host.{name} differs: another host, or another boot of it")
    return None


def _node(client: Document, workload: Document) -> Relation | None:
    pair = _texts(client, workload, "launcher", "node")
    if pair is None:
        return None
    if pair[0] == pair[1]:
        return Relation(SAME, "advisory: launcher.node is equal")
    return Relation(DIFFERENT, "launcher.node differs")


def _machine(client: Document, workload: Document) -> Relation | None:
    # In a container it is the image's, which many hosts share.
    if any(document.at("container_detected") is not False for document in (client, workload)):
        return None
    pair = _texts(client, workload, "host", "machine_digest")
    if pair is None:
        return None
    if pair[0] == pair[1]:
        return Relation(SAME, "advisory: host.machine_digest is equal, which nodes of one image may share")
    return Relation(DIFFERENT, "host.machine_digest differs")


def told(standings: Sequence[Standing]) -> str:
    """Return the relations in a few words, those of several workloads counted."""
    return "; ".join(f"{name} {_counted(name, standings)}" for name in ("namespace", "host"))


def _counted(name: str, standings: Sequence[Any]) -> str:
    words = Counter(getattr(one, name).word for one in standings)
    hint = {SAME: " (advisory)"}
    if len(words) == 1:
        word = next(iter(words))
        return f"{word}{hint.get(word, '')}"
    return ", ".join(
        f"{word} for {words[word]}{hint.get(word, '')}" for word in (SAME, DIFFERENT, UNKNOWN) if words[word]
    )
