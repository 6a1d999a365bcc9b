"""JSON out of tools that print other things before, between and after it."""

import json
import re
from typing import Any

_START = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_ATTEMPTS = 200
#: What a text may break off in the middle of; an escape has six characters at most.
_TOKENS = ("true", "false", "null", "-0", "-Infinity", "NaN")
_ESCAPE = 6


def decode(text: str) -> tuple[list[Any], str]:
    """Return the JSON objects and lists of a tool's output, and what stood before the first of them.

    A document begins at a line's start. Raises ValueError, naming the first line, when there is none or
    one is cut off.
    """
    found: list[Any] = []
    before, at = "", 0
    decoder = json.JSONDecoder()
    for _ in range(_ATTEMPTS):
        start = _START.search(text, at)
        if start is None:
            break
        try:
            value, end = decoder.raw_decode(text, start.end())
        except json.JSONDecodeError as error:
            if _is_cut(text, error):
                raise ValueError(
                    f"JSON that ends in the middle: {first_line(text[start.end() :])}"
                ) from error
            at = text.find("\n", start.end()) + 1 or len(text)
            continue
        except (ValueError, RecursionError) as error:
            raise ValueError(f"JSON that cannot be read: {type(error).__name__}") from error
        before = before if found else text[: start.start()].strip()
        found.append(value)
        at = end
    if not found:
        raise ValueError(f"no JSON: {first_line(text) or 'nothing was printed'}")
    return found, before


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Tell whether a document ends where the text does: after a whole token, or in the middle of one."""
    rest = text[error.pos :].rstrip()
    if "escape" in error.msg:
        return len(rest) <= _ESCAPE
    return (
        error.msg.startswith("Unterminated string")
        or re.fullmatch(r"\.|[eE][+-]?", rest) is not None
        or any(word.startswith(rest) for word in _TOKENS)
    )


def first_line(text: str) -> str:
    """Return the first line that is not blank, at most 200 characters."""
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")
