"""The patterns of communication: one iteration each, which leaves its evidence on the device.

Evidence is three int64 (``values.compared``) with a kind and a layer. Nothing waits for the device in
between, since that would hide what is looked for.
"""

from typing import Any

from aorta.model.frozen import frozen
from aorta.workloads.race.compute import compute_of
from aorta.workloads.race.config import DDP, FSDP, RaceConfig, Sizes, dtype_of
from aorta.workloads.race.lanes import COMMUNICATE, COMPUTE, COPY, Lanes
from aorta.workloads.race.values import Values, checksum, compared, spoil


@frozen
class Evidence:
    """What an iteration left: of which kind, which layer, and where it is a sum, of which value."""

    kind: str
    layer: int
    found: Any


class Mode:
    """What the modes have in common: the copy to the device, the computation, the planted corruption."""

    layers = 1

    def __init__(self, config: RaceConfig, sizes: Sizes, values: Values, rank: int, device: Any) -> None:
        import torch

        self.config, self.sizes, self.values, self.rank, self.device = config, sizes, values, rank, device
        self.torch, self.dtype = torch, dtype_of(config)
        self.lanes = Lanes(device, single=config.same_stream_mode)
        self.compute = compute_of(config, sizes, device)
        self.evidence: list[Evidence] = []
        self._kept: dict[str, Any] = {}
        self._ranks = torch.arange(values.world_size, dtype=torch.float32, device=device)[:, None]
        pinned = config.pin_memory and device.type == "cuda"
        self._host = torch.empty(sizes.h2d, dtype=torch.float32, pin_memory=pinned)

    def step(self, iteration: int, inject: int | None) -> None:
        """Do one iteration; ``inject`` is the layer in which to plant a corruption."""
        self.evidence = []
        self.lanes.fork()
        copied = self._copy(iteration)
        self.communicate(iteration, inject)
        with self.lanes.on(COMPUTE):
            self.lanes.wait(COMPUTE, copied)
            self.compute.step()
            self.evidence += [
                Evidence(kind=kind, layer=0, found=found) for kind, found in self.compute.evidence()
            ]
        self.lanes.settle()

    def communicate(self, iteration: int, inject: int | None) -> None:
        """Do the collectives of one iteration."""
        raise NotImplementedError

    def buffer(self, name: str, count: int, dtype: Any) -> Any:
        """Return memory for a tensor: the same in each iteration, or new."""
        if self.config.reuse_buffers and name in self._kept:
            return self._kept[name]
        made = self.torch.empty(count, dtype=dtype, device=self.device)
        self._kept[name] = made
        return made

    def told(self, kind: str, layer: int, tensor: Any, expected: Any) -> None:
        """Keep on the device how a tensor differs from what it must be."""
        self.evidence.append(Evidence(kind=kind, layer=layer, found=compared(tensor, expected)))

    def fills(self, layer: int, iteration: int, dtype: Any) -> Any:
        """Return the values of all ranks, as a column; made on the device, since a copy would wait for it."""
        return (self._ranks + float(self.values.fill(0, layer, iteration))).to(dtype)

    def _copy(self, iteration: int) -> Any:
        value = float(iteration % 1000)
        self._host.fill_(value)
        with self.lanes.on(COPY):
            there = self.buffer("h2d", self.sizes.h2d, self.torch.float32)
            there.copy_(self._host, non_blocking=True)
            self.told("h2d", 0, there, value)
        return self.lanes.mark(COPY)


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
            sent.fill_(float(self.values.fill(self.rank, 0, iteration)))
            got.zero_()
            dist.all_to_all_single(got, sent)
            if inject is not None:
                spoil(got)
            self.told("all_to_all", 0, got.view(world, -1), self.fills(0, iteration, self.dtype))
            total = self.buffer("total", self.sizes.allreduce, self.torch.float32)
            total.fill_(float(self.values.fill(self.rank, 1, iteration)))
            dist.all_reduce(total)
            self.told("all_reduce", 0, total, float(self.values.total(1, iteration)))


