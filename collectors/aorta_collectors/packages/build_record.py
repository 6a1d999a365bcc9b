"""What a build of fbgemm_gpu leaves in the package: its version, and what it was built for."""

import json
import posixpath
from collections.abc import Iterable

from aorta.collect import Context, Module, parsed
from aorta_collectors.packages.identity import VARIANT, Source

#: One file a target, JSON in spite of its name; the first there counts.
TARGETS = ("docs/target.default.json.py", "docs/target.genai.json.py", "docs/target.hstu.json.py")


def build_records(ctx: Context, module: Module) -> list[Source]:
    """Read the build records that are there; without any there is nothing to say of them."""
    paths = [posixpath.join(location, name) for location in module.locations for name in TARGETS]
    read = [Source(path=path, constants=parsed(ctx.resource(path), parse_target)) for path in paths]
    return [each for each in read if not each.constants.absent]


def variant_of(read: Iterable[Source]) -> str | None:
    """Return what a package says that it was built for, None where it says nothing."""
    words = (each.get(VARIANT) for each in read)
    return next((word for word in words if word and word != "INTERNAL"), None)


def parse_target(text: str) -> dict[str, str]:
    """Return version and variant of a build record, named as a source would. Raises ValueError."""
    try:
        told = json.loads(text)
    except RecursionError:
        raise ValueError("nested beyond all measure") from None
    if not isinstance(told, dict):
        raise ValueError("no object")  # noqa: TRY004 - what a text says is no type of ours
    texts = {"__version__": told.get("version"), VARIANT: told.get("variant")}
    return {name: text[:200] for name, text in texts.items() if isinstance(text, str)}
