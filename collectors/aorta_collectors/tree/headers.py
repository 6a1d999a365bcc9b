"""C headers: what they define, read without a preprocessor and without being fooled by comments."""

import posixpath
import re
from collections.abc import Iterable

from aorta.collect import Answer, Context, parsed
from aorta.model.vocabulary import ReasonKind

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"?|/\*(?:.*?\*/|.*\Z)|//[^\n]*', re.DOTALL)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|define|undef)\b(.*)")
_DEFINE = re.compile(r"[ \t]+([A-Za-z_]\w{0,100})(?:[ \t]+(.*))?")
_NUMBER = re.compile(r"\(?\s*(\d{1,9})[uUlL]{0,3}\s*\)?")
_WORD = re.compile(r"[A-Za-z0-9_.+-]{1,80}")


def parse_defines(text: str) -> dict[str, str]:
    """Return the object-like macros of a header with the text that they stand for, which may be empty.

    Comments, ``#if 0`` blocks and function-like macros do not count. A name that is defined twice
    with different texts is left out: which one holds depends on the compiler's flags.
    """
    values: dict[str, str] = {}
    doubtful: set[str] = set()
    dead: list[bool] = []
    for line in _uncommented(text).splitlines():
        directive = _DIRECTIVE.fullmatch(line)
        if directive is None:
            continue
        word, rest = directive[1], directive[2]
        if word.startswith("if"):
            dead.append(word == "if" and rest.strip() == "0")
        elif word in ("elif", "else") and dead:
            dead[-1] = False
        elif word == "endif" and dead:
            dead.pop()
        elif not any(dead):
            _define(word, rest, values, doubtful)
    return {name: value for name, value in values.items() if name not in doubtful}


def _define(word: str, rest: str, values: dict[str, str], doubtful: set[str]) -> None:
    if word == "undef":
        values.pop(rest.strip(), None)
        doubtful.discard(rest.strip())
        return
    macro = _DEFINE.fullmatch(rest)
    if macro is None:
        return
    value = (macro[2] or "").strip()
    if values.setdefault(macro[1], value) != value:
        doubtful.add(macro[1])


def _uncommented(text: str) -> str:
    joined = text.replace("\r\n", "\n").replace("\\\n", "")
    return _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else " ", joined)


def number(defines: dict[str, str], name: str) -> int | None:
    """Return a macro's whole number, None where it is missing or no plain number."""
    match = _NUMBER.fullmatch(defines.get(name, ""))
    return int(match[1]) if match else None


def word(defines: dict[str, str], name: str) -> str | None:
    """Return a macro's single word without quotes, e.g. a commit; None where it is missing or empty."""
    value = defines.get(name, "").strip('"')
    return value if _WORD.fullmatch(value) else None


def dotted(defines: dict[str, str], *names: str) -> str | None:
    """Return several numbers joined by dots, None unless all are there."""
    numbers = [number(defines, name) for name in names]
    return None if None in numbers else ".".join(str(part) for part in numbers)


def version(defines: dict[str, str], prefix: str) -> str | None:
    """Return ``MAJOR.MINOR.PATCH`` of the three macros that begin with ``prefix``."""
    return dotted(defines, *(f"{prefix}{part}" for part in ("MAJOR", "MINOR", "PATCH")))


def first_header(ctx: Context, root: str, names: Iterable[str]) -> Answer[dict[str, str]]:
    """Read the first of several headers below ``root``/include that is there; ``subject`` is its path."""
    paths = [posixpath.join(root, "include", name) for name in names]
    for path in paths:
        answer = parsed(ctx.text(path), parse_defines)
        if not answer.absent:
            return answer
    return Answer(kind=ReasonKind.ABSENT, subject=paths[0], detail=f"{paths[0]}: no such header")
