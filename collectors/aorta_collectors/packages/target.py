"""The module that an import would take and the distributions that may hold it, found without importing."""

import posixpath
import re
from collections.abc import Sequence
from typing import Any

from aorta.collect import Answer, Context, Distribution, Module
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.tree.links import absolute


def normalized(name: str) -> str:
    """Return a distribution's name as PEP 503 compares it: amd-aiter of ``AMD_Aiter``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(ctx: Context, names: Sequence[str]) -> tuple[list[Distribution], Answer[Any] | None]:
    """Return the installed distributions of some names, every copy on the path; and what hid others."""
    found: list[Distribution] = []
    trouble: Answer[Any] | None = None
    for name in names:
        answer = ctx.distribution(name)
        if not answer.ok:
            trouble = trouble or answer.failure
        elif answer.value is not None:
            found += [answer.value, *(_copy(answer.value, path) for path in answer.value.others)]
    return found, trouble


def _copy(first: Distribution, path: str) -> Distribution:
    """Return a further copy of a distribution, known by the name of its metadata directory."""
    parts = posixpath.basename(path).removesuffix(".dist-info").removesuffix(".egg-info").split("-")
    return Distribution(name=first.name, version=parts[1] if len(parts) > 1 else None, path=path)


def find(ctx: Context, name: str, distributions: Sequence[Distribution] = ()) -> Answer[Module]:
    """Return where a module would be imported from, its paths made absolute.

    A directory that is just called like it (PEP 420) is no package. ``distributions`` are installed
    ones that should hold it.
    """
    found = ctx.module(name)
    if not found.ok:
        return found.failure
    module = found.value
    if module is not None and module.origin is not None:
        return _absolute(ctx, module)
    text = f"{name} is not installed for this interpreter"
    if module is not None:
        unseen = unseen_package(ctx, module)
        if unseen is not None:
            return unseen.failure
        text = f"no {name}, only a directory without a package: {', '.join(module.locations)}"
    elif distributions:
        told = ", ".join(f"{each.name} {each.version} ({each.path})" for each in distributions)
        text = f"metadata without the package {name}: {told}"
    return Answer(kind=ReasonKind.ABSENT, subject=name, detail=text)


def unseen_package(ctx: Context, module: Module) -> Answer[Any] | None:
    """Return why it is not known whether a directory is a package; None where it is seen to be none.

    To the import system a package that may not be looked into is a directory without a package.
    """
    looks = [ctx.stat(posixpath.join(place, "__init__.py")) for place in module.locations]
    hidden = (look for look in looks if not (look.ok or look.absent))
    return next((look for look in hidden if look.kind is not ReasonKind.NOT_RECORDED), None)


def _absolute(ctx: Context, module: Module) -> Answer[Module]:
    """Return the module with absolute paths; those in a zip file that is run may be relative."""
    paths = [absolute(ctx, path) for path in (module.origin or "", *module.locations)]
    for path in paths:
        if path.value is None:
            return path.failure
    origin, *locations = [path.value or "" for path in paths]
    return Answer(value=Module(name=module.name, origin=origin, locations=tuple(locations)))
