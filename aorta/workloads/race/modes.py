"""The patterns of communication: one iteration each, which leaves its evidence on the device.

Evidence is three int64 (``values.compared``) with a kind and a layer. Nothing waits for the device in
between, since that would hide what is looked for. Buffers are poisoned after their last use, and those that
a collective writes to before it too: what is then read too early, or was never written, is no known value.
"""

from typing import Any

from aorta.model.frozen import frozen
from aorta.workloads.race.compute import compute_of
from aorta.workloads.race.config import DDP, FSDP, RaceConfig, Sizes, dtype_of
from aorta.workloads.race.copies import Copies
from aorta.workloads.race.lanes import COMMUNICATE, COMPUTE, Lanes
from aorta.workloads.race.values import (
    DIVERGENCE,
    LAYER_CHECKSUM,
    POISON,
    Values,
    bits,
    checksum,
    compared,
    counted,
    poison,
    spoil,
)


@frozen
class Evidence:
    """What an iteration left: of which kind, which layer; of a checksum also what it must be."""

    kind: str
    layer: int
    found: Any
    expected: int | None = None


class Mode:
    """What the modes have in common: the copy to the device, the computation, the planted corruption."""

    layers = 1

    def __init__(self, config: RaceConfig, sizes: Sizes, values: Values, rank: int, device: Any) -> None:
        import torch

        self.config, self.sizes, self.values, self.rank, self.device = config, sizes, values, rank, device
        self.torch, self.dtype = torch, dtype_of(config)
        self.lanes = Lanes(device, single=config.same_stream_mode)
        self.evidence: list[Evidence] = []
        self._kept: dict[str, Any] = {}
        self._ranks = torch.arange(values.world_size, dtype=torch.float32, device=device)[:, None]
        self._copies = Copies(config, sizes, device)
        self.compute = compute_of(config, sizes, device, self.parts())

    def step(self, iteration: int, inject: int | None) -> None:
        """Do one iteration; ``inject`` is the layer in which to plant a corruption."""
        self.evidence = []
        self.compute.start()
        self.lanes.fork()
        there, value, copied = self._copies.arrived(iteration, self.lanes)
        with self.lanes.on(COMPUTE):
            self.lanes.wait(COMPUTE, copied)
            self.told("h2d", 0, there, value)
        self.communicate(iteration, inject)
        self.evidence += [
            Evidence(kind="compute", layer=layer, found=found) for layer, found in self.compute.evidence()
        ]
        self.lanes.settle()

    def communicate(self, iteration: int, inject: int | None) -> None:
        """Do the collectives and the computation of one iteration."""
        raise NotImplementedError

    def parts(self) -> int:
        """Return in how many layers it computes."""
        return 1

    def calculate(self) -> None:
        """Compute, beside what communicates."""
        with self.lanes.on(COMPUTE):
            self.compute.forward(0)
            self.compute.backward(0)

    def buffer(self, name: str, count: int, dtype: Any) -> Any:
        """Return memory for a tensor: the same in each iteration, or new."""
        if self.config.reuse_buffers and name in self._kept:
            return self._kept[name]
        made = self.torch.full((count,), POISON, dtype=dtype, device=self.device)
        self._kept[name] = made
        return made

    def told(self, kind: str, layer: int, tensor: Any, expected: Any) -> None:
        """Keep on the device how a tensor differs from what it must be."""
        self.evidence.append(Evidence(kind=kind, layer=layer, found=compared(tensor, expected)))

    def summed(self, kind: str, layer: int, tensor: Any, expected: int) -> None:
        """Keep on the device whether a tensor has the checksum that it must have."""
        kind = f"{LAYER_CHECKSUM}{kind}"
        found = counted(tensor, expected)
        self.evidence.append(Evidence(kind=kind, layer=layer, found=found, expected=expected))

    def fills(self, layer: int, iteration: int, dtype: Any) -> Any:
        """Return the values of all ranks, as a column; made on the device, since a copy would wait for it."""
        scale = self.values.scale(layer, iteration)
        return (self._ranks * scale + self.values.fill(0, layer, iteration)).to(dtype)


