"""What all ranks of a sweep must have alike, by name; a rank tells it in its ``Hello``."""

import contextlib
import hashlib
import os
import platform
import sys
import sysconfig
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
    """Return the beginning of the SHA-256 of a class's code: its file, and what that loads from beside it."""
    digest = hashlib.sha256()
    try:
        for name, path in sorted(_code_of(workload.__module__).items()):
            with open(path, "rb") as file:
                digest.update(f"{name} ".encode() + hashlib.sha256(file.read()).digest())
    except (OSError, KeyError, AttributeError, TypeError):
        return None
    return f"sha256:{digest.hexdigest()[:12]}"


def _code_of(module: str) -> dict[str, str]:
    """Return the files of a module and of those loaded from its package or folder, by the modules' names."""
    own, top = sys.modules[module].__file__, module.partition(".")[0]
    found = {module: str(own)}
    folder = os.path.dirname(str(sys.modules[top].__file__))
    if top == "aorta" or folder in sysconfig.get_paths().values():
        # aorta's own version is another fact, and a folder of everything is nobody's code.
        return found
    for name, each in list(sys.modules.items()):
        path = getattr(each, "__file__", None)
        if isinstance(path, str) and path.startswith(os.path.join(folder, "")):
            found[name] = path
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
