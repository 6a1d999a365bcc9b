"""Every known case is either a test here or listed with the part of the work that takes it."""

import ast
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent

#: How many cases are known; an id can be lost on neither list without this noticing.
KNOWN = 122


class Strict(yaml.SafeLoader):
    """YAML itself takes the last of two equal keys without a word."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)
        return super().construct_mapping(node, deep=deep)


def listed():
    return yaml.load((HERE / "cases.yaml").read_text(), Loader=Strict)


def cases_with_a_test():
    """Return the file of each id that a module names as its CASE."""
    found = {}
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "CASE":
                case = ast.literal_eval(node.value)
                assert case not in found, f"{path.name} and {found[case].name} are both of {case}"
                found[case] = path
    return found


def test_each_case_is_in_one_place():
    here, later = listed()["here"], listed()["later"]
    assert len(here) == len(set(here))
    assert not set(here) & set(later)
    assert len(here) + len(later) == KNOWN
    assert all(part in range(2, 9) for part in later.values())


def test_the_cases_listed_here_are_those_with_a_test():
    assert set(cases_with_a_test()) == set(listed()["here"])


def test_a_case_file_is_named_after_its_id_and_asserts_something():
    for case, path in cases_with_a_test().items():
        assert path.stem == f"test_{case.replace('-', '_')}"
        assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(path.read_text()))), path.name
