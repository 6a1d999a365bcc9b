"""What 1.17 says of Buck where nobody asked: empty lists, as 1.x writes them."""

from aorta.model.downgrade import as_1_17
from tests.parts.pairs import CLIENT_HOST, captured

LISTS = ("mode_files", "config_keys", "modifiers", "option_order")


def test_lists_where_nobody_asked():
    document = captured(CLIENT_HOST)
    assert document["buck_invocation"]["status"] == "not_requested"
    told = as_1_17(document)
    assert [told["buck_invocation"][name] for name in LISTS] == [[], [], [], []]
    assert told["library_introspection"] == told["library_introspection_alternates"] == []


def test_lists_of_which_nothing_is_known_stay_null():
    document = captured(CLIENT_HOST)
    document["buck_invocation"] = dict.fromkeys(document["buck_invocation"])
    assert [as_1_17(document)["buck_invocation"][name] for name in LISTS] == [None] * 4
