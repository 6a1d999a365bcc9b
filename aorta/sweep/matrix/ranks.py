"""Several ranks in words: where they ran, and which of them were to blame for trials."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aorta.launch.identity import BY_HAND, HAND
from aorta.model.text import count_of
from aorta.sweep.matrix.table import Cell

#: The most nodes, and ranks, that a line names.
TOLD = 8

#: The metric by which a workload says whether nodes have as many ranks as its recipe is made for.
FITS = "topology_matches_recipe"


def ranks_line(head: Mapping[str, Any]) -> str | None:
    """Return where the ranks of a run are: ``4 on 2 nodes (slurm): node1: 0-1, node2: 2-3``; null for one."""
    if head["world_size"] <= 1:
        return None
    nodes = head["nodes"]
    launcher = f" ({head['launcher']})" if head["launcher"] else ""
    launcher = f" {HAND}" if head["launcher"] == BY_HAND else launcher
    shown = ", ".join(f"{one['node']}: {runs_of(one['ranks'])}" for one in nodes[:TOLD])
    more = f", and {len(nodes) - TOLD} more" if len(nodes) > TOLD else ""
    return f"{head['world_size']} on {count_of(len(nodes), 'node')}{launcher}: {shown}{more}"


def runs_of(numbers: Sequence[int]) -> str:
    """Return numbers in words, those in a row as ``3-7``: ``0-1, 4``."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1][1:] = [number]
        else:
            rows.append([number])
    return ", ".join("-".join(map(str, row)) for row in rows)


def by_rank(cell: Cell) -> str | None:
    """Return how often which rank was to blame in a cell; null where none was more than the others."""
    blamed = cell.get("blamed_ranks", ())
    trials = cell["failed_count"] + cell["error_count"]
    is_alike = len(blamed) > 1 and all(one["trials"] == trials for one in blamed)
    if trials < 2 or not blamed or is_alike:
        return None
    told = [f"rank {one['rank']} on {one['node']} in {one['trials']}" for one in blamed]
    return _listed(told)


def uneven(head: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[str]:
    """Yield how often which node was to blame, or which rank of one node, where they were not all alike."""
    trials = sum(cell["failed_count"] + cell["error_count"] for cell in cells)
    nodes: Counter[str] = Counter()
    ranks: Counter[tuple[int, str]] = Counter()
    for cell in cells:
        for one in cell.get("blamed_nodes", ()):
            nodes[one["node"]] += one["trials"]
        for one in cell.get("blamed_ranks", ()):
            ranks[one["rank"], one["node"]] += one["trials"]
    if trials < 2:
        return
    if len(head["nodes"]) > 1 and _are_uneven(nodes, len(head["nodes"])):
        parts = [f"{node} in {count}" for node, count in nodes.most_common()]
        yield f"Nodes to blame for the {trials} trials that did not pass: {_listed(parts)}."
    if _are_uneven(ranks, head["world_size"]):
        parts = [f"rank {rank} on {node} in {count}" for (rank, node), count in ranks.most_common()]
        yield f"Ranks to blame for the {trials} trials that did not pass: {_listed(parts)}."


def other_topology(cell: Cell, metrics: Mapping[str, Any]) -> str:
    """Return that a cell ran on nodes with another number of ranks than its recipe is made for."""
    name = "local_world_size"
    numbers = (cell["workload_config"].get(f"expected_{name}"), metrics.get(name))
    told = ": expected_{} is {}, and a node has {}".format(name, *numbers) if None not in numbers else ""
    return f"cell {cell['name']}: nodes have other ranks than the recipe is made for{told}"


def _are_uneven(counts: Mapping[Any, int], size: int) -> bool:
    """Tell whether one of ``size`` members was to blame more often than another."""
    return bool(counts) and (len(counts) < size or len(set(counts.values())) > 1)


def _listed(parts: Sequence[str]) -> str:
    more = f", {len(parts) - TOLD} others in fewer" if len(parts) > TOLD else ""
    return f"{', '.join(parts[:TOLD])}{more}"
