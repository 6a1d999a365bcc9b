import pytest

from aorta.model.fieldpath import MissingFieldError, PathSyntaxError, Step, look_up, parse_path, shown_step

DOCUMENT = {
    "a": {"b": [{"c": {"key with.dots": 1, "it's": 2, 'say "x"': 3}}, {"c": None}]},
    "gpus": [
        {"bdf": "0000:dd:00.0", "index": 0, "ecc": True, "id": 1},
        {"bdf": "0001:dd:00.0", "index": 1, "ecc": None, "id": 2},
        "odd",
    ],
    "libs": {"libaotriton_v2.so": "sha256:0", "torch_lib": {"x[0]": 4}},
    "none": None,
    "text": "t",
    "number": 3,
    "flag": False,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ('a.b[0].c["key with.dots"]', 1),
        ('a.b[0].c["it\'s"]', 2),
        ('a.b[0].c["say \\"x\\""]', 3),
        ("a.b[0].c['key with.dots']", 1),
        ("a.b[-1].c", None),
        ("gpus[bdf=0000:dd:00.0].index", 0),
        ("gpus[index=1].bdf", "0001:dd:00.0"),
        ("gpus[ecc=true].id", 1),
        ("gpus[ecc=null].id", 2),
        ('gpus[bdf="0001:dd:00.0"].id', 2),
        ("gpus[bdf='0001:dd:00.0'].id", 2),
        ("gpus[2]", "odd"),
        ('libs["libaotriton_v2.so"]', "sha256:0"),
        ('libs.torch_lib["x[0]"]', 4),
        ('["none"]', None),
        ("flag", False),
    ],
)
def test_values(path, value):
    assert look_up(DOCUMENT, path) == value


@pytest.mark.parametrize(
    "path", ["", ".", "a.", ".a", "a..b", "a[", "a[]", "a[x", 'a["x]', "a]b", "a[0]b", "a['x\"]"]
)
def test_texts_that_are_no_path(path):
    with pytest.raises(PathSyntaxError):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("b", "the document has no b; it has"),
        ("a.c", "a has no c; it has b"),
        ("none.x", "none is null: it has no x"),
        ("text.x", "text is a text"),
        ("number[0]", "number is a number, not a list"),
        ("flag[a=1]", "flag is true or false, not a list"),
        ("a[0]", "a is an object, not a list"),
        ("gpus.bdf", "gpus is a list"),
        ("gpus[3]", "gpus has 3 members: no [3]"),
        ("gpus[-4]", "gpus has 3 members"),
        ("gpus[index=7]", "gpus has no member with index=7; it has 0, 1"),
        ("libs.libaotriton_v2.so", 'libs has no libaotriton_v2; it has ["libaotriton_v2.so"]'),
        ('a.b[0].c["x.y"].z', 'a.b[0].c has no ["x.y"]'),
    ],
)
def test_missing_values_say_what_is_there(path, text):
    with pytest.raises(MissingFieldError) as caught:
        look_up(DOCUMENT, path)
    assert text in str(caught.value)


def test_no_more_than_ten_names_and_the_closest_first():
    names = {f"name_{number}": number for number in range(30)}
    with pytest.raises(MissingFieldError, match="and 21 more") as caught:
        look_up({**names, "kernel": 1}, "kernal")
    assert "it has kernel, " in str(caught.value)
    assert str(caught.value).count(",") == 9


@pytest.mark.parametrize("path", ['a.b[0]["x.y"][k=v].z', "a[-1]"])
def test_steps_are_shown_as_they_are_written(path):
    steps = parse_path(path)
    assert "".join(shown_step(step, first=number == 0) for number, step in enumerate(steps)) == path


def test_a_quoted_name_is_a_name():
    assert parse_path('a["b"]') == [Step("name", "a"), Step("name", "b")]
