"""Every parser of the project stands in one of the fuzz tests: a new one has to join."""

import ast
import os
import re

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
NAMED = re.compile(r"_?(?:parse|decode)(?:_\w+)?|look_up|redact")
#: Parsers that take no text of others, or are a step inside one that is listed.
INSIDE = {
    ("aorta.host.mountinfo", "_parse_line"),
    ("aorta_collectors.gpu.gfx", "decode_target_version"),
    ("aorta_collectors.hip", "parse_header"),
}


def sources():
    """Yield (module, syntax tree) of each source file."""
    for top in ("aorta", os.path.join("collectors", "aorta_collectors")):
        for place, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith(".py"):
                    path = os.path.join(place, name)
                    module = os.path.relpath(path, ROOT).removesuffix(".py").replace(os.sep, ".")
                    with open(path, encoding="utf-8") as file:
                        yield module.removeprefix("collectors."), ast.parse(file.read())


def defined():
    """Return the parsers by name, and those that collectors hand to ``parsed`` as a plain name of their own."""
    found = set()
    for module, tree in sources():
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        found |= {(module, name) for name in own if NAMED.fullmatch(name)}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "parsed"
                and len(node.args) == 2
            ):
                name = getattr(node.args[1], "id", None)
                found |= {(module, name)} if name in own else set()
    return found


def used():
    """Return what the fuzz tests import, or reach through a module that they import, and use."""
    found = set()
    for name in os.listdir(os.path.dirname(__file__)):
        if not name.startswith("test_") or not name.endswith(".py"):
            continue
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        members = {
            (node.value.id, node.attr)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        for node in ast.walk(tree):
            for each in node.names if isinstance(node, ast.ImportFrom) else ():
                here = each.asname or each.name
                if here in names:
                    found.add((node.module, each.name))
                    found |= {
                        (f"{node.module}.{each.name}", attribute) for top, attribute in members if top == here
                    }
    return found


def test_each_parser_is_in_a_fuzz_test():
    assert sorted(defined() - INSIDE - used()) == []


def test_what_is_left_out_exists():
    assert defined() >= INSIDE
