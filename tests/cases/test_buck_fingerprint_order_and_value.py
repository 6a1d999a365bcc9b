"""Order and values of options make the fingerprint; nothing collides by running into one another."""

import itertools

from aorta.buck.options import BuckContext

CASE = "buck-fingerprint-order-and-value"

A = BuckContext.of(["mode=m1", "config=a.b=1", "mode=m2"])
B = BuckContext.of(["mode=m2", "config=a.b=1", "mode=m1"])
C = BuckContext.of(["mode=m1", "config=a.b=2", "mode=m2"])
D = BuckContext.of(["mode=m1", "config=a.b=1", "mode=m2"])
E = BuckContext.of(["mode=m1", "config=a.b=1,mode=m2"])
F = BuckContext(default_confirmed=True)
G = BuckContext()


def test_equal_ones_are_equal():
    assert A.fingerprint() == D.fingerprint()


def test_all_others_differ():
    found = [each.fingerprint() for each in (A, B, C, E, F)]
    assert all(found)
    assert len(set(found)) == len(found)


def test_nobody_said_anything():
    assert G.fingerprint() is None


def test_more_that_could_run_together():
    contexts = [
        ["mode=a", "mode=b"],
        ["mode=a@b"],
        ["config=a.b=-c", "config=c.d=e"],
        ["config=a.b=-c\nc.d=e"],
        ["config=a.b=", "config=c.d=e"],
        ['config=a.b=","-c","c.d=e'],
        ["config=a.b=1\\"],
        ["config=a.b=1\\\\"],
        ["modifier=a", "modifier=b"],
        ["modifier=b", "modifier=a"],
        ["modifier=-m,b".replace("-m,", "a")],
        ["config=a.b=é"],
        ["config=a.b=\\u00e9"],
        ["config=a.b=e\u0301"],
    ]
    found = [BuckContext.of(each).fingerprint() for each in contexts]
    same = [(x, y) for x, y in itertools.combinations(range(len(found)), 2) if found[x] == found[y]]
    assert same == []


def test_guessing_is_slow():
    """No secrecy, as the documentation says; but a value of six digits takes more than a second."""
    import time

    started = time.monotonic()
    A.fingerprint()
    each = time.monotonic() - started
    assert each * 1_000_000 > 3600
