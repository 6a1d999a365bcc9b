"""Plans, runs and trials for the tests of the matrix."""

from aorta.sweep.definitions.registry import Environment
from aorta.sweep.matrix.matrix import Matrix
from aorta.sweep.matrix.run_facts import COMPLETE, RunFacts, State
from aorta.sweep.outcome import PER_STEP
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.summary import TrialSummary

DONE = State(word=COMPLETE)
LOCAL = Environment(name="local")
RUN = RunFacts(
    run_id="run-1",
    started_at="2026-11-30T12:00:00Z",
    version="1.2.3",
    revision="0123456789abcdef",
    fingerprint="f1",
    argv=("aorta", "sweep", "run", "--recipe", "recipes/a.yaml"),
    node="node-1",
)


def cell(name, *, stop_after=None, **more):
    trials = stop_after.max_trials if stop_after else 5
    made = {"name": name, "mitigations": (name,), "environment": LOCAL, "trials": trials}
    return PlannedCell(**{**made, "stop_after": stop_after, **more})


def plan(*cells, baseline=None, **recipe):
    made = {"trials": 5, "ticket": "T-1", "source": "recipes/a.yaml", "sha256": "ab" * 32, **recipe}
    return Plan(
        recipe=Recipe(**made),
        workload="command",
        isolation="process",
        cells=cells,
        baseline=baseline or cells[0].name,
    )


def trial(name, number, verdict="pass", **more):
    made = {"cell": name, "trial": number, "verdict": verdict, "elapsed_s": 1.5}
    return TrialSummary(**{**made, "path": f"cells/{name}/trial_{number:03d}.json", **more})


def trials(name, verdicts, **more):
    """Return trials by letters: p, f, e."""
    words = {"p": "pass", "f": "fail", "e": "error"}
    return [trial(name, number, words[letter], **more) for number, letter in enumerate(verdicts)]


def stepped(name, number, *times, verdict="pass", source=PER_STEP, **more):
    return trial(name, number, verdict, step_times_ms=times, step_time_source=source, **more)


def matrix(cells, summaries, run=RUN, **options):
    made = Matrix(plan(*cells, **options), run, environ={})
    made.restore(summaries)
    return made


def document(cells, summaries, state=DONE, **options):
    return matrix(cells, summaries, **options).document(state)


def by_name(made):
    return {one["name"]: one for one in made["cells"]}
