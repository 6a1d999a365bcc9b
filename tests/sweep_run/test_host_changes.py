"""A run that takes long looks at the host again, and says what is not as it was."""

import pytest

from aorta.sweep.definitions.registry import registries
from aorta.sweep.matrix.matrix import Matrix
from aorta.sweep.matrix.run_facts import RunFacts
from aorta.sweep.outcome import PASS, Outcome
from aorta.sweep.planning.plan import make_plan
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.run.captures import Captures
from aorta.sweep.run.runner import Runner
from aorta.sweep.run.store import HOST_AFTER, HOST_ENV, new_run

RECIPE = Recipe(
    mode="probe", trials=1, mitigation_axis=("none",), diagnostic_axis=("none",), command=("true",)
)


class Upgrades:
    """In place of a command: a trial in which the ROCm tree becomes another version."""

    def __init__(self, version):
        self.version = version

    def execute(self, spec):
        if self.version is not None:
            self.version.write_text("6.4.1\n")
        return Outcome(verdict=PASS)


@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("patience_s", [0.0, 60.0])
def test_a_tree_that_was_upgraded_meanwhile(tmp_path, changes, patience_s):
    version = tmp_path / "rocm/.info/version"
    version.parent.mkdir(parents=True)
    (tmp_path / "rocm/bin").mkdir()
    version.write_text("6.3.0\n")
    base = {"PATH": str(tmp_path), "ROCM_PATH": str(tmp_path / "rocm")}
    plan = make_plan(RECIPE, registries((), RECIPE))
    captures, run = Captures(base), new_run(str(tmp_path / "out"), None, "command")
    matrix = Matrix(plan, RunFacts(run_id="x", started_at="2026-01-01T00:00:00Z"), base)
    try:
        captures.host()
        runner = Runner(
            plan,
            run,
            captures,
            Upgrades(version if changes else None),
            matrix,
            base=base,
            run_id="x",
            patience_s=patience_s,
        )
        state = runner.go()
        warnings = matrix.document(state)["warnings"]
    finally:
        captures.close()
        run.close()
    is_told = changes and patience_s == 0
    assert [("the host changed" in text, "rocm" in text) for text in warnings] == [(True, True)] * is_told
    left = tmp_path / "out/_no_ticket_/command" / run.name
    # What it was is on disk since the run began, and not written again.
    assert ((left / HOST_AFTER).exists(), (left / HOST_ENV).exists()) == (is_told, False)
