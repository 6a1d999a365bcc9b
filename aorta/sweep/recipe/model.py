"""``Recipe``: what a sweep runs, as the file says it; every key of both modes.

What the file leaves out has its default here. Which keys a mode allows and needs stands in ``keys``; the
cells that the axes of ``mode: probe`` make in ``cells``.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.frozen import frozen

SCHEMA_VERSION = 1

#: ``triage``: a workload in cells that are spelled out; ``probe``: a command, in the product of two axes.
TRIAGE, PROBE = MODES = ("triage", "probe")
#: The workload that runs a command.
COMMAND = "command"

AUTO, IN_PROCESS, PROCESS = ISOLATIONS = ("auto", "in_process", "process")
INHERIT, FILE = PASSTHROUGHS = ("inherit", "file")
SEQUENTIAL, INTERLEAVED = ORDERS = ("sequential", "interleaved")
ON_MATCH = ("fail", "warn", "info")
#: What is kept of a trial beside its record, from nothing to everything.
RETAINED = ("none", "log", "summary", "full")

#: A mean step this many times the baseline's is said to be slower.
THRESHOLD = 1.15


@frozen
class Change:
    """What is done to environment variables: names to values, names to take away, names to put in front of.

    ``prepend`` puts a value before the one that a variable has, with a colon between.
    """

    set: Mapping[str, str] = attrs.field(factory=dict)
    unset: tuple[str, ...] = ()
    prepend: Mapping[str, str] = attrs.field(factory=dict)


@frozen
class InlineEnvironment:
    """An environment that a cell describes itself: an image, and variables."""

    docker: str
    env: Mapping[str, str] = attrs.field(factory=dict)


@frozen
class EnvironmentRecipe:
    """An environment that a recipe or a sidecar file defines; null is what it does not say."""

    docker: str | None = None
    venv: str | None = None
    buck_target: str | None = None
    emulator: str | None = None
    mirage_profile: str | None = None
    env: Change = attrs.field(factory=Change)


#: What of an environment says where trials run; its variables are beside these.
PLACES = ("docker", "venv", "buck_target", "emulator", "mirage_profile")


@frozen
class Confound:
    """Which cell the others are compared with, and from which ratio of mean steps on one is slower."""

    threshold: float = THRESHOLD
    baseline_cell: str | None = None


@frozen
class StopAfter:
    """End a cell after ``events`` trials with a verdict, and after ``max_trials`` at the latest."""

    events: int
    max_trials: int
    event_verdict: str = "fail"


@frozen
class Match:
    """What a custom pattern looks for: a regular expression, and a condition on what it captured."""

    regex: str
    condition: str | None = None


@frozen
class CustomPattern:
    """A detector of the recipe's own. ``required_for_pass``: a trial in which it is not seen fails.

    ``on_match`` is ``fail`` by default, and ``info`` for a pattern that is required.
    """

    id: str
    match: Match
    on_match: str | None = None
    required_for_pass: bool = False

    @property
    def effect(self) -> str:
        """Return what a match means: fail, warn or info."""
        return self.on_match or ("info" if self.required_for_pass else "fail")


@frozen
class Retain:
    """What is kept of a trial by its verdict: none, log, summary or full."""

    on_fail: str = "full"
    on_pass: str = "full"  # noqa: S105 - no password
    on_error: str = "full"


@frozen
class Redaction:
    """What is taken out when a run is bundled."""

    scrub_env_keys: tuple[str, ...] = ()
    scrub_paths: bool = False
    scrub_ip_addresses: bool = False


@frozen
class CellRecipe:
    """One cell of ``mode: triage``; null is what the recipe says for all."""

    name: str
    mitigations: tuple[str, ...]
    environment: str | InlineEnvironment
    extra_env: Mapping[str, str] = attrs.field(factory=dict)
    trials: int | None = None
    steps: int | None = None
    workload_config: Mapping[str, Any] = attrs.field(factory=dict)
    collect: Mapping[str, Mapping[str, str] | None] | None = None


@frozen
class Resolved:
    """What aorta notes in the recipe that it writes beside a run."""

    aorta: str
    fingerprint: str
    source: str | None = None
    source_sha256: str | None = None


@frozen
class Recipe:
    """A recipe. ``source`` and ``sha256`` are of the file it was read from."""

    schema_version: int = SCHEMA_VERSION
    mode: str = TRIAGE
    ticket: str | None = None
    trials: int = 1
    confound: Confound = attrs.field(factory=Confound)
    stop_after: StopAfter | None = None
    collect: Mapping[str, Mapping[str, str] | None] | None = None

    # Of triage alone
    workload: str = COMMAND
    steps: int = 1
    cells: tuple[CellRecipe, ...] = ()
    workload_config: Mapping[str, Any] = attrs.field(factory=dict)
    save_logs: bool = False
    extra_env: Mapping[str, str] = attrs.field(factory=dict)
    trial_isolation: str = AUTO
    trial_timeout: float | None = None

    # Of commands: probe, and the workload ``command``
    mitigation_axis: tuple[str, ...] = ()
    diagnostic_axis: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    timeout_per_trial: float | None = None
    env_passthrough_mode: str = INHERIT
    step_time_regex: str | None = None
    collect_paths: tuple[str, ...] = ()
    custom_patterns: tuple[CustomPattern, ...] = ()
    hang_window_sec: float = 30.0
    hang_grace_period_at_start: float = 60.0
    end_on_hang: bool = False
    tier3_vram_growth: bool = True
    disable_detectors: tuple[str, ...] = ()
    disable_detector_tiers: tuple[str, ...] = ()
    retain: Retain = attrs.field(factory=Retain)
    redaction: Redaction = attrs.field(factory=Redaction)

    # Which cells, in which order, and what is counted
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    order: str = SEQUENTIAL
    fail_fast: bool = False
    warmup_steps: int = 1

    # Definitions of the recipe's own
    mitigations: Mapping[str, Change] = attrs.field(factory=dict)
    environments: Mapping[str, EnvironmentRecipe] = attrs.field(factory=dict)
    resolved: Resolved | None = None

    source: str | None = None
    sha256: str | None = None

    @property
    def timeout_s(self) -> float | None:
        """Return the seconds that a trial may take; None is for ever."""
        return self.timeout_per_trial if self.mode == PROBE else self.trial_timeout
