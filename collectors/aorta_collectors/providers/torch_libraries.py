"""The libraries that torch brings, hashed while torch is being imported and not after it.

Nobody has to wait for this: what ``loaded_libraries`` asks for later has been read already.
"""

import posixpath

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Scope
from aorta.plugin import provider

SECTION = "loaded_libraries"


@frozen
class TorchLibraries:
    """The real paths of the libraries that an import of torch would map, and that were hashed."""

    paths: tuple[str, ...] = ()


@provider(model=TorchLibraries, scope=Scope.NAMESPACE, timeout_s=40)
def provide(ctx: Context) -> TorchLibraries:
    """Hashes torch's libraries while torch is asked."""
    module = None if SECTION in ctx.request.without else ctx.module("torch").value
    if module is None or module.origin is None or not module.locations:
        return TorchLibraries()
    # Most machines have no torch, and need none of this.
    from aorta_collectors.loaded.content import digests_of
    from aorta_collectors.loaded.families import family_of
    from aorta_collectors.loaded.prediction import predict

    paths = [path for path in predict(ctx, module.locations[0]).paths if family_of(posixpath.basename(path))]
    digests_of(ctx, paths)
    return TorchLibraries(paths=tuple(paths))
