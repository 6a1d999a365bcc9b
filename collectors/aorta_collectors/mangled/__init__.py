"""The qualified names that a mangled C++ symbol spells out (Itanium C++ ABI, as GCC and Clang follow it).

A symbol is ``_Z`` and a tree in prefix notation: identifiers with their length before them (``5aiter``),
``N … E`` around a qualified name, ``I … E`` around template arguments, one or two letters for each type
and operator. ``S_``, ``S0_``, … stand for what was written out before, ``T_``, ``T0_`` for a template
argument: which, only a reading of the whole symbol tells. Template arguments of a component are shown
as ``<>`` and the parameters of a function as ``()``: what is in them is spelled out for itself. What the
functions return that local names are in is not spelled out, as ``c++filt`` does not print it.
"""

import re

from aorta_collectors.mangled.expressions import Expressions

_SUFFIX = re.compile(r"(?:\.[\w.]+)?")


def qualified_names(symbol: str) -> list[str]:
    """Return the qualified names in a symbol, e.g. ``aiter::run<>``.

    Raises ValueError for what is no mangled name.
    """
    if not symbol.startswith("_Z"):
        raise ValueError("no mangled name")
    reader = Expressions(symbol)
    try:
        reader.read_encoding(outermost=True)
    except RecursionError:
        raise ValueError("a mangled name nested too deeply") from None
    if not _SUFFIX.fullmatch(symbol, reader.at):
        raise ValueError("more than one mangled name")
    return reader.said
