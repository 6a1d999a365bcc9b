"""Conditions: what is of the grammar, what is not, and what they say of a match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aorta.sweep.recipe.condition import ConditionError, compile_condition


def holds(text, captured=None, exit_code=0, walltime_sec=1.5, peak_vram_mib=None):
    return compile_condition(text).holds(captured or {}, exit_code, walltime_sec, peak_vram_mib)


@pytest.mark.parametrize(
    "text",
    [
        "exit_code == 0",
        "float(capture['loss']) > 5",
        "0 < walltime_sec < 2",
        "not exit_code and walltime_sec - 1 + 1 >= 1.5",
        "math.isnan(float('nan')) or False",
        "math.isinf(-float('inf'))",
        "'x' in capture['word'] and 'z' not in capture['word']",
        "peak_vram_mib is None",
        "len(capture['word']) / 2 == 1.5",
        "int(capture['loss']) != 3",
        " exit_code == 0 ",
        "999999999 > 1",
        "True",
    ],
)
def test_what_holds(text):
    assert holds(text, {"loss": "6", "word": "xyx"})


@pytest.mark.parametrize(
    "text",
    [
        "exit_code == 1",
        "float(capture['word']) > 5",
        "capture['none'] == 'x'",
        "1 / 0 > 1",
        "peak_vram_mib > 3",
        "len(exit_code) == 1",
        "float(capture['absent']) > 1",
        "'x' < 3",
        "int(float('inf')) > 1",
        "-capture['word'] == 1",
        "capture in capture",
        "0 > walltime_sec > 1 / 0",
    ],
)
def test_what_does_not_hold_or_cannot_be_computed(text):
    assert not holds(text, {"word": "x", "absent": None})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "(" * 120 + "1" + ")" * 120 + "(",
        "x = 1",
        "x == 1",
        "2 * 3",
        "2 ** 3",
        "5 % 2",
        "5 // 2",
        "1 << 2",
        "~1",
        "lambda: 1",
        "[1]",
        "{'a': 1}",
        "(1, 2)",
        "1 if True else 2",
        "[x for x in capture]",
        "f'{exit_code}'",
        "b'x'",
        "1j",
        "...",
        "math",
        "math.pi",
        "math.sqrt(4)",
        "capture.get('x')",
        "capture[0]",
        "capture[exit_code]",
        "capture['a':'b']",
        "exit_code['a']",
        "float()",
        "float(1, 2)",
        "float(x=1)",
        "float(*capture)",
        "str(1)",
        "__import__('os')",
        "exit_code.__class__",
        "(exit_code := 1)",
        "1000000000 > 1",
        "'a'.join(capture)",
        "exit_code\0",
        "1" + " + 1" * 100,
    ],
)
def test_what_is_not_of_the_grammar(text):
    with pytest.raises(ConditionError):
        compile_condition(text)


def test_the_groups_it_speaks_of():
    assert compile_condition("capture['a'] == capture['b'] or capture['a'] == ''").captures == ("a", "b")


@given(st.text(max_size=300) | st.text("capture()[]'ab<>=+-/*,. 019emxit_codathnfl", max_size=60))
def test_any_text_is_a_condition_or_an_error(text):
    try:
        condition = compile_condition(text)
    except ConditionError as error:
        assert "\n" not in str(error)
    else:
        assert condition.holds({"a": "1"}, 0, 1.0, None) in (True, False)
