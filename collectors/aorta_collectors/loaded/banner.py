"""The lines that RCCL writes about itself when it starts: what was really loaded, in its own words.

The host's name stands among them; it is not kept.
"""

import functools
import re

from aorta.model.frozen import evolve
from aorta_collectors.loaded.model import Banner


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(r"(?:^|\s)(RCCL version|HIP version|ROCm version|Librccl path)[ \t]{0,8}:[ \t]*(\S.*)?$"),
        re.compile(r"(\d{1,4}(?:\.\d{1,6}){1,3})(?:-([\w./-]{1,100})(?::([0-9a-fA-F]{6,40})?(\+)?)?)?"),
        re.compile(
            r"(?:^|\s)RCCL version (\d{1,4}(?:\.\d{1,6}){1,3})(?:\+hip(\d{1,4}(?:\.\d{1,6}){0,2}))?"
            r"(?: ([\w./-]{1,100}):([0-9a-fA-F]{6,40})(\+)?)?\s*$"
        ),
    )


_FIELDS = {"HIP version": "hip_version", "ROCm version": "rocm_version", "Librccl path": "lib_path"}

#: The most characters of a line that are looked at: a path may take as many.
LINE_LIMIT = 4400


def parse_banner(text: str) -> tuple[Banner, ...]:
    """Return the banners in what RCCL logged, in order. Lines of anything else may stand between."""
    labelled, numbered, short = _patterns()
    found: list[Banner] = []
    for raw in text.splitlines():
        line = raw[:LINE_LIMIT]
        if "ersion" not in line and "Librccl" not in line:
            continue
        said = short.search(line)
        if said is not None:
            found.append(_started(said[1], said[3], said[4], said[5], hip=said[2]))
            continue
        told = labelled.search(line)
        value = told[2].strip() if told is not None and told[2] else ""
        if told is None or not value:
            continue
        if told[1] == "RCCL version":
            number = numbered.fullmatch(value)
            if number is not None:
                found.append(_started(number[1], number[2], number[3], number[4]))
        elif found and getattr(found[-1], _FIELDS[told[1]]) is None and _is_plain(told[1], value):
            found[-1] = evolve(found[-1], **{_FIELDS[told[1]]: value})
    return tuple(found)


def _started(
    version: str, branch: str | None, commit: str | None, plus: str | None, hip: str | None = None
) -> Banner:
    dirty = None if commit is None else plus is not None
    return Banner(version=version, branch=branch, commit=commit, dirty=dirty, hip_version=hip)


def _is_plain(label: str, value: str) -> bool:
    """Tell whether a value is of the form that its label promises."""
    if label == "Librccl path":
        return value.startswith("/")
    return len(value) <= 100 and re.fullmatch(r"\d[\w.+~-]*", value, re.ASCII) is not None
