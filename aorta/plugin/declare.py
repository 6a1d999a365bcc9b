"""``@collector`` and ``@provider``: all that is declared of a section or a shared value, in one place."""

import inspect
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import pluggy

from aorta.model.shape import Shape, fields_of, shape_of
from aorta.model.vocabulary import Detail, Provenance, Scope

if TYPE_CHECKING:
    from aorta.collect.context import Context

PROJECT = "aorta"
COLLECT_HOOK = "aorta_collect"
PROVIDE_HOOK = "aorta_provide"
SPEC_ATTRIBUTE = "aorta_spec"

Function = TypeVar("Function", bound="Callable[[Context], Any]")
_hookimpl = pluggy.HookimplMarker(PROJECT)


class RegistrationError(Exception):
    """A collector or provider is declared wrongly; the text names the file and line."""


@attrs.frozen(kw_only=True)
class CollectorSpec:
    """What is declared of one section. ``timeout_s`` is its deadline in seconds."""

    section: str
    model: Any
    provenance: tuple[Provenance, ...]
    scope: Scope
    detail: Detail
    needs: tuple[type[Any], ...]
    timeout_s: float
    function: "Callable[[Context], Any]"

    @property
    def name(self) -> str:
        """Return the section."""
        return self.section

    @property
    def shape(self) -> Shape:
        """Return the compiled shape of the section's value."""
        return shape_of(self.model)

    @property
    def makes(self) -> type[Any] | None:
        """Return the class that others may need, None for a scalar, a list or a nullable section."""
        return self.model if isinstance(self.model, type) and attrs.has(self.model) else None

    @property
    def summary(self) -> str:
        """Return the first line of the docstring."""
        return summary_of(self.function)

    @property
    def place(self) -> str:
        """Return ``file:line`` of the function."""
        return place_of(self.function)


@attrs.frozen(kw_only=True)
class ProviderSpec:
    """What is declared of one shared value that is no section of the document."""

    model: type[Any]
    needs: tuple[type[Any], ...]
    timeout_s: float
    function: "Callable[[Context], Any]"

    @property
    def name(self) -> str:
        """Return the name of the class it makes."""
        return self.model.__name__

    @property
    def makes(self) -> type[Any]:
        """Return the class that others may need."""
        return self.model

    @property
    def summary(self) -> str:
        """Return the first line of the docstring."""
        return summary_of(self.function)

    @property
    def place(self) -> str:
        """Return ``file:line`` of the function."""
        return place_of(self.function)


Spec = CollectorSpec | ProviderSpec


def collector(
    *,
    section: str,
    model: Any,
    provenance: Provenance | tuple[Provenance, ...],
    scope: Scope = Scope.PROCESS,
    detail: Detail = Detail.COMPACT,
    needs: tuple[type[Any], ...] = (),
    timeout_s: float = 10.0,
) -> Callable[[Function], Function]:
    """Declare the function that makes one section; it is called with a ``Context``.

    ``model`` is the attrs class of the section's value, or ``Annotated[TYPE, Fact(...)]`` for a
    scalar, a list or a value that may be null as a whole. ``needs`` names the classes that
    ``ctx.need`` may ask for. The first line of the docstring describes the section everywhere.
    """

    def declare(function: Function) -> Function:
        kinds = (provenance,) if isinstance(provenance, Provenance) else tuple(provenance)
        spec = CollectorSpec(
            section=section,
            model=model,
            provenance=kinds,
            scope=scope,
            detail=detail,
            needs=tuple(needs),
            timeout_s=timeout_s,
            function=function,
        )
        return _mark(function, spec, COLLECT_HOOK)

    return declare


def provider(
    *, model: type[Any], needs: tuple[type[Any], ...] = (), timeout_s: float = 10.0
) -> Callable[[Function], Function]:
    """Declare the function that makes a value which several collectors need."""

    def declare(function: Function) -> Function:
        spec = ProviderSpec(model=model, needs=tuple(needs), timeout_s=timeout_s, function=function)
        return _mark(function, spec, PROVIDE_HOOK)

    return declare


def _mark(function: Function, spec: Spec, hook: str) -> Function:
    setattr(function, SPEC_ATTRIBUTE, spec)
    return _hookimpl(specname=hook)(function)


def summary_of(function: Callable[..., Any]) -> str:
    """Return the first line of a function's docstring, or an empty text."""
    doc = inspect.getdoc(function) or ""
    return doc.strip().partition("\n")[0].strip()


def place_of(function: Callable[..., Any]) -> str:
    """Return ``file:line`` of a function."""
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def faults(spec: Spec) -> Iterator[str]:
    """Yield what is wrong with a declaration by itself, each as a sentence."""
    if not spec.summary:
        yield "has no docstring; its first line describes the value"
    if list(inspect.signature(spec.function).parameters) != ["ctx"]:
        yield "must take exactly one argument, ctx"
    if not _is_positive(spec.timeout_s):
        yield f"has the deadline {spec.timeout_s!r}, which is no positive number of seconds"
    if isinstance(spec, CollectorSpec):
        yield from _section_faults(spec)
    elif not attrs.has(spec.model):
        yield f"makes {spec.model!r}, which is no attrs class"
    for needed in spec.needs:
        if not (isinstance(needed, type) and attrs.has(needed)):
            yield f"needs {needed!r}, which is no attrs class"


def _is_positive(seconds: Any) -> bool:
    return isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and 0 < seconds < math.inf


def _section_faults(spec: CollectorSpec) -> Iterator[str]:
    if not spec.section or not all(part.replace("-", "_").isidentifier() for part in spec.section.split(".")):
        yield f"has the section {spec.section!r}, which is no name"
    if not spec.provenance or not all(isinstance(kind, Provenance) for kind in spec.provenance):
        yield "declares no provenance"
    try:
        shape = spec.shape
    except TypeError as error:
        yield f"has a model that cannot be written: {error}"
        return
    if shape.kind != "object" and shape.fact is None:
        yield "has a model without a Fact: write Annotated[TYPE, Fact('...')]"
    for path, member in fields_of(spec.model):
        if path.endswith("[]"):
            continue
        if member.fact is None or not member.fact.doc.strip():
            yield f"has the field {path} without a Fact"
    yield from _default_faults(shape, "")


def _default_faults(shape: Shape, path: str) -> Iterator[str]:
    if shape.kind == "object" and shape.cls is not None:
        for field in attrs.fields(shape.cls):
            if field.default is attrs.NOTHING:
                yield f"has the field {path}{field.name} without a default"
    for name, member in shape.fields:
        yield from _default_faults(member, f"{path}{name}.")
    if shape.item is not None:
        yield from _default_faults(shape.item, f"{path}[].")
