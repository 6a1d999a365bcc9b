"""Which targets are which libraries: patterns as data.

A pattern is a regular expression that is looked for (``re.search``) in the label without configuration,
``cell//package:name``. A caller's patterns, and those of plugins, count beside these.
"""

import re
from collections.abc import Mapping

from aorta.buck.labels import Label
from aorta.buck.options import BuckError

#: What may follow the name of a library in the name of its target.
_END = r"(?:[-_](?:lib|library|shared|static|so|headers_and_lib))?$"

#: The names of the targets of each library, each whole but for what ``_END`` allows.
BUILTIN: Mapping[str, tuple[str, ...]] = {
    "pytorch": (r"(?:lib)?(?:torch|pytorch)(?:[-_](?:cuda|hip|rocm|cpu|python|core|cpp))?", "_torch", "_C"),
    "hipblaslt": (r"(?:lib)?hipblaslt",),
    "rocblas": (r"(?:lib)?rocblas",),
    "hipblas": (r"(?:lib)?hipblas",),
    "miopen": (r"(?:lib)?(?:miopen|MIOpen)(?:[-_](?:hip|opencl))?",),
    "rccl": (r"(?:lib)?rccl",),
    # The 1.x line calls the network plugin of AMD's own NIC so.
    "ainic": (r"(?:lib)?rccl[-_](?:anp|net)",),
    "rccl_net_plugin": (
        r"(?:lib)?aws[-_]ofi[-_][rn]ccl",
        # librccl-net-NAME.so is a plugin; its tests and headers are none.
        r"(?:lib)?[rn]ccl[-_]net[-_](?![\w-]*(?:tests?|bench|headers|utils)$)[\w-]+?",
        r"(?:lib)?nccl[-_]net",
        r"(?:lib)?[rn]ccl[-_]rdma[-_]sharp(?:[-_]plugins?)?",
    ),
    "rocm": (
        r"(?:hip|rocm)(?:[-_]?runtime)?",
        r"(?:lib)?amdhip64",
        r"(?:lib)?hsa[-_]runtime(?:64)?",
        r"(?:lib)?hiprtc",
        r"rocr[-_]runtime",
    ),
    "rocsparse": (r"(?:lib)?(?:roc|hip)sparse(?:lt)?",),
    "rocsolver": (r"(?:lib)?(?:roc|hip)solver",),
    "rocfft": (r"(?:lib)?(?:roc|hip)fft",),
    "rocrand": (r"(?:lib)?(?:roc|hip)rand",),
    "triton": (r"(?:lib)?(?:py|pytorch[-_])?triton(?:[-_]rocm)?",),
    "fbgemm": (r"(?:lib)?fbgemm(?:[-_](?:gpu|genai))?",),
    "torchrec": (r"torchrec",),
    "aiter": (r"(?:lib)?aiter",),
    "composable_kernel": (r"(?:lib)?composable[-_]?kernels?", r"ck(?:[-_]tile)?"),
    "aotriton": (r"(?:lib)?aotriton(?:[-_]v\d+)?",),
    "flash_attention": (r"flash[-_](?:attn|attention)(?:[-_]\d+)?",),
}


class Libraries:
    """The patterns of one capture: ``more``, and the built-in ones."""

    def __init__(self, more: Mapping[str, str]) -> None:
        self._more = {name: re.compile(pattern) for name, pattern in more.items()}
        self._builtin = {
            name: re.compile(f":(?:{'|'.join(targets)}){_END}") for name, targets in BUILTIN.items()
        }

    def names(self, label: Label) -> list[str]:
        """Return the libraries that a target is: all of ``more`` that match, and the first built-in one."""
        text = str(label)
        found = [name for name, pattern in self._more.items() if pattern.search(text)]
        known = next((name for name, pattern in self._builtin.items() if pattern.search(text)), None)
        return found if known is None or known in found else [*found, known]


def check_libraries(patterns: Mapping[str, str]) -> dict[str, str]:
    """Return patterns that can be used. Raises BuckError for an empty name or a bad expression."""
    if not isinstance(patterns, Mapping):
        raise BuckError(f"patterns of libraries are a mapping of names, and no {type(patterns).__name__}")
    for name, pattern in patterns.items():
        if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]{1,64}", name):
            raise BuckError(f"{str(name)[:64]!r} is no name of a library: letters, digits, _ . + - only")
        if not isinstance(pattern, str) or not pattern:
            raise BuckError(f"the library {name} has no pattern: write NAME=REGEX")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise BuckError(f"the pattern of {name} is no regular expression: {error}") from None
    return dict(patterns)


def parse_library(text: str) -> tuple[str, str]:
    """Return the parts of ``NAME=REGEX``. Raises BuckError."""
    name, equals, pattern = text.partition("=")
    if not equals:
        raise BuckError(f"{text[:80]!r} is not NAME=REGEX")
    ((name, pattern),) = check_libraries({name.strip(): pattern}).items()
    return name, pattern
