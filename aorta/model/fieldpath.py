"""``a.b[0].c["key with.dots"][name=value]``: naming one value of a document.

A name, ``[0]`` (also ``[-1]``) for a member of a list, ``["key"]`` for a key with dots or brackets, and
``[key=value]`` for the first member of a list whose ``key`` is that value.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

#: The most names that an error lists.
SHOWN = 10

_TOKEN = re.compile(
    r"""(?P<dot>\.)?(?P<name>[^.\[\]"'=]+)"""
    r"""|\[(?P<index>-?\d{1,9})\]"""
    r"""|\[(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')\]"""
    r"""|\[(?P<key>[^\]\["'=]+)=(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\]]*)\]"""
)
_PLAIN = re.compile(r"[^.\[\]\"'=]+")


class PathSyntaxError(ValueError):
    """A text that is no path of this grammar."""


class MissingFieldError(LookupError):
    """Nothing is at that path; the text names what is beside it."""


class Step(NamedTuple):
    """One step: ``name`` (text), ``index`` (int) or ``match`` (a key and the text of its value)."""

    kind: str
    what: Any


def parse_path(text: str) -> list[Step]:
    """Return the steps of a path. Raises PathSyntaxError."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or (match["name"] and bool(match["dot"]) != bool(steps)):
            raise PathSyntaxError(f"no path of fields: {text!r}, at {text[place:]!r}")
        steps.append(_step(match))
        place = match.end()
    if not steps:
        raise PathSyntaxError("an empty path of fields")
    return steps


def _step(match: re.Match[str]) -> Step:
    if match["name"] is not None:
        return Step("name", match["name"])
    if match["index"] is not None:
        return Step("index", int(match["index"]))
    if match["quoted"] is not None:
        return Step("name", _unquoted(match["quoted"]))
    return Step("match", (match["key"].strip(), _unquoted(match["value"])))


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError as error:
            raise PathSyntaxError(f"no quoted key: {text}") from error
    return text[1:-1] if text.startswith("'") else text


def look_up(document: Any, path: str) -> Any:
    """Return the value at a path. Raises PathSyntaxError, MissingFieldError."""
    value, so_far = document, ""
    for step in parse_path(path):
        value = _below(value, step, so_far)
        so_far += shown_step(step, first=not so_far)
    return value


def shown_step(step: Step, *, first: bool = False) -> str:
    """Return a step as it is written in a path."""
    if step.kind == "index":
        return f"[{step.what}]"
    if step.kind == "match":
        return f"[{step.what[0]}={step.what[1]}]"
    if _PLAIN.fullmatch(step.what):
        return step.what if first else f".{step.what}"
    return f"[{json.dumps(step.what)}]"


def _below(value: Any, step: Step, so_far: str) -> Any:
    where = so_far or "the document"
    wanted = shown_step(step, first=True)
    if step.kind == "name":
        if isinstance(value, Mapping):
            if step.what in value:
                return value[step.what]
            raise MissingFieldError(f"{where} has no {wanted}; it has {_names(value, step.what)}")
        raise MissingFieldError(f"{where} is {_kind(value)}: it has no {wanted}")
    if not isinstance(value, list):
        raise MissingFieldError(f"{where} is {_kind(value)}, not a list: it has no {wanted}")
    if step.kind == "index":
        if -len(value) <= step.what < len(value):
            return value[step.what]
        raise MissingFieldError(f"{where} has {len(value)} members: no {wanted}")
    key, text = step.what
    for member in value:
        if isinstance(member, Mapping) and key in member and _text(member[key]) == text:
            return member
    seen = [_text(member[key]) for member in value if isinstance(member, Mapping) and key in member]
    raise MissingFieldError(f"{where} has no member with {key}={text}; it has {_listed(seen)}")


def _names(value: Mapping[str, Any], wanted: str) -> str:
    import difflib

    close = difflib.get_close_matches(wanted, list(value), n=SHOWN)
    return _listed([shown_step(Step("name", name), first=True) for name in dict.fromkeys([*close, *value])])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) or "nothing") + more


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {dict: "an object", list: "a list", str: "a text", bool: "true or false"}.get(
        type(value), "a number"
    )
