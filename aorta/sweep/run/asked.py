"""``Asked``: what a call of ``aorta sweep run`` is to run, once all of it is in order."""

import os
from collections.abc import Callable, Mapping

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.planning.plan import Plan


@frozen
class Asked:
    """What is to be run: a plan, what makes the text of its recipe, and where results go.

    ``argv`` is the command line of this process; ``warnings`` are told in the matrix.
    ``continue_after_crash``: a lost rank is no end of the run, where its aorta is still there.
    """

    plan: Plan
    resolved: Callable[[], str]
    fingerprint: str
    output: str
    argv: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    continue_after_crash: bool = False
    base: Mapping[str, str] = attrs.field(factory=lambda: dict(os.environ))
