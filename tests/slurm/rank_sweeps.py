"""Sweeps of several ranks in a step of two nodes: the recipe, and what a run leaves."""

import contextlib
import json
import sys

AORTA = (sys.executable, "-W", "error", "-m", "aorta", "sweep", "run")
SWEEP = (*AORTA, "--recipe", "r.yaml")
#: Two ranks on each of the two nodes, and one on each.
FOUR, TWO = "-N2 --ntasks-per-node=2", "-N2 --ntasks-per-node=1"

RECIPE = """
schema_version: 1
ticket: {ticket}
workload: {workload}
trials: {trials}
steps: {steps}
trial_timeout: {timeout}
workload_config: {config}
cells:
  - {{name: base, mitigations: [none], environment: local}}
  - {{name: xnack, mitigations: [xnack], environment: local}}
"""


def recipe(
    folder, name="r.yaml", *, workload="ranks", ticket="T", trials=1, steps=2, timeout=40, **config
) -> str:
    """Write a recipe of two cells and return its name."""
    text = RECIPE.format(
        ticket=ticket,
        workload=workload,
        trials=trials,
        steps=steps,
        timeout=timeout,
        config=json.dumps(config),
    )
    (folder / name).write_text(text)
    return name


class Run:
    """What the one run of a ticket left."""

    def __init__(self, folder, ticket="T", workload="ranks"):
        [self.path] = folder.glob(f"triage_results/{ticket}/{workload}/2*")

    @property
    def matrix(self):
        return json.loads((self.path / "matrix.json").read_text())

    @property
    def files(self):
        """Return all files, without the one that says that the run is under way."""
        found = (path for path in self.path.rglob("*") if path.is_file() and path.name != ".lock")
        return sorted(str(path.relative_to(self.path)) for path in found)

    @property
    def records(self):
        return [json.loads(path.read_text()) for path in sorted(self.path.glob("cells/*/trial_???.json"))]

    def node(self, name, environment="local"):
        return json.loads((self.path / f"environments/{environment}/nodes/{name}.json").read_text())


def places(record):
    """Return rank, node and place on it of each rank of a trial."""
    return [(rank["rank"], rank["node"], rank["local_rank"]) for rank in record["ranks"]]


def lines_by_rank(text):
    """Return what each task said, of the output of ``srun --label``."""
    said = {}
    for line in text.splitlines():
        number, colon, rest = line.partition(": ")
        if colon and number.strip().isdigit():
            said.setdefault(int(number), []).append(rest)
    return said


@contextlib.contextmanager
def changed(steps, before, after, node="node2"):
    """Change something on a node with a shell's words, for as long as a ``with`` block lasts."""
    done = steps.cluster.run("sh", "-c", before, cwd=steps.folder, host=node)
    assert done.returncode == 0, done.stderr
    try:
        yield
    finally:
        steps.cluster.run("sh", "-c", after, cwd=steps.folder, host=node)


def other_file(steps, path, text, node="node2"):
    """Let a file have another text on a node: another file lies over it there, and nowhere else."""
    beside = steps.beside / "other"
    beside.write_text(text)
    return changed(steps, f"mount --bind {beside} {path}", f"umount {path}", node)
