"""BUCK files as Buck2 reads them: evaluated in its dialect, with rules that only note what they are given."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import starlark

ROOT = Path(__file__).resolve().parents[2]

#: The rules that a BUCK file may use without loading them, as far as ours and the examples do.
RULES = ("alias", "export_file", "genrule", "python_binary", "python_library", "sh_test")

Targets = dict[str, dict[str, Any]]


def dialect() -> Any:
    """Return the dialect of BUCK files, without f-strings, which Buck2's forks refuse."""
    made = starlark.Dialect.standard()
    made.enable_def = False
    made.enable_lambda = True
    made.enable_load = True
    made.enable_load_reexport = False
    made.enable_keyword_only_arguments = False
    made.enable_top_level_stmt = False
    made.enable_f_strings = False
    made.enable_types = starlark.DialectTypes.DISABLE
    return made


def files_of(folder: Path = ROOT) -> list[str]:
    """Return the paths of a cell's files, without what no checkout has."""
    skipped = {".git", ".venv", "__pycache__", "build", "dist"}
    paths = (path for path in folder.rglob("*") if not skipped & set(path.relative_to(folder).parts))
    return sorted(str(path.relative_to(folder)) for path in paths if path.is_file())


def evaluate(
    text: str,
    files: Iterable[str] = (),
    *,
    config: Mapping[str, str] | None = None,
    cell_config: Mapping[str, str] | None = None,
) -> Targets:
    """Return the targets of a BUCK file by name, each with its ``kind``.

    ``config`` is the root project's, ``cell_config`` that of the cell that the file is in; by default they
    are one. Raises starlark.StarlarkError for what the dialect or the rules refuse.
    """
    targets: Targets = {}
    names = list(files)
    values = dict(config or {})
    own = values if cell_config is None else dict(cell_config)

    def rule(kind: str) -> Any:
        def declare(**attributes: Any) -> None:
            name = attributes.pop("name")
            if name in targets:
                raise ValueError(f"two targets are called {name}")
            targets[name] = {"kind": kind, **attributes}

        return declare

    def glob(include: list[str], exclude: list[str] = []) -> list[str]:  # noqa: B006 - starlark gives its own
        found = [name for name in names if any(_matches(name, pattern) for pattern in include)]
        return [name for name in found if not any(_matches(name, pattern) for pattern in exclude)]

    module = starlark.Module()
    for kind in RULES:
        module.add_callable(kind, rule(kind))
    module.add_callable("glob", glob)
    module.add_callable(
        "read_root_config", lambda section, key, default=None: values.get(f"{section}.{key}", default)
    )
    module.add_callable(
        "read_config", lambda section, key, default=None: own.get(f"{section}.{key}", default)
    )
    tree = starlark.parse("BUCK", text, dialect())
    if tree.loads():
        raise ValueError(f"it loads {[load.module_id for load in tree.loads()]}")
    starlark.eval(module, tree, starlark.Globals.standard())
    return targets


def _matches(name: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern of Buck2: ``**/`` is any number of folders, ``*`` no slash."""
    parts = re.split(r"(\*\*/|\*)", pattern)
    expression = "".join({"**/": "(?:.*/)?", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(expression, name) is not None


def own_targets(config: Mapping[str, str] | None = None) -> Targets:
    """Return the targets of aorta's own BUCK file."""
    return evaluate((ROOT / "BUCK").read_text(encoding="utf-8"), files_of(), config=config, cell_config={})


def closure(targets: Targets, name: str) -> list[str]:
    """Return a target and all targets of the same file that it needs, each once."""
    found, todo = [], [name]
    while todo:
        one = todo.pop(0)
        if one not in found:
            found.append(one)
            todo += [label[1:] for label in targets[one].get("deps", []) if label.startswith(":")]
    return found


def outside(targets: Targets, name: str) -> list[str]:
    """Return the labels of other files that a target needs, directly or not."""
    labels = (label for one in closure(targets, name) for label in targets[one].get("deps", []))
    return sorted({label for label in labels if not label.startswith(":")})


def placed(targets: Targets, name: str) -> dict[str, str]:
    """Return the destinations in the tree of a target's closure and the file at each.

    Raises ValueError for a destination that two files claim, as Buck2 does.
    """
    tree: dict[str, str] = {}
    for one in closure(targets, name):
        rule = targets[one]
        for attribute in ("srcs", "resources"):
            given = rule.get(attribute) or {}
            pairs = given.items() if isinstance(given, Mapping) else ((path, path) for path in given)
            if pairs and rule.get("base_module") != "":
                raise ValueError(f"{one}: without base_module the tree begins with the package's path")
            for destination, source in pairs:
                if tree.setdefault(destination, source) != source:
                    raise ValueError(f"{destination} is {tree[destination]} and {source}")
    return tree
