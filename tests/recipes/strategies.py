"""Recipes that are sound, for properties that hold of all of them."""

from hypothesis import strategies as st

from aorta.sweep.outcome import VERDICTS
from aorta.sweep.recipe import model
from aorta.sweep.recipe.values import RESERVED

#: Texts of every kind, with what YAML takes for something else.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["", "no", "on", "~", "null", "1", "1e3", "010", "22:22", "2020-01-01", "<<", "=", "- a", "a: b", "#", " x ", "\n", "\r\n", "\x85", "\u2028", "\ufeff", "*a", "&a", "!x", "%x", "@", "`", "'", '"', "\t", "\x7f", "\U0001f600"]
)  # fmt: skip
FILLED = TEXTS.filter(bool)
LINES = FILLED.filter(lambda text: text.isprintable() and text.strip())
NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,8}", fullmatch=True).filter(
    lambda name: name not in RESERVED
)
VARIABLES = st.dictionaries(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True) | st.sampled_from(["set", "unset", "on"]),
    TEXTS,
    max_size=3,
)
COUNTS, SECONDS = st.integers(1, 10**9), st.floats(0.001, 1e12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CONFIGS = st.dictionaries(
    TEXTS.filter(lambda key: key != "steps" and not key.startswith("_aorta_")), JSON, max_size=3
)
COLLECTS = st.none() | st.dictionaries(
    st.sampled_from(["rocprof", "numerics", "amd_log"]), st.none() | st.dictionaries(TEXTS, TEXTS, max_size=2)
)
AXES = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)
#: Arguments as an operating system may give them, UTF-8 or not.
ARGUMENTS = st.binary(max_size=8).map(lambda raw: raw.replace(b"\0", b"").decode("utf-8", "surrogateescape"))


@st.composite
def changes(draw):
    sets, prepends = draw(VARIABLES), draw(VARIABLES)
    unsets = draw(st.lists(st.sampled_from(["A", "B", "C"]), unique=True))
    return model.Change(
        set=sets,
        unset=tuple(name for name in unsets if name not in sets and name not in prepends),
        prepend={name: value for name, value in prepends.items() if name not in sets},
    )


ENVIRONMENTS = st.builds(
    model.EnvironmentRecipe,
    docker=st.none() | FILLED,
    venv=st.none() | FILLED,
    buck_target=st.none() | FILLED,
    emulator=st.none() | FILLED,
    mirage_profile=st.none() | FILLED,
    env=changes(),
)
CELLS = st.builds(
    model.CellRecipe,
    name=NAMES,
    mitigations=AXES,
    environment=NAMES | st.builds(model.InlineEnvironment, docker=FILLED, env=VARIABLES),
    extra_env=VARIABLES,
    steps=st.none() | COUNTS,
    workload_config=CONFIGS,
    collect=COLLECTS,
)
PATTERNS = st.builds(
    model.CustomPattern,
    id=NAMES,
    match=st.builds(
        model.Match,
        regex=st.sampled_from(["x", "(?P<a>.*)", r"\d+: 'q'"]),
        condition=st.none() | st.just("exit_code == 0"),
    ),
    on_match=st.none() | st.sampled_from(["warn", "info"]),
    required_for_pass=st.booleans(),
)
RETAINED = st.sampled_from(model.RETAINED)
COMMAND_MEMBERS = {
    "command": st.just(())
    | st.builds(lambda first, more: (first, *more), NAMES, st.lists(ARGUMENTS, max_size=4)),
    "env_passthrough_mode": st.sampled_from(model.PASSTHROUGHS),
    "step_time_regex": st.none() | st.sampled_from([r"(\d+) ms", "(?P<s>x)(y)"]),
    "collect_paths": st.lists(FILLED, max_size=2).map(tuple),
    "custom_patterns": st.lists(PATTERNS, max_size=2, unique_by=lambda each: each.id).map(tuple),
    "hang_window_sec": SECONDS,
    "hang_grace_period_at_start": st.floats(0, 1e12),
    "end_on_hang": st.booleans(),
    "tier3_vram_growth": st.booleans(),
    "disable_detectors": st.sampled_from([(), ("tier2:hang",), ("custom:x", "tier4:hip_error")]),
    "disable_detector_tiers": st.sampled_from([(), ("tier3", "tier5")]),
    "retain": st.builds(model.Retain, on_fail=RETAINED, on_pass=RETAINED, on_error=RETAINED),
    "redaction": st.builds(
        model.Redaction,
        scrub_env_keys=st.lists(FILLED, max_size=2).map(tuple),
        scrub_paths=st.booleans(),
        scrub_ip_addresses=st.booleans(),
    ),
}
EITHER_MEMBERS = {
    "ticket": st.none() | LINES,
    "trials": COUNTS,
    "confound": st.builds(model.Confound, threshold=SECONDS),
    "stop_after": st.none()
    | st.builds(
        model.StopAfter,
        events=st.integers(1, 5),
        max_trials=st.integers(5, 9),
        event_verdict=st.sampled_from(VERDICTS),
    ),
    "collect": COLLECTS,
    "order": st.sampled_from(model.ORDERS),
    "fail_fast": st.booleans(),
    "warmup_steps": st.integers(0, 9),
    "mitigations": st.dictionaries(NAMES, changes(), max_size=2),
    "environments": st.dictionaries(NAMES, ENVIRONMENTS, max_size=2),
}
TRIAGE_MEMBERS = {
    "workload": LINES | st.just("command"),
    "steps": COUNTS,
    "cells": st.lists(CELLS, min_size=1, max_size=3, unique_by=lambda cell: cell.name).map(tuple),
    "workload_config": CONFIGS,
    "save_logs": st.booleans(),
    "extra_env": VARIABLES,
    "trial_isolation": st.sampled_from(model.ISOLATIONS),
    "trial_timeout": st.none() | SECONDS,
}
PROBE_MEMBERS = {
    "mitigation_axis": AXES,
    "diagnostic_axis": AXES,
    "timeout_per_trial": st.none() | SECONDS,
}


@st.composite
def recipes(draw):
    """Return a recipe of either mode in which members have their default or another value."""
    mode = draw(st.sampled_from(model.MODES))
    chosen = {"mode": mode}
    tables = [EITHER_MEMBERS, TRIAGE_MEMBERS if mode == model.TRIAGE else PROBE_MEMBERS]
    for table in tables:
        chosen.update(_some(draw, table))
    if mode == model.PROBE or chosen["workload"] == model.COMMAND:
        chosen.update(_some(draw, COMMAND_MEMBERS))
    return model.Recipe(**chosen)


def _some(draw, table):
    needed = ("trials", "workload", "steps", "cells", "mitigation_axis", "diagnostic_axis")
    return {name: draw(values) for name, values in table.items() if name in needed or draw(st.booleans())}
