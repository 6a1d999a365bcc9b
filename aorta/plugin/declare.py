"""``@collector`` and ``@provider``: all that is declared of a section or a shared value, in one place."""

import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import pluggy

from aorta.model.frozen import frozen, is_model, members_of
from aorta.model.shape import Shape, fields_of, nothing, shape_of
from aorta.model.vocabulary import Detail, Provenance, Scope

if TYPE_CHECKING:
    from aorta.collect.context import Context

PROJECT = "aorta"
COLLECT_HOOK = "aorta_collect"
PROVIDE_HOOK = "aorta_provide"
SPEC_ATTRIBUTE = "aorta_spec"
LIBRARIES_HOOK = "aorta_buck_libraries"
NAMES_HOOK = "aorta_env_names"
HOOK_ATTRIBUTE = "aorta_hook"

#: The version of all that a plugin may use: ``aorta.plugin``, ``aorta.collect.Context``, ``Fact``. It grows
#: with what is added. A module that says ``AORTA_HOOKS = 2`` wants at least that one.
HOOKS = 1
HOOKS_ATTRIBUTE = "AORTA_HOOKS"
THIS = f"this aorta has version {HOOKS} of the hooks"

#: The longest deadline that a section may declare, in seconds.
LONGEST_S = 1e6

Function = TypeVar("Function", bound="Callable[[Context], Any]")
Extension = TypeVar("Extension", bound="Callable[[], Any]")
Decorator = TypeVar("Decorator", bound="Callable[..., Any]")
_hookimpl = pluggy.HookimplMarker(PROJECT)


class RegistrationError(Exception):
    """A collector or provider is declared wrongly; the text names the file and line."""


@frozen
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
        return self.model if is_model(self.model) else None

    @property
    def summary(self) -> str:
        """Return the first line of the docstring."""
        return summary_of(self.function)

    @property
    def place(self) -> str:
        """Return ``file:line`` of the function."""
        return place_of(self.function)


@frozen
class ProviderSpec:
    """What is declared of one shared value that is no section of the document."""

    model: type[Any]
    scope: Scope
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


def _known_keywords(decorator: Decorator) -> Decorator:
    """Let a decorator say which of its keywords it does not know: a later aorta may."""
    known = decorator.__code__.co_varnames[: decorator.__code__.co_kwonlyargcount]

    @functools.wraps(decorator)
    def checked(*words: Any, **options: Any) -> Any:
        unknown = [name for name in options if name not in known]
        if unknown:
            caller = sys._getframe(1)  # noqa: SLF001 - there is no public way
            place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
            names = ", ".join(f"{name}=" for name in unknown)
            raise RegistrationError(f"{place}: @{decorator.__name__} does not know {names}; {THIS}")
        return decorator(*words, **options)

    return cast("Decorator", checked)


@_known_keywords
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
        spec = CollectorSpec(
            section=section,
            model=model,
            provenance=_several(provenance),
            scope=scope,
            detail=detail,
            needs=_several(needs),
            timeout_s=timeout_s,
            function=function,
        )
        return _mark(function, spec, COLLECT_HOOK)

    return declare


@_known_keywords
def provider(
    *,
    model: type[Any],
    scope: Scope = Scope.PROCESS,
    needs: tuple[type[Any], ...] = (),
    timeout_s: float = 10.0,
) -> Callable[[Function], Function]:
    """Declare the function that makes a value which several collectors need.

    A section may be reused no longer than what it needs.
    """

    def declare(function: Function) -> Function:
        spec = ProviderSpec(
            model=model, scope=scope, needs=_several(needs), timeout_s=timeout_s, function=function
        )
        return _mark(function, spec, PROVIDE_HOOK)

    return declare


def buck_libraries(function: Extension) -> Extension:
    """Declare the function that returns further libraries of Buck graphs, ``{NAME: REGEX}``.

    It takes no argument. A pattern is looked for in the label ``cell//package:name``; one that repeats what
    can match in several ways, such as ``(a+)+``, may never end and is left out.
    """
    return _extends(function, LIBRARIES_HOOK)


def env_names(function: Extension) -> Extension:
    """Declare the function that returns further environment variables to show, a list of names.

    It takes no argument. A name that ends in ``*`` stands for all set variables that begin so.
    """
    return _extends(function, NAMES_HOOK)


def _extends(function: Extension, hook: str) -> Extension:
    setattr(function, HOOK_ATTRIBUTE, hook)
    return _hookimpl(specname=hook)(function)


def _several(given: Any) -> tuple[Any, ...]:
    """Return what was given as a tuple, unchecked: ``faults`` checks, and names the place."""
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _mark(function: Function, spec: Spec, hook: str) -> Function:
    setattr(function, SPEC_ATTRIBUTE, spec)
    return _hookimpl(specname=hook)(function)


