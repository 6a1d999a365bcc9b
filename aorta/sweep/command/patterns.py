"""Tier 4: lines of a trial's output that say that something failed.

A line is only looked at when one of a pattern's ``needles`` stands in it, and a block of lines only when
one of them stands in the block; so what is not there costs next to nothing.
"""

import functools
import re

from aorta.model.frozen import frozen
from aorta.sweep.command.catalogue import EFFECT, WARN


@frozen
class Pattern:
    """Matches a line that holds a needle, ``regex``, and nothing of ``but``.

    ``gate`` is a word that stands in every needle: it is looked for first. A ``folded`` needle is looked
    for in the text in lower case.
    """

    id: str
    needles: tuple[bytes, ...]
    regex: "re.Pattern[bytes]"
    but: "re.Pattern[bytes] | None" = None
    gate: bytes | None = None
    folded: bool = False
    effect: str

    def holds(self, line: bytes) -> bool:
        """Tell whether a line, or the part of a long one around a needle, matches."""
        return self.regex.search(line) is not None and (self.but is None or not self.but.search(line))


#: What begins a traceback; ``tracebacks`` follows it to its end.
TRACEBACK = b"Traceback (most recent call last)"

#: Names that look like the ones of errors, and values that are asked for rather than suffered.
_NO_ERROR = (
    rb"(?!Success|String|Name|Code|Handl|Check|Message|Msg|Log|Report|Print|Callback|Type|Enum|Mode|Level"
    rb"|OutOfMemory|MemoryAllocation|NotReady|PeerAccessAlreadyEnabled|HostMemoryAlreadyRegistered"
    rb"|GraphExecUpdateFailure)"
)
_NOTHING_WRONG = (
    rb"(?i:error(?: code)?\s*[:=(\[]\s*['\"]?"
    rb"(?:no error|success|none|0\b|hipSuccess|cudaSuccess|false|off|true))"
)
_ENUM = rb"(?<![\w$])%sError" + _NO_ERROR + rb"_?[A-Z][A-Za-z0-9]+\b(?!\s*[(=])"
_CALL = (
    rb"\b%s (?:runtime |API |driver |kernel |function )?[Ee]rror(?:\s+code)?"
    rb"\s*(?:[:=(\[]|at\b|in\b|encountered)"
)
_MEMORY = rb"(?i:out of memory|OutOfMemory)"
_NCCL = (
    rb"(?<!\w)(?:nccl|rccl)(?:UnhandledCuda|UnhandledHip|System|Internal|InvalidArgument|InvalidUsage|Remote)Error\b"
    rb"|\b[NR]CCL (?:[Ee]rror|failure)\b|\bunhandled (?:system|cuda|hip) error\b"
)
_LOSS = (
    rb"(?i:(?<![\w.])(?<!best )(?<!min )(?<!lowest )(?!(?:best|min|lowest|prev|init)\w{0,9}_)[\w./-]{0,40}?"
    rb"(?:loss(?:es)?(?!_?scale|less)|grad(?:ient)?[_ ]?norm|gnorm|perplexity|ppl)(?:[_/]\w{1,24})?\]?[\"']?"
    rb"(?:\s{0,8}[:=]\s{0,8}(?:tensor\()?[\"'\[]?[-+]?(?:nan|inf|infinity)(?![\w(-]|\.\w)"
    rb"|\s{1,8}[-+]?(?:nan|inf)(?=\s{0,8}(?:$|[,;|)\]}/]))))"
)
_OOM = (
    rb"\b(?:HIP|CUDA|ROCm|GPU|Device)(?: error)?:?,? (?:ran )?out of memory\b|OutOfMemoryError\b"
    rb"|\b(?:hipErrorOutOfMemory|cudaErrorMemoryAllocation|hipErrorMemoryAllocation)\b|\bstd::bad_alloc\b"
    rb"|(?<![A-Za-z])_?(?:Array)?MemoryError(?:\s*:|\s*$)|\[Errno 12\] Cannot allocate memory"
)
_OOM_KILL = (
    rb"\bKilled process \d+|\boom-kill:|\boom_reaper: reaped|[Dd]etected \d+ oom[-_]kill event|\bOOM Killed\b"
)


