"""A reader of the 1.x line finds every key where it was, of the type that it knew.

``1.17.json`` is a document of the established tool, with values of one machine taken out.
"""

import json
from pathlib import Path

import pytest

from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost
from aorta.testing.hosts import DenyingHost

OLD = json.loads((Path(__file__).parent / "1.17.json").read_text())
REGISTRY = discover(outside=False)

NUMBER = (int, float)


def misfits(old, new, path=""):
    """Yield where a reader of ``old`` would stumble over ``new``; null is always allowed for a leaf."""
    if isinstance(old, dict) and old:
        # A section that was an object and is null as a whole has no keys to read.
        if not isinstance(new, dict):
            yield f"{path}: {type(new).__name__}, was an object"
            return
        for name, value in old.items():
            where = f"{path}.{name}" if path else name
            if name not in new:
                yield f"{where} is gone"
            else:
                yield from misfits(value, new[name], where)
    elif new is None or old is None:
        return
    elif isinstance(old, list) and isinstance(new, list):
        if old and new:
            yield from misfits(old[0], new[0], f"{path}[]")
    elif type(old) is not type(new):
        yield f"{path}: {type(new).__name__}, was {type(old).__name__}"


@pytest.mark.parametrize(
    "host",
    [
        FakeHost,
        DenyingHost,
        lambda: None,
        # Anything that makes docker an object
        lambda: FakeHost({"/.dockerenv": "", "/proc/1/cgroup": "0::/docker/" + "a" * 64 + "\n"}),
    ],
    ids=["empty", "denying", "live", "docker"],
)
@pytest.mark.parametrize("detail", ["compact", "full"])
def test_every_key_and_type_of_1x(host, detail):
    document = dump(capture(registry=REGISTRY, host=host(), detail=detail))
    assert document["schema_compat"] == OLD["schema_version"] == "1.17"
    # docker is null outside of a container in 1.x too.
    old = {name: value for name, value in OLD.items() if name != "docker" or document["docker"] is not None}
    assert list(misfits(old, document)) == []


def test_the_comparison_can_fail():
    assert list(misfits({"a": {"b": 1}}, {"a": None})) == ["a: NoneType, was an object"]
    assert list(misfits({"a": {"b": 1}}, {"a": {}})) == ["a.b is gone"]
    assert list(misfits({"a": [{"b": 1}]}, {"a": [{"b": "1"}]})) == ["a[].b: str, was int"]
    assert list(misfits({"a": True}, {"a": 1})) == ["a: int, was bool"]
    assert list(misfits({"a": [1], "b": 1}, {"a": None, "b": None})) == []