def summary_of(function: Callable[..., Any]) -> str:
    """Return the first line of a function's docstring, or an empty text."""
    doc = function.__doc__ or ""
    return doc.strip().partition("\n")[0].strip()


def place_of(function: Callable[..., Any]) -> str:
    """Return ``file:line`` of a function."""
    code = code_of(function)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else repr(function)


def code_of(function: Any) -> types.CodeType | None:
    """Return the code that a function runs, behind what wraps it; None where it is no Python function."""
    for _ in range(WRAPPERS):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    code = getattr(function, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


#: How many functions around a function are looked behind.
WRAPPERS = 20


def faults(spec: Spec) -> Iterator[str]:
    """Yield what is wrong with a declaration by itself, each as a sentence."""
    # ``python -OO`` strips them all, ours too.
    if not spec.summary and faults.__doc__ is not None:
        yield "has no docstring; its first line describes the value"
    if not _takes_context(spec.function):
        yield "must take exactly one argument, ctx"
    if not _is_positive(spec.timeout_s):
        limit = f"no positive number of seconds up to {LONGEST_S:g}"
        yield f"has the deadline {spec.timeout_s!r:.40}, which is {limit}"
    if not isinstance(spec.scope, Scope):
        yield f"has the scope {spec.scope!r}, which is no Scope"
    if isinstance(spec, CollectorSpec):
        yield from _section_faults(spec)
    elif not (is_model(spec.model)):
        yield f"makes {spec.model!r}, which is no attrs class"
    for needed in spec.needs:
        if not (is_model(needed)):
            yield f"needs {needed!r}, which is no attrs class"


def _is_word(part: str) -> bool:
    return part.replace("-", "_").isidentifier()


def _takes_context(function: Any) -> bool:
    code = code_of(function)
    if code is None:
        return False
    several = code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    return not several and not code.co_kwonlyargcount and code.co_varnames[: code.co_argcount] == ("ctx",)


CO_VARARGS, CO_VARKEYWORDS = 0x04, 0x08


def _is_positive(seconds: Any) -> bool:
    return isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and 0 < seconds < LONGEST_S


def _section_faults(spec: CollectorSpec) -> Iterator[str]:
    name = spec.section
    if not isinstance(name, str) or not all(_is_word(part) for part in name.split(".")):
        yield f"has the section {name!r}, which is no name"
    if not spec.provenance:
        yield "declares no provenance"
    for kind in spec.provenance:
        if not isinstance(kind, Provenance):
            yield f"has the provenance {kind!r:.40}, which is no Provenance"
    if not isinstance(spec.detail, Detail):
        yield f"has the detail {spec.detail!r}, which is no Detail"
    try:
        shape = spec.shape
    except TypeError as error:
        yield f"has a model that cannot be written: {error}"
        return
    if shape.kind != "object" and (shape.fact is None or not shape.fact.doc.strip()):
        yield "has a model without a Fact: write Annotated[TYPE | None, Fact('...')]"
    if shape.kind != "object" and not shape.nullable:
        yield "has a model that cannot be null: write Annotated[TYPE | None, Fact('...')]"
    for path, member in fields_of(spec.model):
        if path.endswith("[]"):
            continue
        if member.fact is None or not member.fact.doc.strip():
            yield f"has the field {path} without a Fact"
        if member.kind != "object" and not member.nullable:
            yield f"has the field {path} that cannot be null: what was not seen is null"
    yield from _default_faults(shape, "")


def _default_faults(shape: Shape, path: str) -> Iterator[str]:
    """Yield the fields whose default would say something that nobody saw."""
    if shape.kind == "object" and shape.cls is not None:
        fields = members_of(shape.cls) or []
        missing = [name for name, _, default in fields if default is attrs.NOTHING]
        yield from (f"has the field {path}{name} without a default" for name in missing)
        if not missing:
            yield from _claims(shape, path)
    for name, member in shape.fields:
        yield from _default_faults(member, f"{path}{name}.")
    if shape.item is not None:
        yield from _default_faults(shape.item, f"{path}[].")


def _claims(shape: Shape, path: str) -> Iterator[str]:
    try:
        bare = nothing(shape)
    except Exception as error:
        yield f"has a model that cannot be made without values: {type(error).__name__}: {error}"
        return
    for name, member in shape.fields:
        value = getattr(bare, name)
        if value is not None and member.kind != "object" and not (member.fact and member.fact.keys):
            yield f"has the field {path}{name} with the default {value!r}: what was not seen is null"
