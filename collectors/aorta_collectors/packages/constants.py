"""Constants that a Python source assigns at its top level, read without running it."""

import functools
import keyword
import re
from collections.abc import Collection, Iterator

#: Statements after whose first word an assignment on the same line is made under a condition.
_COMPOUND = {
    "if",
    "elif",
    "else",
    "for",
    "while",
    "try",
    "except",
    "finally",
    "with",
    "def",
    "class",
    "async",
}

#: Statements that bind a name without an equals sign.
_BINDERS = {"from", "import", "del", *_COMPOUND} - {"if", "elif", "else", "while", "try", "finally"}


@functools.cache
def _literal() -> "re.Pattern[str]":
    return re.compile(r"""[rRuU]?(?:'([^'\\\n]{0,200})'|"([^"\\\n]{0,200})")""")


@functools.cache
def _augmented() -> "re.Pattern[str]":
    return re.compile(r"[^=!<>]{1,2}=|>>=|<<=")


def parse_constants(text: str, names: Collection[str]) -> dict[str, str]:
    """Return the texts that a source assigns to some names.

    Comments, strings and what is indented do not count. Of several assignments the last does, as for
    the interpreter; a name that is later computed, imported, or assigned under a condition is left out.
    A source that Python could not read to its end is read as far as it goes.
    """
    if not any(name in text for name in names):
        return {}
    import tokenize

    found: dict[str, str] = {}
    try:
        for top, statement in _statements(text):
            _take(found, names, statement, top=top)
    except (SyntaxError, ValueError, tokenize.TokenError):
        pass
    return found


def _statements(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Yield the words of each statement, and whether it is always run."""
    depth, always, statement = 0, True, list[str]()
    for kind, word in _tokens(text):
        if kind == "INDENT":
            depth += 1
        elif kind == "DEDENT":
            depth -= 1
        elif kind == "NEWLINE" or word == ";":
            always = always and depth == 0 and not (statement and statement[0] in _COMPOUND)
            yield always, statement
            always, statement = always or kind == "NEWLINE", []
        elif kind not in ("NL", "COMMENT", "ENDMARKER"):
            statement.append(word)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    import tokenize

    lines = iter([f"{line}\n" for line in text.removeprefix("\ufeff").split("\n")])
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        yield tokenize.tok_name[token.type], token.string


def _take(found: dict[str, str], names: Collection[str], statement: list[str], *, top: bool) -> None:
    """Note what one statement assigns, or forget what it makes unknown."""
    equals = list(_equals(statement))
    value = statement[equals[-1] + 1 :] if equals else []
    targets = _targets(statement, equals) if top and len(value) == 1 else []
    literal = _literal().fullmatch(value[0]) if targets else None
    if literal is not None:
        text = literal[1] if literal[1] is not None else literal[2]
        found.update((name, text) for name in targets if name in names)
        return
    binds = statement and (statement[0] in _BINDERS or _augmented().fullmatch("".join(statement[1:2])))
    for name in statement[: equals[-1]] if equals else statement if binds else ():
        found.pop(name, None)


def _equals(statement: list[str]) -> Iterator[int]:
    """Yield the places of the equals signs that assign: those outside of brackets."""
    brackets = 0
    for place, word in enumerate(statement):
        brackets += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if word == "=" and not brackets:
            yield place


def _targets(statement: list[str], equals: list[int]) -> list[str]:
    """Return the names that are assigned to, in ``a = b = ...`` and in ``a: type = ...``."""
    if equals == list(range(1, 2 * len(equals), 2)):
        return statement[: equals[-1] : 2]
    annotated = statement[1] == ":" and len(equals) == 1 and not keyword.iskeyword(statement[0])
    return statement[:1] if annotated else []
