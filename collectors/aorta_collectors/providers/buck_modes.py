"""The mode files that the caller named and those that they name, found before buck2 reads them."""

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Scope
from aorta.plugin import provider
from aorta_collectors.buck.mode_files import ModeContent, ModeFiles
from aorta_collectors.providers.buck_checkout import BuckCheckout
from aorta_collectors.providers.gap import Gap


@frozen
class BuckModes:
    """The files in the order in which buck2 reads them; ``gaps`` say what could not be read of them."""

    contents: tuple[ModeContent, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Return where they are."""
        return tuple(dict.fromkeys(content.path for content in self.contents if content.path is not None))


@provider(model=BuckModes, scope=Scope.NAMESPACE, needs=(BuckCheckout,), timeout_s=45)
def provide(ctx: Context) -> BuckModes:
    """The mode files of the Buck target, by path and digest."""
    modes = ctx.request.buck_context.names("mode") if ctx.request.buck_target is not None else ()
    if not modes:
        return BuckModes()
    files = ModeFiles(ctx, ctx.need(BuckCheckout))
    contents = tuple(files.contents(modes))
    return BuckModes(contents=contents, gaps=tuple(files.gaps))
