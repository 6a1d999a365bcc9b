"""Every section of every recorded host, with one of its answers replaced by garbage: no defect, no new "none"."""

import functools
import glob
import json
import os
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta.host.lines import Failed, answer, question
from aorta.host.replay import ClosedHost
from aorta.instrumentation.environment import capture
from aorta.model.codec import dump
from aorta.model.frozen import evolve
from aorta.plugin.discovery import discover

HERE = os.path.join(os.path.dirname(__file__), "..", "hosts")
HOSTS = sorted(os.path.basename(path).removesuffix(".jsonl") for path in glob.glob(f"{HERE}/*.jsonl"))
SECTIONS = tuple(discover(outside=False).collectors)
#: What no file and no tool ever says, and what begins as JSON, a list or markup does.
GARBAGE = (
    "%%%%\n",
    "~\x01~",
    "\x00\x00\x00",
    "{\n",
    "[[[[",
    "<html>\n",
    "é" * 3000,
    "\x1b[31m%\x1b[0m\r\n",
    "\u2028%",
)
#: A command line is any text: one of garbage has no parameters.
ELSEWHERE = re.compile(r"host\.iommu\.parameters")
#: Words that tell of nothing; null and "unknown" tell nothing.
NOTHING = (False, 0, "", "none", "absent", "baremetal")


class Asked(ClosedHost):
    """A recorded host that keeps what it was asked for."""

    def __init__(self, answers, created):
        super().__init__(answers, created)
        self.asked = []

    def read_text(self, path, *args, **options):
        self.asked.append(("read", path))
        return super().read_text(path, *args, **options)

    def read_bytes(self, path, *args, **options):
        self.asked += [("bytes", path), ("read", path)]
        return super().read_bytes(path, *args, **options)

    def run(self, argv, **options):
        self.asked.append(("run", tuple(map(str, argv))))
        return super().run(argv, **options)

    def env(self, name):
        self.asked.append(("env", name))
        return super().env(name)

    def observe(self, key, function):
        self.asked.append(("observe", key))
        return super().observe(key, function)


@functools.cache
def recorded(name):
    with open(f"{HERE}/{name}.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {question(line): answer(line) for line in lines[1:]}


@functools.cache
def whole(name, section):
    """Return a section as it is, and the questions that it asked and the recording answers."""
    answers = recorded(name)
    host = Asked(answers, "")
    document = dump(capture(host=host, sections=[section], detail="full"))
    asked = [
        key for key in dict.fromkeys(host.asked) if not isinstance(answers.get(key), (Failed, type(None)))
    ]
    return dict(leaves(document[section], section)), asked


def leaves(value, path):
    if isinstance(value, dict) and value:
        for key, member in value.items():
            yield from leaves(member, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for number, member in enumerate(value):
            yield from leaves(member, f"{path}[{number}]")
    else:
        yield path, value


def replaced(value, garbage):
    if isinstance(value, bytes):
        return garbage.encode()
    return garbage if not hasattr(value, "stdout") else evolve(value, stdout=garbage)


@pytest.mark.parametrize("name", HOSTS)
@settings(max_examples=2 * len(SECTIONS), deadline=None, derandomize=True)
@given(number=st.integers(0, 2**32))
def test_garbage_in_one_answer(name, number):
    rng = random.Random(number)
    section = SECTIONS[number % len(SECTIONS)]
    before, asked = whole(name, section)
    if not asked:
        return
    key, garbage = rng.choice(asked), rng.choice(GARBAGE)
    answers = {**recorded(name), key: replaced(recorded(name)[key], garbage)}
    document = dump(capture(host=ClosedHost(answers, ""), sections=[section], detail="full"))
    records = {**document["collection"]["collectors"], **document["collection"]["providers"]}
    assert [each for each, record in records.items() if record["status"] in ("failed", "timed_out")] == [], (
        key
    )
    for path, value in leaves(document[section], section):
        was = before.get(path)
        emptied = value in ([], {}) and any(each.startswith((f"{path}.", f"{path}[")) for each in before)
        assert not emptied or ELSEWHERE.fullmatch(path), (key, garbage, path)
        new = was is not None and (type(value), value) != (type(was), was)
        assert not (new and any(value is each or value == each for each in NOTHING)), (
            key,
            garbage,
            path,
            was,
            value,
        )