class Exchange(Mode):
    """``default``: all-to-all and all-reduce."""

    def communicate(self, iteration: int, inject: int | None) -> None:
        """Exchange chunks that are filled by rank, and add up."""
        import torch.distributed as dist

        world = self.values.world_size
        count = -(-self.sizes.alltoall // world) * world
        with self.lanes.on(COMMUNICATE):
            sent = self.buffer("sent", count, self.dtype)
            got = self.buffer("got", count, self.dtype)
            sent.fill_(self.values.fill(self.rank, 0, iteration))
            poison(got)
            dist.all_to_all_single(got, sent)
            poison(sent)
            if inject is not None:
                spoil(got)
            self.told("all_to_all", 0, got.view(world, -1), self.fills(0, iteration, self.dtype))
            total = self.buffer("total", self.sizes.allreduce, self.torch.float32)
            total.fill_(self.values.fill(self.rank, 1, iteration))
            dist.all_reduce(total)
            self.told("all_reduce", 0, total, self.values.total(1, iteration))
            poison(got)
            poison(total)
        self.calculate()


class Gradients(Mode):
    """``ddp``: gradients of all layers are added up, at once or layer by layer, and stepped on."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.layers = self.config.num_layers
        torch, config = self.torch, self.config
        self._weights = [
            torch.nn.Parameter(torch.ones(self.sizes.allreduce, device=self.device))
            for _ in range(self.layers)
        ]
        same = {"lr": config.optimizer_lr, "weight_decay": config.optimizer_weight_decay}
        self._optimizer: Any = None
        if config.optimizer == "adamw":
            more = {"betas": config.optimizer_betas, "eps": config.optimizer_eps}
            self._optimizer = torch.optim.AdamW(self._weights, **same, **more)
        elif config.optimizer == "sgd":
            self._optimizer = torch.optim.SGD(self._weights, **same)

    def communicate(self, iteration: int, inject: int | None) -> None:
        """Reduce the gradients, and let every rank make the same step."""
        import torch.distributed as dist

        size = self.sizes.allreduce
        with self.lanes.on(COMMUNICATE):
            every = self.buffer("gradients", size * self.layers, self.torch.float32).view(self.layers, size)
            for layer in range(self.layers):
                every[layer].fill_(self.values.fill(self.rank, layer, iteration))
                if self.config.ddp_bucketed:
                    dist.all_reduce(every[layer])
            if not self.config.ddp_bucketed:
                dist.all_reduce(every)
            if inject is not None:
                spoil(every[inject])
            for layer in range(self.layers):
                total = self.values.total(layer, iteration)
                self.told("gradient", layer, every[layer], total)
                self.summed("gradient", layer, every[layer], bits(total, every.dtype) * size)
            if self._optimizer is not None:
                self._step(every, iteration, dist)
            poison(every)
        self.calculate()

    def _step(self, every: Any, iteration: int, dist: Any) -> None:
        """Step, and compare the weights of all ranks by the bits."""
        torch = self.torch
        for weight, gradient in zip(self._weights, every, strict=True):
            weight.grad = gradient
        self._optimizer.step()
        right = [self.values.total(layer, iteration) for layer in range(self.layers)]
        wrong = [(row != value).any().to(torch.int64) for row, value in zip(every, right, strict=True)]
        own = torch.stack([torch.stack([checksum(weight) for weight in self._weights]), torch.stack(wrong)])
        # No checksum is 0; that no gradient is wrong decides nothing.
        gathered = [torch.zeros_like(own) for _ in range(self.values.world_size)]
        dist.all_gather(gathered, own)
        odd = _odd(own, torch.stack(gathered))
        for layer in range(self.layers):
            found = torch.stack([odd[layer].to(torch.int64), torch.zeros_like(own[0, layer]), own[0, layer]])
            self.evidence.append(Evidence(kind=DIVERGENCE, layer=layer, found=found))


def _odd(own: Any, gathered: Any) -> Any:
    """Return for each layer whether this rank's weights are those that differ.

    Row 0 are checksums of weights, row 1 tells wrong gradients. Of two halves the one with a wrong gradient
    is odd, and both are where there is none.
    """
    alike = (gathered[:, 0] == own[0]).sum(dim=0) * 2
    somebody = gathered[:, 1].any(dim=0)
    half = alike == len(gathered)
    return (alike < len(gathered)) | (half & ((own[1] != 0) | ~somebody))


class Shards(Mode):
    """``fsdp``: each layer is gathered, used while the next one is gathered, and its sums are scattered."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.layers = self.config.num_layers

    def parts(self) -> int:
        """Return in how many layers it computes: in all that are gathered."""
        return self.config.num_layers

    def communicate(self, iteration: int, inject: int | None) -> None:
        """Go forward through the layers, and backward."""
        freed: list[Any] = [None, None]
        for layer in range(self.layers):
            self._gather("forward", layer, iteration, freed, plant=inject == layer)
        for layer in reversed(range(self.layers)):
            self._gather("backward", layer, iteration, freed, plant=inject == layer)
            self._scatter(layer, iteration)

    def _gather(self, which: str, layer: int, iteration: int, freed: list[Any], *, plant: bool) -> None:
        import torch.distributed as dist

        world, size = self.values.world_size, self.sizes.shard
        gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
        turn = layer % 2
        fill = self.values.fill(self.rank, layer, iteration)
        total = sum(bits(self.values.fill(rank, layer, iteration), self.dtype) for rank in range(world))
        with self.lanes.on(COMMUNICATE):
            # The buffer is free when the layer before the last has been used.
            self.lanes.wait(COMMUNICATE, freed[turn])
            shard = self.buffer(f"shard{turn}", size, self.dtype)
            whole = self.buffer(f"whole{turn}", size * world, self.dtype)
            shard.fill_(fill)
            self.summed(f"comm_input_{which}", layer, shard, bits(fill, self.dtype) * size)
            poison(whole)
            gather(whole, shard)
            poison(shard)
            if plant:
                spoil(whole)
            self.summed(f"comm_output_{which}", layer, whole, total * size)
            here = self.lanes.mark(COMMUNICATE)
        with self.lanes.on(COMPUTE):
            self.lanes.wait(COMPUTE, here)
            rows = whole.view(world, size)
            self.told(f"all_gather_{which}", layer, rows, self.fills(layer, iteration, self.dtype))
            (self.compute.forward if which == "forward" else self.compute.backward)(layer)
            # Once more after the computation: nobody may write to it before it is freed.
            self.summed(f"compute_input_{which}", layer, whole, total * size)
            poison(whole)
            freed[turn] = self.lanes.mark(COMPUTE)

    def _scatter(self, layer: int, iteration: int) -> None:
        import torch.distributed as dist

        scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
        size, total = self.sizes.shard, self.values.total(layer, iteration)
        with self.lanes.on(COMMUNICATE):
            whole = self.buffer("gradient", size * self.values.world_size, self.torch.float32)
            shard = self.buffer("gradient_shard", size, self.torch.float32)
            whole.fill_(self.values.fill(self.rank, layer, iteration))
            poison(shard)
            scatter(shard, whole)
            poison(whole)
            self.told("reduce_scatter", layer, shard, total)
            self.summed("reduce_scatter", layer, shard, bits(total, shard.dtype) * size)
            poison(shard)


def mode_of(config: RaceConfig, sizes: Sizes, values: Values, rank: int, device: Any) -> Mode:
    """Return the mode that a config names."""
    kind = {DDP: Gradients, FSDP: Shards}.get(config.mode, Exchange)
    return kind(config, sizes, values, rank, device)
