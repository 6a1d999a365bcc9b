"""How many C++ symbols of a library mention something, told by their mangled names.

A marker is what ``c++filt`` would print: a part of an identifier (``_efficient_attention``), or names
joined by ``::`` (``aiter::``, ``ck_tile::FmhaFwd``). A symbol counts once, however often it does.

* A marker without ``::`` is looked for in the mangled name: identifiers stand in it as they are.
* One with ``::`` begins with a whole name: ``aiter::`` is found in ``torch::aiter::run``, not in
  ``Waiter::run``; a substring of the printed name would be. Its last part begins a name, and where
  that is empty any component has to follow: a function called ``aiter`` is not in a namespace aiter.

Most symbols are decided at a glance: no ``5aiter`` in it means no; ``N5aiter`` and a further component,
outside of all identifiers, means yes; and so does ``NS_`` where the symbol's first name is that
namespace, since the first thing that can be repeated is ``S_``. All others are read as a whole
(``aorta_collectors.mangled``). What is no mangled name is compared as it stands, as ``c++filt`` prints it.
"""

import re
from collections.abc import Iterable

from aorta_collectors.mangled import qualified_names

#: What may follow a namespace in a qualified name: neither template arguments nor its end.
_FOLLOWS = "[0-9CDLUa-z]"
_BEFORE = "_Z(?:T[VTIS]|GV|Z)*"
_NESTED = "N[rVKRO]{0,4}"
_NUMBER = re.compile(r"\d+")
_LITERAL = re.compile(r"L[a-z]n?$")
#: Digits of a length; longer identifiers are nobody's.
_LONGEST = 6


def count(names: Iterable[str], markers: Iterable[str]) -> dict[str, int]:
    """Return for each marker the number of symbols that mention it. Markers of std are not told."""
    questions = {marker: _Mention(marker) if "::" in marker else None for marker in markers}
    found = dict.fromkeys(questions, 0)
    for name in names:
        texts: list[str] | None = None
        for marker, question in questions.items():
            if question is None:
                found[marker] += marker in name
            elif question.start in name and question.end in name:
                seen = question.at_a_glance(name)
                if seen is None:
                    texts = _texts(name) if texts is None else texts
                    seen = any(map(question.printed.search, texts))
                found[marker] += seen
    return found


def wanted(markers: Iterable[str]) -> str:
    """Return a regular expression that is found in the mangled name of every symbol that counts."""
    return "|".join(dict.fromkeys(_needed(marker) for marker in markers))


def _needed(marker: str) -> str:
    first, *rest = marker.split("::")
    if not rest:
        return re.escape(first)
    return f"{len(first)}{re.escape(first)}" + (f".*{re.escape(rest[-1])}" if rest[-1] else "")


def _texts(name: str) -> list[str]:
    try:
        return qualified_names(name)
    except ValueError:
        return []


class _Mention:
    """Whether a mangled name mentions names joined by ``::``; it must hold ``start`` and ``end``."""

    def __init__(self, marker: str) -> None:
        *whole, last = marker.split("::")
        parts = [f"{len(part)}{re.escape(part)}" for part in whole]
        follows = rf"[1-9]\d{{0,5}}{re.escape(last)}" if last else _FOLLOWS
        written, later = "".join(parts), "".join(parts[1:])
        self.start, self.end = f"{len(whole[0])}{whole[0]}", last
        self.printed = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(marker)}")
        self._first = re.compile(f"{_BEFORE}{_NESTED}{parts[0]}")
        self._begins = re.compile(f"{_BEFORE}{_NESTED}{written}{follows}")
        self._written = re.compile(f"{_NESTED}{written}{follows}")
        self._repeated = re.compile(f"{_NESTED}(?:{written}|S_{later}){follows}")

    def at_a_glance(self, name: str) -> bool | None:
        """Tell whether it does, None where that takes a reading of the whole symbol."""
        if self._begins.match(name):
            return True
        # In a local name not all is printed.
        if not name.startswith("_Z") or "Z" in name[2:]:
            return None
        glance = self._repeated if self._first.match(name) else self._written
        found = glance.search(name, 2)
        return True if found is not None and _is_code(name, found.start()) else None


def _is_code(name: str, place: int) -> bool:
    """Tell whether a place is surely in no identifier, walking from one to the next."""
    at = 2
    while (number := _NUMBER.search(name, at, place)) is not None:
        at = number.end()
        if _is_no_length(name, number.start(), at):
            continue
        if at - number.start() > _LONGEST or name[number.start() - 1] + name[at] == "E_":
            return False
        at += int(number[0])
        if at > place:
            return False
    return True


def _is_no_length(name: str, start: int, end: int) -> bool:
    """Tell a number that is part of ``S1_``, ``T0_``, ``C1``, ``D0``, ``A10_``, ``Dv4_`` or ``Li256E``."""
    if name[start - 1] in "STACD":
        return start > 4
    if name[end] == "E" and _LITERAL.search(name, start - 3, start) is not None:
        return True
    return name.startswith("Dv", start - 2) or name[start] == "0"
