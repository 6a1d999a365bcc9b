"""Only a well-formed number from 0 on is a rank; unset is no rank, junk is an error and never rank 0."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "aorta-148-rank-unset-is-writer"


@pytest.mark.parametrize(
    ("text", "rank", "kinds"),
    [
        (None, None, []),
        ("0", 0, []),
        ("3", 3, []),
        ("", None, []),
        ("abc", None, ["unparsed"]),
        ("-1", None, ["unparsed"]),
        ("3.0", None, ["unparsed"]),
        (" 0", None, ["unparsed"]),
    ],
)
def test_rank(text, rank, kinds):
    env = {} if text is None else {"RANK": text, "WORLD_SIZE": "8"} if text else {"RANK": ""}
    result = collect(FakeHost(env=env), "launcher")
    assert result.value["rank"] == rank
    assert result.kinds("rank") == kinds
