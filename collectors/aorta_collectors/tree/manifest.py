"""The build manifest that TheRock puts into its wheels and packages."""

import json
import posixpath
import re
from typing import Annotated, Any, NoReturn

from aorta.collect import Answer, Context, parsed
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind

PLACE = "share/therock/therock_manifest.json"
LIMIT = 4 << 20
SCALARS = ("the_rock_commit", "github_job", "github_run_id", "rocm_package_version", "rocm_version")
_PIN = re.compile(r"[0-9a-f]{40}")


@frozen
class Submodule:
    """One source tree of the build."""

    name: Annotated[str | None, Fact("Name of the submodule, e.g. rocm-libraries.")] = None
    url: Annotated[str | None, Fact("Where it was cloned from.")] = None
    pin_sha: Annotated[str | None, Fact("Full commit; null in a build outside git.")] = None
    patches: Annotated[
        tuple[str, ...] | None, Fact("Patches on top: with any, the build is not just what the pin says.")
    ] = None


@frozen
class Manifest:
    """A parsed manifest. ``unpinned`` counts submodules whose pin is null, ``odd`` what could not be read."""

    the_rock_commit: str | None = None
    github_job: str | None = None
    github_run_id: str | None = None
    rocm_package_version: str | None = None
    rocm_version: str | None = None
    submodules: tuple[Submodule, ...] = ()
    unpinned: int = 0
    odd: int = 0


def parse_manifest(text: str) -> Manifest:
    """Parse a manifest. Raises ValueError where it is no JSON object."""
    try:
        # A number is kept as it is written: 7.10 is another version than 7.1.
        data = json.loads(text.removeprefix("\ufeff"), parse_constant=_constant, parse_float=str)
    except RecursionError:
        raise ValueError("nested beyond measure") from None
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004
    listed = data.get("submodules")
    entries = listed if isinstance(listed, list) else []
    named = [entry for entry in entries if isinstance(entry, dict) and _scalar(entry.get("submodule_name"))]
    submodules = tuple(_submodule(entry) for entry in named)
    unpinned = sum(entry.get("pin_sha") is None for entry in named)
    unread = sum(submodule.pin_sha is None for submodule in submodules) - unpinned
    odd = len(entries) - len(named) + unread + (listed is not None and not isinstance(listed, list))
    scalars: dict[str, Any] = {name: _scalar(data.get(name)) for name in SCALARS}
    return Manifest(**scalars, submodules=submodules, unpinned=unpinned, odd=odd)


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _scalar(value: Any) -> str | None:
    if value is None or isinstance(value, (bool, dict, list)):
        return None
    return str(value).strip() or None


def _submodule(entry: dict[str, Any]) -> Submodule:
    pin = (_scalar(entry.get("pin_sha")) or "").lower()
    patches = entry.get("patches")
    return Submodule(
        name=_scalar(entry.get("submodule_name")),
        url=_scalar(entry.get("submodule_url")),
        pin_sha=pin if _PIN.fullmatch(pin) else None,
        patches=tuple(str(patch) for patch in patches) if isinstance(patches, list) else None,
    )


def read_manifest(ctx: Context, prefixes: tuple[str, ...]) -> Answer[Manifest]:
    """Read the manifest of the first prefix that has one; ``absent`` only where there is positively none."""
    for prefix in prefixes:
        path = posixpath.join(prefix, PLACE)
        there = ctx.stat(path, follow=False)
        if there.absent:
            continue
        answer = parsed(ctx.text(path, LIMIT), parse_manifest)
        if answer.absent:
            return Answer(kind=ReasonKind.EXPECTED, subject=path, detail=f"{path}: a link to nothing")
        return answer
    place = posixpath.join(prefixes[0] if prefixes else "/opt/rocm", PLACE)
    return Answer(kind=ReasonKind.ABSENT, subject=place, detail=f"{place}: not there")
