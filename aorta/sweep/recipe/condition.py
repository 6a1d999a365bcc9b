"""Conditions of custom patterns: ``float(capture['loss']) > 5 and exit_code == 0``.

A small part of Python's expressions, checked when the recipe is read and walked when a pattern matched;
nothing is handed to the interpreter. Names are ``capture`` (what the named groups caught), ``exit_code``,
``walltime_sec`` and ``peak_vram_mib``; calls are float, int, len, math.isnan and math.isinf.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from aorta.model.frozen import frozen

MAX_LENGTH: Final = 256
MAX_INTEGER: Final = 10**9

_NAMES: Final = ("capture", "exit_code", "walltime_sec", "peak_vram_mib")
_CALLS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "float": float,
    "int": int,
    "len": len,
    "math.isnan": math.isnan,
    "math.isinf": math.isinf,
}
_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


class ConditionError(ValueError):
    """A condition that is not of the grammar; the text says what is not."""


@frozen
class Condition:
    """A condition that has been checked. ``captures`` are the groups it speaks of."""

    text: str
    tree: ast.expr
    captures: tuple[str, ...] = ()

    def holds(
        self,
        captured: Mapping[str, str | None],
        exit_code: int | None,
        walltime_sec: float,
        peak_vram_mib: float | None,
    ) -> bool:
        """Tell whether it holds of a match; one that cannot be computed (``float('x')``) does not."""
        names = {
            "capture": captured,
            "exit_code": exit_code,
            "walltime_sec": walltime_sec,
            "peak_vram_mib": peak_vram_mib,
        }
        try:
            return bool(_value(self.tree, names))
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            return False


def compile_condition(text: str) -> Condition:
    """Return the condition that a text is. Raises ConditionError."""
    if len(text) > MAX_LENGTH:
        raise ConditionError(f"is longer than {MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        told = getattr(error, "msg", None) or "it cannot be read"
        raise ConditionError(f"is no condition: {told}") from None
    _check(tree)
    return Condition(text=text, tree=tree, captures=tuple(dict.fromkeys(_captures(tree))))


def _captures(tree: ast.expr) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            yield str(node.slice.value)


def _check(node: ast.expr) -> None:
    if isinstance(node, ast.Constant):
        _check_constant(node.value)
    elif isinstance(node, ast.Name):
        if node.id not in _NAMES:
            raise ConditionError(f"the name {node.id} is not known; allowed: {', '.join(_NAMES)}")
    elif isinstance(node, ast.Subscript):
        if not (isinstance(node.value, ast.Name) and node.value.id == "capture"):
            raise ConditionError("only capture has members: capture['GROUP']")
        if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)):
            raise ConditionError("a member of capture is the name of a group: capture['GROUP']")
    elif isinstance(node, ast.Call):
        if ast.unparse(node.func) not in _CALLS or len(node.args) != 1 or node.keywords:
            raise ConditionError(f"calls are {', '.join(_CALLS)}, each of one value")
        _check(node.args[0])
    else:
        for part in _parts(node):
            _check(part)


def _check_constant(value: object) -> None:
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise ConditionError("constants are numbers, texts, True, False and None")
    if isinstance(value, int) and value >= MAX_INTEGER:
        raise ConditionError(f"integers are below {MAX_INTEGER}")


def _parts(node: ast.expr) -> list[ast.expr]:
    """Return what an operation is of. Raises ConditionError for any other."""
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return [node.operand]
    raise ConditionError("operations are and, or, not, comparisons, + - /, and the calls; nothing else")


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return names["capture"][node.slice.value]
    if isinstance(node, ast.Call):
        return _CALLS[ast.unparse(node.func)](_value(node.args[0], names))
    if isinstance(node, ast.BoolOp):
        kind = all if isinstance(node.op, ast.And) else any
        return kind(_value(each, names) for each in node.values)
    if isinstance(node, ast.Compare):
        return _compared(node, names)
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_value(node.operand, names))
    raise ConditionError(f"{type(node).__name__} was not checked")


def _compared(node: ast.Compare, names: Mapping[str, Any]) -> bool:
    left = _value(node.left, names)
    for kind, each in zip(node.ops, node.comparators, strict=True):
        right = _value(each, names)
        if not _OPERATORS[type(kind)](left, right):
            return False
        left = right
    return True
