"""``torch/version.py``, read as text: it says which build this is also where torch cannot be imported."""

import functools
import re

#: Its names, and what they are called here.
NAMES = {
    "__version__": "version",
    "git_version": "git_version",
    "hip": "hip",
    "cuda": "cuda",
    "rocm": "rocm",
    "debug": "debug",
}

_CONSTANTS = {"None": None, "True": True, "False": False}


@functools.cache
def _assignment() -> "re.Pattern[str]":
    return re.compile(
        r"^(\w{1,40})[ \t]*(?::[^=\n]{0,80})?=[ \t]*"
        r"(?:'([^'\n]{0,200})'|\"([^\"\n]{0,200})\"|(None|True|False))[ \t]*(?:#.*)?\r?$",
        re.MULTILINE,
    )


def parse_version_module(text: str) -> dict[str, str | bool | None]:
    """Return what the text of ``torch/version.py`` assigns, by the names used here.

    A name that it does not assign, or not a plain constant to, is left out. Of several assignments the
    last counts, as for the interpreter.
    """
    found: dict[str, str | bool | None] = {}
    for name, single, double, constant in _assignment().findall(text):
        if name in NAMES:
            found[NAMES[name]] = _CONSTANTS[constant] if constant else single or double
    return found