@functools.cache
def patterns() -> tuple[Pattern, ...]:
    """Return all patterns of tier 4 but tracebacks, made when the first log is to be read."""
    rows: tuple[tuple[str, tuple[bytes, ...], bytes, bytes | None, bytes | None], ...] = (
        (
            "hip_error",
            (b"hipError", b"HIP "),
            _ENUM % b"hip" + b"|" + _CALL % b"HIP",
            # The runtime's log of calls tells of those that are asked just to see.
            _NOTHING_WRONG + b"|" + _MEMORY + rb"|: Returned hipError",
            b"rror",
        ),
        (
            "cuda_error",
            (b"cudaError", b"CUDA "),
            _ENUM % b"cuda" + b"|" + _CALL % b"CUDA",
            _NOTHING_WRONG + b"|" + _MEMORY,
            b"rror",
        ),
        ("hsa_error", (b"HSA_STATUS_ERROR",), rb"\bHSA_STATUS_ERROR(?:_(?!STRING|NAME)\w+)?\b", None, None),
        ("hsa_error", (b"Memory access fault",), rb"Memory access fault by GPU", None, None),
        (
            "rocm_error",
            (b"rror code:", b"rocBLAS error", b"MIOpen Error", b"hipBLASLt error"),
            rb"\b[Ee]rror code:\s*(?!(?:0x)?0+\b)[-+]?(?:0x[0-9a-fA-F]|\d)"
            rb"|\b(?:rocBLAS error|MIOpen Error|hipBLASLt error):",
            None,
            b"rror",
        ),
        ("nccl_rccl_error", (b"CCL ", b"ccl", b"unhandled"), _NCCL, rb"[NR]CCL WARN|[NR]CCL INFO", b"rror"),
        (
            "collective_timeout",
            (b"caught collective",),
            rb"[Ww]atchdog caught collective operation timeout",
            None,
            None,
        ),
        (
            "collective_timeout",
            (b"imed out waiting",),
            rb"Timed out waiting \d+ms for (?:recv|send) operation",
            None,
            None,
        ),
        ("out_of_memory", (b"ut of memory", b"bad_alloc", b"MemoryError"), _OOM, None, None),
        ("out_of_memory", (b"rrorOutOfMemory", b"MemoryAllocation", b"[Errno 12]"), _OOM, None, b"rror"),
    )
    folded = (
        (
            "nan_signature",
            (b"nan", b"=inf", b": inf", b"norm inf"),
            _LOSS,
            rb"(?i:detect_anomaly|nan_to_num)",
        ),
        (
            "oom_kill",
            (b"killed process", b"oom-kill", b"oom_reaper", b"oom killed", b"oom_kill"),
            _OOM_KILL,
            None,
        ),
    )
    made = [
        Pattern(
            id=f"tier4:{name}",
            needles=needles,
            regex=re.compile(regex),
            but=None if but is None else re.compile(but),
            gate=gate,
            effect=EFFECT[f"tier4:{name}"],
        )
        for name, needles, regex, but, gate in rows
    ]
    made += [
        Pattern(
            id=f"tier4:{name}",
            needles=needles,
            regex=re.compile(regex),
            but=None if but is None else re.compile(but),
            folded=True,
            effect=EFFECT[f"tier4:{name}"],
        )
        for name, needles, regex, but in folded
    ]
    warning = re.compile(rb"\b[NR]CCL WARN\b")
    made.append(
        Pattern(id="tier4:nccl_rccl_error", needles=(b"CCL WARN",), regex=warning, effect=WARN),
    )
    return tuple(made)
