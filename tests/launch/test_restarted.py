"""Which tasks a launcher started again, and that one rank of a job which was is enough."""

import pytest

from aorta.launch.identity import Identity
from aorta.launch.tasks import RESTARTS, restarted
from aorta.sweep.ranks.hello import as_message, from_message, hello_of


@pytest.mark.parametrize("name", RESTARTS)
def test_a_count_above_zero(name):
    assert restarted({name: "1"})
    assert restarted({name: " 12 "})


@pytest.mark.parametrize("count", ["0", "", "-1", "x", "\u00b2"])
def test_what_is_no_such_count(count):
    assert not restarted(dict.fromkeys(RESTARTS, count))


def test_a_rank_tells_it():
    told = as_message(hello_of(Identity(), {}, again=True))
    assert from_message(told).restarted
    assert not from_message({**told, "restarted": False}).restarted
    assert not from_message({name: value for name, value in told.items() if name != "restarted"}).restarted
    with pytest.raises(TypeError, match="restarted"):
        from_message({**told, "restarted": 1})