class Gradients(Mode):
    """``ddp``: gradients of all layers are added up, at once or layer by layer, and stepped on."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.layers = self.config.num_layers
        torch = self.torch
        self._weights = [
            torch.nn.Parameter(torch.ones(self.sizes.allreduce, device=self.device))
            for _ in range(self.layers)
        ]
        kinds = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
        kind = kinds.get(self.config.optimizer)
        decay = self.config.optimizer_weight_decay
        self._optimizer: Any = (
            kind(self._weights, lr=self.config.optimizer_lr, weight_decay=decay) if kind else None
        )

    def communicate(self, iteration: int, inject: int | None) -> None:
        """Reduce the gradients, and let every rank make the same step."""
        import torch.distributed as dist

        size = self.sizes.allreduce
        with self.lanes.on(COMMUNICATE):
            every = self.buffer("gradients", size * self.layers, self.torch.float32).view(self.layers, size)
            for layer in range(self.layers):
                every[layer].fill_(float(self.values.fill(self.rank, layer, iteration)))
                if self.config.ddp_bucketed:
                    dist.all_reduce(every[layer])
            if not self.config.ddp_bucketed:
                dist.all_reduce(every)
            if inject is not None:
                spoil(every[inject])
            for layer in range(self.layers):
                self.told("gradient", layer, every[layer], float(self.values.total(layer, iteration)))
            if self._optimizer is not None:
                self._step(every, dist)

    def _step(self, every: Any, dist: Any) -> None:
        """Step, and compare the weights of all ranks by the bits."""
        for weight, gradient in zip(self._weights, every, strict=True):
            weight.grad = gradient
        self._optimizer.step()
        own = self.torch.stack([checksum(weight) for weight in self._weights])
        gathered = [self.torch.empty_like(own) for _ in range(self.values.world_size)]
        dist.all_gather(gathered, own)
        usual = self.torch.stack(gathered).mode(dim=0).values
        for layer in range(self.layers):
            self.told(
                "gradient_divergence",
                layer,
                own[layer : layer + 1].to(self.torch.int32),
                usual[layer].to(self.torch.int32),
            )


class Shards(Mode):
    """``fsdp``: each layer is gathered, used while the next one is gathered, and its sums are scattered."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.layers = self.config.num_layers

    def communicate(self, iteration: int, inject: int | None) -> None:
        """Go forward through the layers, and backward."""
        freed: list[Any] = [None, None]
        for layer in range(self.layers):
            self._gather("forward", layer, iteration, freed, plant=inject == layer)
        for layer in reversed(range(self.layers)):
            self._gather("backward", layer, iteration, freed, plant=False)
            self._scatter(layer, iteration)

    def _gather(self, which: str, layer: int, iteration: int, freed: list[Any], *, plant: bool) -> None:
        import torch.distributed as dist

        world, size = self.values.world_size, self.sizes.shard
        gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
        turn = layer % 2
        with self.lanes.on(COMMUNICATE):
            # The buffer is free when the layer before the last has been used.
            self.lanes.wait(COMMUNICATE, freed[turn])
            shard = self.buffer(f"shard{turn}", size, self.dtype)
            whole = self.buffer(f"whole{turn}", size * world, self.dtype)
            shard.fill_(float(self.values.fill(self.rank, layer, iteration)))
            gather(whole, shard)
            if plant:
                spoil(whole)
            here = self.lanes.mark(COMMUNICATE)
        with self.lanes.on(COMPUTE):
            self.lanes.wait(COMPUTE, here)
            rows = whole.view(world, size)
            self.told(f"all_gather_{which}", layer, rows, self.fills(layer, iteration, self.dtype))
            used = rows.to(self.torch.float32).sum(dim=0)
            self.told(f"layer_checksum_{which}", layer, used, float(self.values.total(layer, iteration)))
            freed[turn] = self.lanes.mark(COMPUTE)

    def _scatter(self, layer: int, iteration: int) -> None:
        import torch.distributed as dist

        scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
        with self.lanes.on(COMMUNICATE):
            whole = self.buffer("gradient", self.sizes.shard * self.values.world_size, self.torch.float32)
            shard = self.buffer("gradient_shard", self.sizes.shard, self.torch.float32)
            whole.fill_(float(self.values.fill(self.rank, layer, iteration)))
            scatter(shard, whole)
            self.told("reduce_scatter", layer, shard, float(self.values.total(layer, iteration)))


def mode_of(config: RaceConfig, sizes: Sizes, values: Values, rank: int, device: Any) -> Mode:
    """Return the mode that a config names."""
    kind = {DDP: Gradients, FSDP: Shards}.get(config.mode, Exchange)
    return kind(config, sizes, values, rank, device)
