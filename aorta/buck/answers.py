"""What ``buck2 cquery`` answers, read: a list of rows, an object of such lists, or attributes by row."""

import json
from collections.abc import Mapping
from typing import Any

from aorta.buck.labels import Configured, parse_configured

ERROR = "$error"
PLATFORM = "buck.execution_platform"

#: The longest text of an error that is told.
TOLD = 300


class QueryError(ValueError):
    """An answer that says why the query failed."""


def parse_rows(text: str) -> list[Configured]:
    """Return the rows of ``cquery --json deps(%s)`` in their order, each once.

    A plain list, and an object that has the literal, as it was typed, for its only key. Raises QueryError
    for an ``$error`` answer, ValueError for any other shape.
    """
    answer = _json(text)
    if isinstance(answer, dict):
        lists = list(answer.values())
        for value in lists:
            said = _error(value)
            if said is not None:
                raise QueryError(said)
        if not all(isinstance(value, list) for value in lists):
            # With attributes the literals vanish, and the rows are the keys.
            if all(isinstance(value, dict) for value in lists):
                return _rows(list(answer))
            raise ValueError("an object that holds no lists of labels")
        return _rows([row for value in lists for row in value])
    if isinstance(answer, list):
        return _rows(answer)
    raise ValueError(f"neither a list nor an object but a {type(answer).__name__}")


def parse_platforms(text: str) -> dict[str, str]:
    """Return the execution platform of each row of a ``cquery`` for that attribute."""
    answer = _json(text)
    if not isinstance(answer, dict):
        raise ValueError("no object of attributes")  # noqa: TRY004 - it is the text that is wrong
    platforms = {}
    for row, attributes in answer.items():
        said = _error(attributes)
        if said is not None:
            raise QueryError(said)
        platform = attributes.get(PLATFORM) if isinstance(attributes, Mapping) else None
        if isinstance(platform, str) and platform:
            platforms[row] = platform
    return platforms


def parse_cells(text: str) -> dict[str, str]:
    """Return the directories of cells, of ``buck2 audit cell``: JSON, or lines of ``name: path``."""
    try:
        answer = _json(text)
    except ValueError:
        pairs = (line.partition(":") for line in text.splitlines())
        answer = {name.strip(): path.strip() for name, colon, path in pairs if colon}
    named = answer.items() if isinstance(answer, dict) else ()
    cells = {name: path for name, path in named if isinstance(path, str) and path.startswith("/")}
    if not cells:
        raise ValueError("no cells")
    return cells


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        # The error's own text holds none of what was read.
        raise ValueError(f"not JSON: {error}") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def _error(value: Any) -> str | None:
    if not isinstance(value, dict) or ERROR not in value:
        return None
    lines = [line.strip() for line in str(value[ERROR]).splitlines() if line.strip()]
    return (lines[0] if lines else "an error without a text")[:TOLD]


def _rows(rows: list[Any]) -> list[Configured]:
    if not all(isinstance(row, str) for row in rows):
        raise ValueError("a list that holds something else than labels")
    return [parse_configured(row) for row in dict.fromkeys(rows)]
