"""What all ranks but rank 0 do: as rank 0 says, until it says that it is the end."""

import contextlib
from collections.abc import Mapping

from aorta.instrumentation.process import Stopped
from aorta.model.frozen import evolve
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.ranks.channel import Message
from aorta.sweep.ranks.ends import as_message
from aorta.sweep.ranks.follower import Follower, LostLeaderError
from aorta.sweep.ranks.local import ends_of_logs, files_at, forget, not_kept
from aorta.sweep.ranks.messages import AGAIN, DESCRIBE, END, ENDED, HOST, LEFT, STOPPED, TRIAL
from aorta.sweep.ranks.nodes import change_message
from aorta.sweep.ranks.own import OwnRank
from aorta.sweep.run.captures import Captures, described
from aorta.sweep.run.leftovers import end_leftovers
from aorta.sweep.spec import TrialSpec
from aorta.sweep.variables import CELL, RUN
from aorta.sweep.variables import TRIAL as TRIAL_NUMBER


def serve(plan: Plan, follower: Follower, own: OwnRank, base: Mapping[str, str]) -> int:
    """Do what rank 0 says, and return the exit status that it says at the end.

    Raises LostLeaderError when it is gone, and what a signal raises.
    """
    cells = {cell.name: cell for cell in plan.cells}
    captures: Captures | None = None
    try:
        while True:
            order = follower.order()
            if order["kind"] == END:
                return int(order["code"])
            if order["kind"] == TRIAL:
                _trial(order, cells[order["cell"]], follower, own, base)
                continue
            if order["kind"] == LEFT:
                ended = end_leftovers(order["run_id"])
                forget(order["run_id"])
                follower.tell(LEFT, text="; ".join(ended))
                continue
            captures = captures or Captures(base)
            if order["kind"] == HOST:
                follower.tell(HOST, host_digest=captures.host().host_digest)
            elif order["kind"] == AGAIN:
                follower.tell(AGAIN, change=change_message(captures.host_change()))
            elif order["kind"] == DESCRIBE:
                text = described(captures, cells[order["cell"]])
                follower.tell(DESCRIBE, environment=order["environment"], text=text)
    except Stopped as error:
        with contextlib.suppress(LostLeaderError):
            follower.tell(STOPPED, why=str(error))
        raise
    finally:
        if captures is not None:
            captures.close()


def _trial(
    order: Message, cell: PlannedCell, follower: Follower, own: OwnRank, base: Mapping[str, str]
) -> None:
    overlay = overlay_of(cell.layers, base)
    run_id = order["generation"].partition("/")[0]
    told = {CELL: cell.name, TRIAL_NUMBER: str(order["trial"]), RUN: run_id}
    number = order["number"]
    with files_at(order["stem"], run_id) as (files, seen):
        spec = TrialSpec(
            cell=cell,
            trial=order["trial"],
            files=files,
            environ={**environ_under(overlay, base), **told},
            overlay=overlay,
        )
        end = own.execute(
            spec,
            port=order["port"],
            generation=order["generation"],
            over=lambda: follower.is_over(number),
        )
        logs: dict[str, str] = {}
        if not seen:
            mine = files.of_rank(end.rank)
            logs = ends_of_logs(mine)
            notes = (*end.outcome.notes, *not_kept(mine))
            end = evolve(end, outcome=evolve(end.outcome, notes=notes))
        # A trial's times and metrics are rank 0's.
        end = evolve(end, outcome=evolve(end.outcome, metrics={}, step_times_ms=()))
        follower.tell(ENDED, number=number, end=as_message(end), logs=logs)
