"""The fixed words of the document. Each class is one closed vocabulary."""

import enum


class Word(str, enum.Enum):
    """A member of a closed vocabulary; it is its own JSON text."""

    __str__ = str.__str__


class Provenance(Word):
    """The class of evidence that a value rests on."""

    PROCESS = "process"
    FILESYSTEM = "filesystem"
    HOST_KERNEL = "host_kernel"
    HOST_DEVICE = "host_device"
    CLIENT_HOST = "client_host"
    CONFIGURED_GRAPH = "configured_graph"
    CALLER_ASSERTED = "caller_asserted"
    EXTERNALLY_ASSERTED = "externally_asserted"


class Scope(Word):
    """How long a value may be reused."""

    PROCESS = "process"
    NAMESPACE = "namespace"
    BOOT = "boot"


class Detail(Word):
    """How much of a section is wanted; FULL is what ``--extended`` asks for."""

    COMPACT = "compact"
    FULL = "full"


class ReasonKind(Word):
    """Why something is missing."""

    ABSENT = "absent"
    NO_TOOL = "no_tool"
    UNSUPPORTED = "unsupported"
    NOT_REQUESTED = "not_requested"
    DENIED = "denied"
    TIMED_OUT = "timed_out"
    BUDGET = "budget"
    FAILED = "failed"
    UNPARSED = "unparsed"
    BLOCKED = "blocked"
    UNSPECIFIED = "unspecified"
    NOT_RECORDED = "not_recorded"
    EXPECTED = "expected"


#: Kinds that make a snapshot partial; the others say that nothing was there to be seen.
PARTIAL_KINDS = frozenset(ReasonKind) - {
    ReasonKind.ABSENT,
    ReasonKind.NO_TOOL,
    ReasonKind.UNSUPPORTED,
    ReasonKind.NOT_REQUESTED,
}

#: What each kind means, in the words of the documentation.
REASON_MEANINGS = {
    ReasonKind.ABSENT: "It is positively not there.",
    ReasonKind.NO_TOOL: "The tool that would answer is not installed, so nobody could ask.",
    ReasonKind.UNSUPPORTED: "This driver, kernel or layout does not offer it.",
    ReasonKind.NOT_REQUESTED: "The caller did not ask for it.",
    ReasonKind.DENIED: "Permission was refused.",
    ReasonKind.TIMED_OUT: "No answer came within the time limit.",
    ReasonKind.BUDGET: "The deadline of the whole capture came first.",
    ReasonKind.FAILED: "Asking went wrong: an error, a bad exit status, a defect.",
    ReasonKind.UNPARSED: "An answer came that could not be read.",
    ReasonKind.BLOCKED: "Something it needs is itself missing.",
    ReasonKind.UNSPECIFIED: "The caller named a target without saying how it is built;"
    " or a 1.x document said why without a kind.",
    ReasonKind.NOT_RECORDED: "The recording that is replayed, or the older document, does not hold it.",
    ReasonKind.EXPECTED: "Other evidence says that it should be there.",
}


class Status(Word):
    """How a collector ended."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    BLOCKED = "blocked"
    NOT_REQUESTED = "not_requested"
    REUSED = "reused"


class Outcome(Word):
    """How a command ended."""

    OK = "ok"
    EXIT = "exit"
    SIGNAL = "signal"
    NOT_FOUND = "not_found"
    DENIED = "denied"
    TIMED_OUT = "timed_out"
    ABANDONED = "abandoned"


#: The parts of the machine that ``coverage`` speaks of.
PARTS = ("gpu", "rocm", "torch", "rdma", "isolation")


class Coverage(Word):
    """Whether a part of the machine was seen at all."""

    SEEN = "seen"
    ABSENT = "absent"
    UNKNOWN = "unknown"


#: Claims by which this process is the workload that Buck started, not its client.
WORKLOADS = ("buck2_run", "buck2_action")

#: What a caller may claim about how the capture was started, by an argument or by this variable.
INVOCATIONS = ("direct", *WORKLOADS)
INVOCATION_VARIABLE = "AORTA_PROBE_INVOCATION"


def claimed_workload(argument: str | None, variable: str | None) -> str:
    """Return by which claim, whatever its case, this process is a workload; an empty text without one."""
    claim = (argument or variable or "").strip().casefold()
    return claim if claim in WORKLOADS else ""


#: Seconds that a question to Buck may take; a cold daemon loads a large repository first.
BUCK_TIMEOUT_S = 120.0

#: Parts of the machine that a caller may expect to be seen.
EXPECTABLE = ("gpu", "torch", "rdma")

#: How the files of a large directory are looked at: their content, name, size and both ends, or not at all.
METHODS = ("full", "identity", "none")
