"""Logs of any size, block by block: whole lines where they are short, pieces that overlap where not."""

import errno
import os
import sys
from collections.abc import Iterator

from aorta.model.frozen import frozen

#: Small enough that a block stays in the processor's cache while one needle after the other is looked for.
BLOCK_BYTES = 1 << 18
#: What is looked at again of a line that is longer than a block.
OVERLAP_BYTES = 1 << 12


@frozen
class Block:
    """A part of a log. ``line`` is the number of its first one, from 1.

    Its first ``overlap`` bytes were in the block before, of the same line.
    """

    data: bytes
    line: int
    overlap: int = 0


def blocks(log: int) -> Iterator[Block]:
    """Yield the blocks of an open log; nothing for an empty one. Raises OSError.

    It is read as far as it reached at the beginning, so that one that still grows comes to an end. Holes,
    which a file has where nothing was ever written, are left out.
    """
    size = os.fstat(log).st_size
    place = _written(log, 0)
    carry, line, overlap = b"", 1, 0
    while place < size and (read := os.pread(log, min(BLOCK_BYTES, size - place), place)):
        place += len(read)
        if read[-1:] == b"\0":
            place = _written(log, place)
        rest = size - place
        data = carry + read if carry else read
        end = data.rfind(b"\n") + 1
        if not end and len(data) >= BLOCK_BYTES:
            # A progress bar is one line that is written over and over.
            end = data.rfind(b"\r") + 1
        if end and rest > 0:
            carry, data = data[end:], data[:end]
            following = 0
        elif len(data) < BLOCK_BYTES and rest > 0:
            carry = data
            continue
        else:
            carry = data[-OVERLAP_BYTES:] if rest > 0 else b""
            following = len(carry)
        yield Block(data=data, line=line, overlap=overlap)
        line += data.count(b"\n")
        overlap = following
    if carry and len(carry) > overlap:
        yield Block(data=carry, line=line, overlap=overlap)


def _written(log: int, place: int) -> int:
    """Return where from a place on something was written."""
    try:
        return os.lseek(log, place, os.SEEK_DATA)
    except OSError as error:
        # ENXIO: only a hole follows. Other file systems do not tell.
        return sys.maxsize if error.errno == errno.ENXIO else place
