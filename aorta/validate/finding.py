"""What a rule is, and what one finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from aorta.model.text import listed

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Said:
    """What a check has to say: a text, the way out, and the files concerned if it asked several.

    ``quotes`` are the fields whose reasons the text tells, as ``partial_reasons`` names them.
    """

    text: str
    way_out: str = ""
    files: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One rule of the gate: its id (``family.word``), what a breach of it is, and what it asks.

    ``check`` yields what is wrong. What it is called with is its family's: see ``judge``. A rule without
    a check is asked where files are read and put in their place.
    """

    id: str
    severity: str
    asks: str
    check: Callable[..., Iterator[Said]] | None = None

    @property
    def family(self) -> str:
        """Return ``file``, ``client``, ``workload``, ``pair`` or ``job``."""
        return self.id.partition(".")[0]


def rule(name: str, severity: str, asks: str) -> Callable[[Callable[..., Iterator[Said]]], Rule]:
    """Make a rule of a check."""
    return lambda check: Rule(name, severity, asks, check)


@dataclass(frozen=True)
class Finding:
    """A breach of a rule.

    ``files`` are the names as they were given, ``label`` stands for them in a line.
    """

    severity: str
    rule: str
    files: tuple[str, ...]
    label: str
    text: str
    way_out: str = ""

    @property
    def line(self) -> str:
        """Return the line of the finding: severity, file, what is wrong, what to do."""
        return f"{self.severity.upper()}: {self.label}: {self.text}" + (
            f"; {self.way_out}" * bool(self.way_out)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON values."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "files": list(self.files),
            "text": self.text,
            "way_out": self.way_out,
        }


def label(files: tuple[str, ...], workloads: int) -> str:
    """Return how a line names files; all of several workloads are counted, not named."""
    if len(files) == 1:
        return files[0]
    if len(files) == workloads:
        return f"{workloads} workloads"
    return f"{len(files)} files ({listed(files)})"
