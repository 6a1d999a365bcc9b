"""The known values of ``race``: exact for any number of ranks, and not to be mistaken for what is stale."""

import ctypes
import json
import os
import struct
import subprocess

import pytest

from aorta.workloads.race.values import POISON, values_of
from tests.parts import torches
from tests.parts.probing import ROOT

#: Numbers of ranks at which something changes, and some between them.
RANKS = [2, 3, 4, 5, 8, 15, 16, 17, 24, 37, 42, 64, 128, 129, 200, 256, 257, 300, 512, 528, 529, 600, 1024]
MANY = [1025, 1500, 2048, 2049, 4096, 5000, 5792]
MOST = {"bfloat16": 256, "float16": 2048, "float32": 5792}
GIVEN = [(ranks, dtype) for dtype, most in MOST.items() for ranks in [*RANKS, *MANY] if ranks <= most]


def single(value):
    """Return the float32 that is next to a value."""
    return ctypes.c_float(value).value


def rounded(value, dtype):
    """Return what a value becomes in a dtype."""
    if dtype == "float16":
        return struct.unpack("e", struct.pack("e", value))[0]
    (raw,) = struct.unpack("I", struct.pack("f", value))
    # Cut, not rounded: what is exact stays the same.
    return struct.unpack("f", struct.pack("I", raw & 0xFFFF0000 if dtype == "bfloat16" else raw))[0]


def ring(parts, first):
    """Return their sum as a ring makes it, in float32, that begins with one of them."""
    total = parts[first]
    for part in parts[first + 1 :] + parts[:first]:
        total = single(total + part)
    return total


def tree(parts):
    """Return their sum as a tree makes it, in float32."""
    while len(parts) > 1:
        pairs = [single(a + b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + ([parts[-1]] if len(parts) % 2 else [])
    return parts[0]


@pytest.mark.parametrize(("ranks", "dtype"), GIVEN)
def test_values_and_all_their_sums_are_exact(ranks, dtype):
    values = values_of(ranks, dtype)
    # The largest sums are those of the last turns.
    turns = {0, 1, 7, 15, max(values.period - 1, 0), values.period // 2}
    for turn in sorted(turns):
        parts = [values.fill(rank, 0, turn) for rank in range(ranks)]
        assert len(set(parts)) == ranks
        assert parts == [rounded(part, dtype) for part in parts]
        assert parts == [parts[0] + rank * values.scale(0, turn) for rank in range(ranks)]
        exact = values.total(0, turn)
        assert [ring(parts, 0), ring(parts, ranks // 2), tree(parts), single(exact)] == [exact] * 4
        assert min(parts) > 0 > POISON


@pytest.mark.parametrize(("ranks", "dtype"), GIVEN)
def test_values_of_what_was_before_are_others(ranks, dtype):
    """Of the iterations and layers around, whatever the number of ranks."""
    values = values_of(ranks, dtype)
    for rank in (0, ranks - 1):
        own = values.fill(rank, 3, 20)
        others = [values.fill(rank, 3, 20 + far) for far in range(-15, 16) if far]
        others += [values.fill(rank, layer, 20) for layer in range(9) if 0 < abs(layer - 3) <= 5]
        assert own not in others


@pytest.mark.parametrize(
    ("ranks", "dtype", "told"),
    [
        (257, "bfloat16", "bfloat16 holds 256 different ranks exactly, not 257: use float32"),
        (2049, "float16", "float16 holds 2048 different ranks exactly, not 2049: use float32"),
        (5793, "float32", "race is for 5792 ranks at most, not 5793: float32 adds up no more exactly"),
        (6000, "bfloat16", "race is for 5792 ranks at most, not 6000: float32 adds up no more exactly"),
    ],
)
def test_too_many_ranks_are_refused(ranks, dtype, told):
    with pytest.raises(ValueError) as caught:
        values_of(ranks, dtype)
    assert str(caught.value) == told


@pytest.mark.timeout(200)
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_buffer_that_a_collective_did_not_write_is_found(tmp_path, ranks):
    """Whichever it is; and between two uses no buffer holds what is right for one of them."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [torches.python(), "-m", "tests.workloads.race_mutants", str(ranks), str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ, timeout=190)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    clean = [one for one in told if one["call"] is None]
    mutants = [one for one in told if one["call"] is not None]
    assert len(clean) == 7
    assert not [one for one in clean if one["found"]]
    assert len(mutants) == 66
    assert not [one for one in mutants if not one["found"]]
    assert not [one for one in told if not one["spent"]]
