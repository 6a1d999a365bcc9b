"""What kind of failure a trial had, so that failures of one kind can be counted together."""

from collections.abc import Iterable, Mapping
from typing import Any

from aorta.model.redact import redact
from aorta.sweep.command.catalogue import EFFECT, TELLS_LESS
from aorta.sweep.outcome import PASS
from aorta.sweep.summary import TrialSummary

#: The most kinds of a cell that are kept, and that are told in a line.
KEPT, TOLD = 20, 5
#: The most characters of a kind.
LONG = 80

_EXIT, _STATUS = "tier1:exit_nonzero", "exit status "


def kind_of(trial: TrialSummary) -> str | None:
    """Return the kind of a trial that is no pass: the detector that tells most of it.

    An exit status is its own kind each. Where no detector fired it is the reason, whatever numbers are in it,
    and whichever of several ranks it is of.
    """
    if trial.verdict == PASS:
        return None
    best = min(trial.failed, key=lambda id_: rank(id_, trial.verdict), default=None)
    if best == _EXIT and trial.exit_code is not None:
        return f"{_STATUS}{trial.exit_code}"
    return best if best is not None else _by_reason(trial)


def rank(kind: str, verdict: str | None = None) -> tuple[bool, int]:
    """Return what sorts detectors and kinds by how much they tell of a verdict, the most first."""
    id_ = _EXIT if kind.startswith(_STATUS) else kind
    return verdict is not None and EFFECT.get(id_, verdict) != verdict, TELLS_LESS.get(id_, 0)


def _by_reason(trial: TrialSummary) -> str:
    import re

    if not trial.reason:
        return "no reason is told"
    reason = redact(trial.reason)
    if trial.blamed:
        reason = _of_any_rank(reason)
    # One and many of the same are one kind.
    return re.sub(r"\d+(?:\.\d+)?", "N", reason).replace("N failures", "N failure")[:LONG]


def _of_any_rank(reason: str) -> str:
    """Return the reason of a trial of several ranks without which of them it was, on which node."""
    import re

    text = re.sub(r"^(?:rank \d+ on \S+|all \d+ ranks): ", "", reason)
    text = re.sub(r" \(\d+ of \d+ ranks [a-z ]+\)$", "", text)
    return re.sub(r"\brank \d+ on \S+", "a rank", text)


def told(kinds: Iterable[Mapping[str, Any]]) -> str:
    """Return kinds as the document has them in words: ``tier1:sigsegv in 3, tier2:hang in 1``."""
    every = list(kinds)
    text = ", ".join(f"{one['kind']} in {one['trials']}" for one in every[:TOLD])
    rest = sum(one["trials"] for one in every[TOLD:])
    return f"{text}, others in {rest}" if rest else text


def together(cell: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the kinds of a cell's failures and errors as one list, the most frequent first."""
    counts: dict[str, int] = {}
    for one in (*cell["failure_kinds"], *cell["error_kinds"]):
        counts[one["kind"]] = counts.get(one["kind"], 0) + one["trials"]
    return [
        {"kind": kind, "trials": number}
        for kind, number in sorted(counts.items(), key=lambda item: (-item[1], *rank(item[0]), item[0]))
    ]
