"""The text of a document: strict JSON of a snapshot. Of the standard library alone.

The gate and the comparison read documents from a bare checkout, where nothing else is installed.
"""

import json
import math
from collections.abc import Mapping
from typing import Any


class DocumentError(ValueError):
    """A document that cannot be read; the text says where it is wrong."""


def parse_json(text: str) -> dict[str, Any]:
    """Return the JSON object of a text. Raises DocumentError for anything else, NaN included."""
    try:
        document = json.loads(text, parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise DocumentError(f"a JSON {type(document).__name__}, not an object")
    return document


def refuse(name: str) -> Any:
    """Refuse NaN and the infinities, which are no JSON."""
    raise ValueError(f"{name} is not strict JSON")


def finite(text: str) -> float:
    """Return a number of a document. Raises ValueError for one that only infinity stands for."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is beyond all numbers")
    return number


def version_of(document: Mapping[str, Any]) -> tuple[int, int]:
    """Return the schema version as two numbers. Raises DocumentError where there is none."""
    text = document.get("schema_version")
    parts = text.split(".") if isinstance(text, str) else []
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
        raise DocumentError(f"schema_version is {text!r}: not a snapshot of aorta")
    return int(parts[0]), int(parts[1])
