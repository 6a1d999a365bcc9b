"""``Session``: one call of ``aorta sweep run``, from a plan that is in order to a matrix on disk."""

import contextlib
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from aorta.instrumentation.about import tool
from aorta.model.frozen import evolve, frozen
from aorta.model.redact import redact_argv, redact_value
from aorta.sweep.matrix.matrix import Matrix
from aorta.sweep.matrix.run_facts import NodeFacts, RunFacts, State
from aorta.sweep.run.asked import Asked
from aorta.sweep.run.captures import Captures, as_json
from aorta.sweep.run.cut_off import set_aside
from aorta.sweep.run.resume import Earlier, check_host, recorded
from aorta.sweep.run.runner import LOOK_AGAIN, Listener, Runner, now
from aorta.sweep.run.store import HOST_ENV, RECIPE, RunDirectory, new_run
from aorta.sweep.run.team import OneRank, Team
from aorta.sweep.summary import TrialSummary


@frozen
class Done:
    """How it went: where, how the run ended, and the matrix as JSON values."""

    path: str
    state: State
    matrix: Mapping[str, Any]


class Session:
    """A run, new or gone on with. ``earlier`` is the run to go on with, ``team`` the ranks, if several."""

    def __init__(self, asked: Asked, earlier: Earlier | None = None, team: Team | None = None) -> None:
        self._asked = asked
        self._earlier = earlier
        self._team: Team = team or OneRank(asked.plan)
        self.run: RunDirectory | None = None
        self.ranks = self._team.size

    def go(self, listener: Listener | None = None) -> Done:
        """Run what is missing. Raises StoreError, ResumeError, OSError, and what a signal raises."""
        asked = self._asked
        with contextlib.closing(Captures(asked.base)) as captures:
            began = time.monotonic()
            self._team.nodes.ask_for_hosts()
            host = captures.host()
            patience_s = LOOK_AGAIN * (time.monotonic() - began)
            nodes = self._team.nodes.hosts(host.host_digest)
            if self._earlier is not None:
                check_host(self._earlier, nodes)
            self.run = self._directory()
            with contextlib.closing(self.run) as run:
                done, warnings = self._recorded(run)
                facts = self._facts(run, nodes, warnings)
                if self._earlier is None:
                    run.write(RECIPE, asked.resolved(), _mode(asked))
                    run.write(HOST_ENV, as_json(host))
                matrix = Matrix(asked.plan, facts, asked.base)
                if listener is not None:
                    listener.starts(asked.plan, done)
                with contextlib.closing(self._team.executor(run.relative)) as executor:
                    runner = Runner(
                        asked.plan,
                        run,
                        captures,
                        executor,
                        matrix,
                        base=asked.base,
                        run_id=facts.run_id,
                        recorded=done,
                        listener=listener,
                        patience_s=patience_s,
                        nodes=self._team.nodes,
                        after_crash=asked.continue_after_crash,
                    )
                    state = runner.go()
                return Done(path=run.path, state=state, matrix=matrix.document(state))

    def _directory(self) -> RunDirectory:
        if self._earlier is not None:
            return RunDirectory(self._earlier.path)
        plan = self._asked.plan
        return new_run(self._asked.output, plan.recipe.ticket, plan.workload)

    def _recorded(self, run: RunDirectory) -> tuple[Sequence[TrialSummary], list[str]]:
        """Return the trials that a run has already, and what is wrong with some; its processes are ended."""
        if self._earlier is None:
            return (), []
        left = self._team.nodes.end_leftovers(self._earlier.matrix["run_id"])
        found, wrong = recorded(run, self._asked.plan)
        cut = set_aside(run, self._asked.plan, self._earlier.matrix, found)
        return found, [*wrong, *left, *cut]

    def _facts(self, run: RunDirectory, nodes: tuple[NodeFacts, ...], warnings: Sequence[str]) -> RunFacts:
        asked, made = self._asked, tool()
        facts = RunFacts(
            run_id=uuid.uuid4().hex,
            started_at=now(),
            version=made.version,
            revision=made.revision,
            fingerprint=asked.fingerprint,
            host_digest=nodes[0].host_digest,
            nodes=nodes,
            launcher=self._team.launcher,
            starts=self._team.starts,
            folder=run.path,
            argv=asked.argv,
            node=os.uname().nodename,
            cwd=run.relative(os.getcwd()),
            warnings=(*asked.warnings, *self._team.warnings, *warnings),
        )
        if self._earlier is None:
            return facts
        matrix = self._earlier.matrix
        return evolve(
            facts,
            run_id=matrix["run_id"],
            started_at=matrix["run_timestamp"],
            warnings=tuple(dict.fromkeys((*matrix["warnings"], *facts.warnings))),
            resumed_at=(*matrix["resumed_at"], now()),
        )


def _mode(asked: Asked) -> int:
    """Return the mode of the recipe's file: it replays the run, so it holds the secrets that it was given."""
    recipe = asked.plan.recipe
    changes = [layer.change for cell in asked.plan.cells for layer in cell.layers]
    values = [pair for change in changes for pair in (*change.set.items(), *change.prepend.items())]
    is_plain = all(redact_value(name, value) == value for name, value in values)
    return 0o666 if is_plain and redact_argv(recipe.command) == recipe.command else 0o600
