"""A frozen class behaves alike before and after it is made in full, also with keys that begin with ``_``."""

from typing import Annotated

import attrs
import pytest

from aorta.model.dump import Dumper
from aorta.model.fact import Fact
from aorta.model.frozen import MANY, evolve, frozen
from aorta.model.load import load
from aorta.model.schema import _node
from aorta.model.shape import empty, nothing, shape_of


def of_a_build():
    @frozen
    class Build:
        """A part of a build."""

        commit: Annotated[str | None, Fact("A commit.")] = None
        _source: Annotated[str | None, Fact("Who told it.")] = None

    return Build


def in_full():
    made = of_a_build()
    attrs.fields(made)
    return made


@pytest.fixture(params=[of_a_build, in_full])
def build(request):
    return request.param()


def test_a_field_is_given_under_its_own_name(build):
    value = build(commit="a", _source="git")
    assert (value.commit, value._source) == ("a", "git")
    assert value == build(_source="git", commit="a")
    assert evolve(value, _source=None) == build(commit="a")
    with pytest.raises(TypeError):
        build(source="git")


def test_it_stays_so_when_it_is_used_often():
    build = of_a_build()
    assert {build(_source="git") for _ in range(2 * MANY)} == {build(_source="git")}


def test_the_document_has_the_key_as_it_is(build):
    shape = shape_of(build)
    assert [name for name, _ in shape.fields] == ["commit", "_source"]
    assert empty(shape) == {"commit": None, "_source": None}
    assert nothing(shape) == build()
    assert Dumper().dump(build(_source="git"), shape) == {"commit": None, "_source": "git"}
    assert _node(shape, ())["required"] == ["commit", "_source"]


def test_it_is_read_back(build):
    assert load({"commit": None, "_source": "git"}, build, "x") == (build(_source="git"), [])
    assert load({"commit": None, "_source": 3}, build, "x")[1]
