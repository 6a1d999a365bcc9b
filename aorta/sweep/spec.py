"""``TrialSpec``: one trial, as whatever runs it is given it."""

from collections.abc import Mapping

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.files import TrialFiles
from aorta.sweep.planning.plan import PlannedCell


@frozen
class TrialSpec:
    """A trial of a cell. ``environ`` is all that it gets, ``overlay`` what of it the cell changed."""

    cell: PlannedCell
    trial: int
    files: TrialFiles
    environ: Mapping[str, str]
    overlay: Mapping[str, str | None] = attrs.field(factory=dict)
