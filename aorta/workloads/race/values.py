"""Known values: exact in their dtype, with sums exact in float32, and other ones for each rank.

Those of the iterations and layers around are others too, but they repeat: a pass through the layers has the
values of the one before it. That is why a buffer holds ``POISON`` from one use of it to the next.
"""

import functools
from typing import Any

from aorta.model.frozen import frozen

#: The largest integer that is used of those that each dtype holds exactly, and of sums in float32.
EXACT = {"bfloat16": 256, "float16": 2048, "float32": 1 << 18}
EXACT_SUM = 1 << 24

#: How many values of a rank follow each other before they repeat.
LEAST, MOST = 16, 61

#: Is in no buffer that was written: values, their sums, and all sums on the way to those are above 0.
POISON = -1.0

#: Kinds of evidence, as failure_details call them.
LAYER_CHECKSUM, DIVERGENCE = "layer_checksum_", "gradient_divergence"


@frozen
class Values:
    """What each rank writes: integers, or with a ``period`` of 1 powers of two times its number."""

    world_size: int
    period: int

    def fill(self, rank: int, layer: int, iteration: int) -> float:
        """Return the value of a rank's buffer; those of 15 iterations or 5 layers around it are others."""
        turn = (3 * layer + iteration) % self.period
        return (1 + rank + self.world_size * turn) * self.scale(layer, iteration)

    def scale(self, layer: int, iteration: int) -> float:
        """Return the difference of the values of a rank and the next one, from 2^-11 to 2^4.

        So float16 holds the products of all its integers with it.
        """
        return 1.0 if self.period > 1 else 2.0 ** (4 - (3 * layer + iteration) % LEAST)

    def total(self, layer: int, iteration: int) -> float:
        """Return the sum of the values of all ranks; float32 holds it exactly, and all sums of some."""
        return sum(self.fill(rank, layer, iteration) for rank in range(self.world_size))


def values_of(world_size: int, dtype: str) -> Values:
    """Return the values for a number of ranks and a dtype. Raises ValueError for too many ranks."""
    limit = EXACT[dtype]
    if world_size * (world_size + 1) // 2 > EXACT_SUM:
        raise ValueError(f"race is for 5792 ranks at most, not {world_size}: float32 adds up no more exactly")
    if world_size > limit:
        raise ValueError(f"{dtype} holds {limit} different ranks exactly, not {world_size}: use float32")
    period = min(limit // world_size, EXACT_SUM // world_size**2, MOST)
    return Values(world_size=world_size, period=period if period >= LEAST else 1)


def checksum(tensor: Any) -> Any:
    """Return the sum of a tensor's bits as integers, as a tensor of one int64 on its device."""
    import torch

    kind = torch.int16 if tensor.element_size() == 2 else torch.int32
    return tensor.detach().contiguous().view(kind).sum(dtype=torch.int64)


def compared(tensor: Any, expected: Any) -> Any:
    """Return three int64 on the device: how many values differ, the first place, the checksum."""
    import torch

    wrong = (tensor != expected).flatten()
    return torch.stack([wrong.sum(), wrong.to(torch.uint8).argmax(), checksum(tensor)])


@functools.cache
def bits(value: float, dtype: Any) -> int:
    """Return the integer that a value's bits are in a dtype, as ``checksum`` adds them up."""
    import torch

    return int(checksum(torch.tensor([value], dtype=dtype)).item())


def counted(tensor: Any, expected: int) -> Any:
    """Return three int64 on the device: 1 where the checksum is not the expected one, 0, the checksum."""
    import torch

    own = checksum(tensor)
    return torch.stack([(own != expected).to(torch.int64), torch.zeros_like(own), own])


def poison(tensor: Any) -> None:
    """Leave nothing in a tensor that could be taken for what is written to it later."""
    tensor.fill_(POISON)


def spoil(tensor: Any) -> None:
    """Flip one bit in the middle of a tensor: a value that still looks like one."""
    import torch

    kind = torch.int16 if tensor.element_size() == 2 else torch.int32
    bits = tensor.view(kind).flatten()
    place = bits.numel() // 2
    bits[place : place + 1] ^= 1
