"""What all ranks of a sweep must have alike, by name; a rank tells it in its ``Hello``."""

import contextlib
import hashlib
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from aorta.instrumentation.about import tool
from aorta.sweep.planning.plan import Plan
from aorta.workloads.discovery import UnknownWorkloadError, located


def facts_of(plan: Plan, fingerprint: str) -> dict[str, str | None]:
    """Return this rank's facts; null is what is not known. ``fingerprint`` is the recipe's."""
    made = tool()
    facts: dict[str, str | None] = {
        "aorta": f"{made.version} ({made.revision})" if made.revision else made.version,
        "the number of cells": str(len(plan.cells)),
        "the number of trials": str(sum(cell.trials for cell in plan.cells)),
        "the recipe": f"{plan.recipe.source} ({fingerprint[:19]})",
        "Python": platform.python_version(),
    }
    # One that is not there is one of the problems.
    with contextlib.suppress(UnknownWorkloadError):
        found = located(plan.workload)
        facts[f"workload {plan.workload}"] = f"{found.target} of {found.owner}"
        workload = found.load()
        facts[f"the code of workload {plan.workload}"] = _digest_of(workload)
        facts.update((name, _version(name)) for name in sorted(workload.requires))
    return facts


def _digest_of(workload: type) -> str | None:
    """Return the beginning of the SHA-256 of the file that a class is in."""
    try:
        with open(str(sys.modules[workload.__module__].__file__), "rb") as file:
            return f"sha256:{hashlib.sha256(file.read()).hexdigest()[:12]}"
    except (OSError, KeyError, AttributeError):
        return None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
