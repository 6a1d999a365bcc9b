"""Logs of any size, block by block: whole lines where they are short, pieces that overlap where not."""

import os
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


def blocks(path: str) -> Iterator[Block]:
    """Yield a log's blocks; nothing for an empty one. Raises OSError.

    It is read as far as it reached at the beginning, so that one that still grows comes to an end.
    """
    with open(path, "rb", buffering=0) as file:
        rest = os.fstat(file.fileno()).st_size
        carry, line, overlap = b"", 1, 0
        while rest > 0 and (read := file.read(min(BLOCK_BYTES, rest))):
            rest -= len(read)
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
