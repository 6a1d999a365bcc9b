"""A token goes in and does not come out: not in texts, reasons, command records or values."""

from typing import Annotated

import attrs

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.redact import redact
from aorta.model.vocabulary import Provenance, ReasonKind
from aorta.plugin import collector
from aorta.testing import FakeHost, collect

CASE = "secret-regex-that-never-matches"


TOKEN = "hf_notarealtoken0123456789"
LINE = f"docker run -e HF_TOKEN={TOKEN} -e X=1 image"


def test_text():
    assert redact(LINE) == "docker run -e HF_TOKEN=[redacted] -e X=1 image"
    # Each rule alone: the name, and the shape of the token.
    assert TOKEN not in redact(f"saw {TOKEN} here")
    assert "abc.not.real" not in redact("HF_TOKEN=abc.not.real")


@attrs.frozen(kw_only=True)
class Leaky:
    """A section that repeats what it met."""

    text: Annotated[str | None, Fact("Any text.")] = None


@collector(section="test.leaky", model=Leaky, provenance=Provenance.PROCESS)
def leaky(ctx: Context) -> Leaky:
    """Run a command with a token in it and say so."""
    answer = ctx.command(("docker", "run", "-e", f"HF_TOKEN={TOKEN}", "-e", "X=1", "image"))
    ctx.take(answer, "text")
    ctx.note(ReasonKind.FAILED, "text", f"could not run {LINE}", subject=LINE)
    return Leaky()


def test_reasons_and_command_records():
    result = collect(FakeHost(), leaky)
    assert result.record.commands
    assert result.reasons
    seen = repr((result.reasons, result.record, result.value))
    assert TOKEN not in seen
    assert "X=1" in seen


def test_values():
    result = collect(FakeHost(env={"NCCL_X": LINE}), "env_vars")
    assert result.value["NCCL_X"] == "docker run -e HF_TOKEN=[redacted] -e X=1 image"
    assert "NCCL_X" in result.redacted
