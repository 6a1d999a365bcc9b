"""Which keys each mode allows and needs."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aorta.sweep.recipe.faults import Fault, unknown
from aorta.sweep.recipe.model import COMMAND, MODES, PROBE, TRIAGE, Recipe
from aorta.sweep.recipe.structure import fields_of

#: Any mode; triage alone; probe alone; a command, that is probe and the workload ``command`` of triage.
EITHER, TRIAGE_ONLY, PROBE_ONLY, COMMANDS = ("either", "triage", "probe", "commands")

KEYS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("schema_version", "mode", "ticket", "trials", "confound", "stop_after"), EITHER),
    **dict.fromkeys(("collect", "only", "skip", "order", "fail_fast", "warmup_steps"), EITHER),
    **dict.fromkeys(("mitigations", "environments", "resolved"), EITHER),
    **dict.fromkeys(("workload", "steps", "cells", "workload_config", "save_logs"), TRIAGE_ONLY),
    **dict.fromkeys(("extra_env", "trial_isolation", "trial_timeout"), TRIAGE_ONLY),
    **dict.fromkeys(("mitigation_axis", "diagnostic_axis", "timeout_per_trial"), PROBE_ONLY),
    **dict.fromkeys(("command", "env_passthrough_mode", "step_time_regex", "collect_paths"), COMMANDS),
    **dict.fromkeys(("custom_patterns", "hang_window_sec", "hang_grace_period_at_start"), COMMANDS),
    **dict.fromkeys(("end_on_hang", "tier3_vram_growth", "disable_detectors"), COMMANDS),
    **dict.fromkeys(("disable_detector_tiers", "retain", "redaction"), COMMANDS),
}

#: ``steps`` means nothing to a command, so the workload ``command`` needs none.
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    TRIAGE: ("schema_version", "trials", "workload", "steps", "cells"),
    PROBE: ("schema_version", "trials", "mitigation_axis", "diagnostic_axis"),
}

#: Keys by which a recipe of ``mode: probe`` is known.
AXES: Final = ("mitigation_axis", "diagnostic_axis")

#: Keys that no recipe may have yet.
RESERVED: Final = ("condition",)

_INSTEAD: Final = {
    "timeout_per_trial": "trial_timeout",
    "trial_timeout": "timeout_per_trial",
    "cells": "mitigation_axis and diagnostic_axis",
    "mitigation_axis": "cells",
    "diagnostic_axis": "cells",
    "extra_env": "mitigations, and a name of it in an axis",
}


def allowed(mode: str, workload: str) -> tuple[str, ...]:
    """Return the keys that a recipe may have, in their order."""
    return tuple(name for name, *_ in fields_of(Recipe) if name in KEYS and _fits(name, mode, workload))


def required(mode: str, workload: str) -> tuple[str, ...]:
    """Return the keys that a recipe must have."""
    command = mode == TRIAGE and workload == COMMAND
    return tuple(name for name in REQUIRED[mode] if not (command and name == "steps"))


def faulty_keys(value: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong with the keys of a recipe, and the ones that are missing."""
    mode = value.get("mode", TRIAGE)
    if forgets_mode(value):
        axis = next(name for name in AXES if name in value)
        yield Fault(("mode",), f"is missing: a recipe with {axis} needs mode: {PROBE}")
        mode = PROBE
    workload = value.get("workload")
    if not isinstance(mode, str) or mode not in MODES:
        for name in value:
            if name not in KEYS:
                yield Fault((name,), _unknown(name, tuple(KEYS)), key=True)
        return
    # With a workload that is no text nothing is said of the keys that depend on it.
    named = workload if isinstance(workload, str) and mode == TRIAGE else COMMAND
    may, must = allowed(mode, named), required(mode, named)
    for name in value:
        if name not in may:
            text = _elsewhere(name, mode) if name in KEYS else _unknown(name, may)
            yield Fault((name,), text, key=True)
    for name in must:
        if name not in value:
            yield Fault((name,), "is missing")


def forgets_mode(value: Mapping[str, Any]) -> bool:
    """Tell whether a recipe looks like one of ``mode: probe`` and does not say so."""
    return (
        "mode" not in value
        and any(name in value for name in AXES)
        and not any(name in value for name in ("cells", "workload"))
    )


def _fits(name: str, mode: str, workload: str) -> bool:
    use = KEYS[name]
    return use in {EITHER, mode} or (use == COMMANDS and (mode == PROBE or workload == COMMAND))


def _unknown(name: str, known: tuple[str, ...]) -> str:
    return "is reserved" if name in RESERVED else unknown(name, known)


def _elsewhere(name: str, mode: str) -> str:
    if KEYS[name] == COMMANDS:
        return f"is for commands: mode: {PROBE}, or workload: {COMMAND}"
    instead = f"; here it is {_INSTEAD[name]}" if name in _INSTEAD else ""
    return f"is not for mode: {mode}, only for mode: {KEYS[name]}{instead}"
