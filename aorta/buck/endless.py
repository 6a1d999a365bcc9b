"""Whether a regular expression may take for ever, told from its form.

What a plugin names is tried on every label of a graph in this process, which could not end that.
"""

import importlib
import re
from collections.abc import Iterator
from typing import Any

#: Repetitions up to so many times are no danger, and so many others may stand side by side.
FEW, SIDE_BY_SIDE = 8, 4


def is_endless(pattern: str) -> bool:
    """Tell whether an expression repeats what can match in several ways, or repeats too much.

    Raises re.error for what is none.
    """
    repeats = list(_repeats(_parsed(pattern)))
    return len(repeats) > SIDE_BY_SIDE or any(_has_choice(body) for body in repeats)


def _parsed(pattern: str) -> Any:
    # There is no public way to an expression's form, and its module has another name since 3.11.
    parser: Any = getattr(re, "_parser", None)
    if parser is None:
        parser = importlib.import_module("sre_parse")
    return parser.parse(pattern)


def _repeats(parsed: Any) -> Iterator[Any]:
    """Yield what is repeated often, at any depth."""
    for name, value in parsed:
        if str(name).endswith("REPEAT") and _most(value) > FEW:
            yield value[2]
        for part in _parts(value):
            yield from _repeats(part)


def _has_choice(parsed: Any) -> bool:
    """Tell whether a part can match in several ways: by a repetition in it, or by alternatives."""
    for name, value in parsed:
        if str(name) == "BRANCH" or (str(name).endswith("REPEAT") and _most(value) > 1):
            return True
        if str(name).endswith("REPEAT") or any(_has_choice(part) for part in _parts(value)):
            return True
    return False


def _most(repeat: Any) -> int:
    return int(repeat[1])


def _parts(value: Any) -> Iterator[Any]:
    """Yield the expressions in the value of a part."""
    if hasattr(value, "getwidth"):
        yield value
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _parts(member)
