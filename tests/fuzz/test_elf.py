"""ELF files damaged at random: an answer or a refusal, in bounded time, and never a wrong "no RPATH"."""

import struct
import time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from aorta.host.elf import Elf, ElfError, parse_elf
from tests.parts.elf_files import (
    ORIGIN,
    both_tags,
    content,
    dynamic,
    header,
    linker_view,
    many_segments,
    overwritten,
    place_of,
    segments,
    value_of,
    without_sections,
)

MANY = settings(max_examples=2000, deadline=None, derandomize=True)
LIMIT_S = 5
pytestmark = pytest.mark.timeout(600)
NAMES = ("rpath", "runpath", "both", "bare", "many")
#: Values that are likely to lead somewhere: small, at limits, at the ends of numbers.
NUMBERS = st.one_of(
    st.integers(0, 64),
    st.sampled_from(
        [
            0xFF,
            0x7FFF,
            0xFFFF,
            1 << 20,
            1 << 31,
            (1 << 32) - 1,
            1 << 62,
            (1 << 63) - 1,
            1 << 63,
            (1 << 64) - 1,
        ]
    ),
    st.integers(0, 1 << 14),
    st.integers(0, (1 << 64) - 1),
)


def sample(name):
    """Return a small library with a path in it; most of gcc's is padding, which takes no damage."""
    if name == "both":
        return both_tags()
    if name == "bare":
        return without_sections(content("rpath.so"))
    return many_segments(content("rpath.so")) if name == "many" else content(f"{name}.so")


def fields(data):
    """Return (place, size) of every number that leads to the path, and of the tables of symbols and notes."""
    found = [(0x20, 8), (0x28, 8), (0x36, 2), (0x38, 2), (0x3A, 2), (0x3C, 2), (4, 1), (5, 1), (0x12, 2)]
    for place, *_ in segments(data):
        found += [(place, 4), *((place + at, 8) for at in (8, 16, 32, 40, 48))]
    for place, _, _ in dynamic(data):
        found += [(place, 8), (place + 8, 8)]
    table = place_of(data, value_of(data, 0x6FFFFEF5))
    found += [(table + 4 * number, 4) for number in range(16)]
    symbols = place_of(data, value_of(data, 6))
    found += [(symbols + 24 * number, 4) for number in range(5)]
    for _, kind, offset, _, _ in segments(data):
        found += [(offset + at, 4) for at in (0, 4, 8)] if kind == 4 else []
    return found


def tables(data):
    """Return the part of the file that says anything: the beginning and the dynamic table."""
    ((_, _, offset, _, size),) = [segment for segment in segments(data) if segment[1] == 2]
    return [*range(0x400), *range(offset, offset + size)]


def path_bytes(data):
    """Return the places of all bytes by which the linker comes to the path, with the path's own."""
    head = header(data)
    places = [
        *range(64),
        *range(head.phoff, head.phoff + 56 * struct.unpack_from("<H", sample("rpath"), 0x38)[0]),
    ]
    entries = dynamic(data)
    ((_, _, offset, _, _),) = [segment for segment in segments(data) if segment[1] == 2]
    used = 1 + next(number for number, (_, tag, _) in enumerate(entries) if tag == 0)
    places += range(offset, offset + 16 * used)
    for tag in (15, 29):
        if tag in {found for _, found, _ in entries}:
            start = place_of(data, value_of(data, 5)) + value_of(data, tag)
            places += range(start, start + len(ORIGIN) + 1)
    return places


def whole(name):
    """Return the undamaged data with a header that can be walked."""
    return sample("rpath" if name == "many" else name)


SAMPLES = {}


def prepared(name):
    if name not in SAMPLES:
        data, walked = sample(name), whole(name)
        path = path_bytes(walked)
        if name == "many":
            path += range(header(walked).shoff + 0x2C, header(walked).shoff + 0x30)
        SAMPLES[name] = data, fields(walked), tables(walked), sorted(set(path))
    return SAMPLES[name]


