"""What buck2 answers: each shape that it has, and what is none of them."""

import json

import pytest

from aorta.buck.answers import PLATFORM, TOLD, QueryError, parse_cells, parse_platforms, parse_rows

ROW, OTHER = "root//app:trainer (p#0123456789abcdef)", "root//t:torch (p#0123456789abcdef)"


def rows(answer):
    return [row.text for row in parse_rows(json.dumps(answer))]


@pytest.mark.parametrize(
    "answer",
    [
        [OTHER, ROW],
        {"//app:trainer": [OTHER, ROW]},
        {"//a": [OTHER], "//b": [ROW]},
        [OTHER, ROW, OTHER],
        {OTHER: {PLATFORM: "x"}, ROW: {}},
    ],
)
def test_rows(answer):
    assert rows(answer) == [OTHER, ROW]


def test_no_rows():
    assert rows([]) == rows({}) == rows({"//a": []}) == []


def test_an_error_in_the_answer_is_a_failure_whatever_stands_beside_it():
    answer = {"//b": [ROW], "//a": {"$error": f"\n  Unknown target\nmore {'x' * 9}"}}
    with pytest.raises(QueryError, match=r"^Unknown target$"):
        rows(answer)
    with pytest.raises(QueryError, match=r"^Unknown target$"):
        parse_platforms(json.dumps({ROW: answer["//a"]}))
    with pytest.raises(QueryError) as caught:
        rows({"//a": {"$error": "x" * 10_000}})
    assert len(str(caught.value)) == TOLD
    with pytest.raises(QueryError, match="without a text"):
        rows({"//a": {"$error": " \n"}})


@pytest.mark.parametrize(
    "answer", [None, 3, "x", True, [3], [None], [[ROW]], {"//a": 3}, {"//a": [ROW], "//b": {}}]
)
def test_another_shape_is_not_read(answer):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - each says something else
        rows(answer)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize("text", ["", "warning\n[]", "[", "[" * 100_000, '["secret-not-real'])
def test_what_is_no_json_is_not_repeated(text):
    for parse in (parse_rows, parse_platforms):
        with pytest.raises(ValueError, match="not JSON") as caught:
            parse(text)
        assert "secret" not in str(caught.value)


def test_platforms():
    answer = {
        ROW: {PLATFORM: "root//p:re"},
        OTHER: {PLATFORM: ""},
        "a//b:c (d)": {},
        "a//b:d": None,
        "e": {PLATFORM: 3},
    }
    assert parse_platforms(json.dumps(answer)) == {ROW: "root//p:re"}
    with pytest.raises(ValueError, match="no object"):
        parse_platforms("[]")


def test_cells():
    assert parse_cells('{"root": "/src", "odd": 3, "near": "x"}') == {"root": "/src"}
    assert parse_cells("root: /src\nother:  /src/other \n") == {"root": "/src", "other": "/src/other"}
    for text in ("", "[]", "{}", "root: src", "nothing"):
        with pytest.raises(ValueError, match="no cells"):
            parse_cells(text)
