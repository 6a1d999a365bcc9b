"""What is computed beside the communication: products of matrices with known results, or a transformer."""

from collections.abc import Iterator
from typing import Any

from aorta.workloads.race.config import RaceConfig, Sizes, dtype_of
from aorta.workloads.race.values import compared

#: The entries of the matrices are below this, so that float32 sums of their products are exact.
_BASE = 3


class Idle:
    """Computes nothing."""

    reference = "none"

    def step(self) -> None:
        """Do nothing."""

    def evidence(self) -> Iterator[tuple[str, Any]]:
        """Yield nothing."""
        return iter(())


class Products:
    """Products of two matrices of small integers; every result is compared with what it must be.

    ``reference`` is ``exact`` where the library's first result was what arithmetic says, and ``first`` where
    it was only near to it (a library that adds in half precision): then all are compared with that.
    """

    def __init__(self, config: RaceConfig, sizes: Sizes, device: Any) -> None:
        import torch

        size, dtype = sizes.gemm, dtype_of(config)
        line = torch.arange(size, device=device)
        self._left = ((line[:, None] + line[None, :]) % _BASE).to(dtype)
        self._right = ((line[:, None] + 2 * line[None, :]) % _BASE).to(dtype)
        self._backward = config.include_backward_compute
        self._count = sizes.products
        table = [
            [sum((p + k) % _BASE * ((q + k) % _BASE) for k in range(size)) for q in range(_BASE)]
            for p in range(_BASE)
        ]
        known = torch.tensor(table, dtype=torch.float32, device=device)
        expected = known[(line % _BASE)[:, None], (2 * line % _BASE)[None, :]].to(dtype)
        first = self._left @ self._right
        self.reference = "exact" if bool((first == expected).all()) else "first"
        if self.reference == "first" and not bool(torch.allclose(first.float(), expected.float(), rtol=0.02)):
            raise RuntimeError("the first product of matrices is wrong: nothing can be compared with it")
        self._expected = expected if self.reference == "exact" else first
        self._found: list[Any] = []

    def step(self) -> None:
        """Compute, and keep on the device what is wrong with it."""
        self._found = []
        for _ in range(self._count):
            made = self._left @ self._right
            self._found.append(compared(made, self._expected))
            if self._backward:
                made.t() @ self._left

    def evidence(self) -> Iterator[tuple[str, Any]]:
        """Yield what was found, one for each product."""
        return (("compute", found) for found in self._found)


class Transformer:
    """A layer of a transformer; its output is compared with its first one where kernels are deterministic."""

    reference = "first"

    def __init__(self, config: RaceConfig, sizes: Sizes, device: Any) -> None:
        import torch

        torch.manual_seed(config.deterministic_seed)
        width, dtype = sizes.model_dim, dtype_of(config)
        self._layer = torch.nn.TransformerEncoderLayer(
            width,
            config.num_heads or max(1, width // 128),
            config.ffn_size or 4 * width,
            dropout=0.0,
            batch_first=True,
            device=device,
            dtype=dtype,
        )
        self._input = torch.randn(config.batch_size, sizes.seq_len, width, device=device, dtype=dtype)
        self._backward = config.include_backward_compute
        self._expected = self._layer(self._input).detach() if config.deterministic else None
        self._found: list[Any] = []

    def step(self) -> None:
        """Compute a forward and a backward pass."""
        made = self._layer(self._input)
        if self._expected is not None:
            self._found = [compared(made.detach(), self._expected)]
        if self._backward:
            made.float().sum().backward()
            self._layer.zero_grad()

    def evidence(self) -> Iterator[tuple[str, Any]]:
        """Yield what was found."""
        return (("compute", found) for found in self._found)


def compute_of(config: RaceConfig, sizes: Sizes, device: Any) -> Any:
    """Return what a config wants computed."""
    if not config.simulate_compute:
        return Idle()
    kind = Products if config.compute_type == "gemm" else Transformer
    return kind(config, sizes, device)
