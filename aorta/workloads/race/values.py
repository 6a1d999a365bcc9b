"""Known values: integers that the dtype holds exactly, other ones for each rank, layer and iteration."""

import functools
from typing import Any

from aorta.model.frozen import frozen

#: The largest integer up to which each dtype holds them all.
EXACT = {"bfloat16": 256, "float16": 2048, "float32": 1 << 18}

#: Kinds of evidence, as failure_details call them.
LAYER_CHECKSUM, DIVERGENCE = "layer_checksum_", "gradient_divergence"


@frozen
class Values:
    """What each rank writes. Raises ValueError, by ``values_of``, for more ranks than a dtype tells apart."""

    world_size: int
    period: int

    def fill(self, rank: int, layer: int, iteration: int) -> int:
        """Return the value of a rank's buffer; those of the iterations around it are others."""
        return 1 + rank + self.world_size * ((3 * layer + iteration) % self.period)

    def total(self, layer: int, iteration: int) -> int:
        """Return the sum of the values of all ranks; float32 holds it exactly."""
        return sum(self.fill(rank, layer, iteration) for rank in range(self.world_size))


def values_of(world_size: int, dtype: str) -> Values:
    """Return the values for a number of ranks and a dtype."""
    limit = EXACT[dtype]
    if world_size > limit:
        raise ValueError(f"{dtype} holds {limit} different ranks exactly, not {world_size}: use float32")
    return Values(world_size=world_size, period=max(1, min(limit // world_size, 61)))


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
def bits(value: int, dtype: Any) -> int:
    """Return the integer that a value's bits are in a dtype, as ``checksum`` adds them up."""
    import torch

    return int(checksum(torch.tensor([value], dtype=dtype)).item())


def counted(tensor: Any, expected: int) -> Any:
    """Return three int64 on the device: 1 where the checksum is not the expected one, 0, the checksum."""
    import torch

    own = checksum(tensor)
    return torch.stack([(own != expected).to(torch.int64), torch.zeros_like(own), own])


def spoil(tensor: Any) -> None:
    """Flip one bit in the middle of a tensor: a value that still looks like one."""
    import torch

    kind = torch.int16 if tensor.element_size() == 2 else torch.int32
    bits = tensor.view(kind).flatten()
    place = bits.numel() // 2
    bits[place : place + 1] ^= 1
