"""Nothing grows past what a reader can hold: files of code and functions."""

import ast
import statistics
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "aorta").rglob("*.py"), *(ROOT / "collectors").rglob("*.py")])


def code_lines(path: Path) -> set[int]:
    """Return the numbers of the lines that hold code: no blanks, comments, docstrings."""
    lines: set[int] = set()
    skip = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ENCODING,
    }
    with path.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type not in skip:
                lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.difference_update(range(first.lineno, first.end_lineno + 1))
    return lines


def test_files_are_short():
    sizes = {str(path.relative_to(ROOT)): len(code_lines(path)) for path in FILES}
    assert len(sizes) > 40
    assert {name: size for name, size in sizes.items() if size > 350} == {}
    assert statistics.median(sizes.values()) <= 120


def test_functions_are_short():
    lengths = {}
    for path in FILES:
        code = code_lines(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                name = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                lengths[name] = len(code & set(range(node.lineno, node.end_lineno + 1)))
    assert {name: size for name, size in lengths.items() if size > 50} == {}
    assert statistics.quantiles(lengths.values(), n=10)[-1] <= 30
