"""Finding the collector or provider that an author means."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from aorta.model.frozen import evolve
from aorta.plugin.declare import SPEC_ATTRIBUTE, CollectorSpec, ProviderSpec, Spec
from aorta.plugin.discovery import discover
from aorta.plugin.registry import Registry


def looked_up(what: Any, plugins: Sequence[Any] = ()) -> tuple[Registry, Spec]:
    """Return a registry, and in it what was meant: a declaration, a decorated function, or a name.

    Built-in ones and ``plugins`` are in it, and the function itself. Raises LookupError for what is not
    there or is declared wrongly, with the place of the declaration; TypeError for what declares nothing.
    """
    spec = getattr(what, SPEC_ATTRIBUTE, what)
    if not isinstance(spec, (str, CollectorSpec, ProviderSpec)):
        name = getattr(what, "__name__", repr(what))
        raise TypeError(f"{name}: give a function under @collector or @provider, or the name of a section")
    registry = discover(plugins, outside=False)
    known = _known(registry, spec)
    if known is None and callable(what):
        registry = discover([*plugins, what], outside=False)
        known = _known(registry, spec)
    if known is not None:
        return registry, known
    faults = "; ".join(record.detail for record in registry.plugins if record.status == "failed")
    if not isinstance(spec, str):
        raise LookupError(f"{spec.name} is declared wrongly: {faults}")  # noqa: TRY004
    raise LookupError(f"{spec!r} is no section and no provider" + (f": {faults}" if faults else ""))


def _known(registry: Registry, spec: str | Spec) -> Spec | None:
    """Return the declaration: of that name, or that very one, which may bear the name of another."""
    for known in registry.specs():
        if known.name == spec or known is spec:
            return known
    return None


def copied(registry: Registry) -> Registry:
    """Return a registry like that one, whose collectors and providers may be replaced."""
    other = Registry.__new__(Registry)
    other.__dict__.update(registry.__dict__)
    other.collectors, other.providers = dict(registry.collectors), dict(registry.providers)
    return other


def replaced(registry: Registry, spec: Spec, function: Callable[..., Any], **changes: Any) -> Registry:
    """Return a registry in which another function stands for a collector or provider."""
    other = copied(registry)
    if isinstance(spec, CollectorSpec):
        other.collectors[spec.name] = evolve(spec, function=function, **changes)
    else:
        other.providers[spec.name] = evolve(spec, function=function, **changes)
    return other


def constant(registry: Registry, maker: Spec, value: Any) -> Registry:
    """Return a registry in which a collector or provider gives a value without asking anybody."""

    def give(ctx: Any) -> Any:  # noqa: ARG001 - what a collector takes
        return value

    return replaced(registry, maker, give, needs=())


def overheard(registry: Registry, spec: Spec) -> tuple[Registry, list[BaseException]]:
    """Return a registry in which it is kept what a collector or provider raises, and where that is kept."""
    raised: list[BaseException] = []

    # A function of its own, since an abandoned one is not started again.
    @functools.wraps(spec.function)
    def kept(ctx: Any) -> Any:
        try:
            return spec.function(ctx)
        except BaseException as error:
            raised.append(error)
            raise

    return replaced(registry, spec, kept), raised


def only(registry: Registry, spec: Spec) -> Registry:
    """Return a registry in which nothing runs but one declaration and what it needs."""
    names = registry.graph([spec.name])
    small = copied(registry)
    small.providers = {name: one for name, one in registry.providers.items() if name in names}
    small.collectors = {name: one for name, one in registry.collectors.items() if name in names}
    return small