@st.composite
def damaged(draw):
    """Return the name of a sample and its bytes with up to six damages."""
    name = draw(st.sampled_from(NAMES))
    data, numbers, beginning, path = prepared(name)
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(
            st.sampled_from(["number", "number", "near", "flip", "byte", "cut", "copy", "zeros", "tail"])
        )
        if kind == "number":
            place, size = draw(st.sampled_from(numbers))
            value = draw(NUMBERS) & ((1 << 8 * size) - 1)
            data = overwritten(data, place, value.to_bytes(size, "little"))
        elif kind == "near":
            place, size = draw(st.sampled_from(numbers))
            old = int.from_bytes(data[place : place + size], "little")
            value = (old + draw(st.sampled_from([-56, -24, -16, -8, -1, 1, 8, 16, 24, 56, 4096]))) & (
                (1 << 8 * size) - 1
            )
            data = overwritten(data, place, value.to_bytes(size, "little"))
        elif kind == "flip":
            place = draw(st.sampled_from(path))
            if place < len(data):
                data = overwritten(data, place, bytes([data[place] ^ (1 << draw(st.integers(0, 7)))]))
        elif kind == "byte":
            place = draw(st.sampled_from(beginning))
            data = overwritten(data, place, bytes([draw(st.integers(0, 255))]))
        elif kind == "cut":
            data = data[: draw(st.integers(0, len(data)))]
        elif kind == "copy":
            start, to = draw(st.sampled_from(beginning)), draw(st.sampled_from(beginning))
            data = overwritten(data, to, data[start : start + draw(st.integers(1, 128))])
        elif kind == "zeros":
            data = overwritten(data, draw(st.sampled_from(beginning)), bytes(draw(st.integers(1, 64))))
        else:
            data += draw(st.binary(max_size=64))
    return name, data


class Counting:
    """A reader that counts what it reads."""

    def __init__(self, data):
        self.data, self.bytes, self.calls = data, 0, 0

    def __call__(self, offset, size):
        assert 0 <= offset <= len(self.data)
        self.calls += 1
        part = self.data[offset : offset + size]
        self.bytes += len(part)
        return part


def outcome(data, symbols="."):
    """Return what the parser says, its time and reading held to bounds."""
    reader, begun = Counting(data), time.process_time()
    try:
        found = parse_elf(reader, len(data), symbols)
    except ElfError as error:
        found = error
        # What is only caught at the end would be a defect: each refusal has its own sentence.
        assert "malformed" not in str(error), error
    assert isinstance(found, (Elf, ElfError))
    assert reader.bytes <= 64 * (len(data) + 4096)
    assert time.process_time() - begun < LIMIT_S
    return found


@MANY
@given(damaged())
def test_an_answer_or_a_refusal(case):
    _, data = case
    outcome(data)


@MANY
@given(damaged())
def test_what_leads_to_the_path_is_whole_or_it_is_not_denied(case):
    """Where every byte that leads to the path is as it was, the path is told, or the file is refused."""
    name, data = case
    original, _, _, path = prepared(name)
    found = outcome(data)
    assume(isinstance(found, Elf))
    if len(data) > path[-1] and all(data[place] == original[place] for place in path):
        told = outcome(original)
        assert (found.dynamic, found.rpath, found.runpath) == (True, told.rpath, told.runpath)


@MANY
@given(damaged())
def test_none_is_said_only_where_the_linker_finds_none(case):
    """An independent reading by the linker's rules finds the same, or the linker would not load the file."""
    _, data = case
    found = outcome(data, None)
    if isinstance(found, Elf) and found.dynamic:
        view = linker_view(data)
        assert view is None or (found.rpath, found.runpath) == tuple(map(decoded, view))


def decoded(text):
    return None if text is None else text.decode("utf-8", "backslashreplace")


def test_the_samples_say_what_they_should():
    for name in NAMES:
        data, *_ = prepared(name)
        found = outcome(data)
        assert (found.rpath, found.runpath) == {"runpath": (None, ORIGIN), "both": (ORIGIN, ORIGIN)}.get(
            name, (ORIGIN, None)
        )


@MANY
@given(st.binary(max_size=400))
@example(b"")
def test_any_bytes_after_the_magic(rest):
    outcome(b"\x7fELF" + rest)
    outcome(b"\x7fELF\x02\x01\x01" + rest)
    outcome(b"\x7fELF\x01\x02\x01" + rest)
    with pytest.raises(ElfError, match="not an ELF file"):
        parse_elf(lambda offset, size: b"\x7fEL\0"[offset:][:size], 4)
