"""What layers make of variables."""

from hypothesis import given
from hypothesis import strategies as st

from aorta.sweep.planning.overlay import Layer, conflicts, environ_under, overlay_of
from aorta.sweep.recipe.model import Change


def layer(source="mitigation a", **change):
    return Layer(source=source, change=Change(**change))


def test_higher_layers_win():
    layers = (
        layer(set={"A": "environment", "B": "environment"}),
        layer(set={"B": "mitigation"}, unset=("C",)),
        layer(set={"C": "extra"}, unset=("D",)),
    )
    assert overlay_of(layers, {"A": "outside", "D": "outside"}) == {
        "A": "environment",
        "B": "mitigation",
        "C": "extra",
        "D": None,
    }


def test_a_later_prepend_stands_in_front():
    layers = (layer(prepend={"PATH": "/one"}), layer(prepend={"PATH": "/two"}))
    assert overlay_of(layers, {"PATH": "/bin"}) == {"PATH": "/two:/one:/bin"}


def test_a_prepend_leaves_no_stray_colon():
    first = (layer(prepend={"LD": "/x"}),)
    assert overlay_of(first, {}) == {"LD": "/x"}
    assert overlay_of(first, {"LD": ""}) == {"LD": "/x"}
    assert overlay_of((layer(unset=("LD",)), *first), {"LD": "/y"}) == {"LD": "/x"}
    assert overlay_of((layer(set={"LD": "/z"}), *first), {"LD": "/y"}) == {"LD": "/x:/z"}
    assert overlay_of((layer(prepend={"LD": ""}),), {"LD": "/y"}) == {"LD": "/y"}
    assert overlay_of((layer(prepend={"LD": ""}),), {}) == {"LD": ""}


def test_an_environment_under_an_overlay():
    base = {"A": "1", "B": "2"}
    assert environ_under({"A": None, "C": "3"}, base) == {"B": "2", "C": "3"}
    assert base == {"A": "1", "B": "2"}


def test_what_conflicts():
    a, b = "mitigation a", "mitigation b"
    one = layer(a, set={"X": "1"})
    assert conflicts([one, layer(b, set={"X": "2"})]) == [f"{a} sets X, and {b} sets it to another value"]
    assert conflicts([one, layer(b, unset=("X",))]) == [f"{a} sets X, and {b} unsets it"]
    assert conflicts([layer(a, unset=("X",)), layer(b, set={"X": ""})]) == [f"{a} unsets X, and {b} sets it"]
    assert conflicts([layer(a, prepend={"X": "1"}), layer(b, set={"X": "1"})]) == [
        f"{a} puts something in front of X, and {b} sets it"
    ]
    assert conflicts([layer(a, prepend={"X": "1"}), layer(b, unset=("X",))]) == [
        f"{a} puts something in front of X, and {b} unsets it"
    ]


def test_what_does_not_conflict():
    one = layer(set={"X": "1"})
    for other in (layer(set={"X": "1"}), layer(set={"Y": "2"}), layer(prepend={"X": "2"}), layer()):
        assert conflicts([one, other]) == []
    assert conflicts([layer(unset=("X",)), layer(unset=("X",))]) == []
    assert conflicts([layer(prepend={"X": "1"}), layer(prepend={"X": "2"})]) == []


NAMES = st.sampled_from("ABC")
VALUES = st.sampled_from(["", "1", "/x"])
CHANGES = st.builds(
    Change,
    set=st.dictionaries(NAMES, VALUES, max_size=2),
    unset=st.lists(NAMES, max_size=2).map(tuple),
    prepend=st.dictionaries(NAMES, VALUES, max_size=2),
)


@given(st.lists(CHANGES, max_size=4), st.dictionaries(NAMES, VALUES))
def test_layers_one_by_one_are_layers_at_once(changes, base):
    layers = tuple(Layer(source="x", change=change) for change in changes)
    step = dict(base)
    for one in layers:
        step = environ_under(overlay_of((one,), step), step)
    assert environ_under(overlay_of(layers, base), base) == step
    assert not any(value.startswith(":") or value.endswith(":") or "::" in value for value in step.values())
