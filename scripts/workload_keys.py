"""The tables of docs/workloads.md: the keys of the built-in workloads, from their configs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from aorta.workloads.config import config_schema
from aorta.workloads.discovery import BUILTIN, find
from scripts.markdown import row

TARGET = Path(__file__).resolve().parents[1] / "docs" / "workloads.md"
_BEGIN, _END = "<!-- generated: keys -->", "<!-- end: keys -->"


def page(text: str) -> str:
    """Return the page with its tables made anew."""
    tables = "\n\n".join(filter(None, ("\n".join(_table(name)) for name, _ in BUILTIN)))
    return re.sub(f"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}\n\n{tables}\n\n{_END}", text, flags=re.DOTALL)


def _table(name: str) -> Iterator[str]:
    keys = config_schema(find(name)) if find(name).config_type is not None else ()
    if not keys:
        return
    yield f"### Keys of {name}"
    yield ""
    yield "| key | type | default | what it is |"
    yield "|---|---|---|---|"
    for key in keys:
        default = "required" if key.required else f"`{json.dumps(key.default)}`"
        yield row(f"`{key.key}`", key.type, default, key.doc)
