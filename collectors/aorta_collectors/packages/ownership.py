"""Which installed distribution a module belongs to: a name in the metadata alone proves nothing."""

import posixpath
from collections.abc import Sequence
from typing import Any

from aorta.collect import Answer, Context, Distribution, Module
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.packages.direct_url import editable_project
from aorta_collectors.packages.model import Claim, Provider
from aorta_collectors.packages.target import normalized

#: The most bytes of a RECORD that are read; that of a large package has some megabytes.
RECORD_LIMIT = 16 << 20


@frozen
class Claims:
    """Who claims a module. ``elsewhere`` are distributions that do not; ``trouble`` hid the rest."""

    providers: tuple[Provider, ...] = ()
    elsewhere: tuple[Distribution, ...] = ()
    trouble: Answer[Any] | None = None

    @property
    def conflict(self) -> bool | None:
        """Tell whether more than one distribution claims the module; None where that was not seen."""
        if len(self.providers) > 1:
            return True
        return None if self.trouble is not None else False

    @property
    def owner(self) -> Provider | None:
        """Return the only distribution that claims it."""
        return self.providers[0] if self.conflict is False and self.providers else None


def owner_name(ctx: Context, claims: Claims) -> str | None:
    """Return the name of the only distribution that claims a package, or note why there is none."""
    if claims.owner is not None:
        return claims.owner.name
    if claims.trouble is not None:
        return ctx.take(claims.trouble, "package_dist_name")
    text = (
        "more than one distribution claims it" if claims.conflict else "no installed distribution claims it"
    )
    ctx.note(ReasonKind.ABSENT, "package_dist_name", text)
    return None


def claims_of(
    ctx: Context,
    distributions: Sequence[Distribution],
    module: Module,
    hidden: Answer[Any] | None = None,
) -> Claims:
    """Ask each distribution whether the module is its own; ``hidden`` is why others may not be known."""
    providers: list[Provider] = []
    elsewhere: list[Distribution] = []
    trouble: Answer[Any] | None = hidden
    for each in distributions:
        claim = _claim(ctx, each, module)
        if claim.value is not None:
            providers.append(
                Provider(name=each.name, version=each.version, path=each.path or None, claim=claim.value)
            )
        elif claim.absent:
            elsewhere.append(each)
        else:
            trouble = trouble or claim
    return Claims(providers=_without_build_output(providers), elsewhere=tuple(elsewhere), trouble=trouble)


def _without_build_output(providers: Sequence[Provider]) -> tuple[Provider, ...]:
    """Leave out the ``*.egg-info`` that an editable install keeps among its sources: it is the same one."""
    proved = {normalized(each.name or "") for each in providers if each.claim is not Claim.TOP_LEVEL}
    return tuple(
        each
        for each in providers
        if each.claim is not Claim.TOP_LEVEL or normalized(each.name or "") not in proved
    )


def _claim(ctx: Context, distribution: Distribution, module: Module) -> Answer[Claim]:
    """Return how a distribution claims a module; ``absent`` where it does not."""
    path = distribution.path.rstrip("/")
    no: Answer[Claim] = Answer(kind=ReasonKind.ABSENT, subject=path, detail=f"{path}: does not claim it")
    origin = module.origin
    if not path or origin is None:
        return no
    if _is_editable(ctx, distribution, origin):
        return Answer(value=Claim.EDITABLE, subject=path)
    record = ctx.resource(posixpath.join(path, "RECORD"), RECORD_LIMIT)
    if record.value is not None:
        home = posixpath.dirname(path)
        listed = lists(record.value, home, origin, module.locations)
        if not listed and len(record.value.encode()) >= RECORD_LIMIT:
            text = f"{path}/RECORD: longer than {RECORD_LIMIT >> 20} MB, and the start does not list it"
            return Answer(kind=ReasonKind.UNPARSED, subject=path, detail=text)
        return Answer(value=Claim.RECORD, subject=path) if listed else no
    if not record.absent:
        return record.failure
    beside = module.locations[0] if module.locations else origin
    if posixpath.dirname(beside) != posixpath.dirname(path):
        return no
    names = ctx.resource(posixpath.join(path, "top_level.txt")).value or ""
    return Answer(value=Claim.TOP_LEVEL, subject=path) if module.name in names.split() else no


def _is_editable(ctx: Context, distribution: Distribution, origin: str) -> bool:
    text = distribution.direct_url
    if text is None:
        text = ctx.resource(posixpath.join(distribution.path, "direct_url.json")).value
    project = editable_project(text)
    return project is not None and origin.startswith(f"{project}/")


def lists(record: str, home: str, origin: str, locations: Sequence[str]) -> bool:
    """Tell whether a RECORD lists the module's file, or files in the directories of the package.

    ``home`` is what its paths count from. Paths are compared as they are written.
    """
    prefixes = tuple(f"{location.rstrip('/')}/" for location in locations)
    for entry in parse_record(record):
        path = entry if entry.startswith("/") else f"{home}/{entry}"
        if "/." in path:
            path = posixpath.normpath(path)
        if path == origin or path.startswith(prefixes):
            return True
    return False


def parse_record(text: str) -> list[str]:
    """Return the paths in a RECORD, which is a table of comma separated values."""
    return [path for line in text.split("\n") if (path := _first_field(line))]


def _first_field(line: str) -> str:
    if not line.startswith('"'):
        return line.partition(",")[0].strip()
    # A quotation mark inside is doubled.
    end = line.replace('""', "\1\1").find('"', 1)
    return line[1:end].replace('""', '"') if end > 0 else ""
