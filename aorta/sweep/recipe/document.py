"""From a YAML or JSON file to plain values, with the place of each.

The values are composed here from PyYAML's events: its own composer keeps the last of two equal keys, and
goes as deep as the text does, which ends the interpreter. What a tag or an alias may bring in is bounded:

* only tags of plain values are known, so no text makes an object of Python's;
* an alias counts as much as the value it stands for. Twenty lines of aliases to aliases are a thousand
  million values to who walks through them.
"""

import hashlib
import os
from collections.abc import Mapping
from typing import Any, Final

from aorta.model.frozen import frozen
from aorta.sweep.recipe.problems import Path, Problem, RecipeError, written

#: A recipe is some kilobytes; what is larger is another file by mistake.
MAX_BYTES: Final = 1 << 20
MAX_DEPTH: Final = 64
MAX_VALUES: Final = 100_000

Place = tuple[int, int]


@frozen
class Document:
    """A document as it was read.

    ``values`` and ``keys`` have the line and column of the values and of the keys that lead to them, from 1.
    ``spelled`` has, for plain words and numbers that YAML did not take for a text, how they are written.
    ``faults`` are what is wrong otherwise, and whether that is with the key.
    """

    source: str
    sha256: str
    value: Any
    values: Mapping[Path, Place]
    keys: Mapping[Path, Place]
    spelled: Mapping[Path, str]
    faults: tuple[tuple[Path, str, bool], ...]

    def problem(self, path: Path, text: str, *, key: bool = False) -> Problem:
        """Return a fault of a value, or of a key; without a place of its own it has that of what is above."""
        place = self.keys.get(path) if key else None
        above = path
        while place is None and above:
            place = self.values.get(above) or self.keys.get(above)
            above = above[:-1]
        line, column = place or self.values.get(()) or (None, None)
        return Problem(path=written(path), text=text, line=line, column=column)


def read_document(path: str) -> Document:
    """Return what a file holds; ``.json`` is JSON, everything else YAML.

    Raises RecipeError for a file that cannot be read or holds no one document.
    """
    raw = _content(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refused(path, "the file is not UTF-8", line) from None
    sha256 = hashlib.sha256(raw).hexdigest()
    if not text.strip():
        raise _refused(path, "the file is empty", None)
    if path.endswith(".json"):
        from aorta.sweep.recipe.json_text import composed
    else:
        from aorta.sweep.recipe.yaml_text import composed
    try:
        composition = composed(text)
    except Unreadable as error:
        raise _refused(path, str(error), *(error.place or (None,))) from None
    return Document(
        source=path,
        sha256=sha256,
        value=composition.value,
        values=composition.values,
        keys=composition.keys,
        spelled=composition.spelled,
        faults=tuple(composition.faults),
    )


class Unreadable(Exception):  # noqa: N818 - the words it is caught by
    """A text that is no document, with the place where that was seen."""

    def __init__(self, text: str, place: Place | tuple[()] = ()) -> None:
        super().__init__(text)
        self.place = place


class Composition:
    """What is gathered while a text is composed."""

    def __init__(self) -> None:
        self.value: Any = None
        self.values: dict[Path, Place] = {}
        self.keys: dict[Path, Place] = {}
        self.spelled: dict[Path, str] = {}
        self.faults: list[tuple[Path, str, bool]] = []
        self._count = 0

    def enter(self, path: Path, place: Place, size: int = 1, depth: int = 0) -> None:
        """Note where a value stands, of how many values and how deep it is.

        Raises Unreadable for what is too much or too deep.
        """
        self.values[path] = place
        self._count += size
        if self._count > MAX_VALUES:
            raise Unreadable(f"the file has more than {MAX_VALUES} values, aliases counted", place)
        if len(path) + depth > MAX_DEPTH:
            raise Unreadable(f"the values are nested more than {MAX_DEPTH} deep", place)

    def sound(self, path: Path, text: str) -> str:
        """Return a text; half a surrogate pair is no character and is a fault."""
        if any("\ud800" <= char <= "\udfff" for char in text):
            self.faults.append((path, "has an escape that is half a character (a lone surrogate)", False))
            return "?"
        return text


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise _refused(path, "is a directory; name a recipe in it", None) from None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise _refused(path, f"cannot be read: {told}", None) from None
    if len(raw) > MAX_BYTES:
        raise _refused(path, f"the file is larger than {MAX_BYTES >> 20} MiB, which no recipe is", None)
    return raw


def _refused(path: str, text: str, line: int | None, column: int | None = None) -> RecipeError:
    return RecipeError((Problem(path="", text=text, line=line, column=column),), os.fspath(path))
