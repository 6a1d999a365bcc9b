"""Whatever a sidecar file holds: definitions, or an error that says what is wrong."""

import json

from hypothesis import given
from hypothesis import strategies as st

from aorta.sweep.definitions.registry import registries
from aorta.sweep.errors import RegistryError

WORDS = st.sampled_from(
    ["set", "unset", "prepend", "A", "1", "", "env", "docker", "venv", "none", "a b", "\0", "é"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.fixed_dictionaries(
    {"version": st.just(1) | VALUES},
    optional={"mitigations": VALUES, "environments": VALUES, "more": VALUES},
)


@given(document=DOCUMENTS | VALUES)
def test_any_document(tmp_path_factory, document):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(document))
    try:
        known = registries([str(path)])
    except RegistryError as error:
        assert error.problems
        assert all(one.isprintable() for one in error.problems)
    else:
        for one in known.mitigations.values():
            assert all(isinstance(value, str) for value in (*one.change.set.values(), *one.change.unset))


@given(data=st.binary(max_size=64))
def test_any_bytes(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    try:
        registries([str(path)])
    except RegistryError as error:
        assert all(one.isprintable() for one in error.problems)
