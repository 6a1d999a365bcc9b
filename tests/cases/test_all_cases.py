"""Every known case is either a test here or listed with the part of the work that takes it."""

import ast
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent


def tested() -> set[str]:
    found = set()
    for path in HERE.glob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "CASE":
                found.add(ast.literal_eval(node.value))
    return found


def test_each_case_is_in_one_place():
    listed = yaml.safe_load((HERE / "cases.yaml").read_text())
    here, later = set(listed["here"]), set(listed["later"])
    assert not here & later
    assert tested() == here
    assert all(part in range(2, 9) for part in listed["later"].values())


def test_a_case_file_is_named_after_its_id():
    for path in HERE.glob("test_*.py"):
        text = path.read_text()
        if "\nCASE = " in text:
            case = text.split('\nCASE = "')[1].split('"')[0]
            assert path.stem == f"test_{case.replace('-', '_')}"
