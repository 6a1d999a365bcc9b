"""The digests of many libraries: one question, so that they are hashed side by side."""

from collections.abc import Iterable

from aorta.collect import Answer, Context


def digests_of(ctx: Context, paths: Iterable[str]) -> dict[str, Answer[str]]:
    """Return the digest of each file by its path.

    What torch brings are gigabytes. On a file system of the network they are looked at as large
    directories are, by ``identity``, unless the caller asks for another method.
    """
    by_method: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        by_method.setdefault(ctx.digest_method(path), []).append(path)
    answers: dict[str, Answer[str]] = {}
    for method, files in by_method.items():
        told = ctx.digests([(path, None) for path in files], method)
        answers.update(zip(files, told, strict=True))
    return answers
