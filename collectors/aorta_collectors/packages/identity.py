"""Version and commit of a package: from its own text first, else from the distribution that holds it."""

import functools
import posixpath
import re
from collections.abc import Sequence

from aorta.collect import Answer, Context, Module
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.packages import INIT
from aorta_collectors.packages.commit import ATTRIBUTES, commit_in_version, first_commit
from aorta_collectors.packages.constants import parse_constants
from aorta_collectors.packages.model import Provider
from aorta_collectors.packages.ownership import Claims
from aorta_collectors.packages.pep440 import public, same_version

VERSIONS = ("__version__", "version")
VARIANT = "__variant__"

#: The most bytes of a source that are read.
SOURCE_LIMIT = 1 << 18


@functools.cache
def _told() -> "re.Pattern[str]":
    return re.compile(r"v?[0-9][0-9A-Za-z.+!_-]{0,199}")


@frozen
class Source:
    """One text of a package and what it assigns; ``constants`` tells why it could not be read."""

    path: str
    constants: Answer[dict[str, str]]

    def get(self, name: str) -> str | None:
        """Return what it assigns to a name."""
        return (self.constants.value or {}).get(name)

    @property
    def version(self) -> str | None:
        """Return its version; a word such as ``unknown`` is none."""
        texts = (self.get(name) for name in VERSIONS)
        return next((text for text in texts if text and _told().fullmatch(text)), None)

    @property
    def commit(self) -> str | None:
        """Return the commit that one of its attributes tells."""
        return first_commit(map(self.get, ATTRIBUTES))


@frozen
class Identity:
    """What is known of a package. ``version_source`` is the file that told the version."""

    version: str | None = None
    version_source: str | None = None
    commit: str | None = None


def sources(ctx: Context, module: Module, names: Sequence[str]) -> list[Source]:
    """Read texts of a package, each by its name below it; a plain module has none of its neighbours'."""
    return [
        Source(path=path, constants=constants(ctx, path)) for name in names for path in _places(module, name)
    ]


def _places(module: Module, name: str) -> list[str]:
    if name == INIT:
        origin = module.origin or ""
        return [origin] if origin.endswith(".py") else []
    return [posixpath.join(location, name) for location in module.locations]


def constants(ctx: Context, path: str) -> Answer[dict[str, str]]:
    """Return what a source assigns to the names that tell a package's identity."""
    text = ctx.resource(path, SOURCE_LIMIT)
    if text.value is None:
        return text.failure
    return Answer(value=parse_constants(text.value, (*VERSIONS, *ATTRIBUTES, VARIANT)), subject=path)


def identify(ctx: Context, read: Sequence[Source], claims: Claims) -> Identity:
    """Return a package's identity and note what is missing or does not agree."""
    source = next((each for each in read if each.version is not None), None)
    own, owner = source.version if source else None, claims.owner
    version, where = own, source.path if source else None
    if version is None and owner is not None and owner.version:
        version, where = owner.version, owner.path
    if version is None:
        for field in ("package_version", "package_version_source"):
            ctx.take(versionless(read), field)
    commit = commit_in_version(version or "") or first_commit(each.commit for each in read)
    if commit is None and owner is not None and agree(version, owner):
        # Builders put the commit into the metadata alone.
        commit = commit_in_version(owner.version or "")
    if commit is None:
        ctx.note(
            ReasonKind.ABSENT,
            "commit",
            f"neither the version ({version or 'unknown'}) nor an attribute tells it",
        )
    if own is not None and owner is not None and not agree(own, owner):
        text = f"{where} says {own}, {owner.path} says {owner.version}: one is not of this installation"
        ctx.note(ReasonKind.EXPECTED, "package_version", text, subject=where)
    return Identity(version=version, version_source=where, commit=commit)


def agree(version: str | None, owner: Provider) -> bool:
    """Tell whether a version and a distribution's are one, what builders add to them left aside."""
    if version is None or owner.version is None:
        return True
    return same_version(public(version), public(owner.version))


def versionless(read: Sequence[Source]) -> Answer[str]:
    """Return why no text tells a version: what could not be read comes first."""
    troubles = [each.constants for each in read if not each.constants.ok]
    hidden = next((answer for answer in troubles if not answer.absent), None)
    if hidden is not None:
        return hidden.failure
    words = [
        f"{each.path} says {said[:60]!r}" if said else f"{each.path} assigns none"
        for each in read
        if each.constants.ok
        for said in [each.get("__version__")]
    ]
    if words:
        return Answer(
            kind=ReasonKind.UNPARSED, subject=read[0].path, detail=f"no version: {'; '.join(words)}"
        )
    names = ", ".join(each.path for each in read) or "no text to read"
    return Answer(kind=ReasonKind.ABSENT, detail=f"neither the package nor its metadata tells it: {names}")


def note_claims(ctx: Context, claims: Claims, module: Module) -> None:
    """Note why it is not known who holds a package, and that nobody does although something is installed."""
    if claims.trouble is not None:
        ctx.take(claims.trouble, "conflict" if claims.conflict is None else "providers")
    elif claims.elsewhere and not claims.providers:
        told = ", ".join(f"{each.name} {each.version} ({each.path})" for each in claims.elsewhere)
        text = f"no installed distribution claims {module.origin}; metadata of another copy: {told}"
        ctx.note(ReasonKind.ABSENT, "providers", text, subject=module.origin)
