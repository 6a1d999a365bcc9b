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
    for in the text in lower case. ``finder`` finds what is too common to be looked at each time.
    """

    id: str
    needles: tuple[bytes, ...]
    regex: "re.Pattern[bytes]"
    but: "re.Pattern[bytes] | None" = None
    gate: bytes | None = None
    folded: bool = False
    finder: "re.Pattern[bytes] | None" = None
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
_ENUM = rb"(?<![\w$])%sError" + _NO_ERROR + rb"_?[A-Z][A-Za-z0-9]+\b(?!\(|\s*=)"
_CALL = (
    rb"\b%s (?:runtime |API |driver |kernel |function )?[Ee]rror(?:\s+code)?"
    rb"\s*(?:[:=(\[]|at\b|in\b|encountered)"
)
_ROCM = (
    rb"\b[Ee]rror code:\s*(?!(?:0x)?0+\b)[-+]?(?:0x[0-9a-fA-F]|\d)"
    rb"|\b(?:rocBLAS error|MIOpen Error|hipBLASLt error):"
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


#: Something stands right before it that may give it as a value; the rest is for ``_LOSS`` to say.
_NAN = (
    rb"nan(?:(?<=[=:(\[\"'+-]nan)|(?<=[:=] nan)|(?<=[:=]\s\snan)|(?<=\s\s\snan)|(?<=loss nan)|(?<=norm nan)"
    rb"|(?<=ppl nan)|(?<=perplexity nan))"
)
_WATCHDOG = rb"[Ww]atchdog caught collective operation timeout"
_GLOO = rb"Timed out waiting \d+ms for (?:recv|send) operation"
_ERROR = b"rror"


@functools.cache
def patterns() -> tuple[Pattern, ...]:
    """Return all patterns of tier 4 but tracebacks, made when the first log is to be read."""
    return (*_of_runtimes(), *_of_libraries(), *_of_memory())


def _of_runtimes() -> tuple[Pattern, ...]:
    hip, cuda = (_ENUM % name + b"|" + _CALL % name.upper() for name in (b"hip", b"cuda"))
    # The runtime's log of calls tells of those that are asked just to see.
    no_hip = _NOTHING_WRONG + b"|" + _MEMORY + rb"|: Returned hipError"
    no_cuda = _NOTHING_WRONG + b"|" + _MEMORY
    return (
        _pattern("hip_error", (b"hipError", b"HIP "), hip, but=no_hip, gate=_ERROR),
        _pattern("cuda_error", (b"cudaError", b"CUDA "), cuda, but=no_cuda, gate=_ERROR),
        _pattern("hsa_error", (b"HSA_STATUS_ERROR",), rb"\bHSA_STATUS_ERROR(?:_(?!STRING|NAME)\w+)?\b"),
        _pattern("hsa_error", (b"Memory access fault",), rb"Memory access fault by GPU"),
        _pattern(
            "rocm_error",
            (b"rror code:", b"rocBLAS error", b"MIOpen Error", b"hipBLASLt error"),
            _ROCM,
            gate=_ERROR,
        ),
    )


def _of_libraries() -> tuple[Pattern, ...]:
    no_nccl = rb"[NR]CCL (?:WARN|INFO)"
    return (
        _pattern("nccl_rccl_error", (b"CCL ", b"ccl", b"unhandled"), _NCCL, but=no_nccl, gate=_ERROR),
        _pattern("nccl_rccl_error", (b"CCL failure",), _NCCL, but=no_nccl),
        _pattern("nccl_rccl_error", (b"CCL WARN",), rb"\b[NR]CCL WARN\b", effect=WARN),
        _pattern("collective_timeout", (b"caught collective",), _WATCHDOG),
        _pattern("collective_timeout", (b"imed out waiting",), _GLOO),
        _pattern(
            "nan_signature",
            (b"=inf", b": inf", b"-inf", b"norm inf"),
            _LOSS,
            but=rb"(?i:detect_anomaly|nan_to_num)",
            finder=re.compile(_NAN),
            folded=True,
        ),
    )


def _of_memory() -> tuple[Pattern, ...]:
    killed = (b"killed process", b"oom-kill", b"oom_reaper", b"oom killed", b"oom_kill")
    named = (b"rrorOutOfMemory", b"MemoryAllocation", b"[Errno 12]")
    return (
        _pattern("out_of_memory", (b"ut of memory", b"bad_alloc", b"MemoryError"), _OOM),
        _pattern("out_of_memory", named, _OOM, gate=_ERROR),
        _pattern("oom_kill", killed, _OOM_KILL, folded=True),
    )


def _pattern(
    name: str,
    needles: tuple[bytes, ...],
    regex: bytes,
    *,
    but: bytes | None = None,
    gate: bytes | None = None,
    folded: bool = False,
    finder: "re.Pattern[bytes] | None" = None,
    effect: str | None = None,
) -> Pattern:
    id_ = f"tier4:{name}"
    return Pattern(
        id=id_,
        needles=needles,
        regex=re.compile(regex),
        but=None if but is None else re.compile(but),
        gate=gate,
        folded=folded,
        finder=finder,
        effect=effect or EFFECT[id_],
    )
