"""Sidecar files: every fault with its file and its place, all at once."""

import pytest

from aorta.sweep.definitions.sidecars import read_sidecars
from aorta.sweep.errors import RegistryError
from aorta.sweep.recipe.model import Change

FIELDS = "docker, venv, buck_target, emulator, mirage_profile, env"


def refused(*paths):
    with pytest.raises(RegistryError) as caught:
        read_sidecars([str(path) for path in paths])
    return caught.value.problems


def test_what_it_holds(sidecar):
    path = sidecar(
        mitigations={
            "plain": {"A": "1", "EMPTY": ""},
            "nothing": {},
            "parts": {"set": {"A": "1"}, "unset": ["B"], "prepend": {"PATH": "/x"}},
            "named_set": {"set": "1"},
        },
        environments={
            "nowhere": {},
            "whole": {
                "docker": "i:1",
                "venv": None,
                "buck_target": "//a:b",
                "emulator": "e",
                "mirage_profile": "m",
                "env": {"unset": ["A"]},
            },
        },
    )
    (found,) = read_sidecars([path])
    assert found.source == "sidecar:site.json"
    assert found.mitigations == {
        "plain": Change(set={"A": "1", "EMPTY": ""}),
        "nothing": Change(),
        "parts": Change(set={"A": "1"}, unset=("B",), prepend={"PATH": "/x"}),
        "named_set": Change(set={"set": "1"}),
    }
    whole = found.environments["whole"]
    assert (whole.docker, whole.venv, whole.buck_target, whole.emulator) == ("i:1", None, "//a:b", "e")
    assert whole.env == Change(unset=("A",))


def test_every_fault_at_once(sidecar):
    secret = "hunter2hunter2"
    path = sidecar(
        version="1",
        mitigation={},
        mitigations={
            "a b": {},
            "matrix.md": {},
            "x" * 201: {},
            "numbers": {"A": 1, "B": True, "C": None, "D": [secret]},
            "names": {"1A": "x", "A=B": "x", "": "x"},
            "nul": {"A": f"{secret}\0"},
            "near": {"sets": {"A": secret}, "un_set": ["A"]},
            "text": "x",
            "mixed": {"set": {}, "FOO": "1"},
            "parts": {"set": [], "unset": {"A": "1"}, "prepend": {"A": 1}},
            "list": {"unset": ["A", 1, "2B"]},
            "twice": {"set": {"A": "1"}, "unset": ["A", "B"], "prepend": {"B": "x"}},
        },
        environments={"e": {"image": "x", "docker": "", "venv": 1, "env": {"A": 1}}, "f": []},
    )
    places = {problem.removeprefix(f"{path}: ") for problem in refused(path)}
    assert places == {
        "version: must be the number 1",
        "mitigation: is not known here: did you mean mitigations?",
        "mitigations: 'a b' is no name: letters, digits, _ . - and none of . - at its beginning",
        "mitigations: matrix.md is reserved",
        "mitigations: is longer than 200 characters",
        "mitigations.numbers.A: must be a text, in quotes, not a number",
        "mitigations.numbers.B: must be a text, in quotes, not true",
        "mitigations.numbers.C: must be a text, in quotes, not null",
        "mitigations.numbers.D: must be a text, in quotes, not a list",
        "mitigations.names.1A: is no name of a variable: letters, digits and _, no digit first",
        "mitigations.names.A=B: is no name of a variable: letters, digits and _, no digit first",
        "mitigations.names.: is no name of a variable: letters, digits and _, no digit first",
        "mitigations.nul.A: holds a NUL character, which no variable can",
        "mitigations.near.sets: is none of set, unset, prepend: did you mean set?",
        "mitigations.near.un_set: is none of set, unset, prepend: did you mean unset?",
        "mitigations.text: must be an object of variables, not a text",
        "mitigations.mixed.FOO: stands beside set, and is none of set, unset, prepend",
        "mitigations.parts.set: must be an object of variables, not a list",
        "mitigations.parts.unset: must be a list of variables, not an object",
        "mitigations.parts.prepend.A: must be a text, in quotes, not a number",
        "mitigations.list.unset[1]: is a number",
        "mitigations.list.unset[2]: is no name of a variable: letters, digits and _, no digit first",
        "mitigations.twice.unset: A is in set too; only one of them",
        "mitigations.twice.prepend: B is in unset too; only one of them",
        f"environments.e.image: is not known here; known are {FIELDS}",
        "environments.e.docker: must be a text or null, not an empty text",
        "environments.e.venv: must be a text or null, not a number",
        "environments.e.env.A: must be a text, in quotes, not a number",
        "environments.f: must be an object, not a list",
    }
    assert not any(secret in place for place in places)


FILES = {
    "": "line 1, column 1: no JSON: Expecting value",
    "[]": "must be an object, not a list",
    "{}": "version: is missing; it must be 1",
    '{"version": 2}': "version: must be the number 1",
    '{"version": true}': "version: must be the number 1",
    '{"version": 1,\n "mitigations": }': "line 2, column 17: no JSON: Expecting value",
    '{"version": 1, "mitigations": []}': "mitigations: must be an object of names, not a list",
    '{"version": 1, "mitigations": {"a": {}, "a": {}}}': "'a' stands twice in one object",
    "[" * 100000: "no JSON: ",
}


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_files_that_are_none(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    (problem,) = refused(path)
    assert problem.startswith(f"{path}: {FILES[text]}")


def test_files_that_cannot_be_read(tmp_path):
    assert refused(tmp_path / "absent.json") == (
        f"{tmp_path}/absent.json: cannot be read: No such file or directory",
    )
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    (problem,) = refused(tmp_path / "bytes.json")
    assert problem.startswith(f"{tmp_path}/bytes.json: no JSON: ")
    assert refused(tmp_path) == (f"{tmp_path}: cannot be read: Is a directory",)


def test_two_files_of_one_name(sidecar):
    one, two = sidecar(folder="x"), sidecar(folder="y")
    assert refused(one, two) == (
        f"{two}: {one} has the same name; rename one of them, since their definitions are told apart by it",
    )
    assert len(read_sidecars([one, sidecar("other.json")])) == 2
