"""The checker of statements itself."""

import json

import pytest

from tests.hosts.check_expect import UnusableError, failures, main

DOCUMENT = {
    "rocm": {"version": "6.2.0", "null": None, "count": 8, "zero": 0, "yes": True, "float": 1.0},
    "gpus": [{"gfx": "gfx942", "bdf": "0000:1b:00.0"}, {"gfx": "gfx950", "n": 2}],
    "system_info": {"GPU Arch ": "x", "a.b": 1},
    "docker": None,
}

HOLD = [
    ("rocm.version", "equals", "6.2.0"),
    ("rocm.count", "equals", 8),
    ("rocm.float", "equals", 1),
    ("rocm.yes", "equals", True),
    ("rocm.null", "is_null", True),
    ("rocm.version", "is_null", False),
    ("docker.image.tag", "is_null", True),
    ("rocm.version", "in", [None, "6.2.0"]),
    ("rocm.version", "contains", "2."),
    ("rocm.version", "startswith", "6"),
    ("gpus", "length", 2),
    ("rocm", "length", 6),
    ("gpus[0].gfx", "equals", "gfx942"),
    ("gpus[-1].gfx", "equals", "gfx950"),
    ("gpus[gfx=gfx950].n", "equals", 2),
    ("gpus[n=2].gfx", "equals", "gfx950"),
    ("gpus[gfx=none]", "absent", True),
    ("gpus[2]", "absent", True),
    ("rocm.missing", "absent", True),
    ("rocm.version", "absent", False),
    ('system_info["GPU Arch "]', "equals", "x"),
    ('system_info["a.b"]', "equals", 1),
    ("gpus", "set_equals", [{"gfx": "gfx950", "n": 2}, {"bdf": "0000:1b:00.0", "gfx": "gfx942"}]),
]
FAIL = [
    ("rocm.count", "equals", "8"),
    ("rocm.yes", "equals", 1),
    ("rocm.zero", "equals", False),
    ("rocm.missing", "is_null", True),
    ("rocm.null", "is_null", False),
    ("rocm.version.deeper", "is_null", True),
    ("rocm.version.deeper", "absent", True),
    ("rocm.missing", "absent", False),
    ("missing.x", "absent", True),
    ("rocm.count", "in", ["8", True]),
    ("rocm.count", "contains", "8"),
    ("rocm.count", "startswith", "8"),
    ("rocm.count", "length", 8),
    ("gpus", "set_equals", [{"gfx": "gfx950", "n": 2}]),
    ("gpus", "set_equals", [{"gfx": "gfx950", "n": 2}, {"gfx": "gfx950", "n": 2}]),
    ("rocm", "set_equals", []),
    ("gpus", "equals", [{"gfx": "gfx942", "bdf": "0000:1b:00.0"}]),
    ("gpus[5].gfx", "equals", "x"),
    ("rocm[0]", "equals", 1),
]


@pytest.mark.parametrize(("path", "name", "value"), HOLD)
def test_holds(path, name, value):
    assert failures(DOCUMENT, [{"path": path, name: value, "why": "x", "trap": True}]) == []


@pytest.mark.parametrize(("path", "name", "value"), FAIL)
def test_does_not_hold(path, name, value):
    (sentence,) = failures(DOCUMENT, [{"path": path, name: value}])
    assert sentence.startswith(f"{path}: expected {name} ")
    assert "got" in sentence


@pytest.mark.parametrize(
    "statement",
    [
        "text",
        {"equals": 1},
        {"path": 1, "equals": 1},
        {"path": "a"},
        {"path": "a", "equals": 1, "in": [1]},
        {"path": "a", "like": 1},
        {"path": "a", "length": "2"},
        {"path": "a", "length": True},
        {"path": "a", "in": "text"},
        {"path": "a", "is_null": 1},
        {"path": "a", "equals": {1, 2}},
        {"path": "", "equals": 1},
        {"path": ".a", "equals": 1},
        {"path": "a..b", "equals": 1},
        {"path": "a[0]b", "equals": 1},
        {"path": "a[", "equals": 1},
        {"path": "a.", "equals": 1},
    ],
)
def test_is_refused(statement):
    with pytest.raises(UnusableError):
        failures({"a": 1}, [{"path": "a", "equals": 1}, statement])


def test_long_values_are_cut():
    (sentence,) = failures({"a": "x" * 1000}, [{"path": "a", "equals": "y" * 1000}])
    assert len(sentence) < 450


@pytest.mark.parametrize(
    ("snapshot", "expected", "options", "status", "said"),
    [
        (
            '{"a": 1, "b": 2}',
            "- {path: a, equals: 1}\n- {path: b, equals: 2}",
            [],
            0,
            "2 of 2 statements hold",
        ),
        (
            '{"a": 1, "b": 2}',
            "- {path: a, equals: 1}\n- {path: b, equals: 3}",
            [],
            1,
            "1 of 2 statements hold",
        ),
        (
            '{"a": 1, "b": 2}',
            "- {path: a, equals: 1}\n- {path: b, equals: 3}",
            ["--sections", "a,c"],
            0,
            "1 of 1 statements hold",
        ),
        ("{}", "", [], 1, "0 of 0 statements hold"),
        ("{}", "a: 1", [], 2, "not a list"),
        ("{}", "- {path: a}", [], 2, "exactly one"),
        ("NaN", "[]", [], 2, "not strict JSON"),
        ("{", "[]", [], 2, "snapshot.json"),
        ("{}", "[", [], 2, "expect.yaml"),
    ],
)
def test_program(tmp_path, capsys, snapshot, expected, options, status, said):
    (tmp_path / "snapshot.json").write_text(snapshot)
    (tmp_path / "expect.yaml").write_text(expected)
    assert main([str(tmp_path / "snapshot.json"), str(tmp_path / "expect.yaml"), *options]) == status
    printed = capsys.readouterr()
    assert said in (printed.err if status == 2 else printed.out.splitlines()[-1])
    assert printed.err.count("\n") == (1 if status == 2 else 0)


def test_a_missing_file(tmp_path, capsys):
    (tmp_path / "s.json").write_text(json.dumps({}))
    assert main([str(tmp_path / "s.json"), str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in capsys.readouterr().err
