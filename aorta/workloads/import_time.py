"""Variables that are read once: what is set later has no effect in a process that goes on.

The readers are data. A module that is loaded has read its variables; what it saw is the environment of the
moment at which it was first found loaded.
"""

import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase

from aorta.model.frozen import frozen

#: Some variables are read when a module is loaded, others when a GPU is first used.
LOADED, USED = "loaded", "used"


@frozen
class Reader:
    """Who reads variables once: ``names`` are patterns of them, ``told`` says in texts when it has.

    ``when`` is ``loaded``: ``module`` is imported; or ``used``: it has set up a GPU.
    """

    module: str
    names: tuple[str, ...]
    told: str
    when: str = LOADED


#: The loader of programs and the interpreter; the runtimes that come with torch: HIP and ROCr (the manual of
#: each names its variables), CUDA, OpenMP; what torch's allocator and the libraries read at their first use
#: of a GPU, communicators of NCCL and RCCL among it.
READERS = (
    Reader(
        module="sys",
        names=("PYTHON*", "LD_*", "MALLOC_*", "GLIBC_TUNABLES"),
        told="the interpreter was started",
    ),
    Reader(
        module="numpy",
        names=("OPENBLAS_*", "OMP_*", "GOMP_*", "KMP_*", "MKL_*"),
        told="numpy was imported",
    ),
    Reader(
        module="torch",
        names=(
            *("GPU_*", "HSA_*", "HIP_*", "ROCR_*", "AMD_*", "HSAKMT_*"),
            *("CUDA_*", "OMP_*", "GOMP_*", "KMP_*", "MKL_*"),
        ),
        told="torch was imported",
    ),
    Reader(
        module="torch",
        when=USED,
        names=(
            *("NCCL_*", "RCCL_*", "ROCBLAS_*", "HIPBLASLT_*", "TENSILE_*", "MIOPEN_*"),
            *("CUBLAS*", "CUDNN_*", "PYTORCH_*ALLOC_CONF"),
        ),
        told="torch had used a GPU",
    ),
)


class Seen:
    """What the readers in this process have seen of the variables."""

    def __init__(self) -> None:
        self._seen: dict[Reader, Mapping[str, str]] = {}

    def note(self, environ: Mapping[str, str]) -> None:
        """Take note of who has read by now; ``environ`` is what was set until now."""
        for reader in READERS:
            if reader not in self._seen and _has_read(reader):
                self._seen[reader] = dict(environ)

    def late(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of those variables that a trial has otherwise than their readers saw them."""
        names = {
            name
            for reader, seen in self._seen.items()
            for name in {*seen, *environ}
            if seen.get(name) != environ.get(name) and _reads(reader, name)
        }
        return tuple(sorted(names))


def told(names: tuple[str, ...]) -> str:
    """Return after what the variables came, as words: ``torch was imported``."""
    readers = [next((each for each in READERS if _reads(each, name)), None) for name in names]
    return " and ".join(dict.fromkeys(each.told for each in readers if each is not None))


def _reads(reader: Reader, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in reader.names)


def _has_read(reader: Reader) -> bool:
    module = sys.modules.get(reader.module)
    if module is None or reader.when == LOADED:
        return module is not None
    try:
        return bool(module.cuda.is_initialized())
    except Exception:
        # Not loaded to its end, or another thing of that name.
        return False
