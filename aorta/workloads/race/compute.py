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

    def start(self) -> None:
        """Begin an iteration."""

    def forward(self, layer: int) -> None:
        """Do nothing."""

    def backward(self, layer: int) -> None:
        """Do nothing."""

    def evidence(self) -> Iterator[tuple[int, Any]]:
        """Yield nothing."""
        return iter(())


class Products:
    """Products of two matrices of small integers; every result is compared with what it must be.

    ``reference`` is ``exact`` where the library's first result was what arithmetic says, and ``first`` where
    it was only near to it (a library that adds in half precision): then all are compared with that.
    """

    def __init__(self, config: RaceConfig, sizes: Sizes, device: Any, layers: int) -> None:
        import torch

        size, dtype = sizes.gemm, dtype_of(config)
        line = torch.arange(size, device=device)
        self._left = ((line[:, None] + line[None, :]) % _BASE).to(dtype)
        self._right = ((line[:, None] + 2 * line[None, :]) % _BASE).to(dtype)
        self._backward = config.include_backward_compute
        # All products of an iteration, spread over the layers.
        self._counts = [max(1, len(range(layer, sizes.products, layers))) for layer in range(layers)]
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
        self._found: list[tuple[int, Any]] = []

    def start(self) -> None:
        """Begin an iteration."""
        self._found = []

    def forward(self, layer: int) -> None:
        """Compute, and keep on the device what is wrong with it."""
        for _ in range(self._counts[layer]):
            self._found.append((layer, compared(self._left @ self._right, self._expected)))

    def backward(self, layer: int) -> None:
        """Compute as much as a backward pass does; its results are not looked at."""
        for _ in range(self._counts[layer] if self._backward else 0):
            self._expected.t() @ self._left

    def evidence(self) -> Iterator[tuple[int, Any]]:
        """Yield what was found, one for each product, with its layer."""
        return iter(self._found)


class Transformer:
    """Layers of a transformer; their output is compared with the first one where kernels are deterministic.

    Each layer has weights of its own, or all share those of one; the backward pass is autograd's.
    """

    reference = "first"

    def __init__(self, config: RaceConfig, sizes: Sizes, device: Any, layers: int) -> None:
        import torch

        torch.manual_seed(config.deterministic_seed)
        width, dtype = sizes.model_dim, dtype_of(config)
        made = [
            torch.nn.TransformerEncoderLayer(
                width,
                config.num_heads or max(1, width // 128),
                config.ffn_size or 4 * width,
                dropout=0.0,
                batch_first=True,
                device=device,
                dtype=dtype,
            )
            for _ in range(1 if config.shared_layer_weights else layers)
        ]
        self._layers = [made[layer % len(made)] for layer in range(layers)]
        self._input = torch.randn(config.batch_size, sizes.seq_len, width, device=device, dtype=dtype)
        self._backward = config.include_backward_compute
        self._expected = [layer(self._input).detach() for layer in made] if config.deterministic else []
        self._made: dict[int, Any] = {}
        self._found: list[tuple[int, Any]] = []

    def start(self) -> None:
        """Begin an iteration."""
        self._made, self._found = {}, []

    def forward(self, layer: int) -> None:
        """Compute a layer's forward pass, and keep on the device what is wrong with it."""
        made = self._layers[layer](self._input)
        if self._expected:
            expected = self._expected[layer % len(self._expected)]
            self._found.append((layer, compared(made.detach(), expected)))
        if self._backward:
            self._made[layer] = made

    def backward(self, layer: int) -> None:
        """Compute a layer's backward pass."""
        if self._backward:
            self._made.pop(layer).float().sum().backward()
            self._layers[layer].zero_grad()

    def evidence(self) -> Iterator[tuple[int, Any]]:
        """Yield what was found, with its layer."""
        return iter(self._found)


def compute_of(config: RaceConfig, sizes: Sizes, device: Any, layers: int) -> Any:
    """Return what a config wants computed, in as many layers as are told."""
    if not config.simulate_compute:
        return Idle()
    kind = Products if config.compute_type == "gemm" else Transformer
    return kind(config, sizes, device, layers)
