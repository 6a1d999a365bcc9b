"""Fifty config values that must not be told, and where they are looked for."""

import base64
import hashlib
import json
import os
import re
import urllib.parse
from collections.abc import Iterable, Iterator
from pathlib import Path


def core(number: int, part: int = 0, length: int = 12) -> str:
    """Return letters and digits that stand nowhere by chance."""
    digest = hashlib.sha256(f"secret {number} {part}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:length]


#: Each shape, with its cores as ``{0}``, ``{1}``, ``{2}``.
_SHAPES = (
    "{0}",
    "{0}{1}{2}",
    "{0} {1}",
    "{0}  {1}   {2}",
    " {0} ",
    "\t{0}\t{1}",
    "{0}\n{1}",
    "{0}\n\n{1}\n",
    "{0}\r\n{1}",
    '{0}"{1}',
    '"{0}"',
    "'{0}'",
    "{0}'{1}\"{2}",
    "{0}\\{1}",
    "{0}\\n{1}",
    "\\\\{0}\\\\{1}",
    "{0}\\",
    "{0}`{1}`",
    "$({0})",
    "${{{0}}}",
    "{0}%{1}",
    "%{0}%20{1}",
    "{0}%s{1}",
    "{0}={1}",
    "={0}={1}",
    "a={0},b={1}",
    "{0}//{1}",
    "//{0}:{1}",
    "@{0}//{1}",
    "-{0}",
    "--{0}={1}",
    "-D{0}=1 -D{1}=2",
    "http://{0}:{1}@example.invalid/{2}?q=1",
    "https://example.invalid/{0}?token={1}",
    '{{"user": "{0}", "password": "{1}"}}',
    '["{0}", "{1}", {{"x": "{2}"}}]',
    "{0}|{1};{2}&",
    "<{0}>{1}</{0}>",
    "*{0}*{1}?",
    "{0}#{1}",
    "({0}) ({1}) ({2})",
    "é{0}é{1}",
    "{0}漢字{1}",
    "🔑{0}🔑",
    "{0}\u200b{1}",
    "{0}\x07{1}\x1b[31m",
    "Bearer {0}{1}",
    "{0} " * 20,
)


class Secrets:
    """The values, and what of them is looked for."""

    def __init__(self) -> None:
        shaped = [
            shape.format(*(core(number, part) for part in range(3))) for number, shape in enumerate(_SHAPES)
        ]
        encoded = base64.b64encode(core(48).encode() * 3).decode()
        self.values = [*shaped, encoded, "482917"]
        assert len(self.values) == len(set(self.values)) == 50
        cores = {core(number, part) for number, shape in enumerate(_SHAPES) for part in _parts(shape)}
        self._needles = sorted(each[:8] for each in cores)
        forms = {encoded[:12], *(form for value in self.values for form in _forms(value))}
        self._forms = sorted(form for form in forms if len(form) >= 8)

    def pairs(self) -> list[str]:
        """Return the values as those of 50 keys."""
        return [f"s{number}.key{number}={value}" for number, value in enumerate(self.values)]

    def in_text(self, text: str) -> list[str]:
        """Return what of the secrets stands in a text."""
        found = [needle for needle in (*self._needles, *self._forms) if needle in text]
        return found + re.findall(r"(?<![0-9a-f.])482917(?![0-9a-f])", text)

    def in_files(self, folders: Iterable[Path], but: Iterable[Path]) -> dict[str, list[str]]:
        """Return what of the secrets stands in the files below folders, and in their names."""
        left_out = set(but)
        found = {}
        for path in _files(folders):
            if path not in left_out:
                text = path.read_bytes().decode("utf-8", "replace")
                told = self.in_text(f"{text}\n{path.name}")
                if told:
                    found[str(path)] = told
        return found


def _parts(shape: str) -> Iterator[int]:
    return (part for part in range(3) if f"{{{part}}}" in shape)


def _forms(value: str) -> Iterator[str]:
    """Yield the ways in which programs write a value."""
    yield value
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    yield repr(value)[1:-1]
    yield urllib.parse.quote(value, safe="")


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for top in folders:
        for folder, _, names in os.walk(top):
            yield from (Path(folder, name) for name in names if Path(folder, name).is_file())


SECRETS = Secrets()
