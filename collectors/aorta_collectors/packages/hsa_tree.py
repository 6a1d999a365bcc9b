"""The code objects that AITER loads at run time: they can differ where the commit does not."""

import hashlib
import posixpath
from collections.abc import Iterator, Sequence

from aorta.collect import Answer, Context, Entry
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.packages.model import HsaArch

#: What the interpreter leaves beside sources differs from one installation to the next.
CACHE = "__pycache__"

#: The most files of one tree; a real one has some thousands.
MOST = 200_000

#: The field that the trees are told in.
FIELD = "hsa_tree"

IDENTITY, NONE = "identity", "none"


def describe(ctx: Context, root: str) -> Answer[dict[str, HsaArch]]:
    """Return the architectures of one tree by the names of their directories; what they lack is noted."""
    listed = ctx.scan(root, details=True)
    if listed.value is None:
        return listed.failure
    names = [
        entry.name
        for entry in listed.value
        if entry.name != CACHE and _is_directory(ctx, posixpath.join(root, entry.name), entry)
    ]
    trees = {name: _files(ctx, posixpath.join(root, name)) for name in names}
    method = ctx.digest_method(root)
    # All at once: files are hashed side by side.
    wanted = [
        (posixpath.join(root, name, path), entry if entry.kind == "file" else None)
        for name, tree in trees.items()
        for path, entry in tree.value or ()
    ]
    digests = iter(ctx.digests(wanted, method))
    archs = {name: _arch(ctx, tree, digests, method) for name, tree in trees.items()}
    return Answer(value=archs, subject=root)


def _is_directory(ctx: Context, path: str, entry: Entry) -> bool:
    """Tell whether an entry is a directory or a link to one."""
    if entry.kind != "link":
        return entry.kind == "dir"
    found = ctx.stat(path)
    return found.value is not None and found.value.kind == "dir"


def _files(ctx: Context, top: str) -> Answer[list[tuple[str, Entry]]]:
    """Return the files below a directory, sorted by path from it; links to directories are not followed."""
    found: list[tuple[str, Entry]] = []
    todo = [""]
    while todo:
        below = todo.pop()
        listed = ctx.scan(posixpath.join(top, below) if below else top, details=True)
        if listed.value is None:
            return listed.failure
        for entry in listed.value:
            path = posixpath.join(below, entry.name)
            if entry.kind == "dir" and entry.name != CACHE:
                todo.append(path)
            elif entry.kind == "file" or (
                entry.kind == "link" and not _is_directory(ctx, posixpath.join(top, path), entry)
            ):
                found.append((path, entry))
        if len(found) > MOST:
            return Answer(kind=ReasonKind.UNSUPPORTED, subject=top, detail=f"{top}: more than {MOST} files")
    return Answer(value=sorted(found, key=lambda each: each[0]), subject=top)


def _arch(
    ctx: Context,
    tree: Answer[list[tuple[str, Entry]]],
    digests: Iterator[Answer[str]],
    method: str,
) -> HsaArch:
    files = ctx.take(tree, FIELD)
    if files is None:
        return HsaArch()
    paths = [path for path, _ in files]
    combined = ctx.take(combine(paths, [next(digests) for _ in paths], method), FIELD)
    return HsaArch(
        file_count=len(paths),
        co_count=sum(path.endswith(".co") for path in paths),
        combined_sha256=combined if method != IDENTITY else None,
        combined_identity=combined if method == IDENTITY else None,
    )


def combine(paths: Sequence[str], digests: Sequence[Answer[str]], method: str) -> Answer[str]:
    """Return one digest over paths and digests, or why there is none: part of the files is not all."""
    if method == NONE:
        return Answer(kind=ReasonKind.NOT_REQUESTED, detail="left out by --digests none")
    whole = hashlib.sha256()
    for path, digest in zip(paths, digests, strict=True):
        if digest.value is None:
            # A listing names it.
            kind = ReasonKind.EXPECTED if digest.absent else digest.kind
            return Answer(kind=kind, subject=digest.subject, detail=digest.detail)
        _, _, told = digest.value.partition(":")
        whole.update(path.encode("utf-8", "surrogateescape") + b"\0" + told.encode() + b"\n")
    return Answer(value=whole.hexdigest())
