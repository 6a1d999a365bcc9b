"""Identity of the hipBLASLt under the resolved root."""

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.python_facts import PythonFacts
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.gemm import HIPBLASLT, Gemm, describe_gemm


@frozen
class HipBlasLt(Gemm):
    """The hipBLASLt of the resolved root."""


@collector(
    section="hipblaslt",
    model=HipBlasLt,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots, PythonFacts),
    timeout_s=45,
)
def collect(ctx: Context) -> HipBlasLt:
    """Version, library digest and kernels of hipBLASLt, and other copies of it."""
    return HipBlasLt(**describe_gemm(ctx, HIPBLASLT))
