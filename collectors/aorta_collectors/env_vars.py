"""The environment variables that change what a GPU job runs."""

from collections.abc import Iterator
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.redact import redact_value
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.env_names import CANONICAL, EXTRA, FAMILIES


@collector(
    section="env_vars",
    model=Annotated[
        dict[str, str | None] | None,
        Fact(
            "Name to value, as text. Canonical names are always there, null when unset, an empty text when "
            "set to nothing; other names of the documented families only when set. Plugins may add names.",
            caveat="What this process has set; no proof that a library read or understood it.",
            keys=CANONICAL,
        ),
    ],
    provenance=Provenance.PROCESS,
    scope=Scope.PROCESS,
    timeout_s=5,
)
def collect(ctx: Context) -> dict[str, str | None]:
    """Environment variables of the GPU stack, secrets redacted."""
    added = [name for name in ctx.request.env_names if not name.endswith("*")]
    names = dict.fromkeys((*CANONICAL, *sorted({*_others(ctx), *added})))
    return {name: _value(ctx, name) for name in names}


def _others(ctx: Context) -> Iterator[str]:
    """Yield the names beside the canonical ones that are set and belong to a family or stand alone."""
    beginnings = [name.rstrip("*") for name in ctx.request.env_names if name.endswith("*")]
    known, families = set(CANONICAL), (*FAMILIES, *beginnings)
    for name in ctx.env_names():
        if name not in known and (name in EXTRA or name.startswith(families)):
            yield name


def _value(ctx: Context, name: str) -> str | None:
    value = ctx.env(name)
    if value is None:
        return None
    shown = redact_value(name, value)
    if shown != value:
        ctx.redacted.add(name)
    return shown
