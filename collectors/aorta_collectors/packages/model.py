"""What the sections about Python packages have in common, and AITER's code objects."""

from typing import Annotated

from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Word


class Claim(Word):
    """What says that a distribution holds a module."""

    RECORD = "record"
    EDITABLE = "editable"
    TOP_LEVEL = "top_level"


@frozen
class Provider:
    """An installed distribution that claims the module which an import would take."""

    name: Annotated[str | None, Fact("Name in its metadata.")] = None
    version: Annotated[str | None, Fact("Version in its metadata.", caveat="Not the package's own word.")] = (
        None
    )
    path: Annotated[str | None, Fact("Its metadata directory.")] = None
    claim: Annotated[
        Claim | None,
        Fact(
            "record (its RECORD lists the package's files), editable (it is an editable install of the"
            " directory that the package lies in) or top_level (metadata without a RECORD, beside the"
            " package, names it)."
        ),
    ] = None


@frozen
class HsaArch:
    """The files for one architecture."""

    file_count: Annotated[int | None, Fact("Number of files, those in directories below included.")] = None
    co_count: Annotated[int | None, Fact("Number of code objects, *.co, among them.")] = None
    combined_sha256: Annotated[
        str | None,
        Fact(
            "sha256 in hexadecimal over the files sorted by path: path from the architecture's directory on,"
            " NUL, sha256 of the content in hexadecimal, line feed. Null where one could not be read."
        ),
    ] = None
    combined_identity: Annotated[
        str | None,
        Fact(
            "The same over name, size, head and tail of each file: what is told in place of the content on a"
            " network file system, or with --digests identity."
        ),
    ] = None
