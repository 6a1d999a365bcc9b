"""Identity of the rocBLAS under the resolved root."""

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.python_facts import PythonFacts
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.gemm import ROCBLAS, Gemm, describe_gemm


@frozen
class RocBlas(Gemm):
    """The rocBLAS of the resolved root."""


@collector(
    section="rocblas",
    model=RocBlas,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots, PythonFacts),
    timeout_s=45,
)
def collect(ctx: Context) -> RocBlas:
    """Version, library digest and kernels of rocBLAS, and other copies of it."""
    return RocBlas(**describe_gemm(ctx, ROCBLAS))
