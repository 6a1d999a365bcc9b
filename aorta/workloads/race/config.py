"""The keys of ``race``. Null sizes are chosen by the device, so that one recipe serves GPUs and laptops."""

from typing import Any, Literal

import attrs

from aorta.model.frozen import frozen
from aorta.model.text import count_of
from aorta.workloads.config import check_below, described

DEFAULT, DDP, FSDP = MODES = ("default", "ddp", "fsdp")


@attrs.frozen(kw_only=True)
class Inject:
    """Where a corruption is planted: one bit of each thing that this rank received there."""

    rank: int
    layer: int = 0
    iteration: int = 0


@attrs.frozen(kw_only=True)
class RaceConfig:
    """The keys of ``workload_config``."""

    mode: Literal["default", "ddp", "fsdp"] = described("default", "which communication pattern is run")
    device: Literal["auto", "cpu", "cuda"] = described("auto", "where it runs; auto: a GPU if torch sees one")
    steps: int = described(1, "the trial's steps: verified iterations where verify_iterations is null")
    warmup_iterations: int | None = described(
        None, "unchecked iterations first; null: 100 on a GPU, 2 on a CPU"
    )
    verify_iterations: int | None = described(None, "checked iterations; null: the trial's steps")
    stop_on_first_corruption: bool = described(True, "all ranks stop after the iteration of the first one")
    log_interval: int = described(100, "iterations between two lines of progress; 0: none")
    h2d_tensor_size: int | None = described(None, "elements copied to the device; null: 1e6, or 1e4 on a CPU")
    alltoall_tensor_size: int | None = described(None, "elements sent to all; null: 1e5, or 1e3 on a CPU")
    allreduce_tensor_size: int | None = described(None, "elements reduced; null: 1e5, or 1e3 on a CPU")
    fsdp_shard_size: int | None = described(None, "elements of a rank's shard; null: 1e5, or 1e3 on a CPU")
    num_layers: int = described(4, "layers of ddp and fsdp")
    dtype: Literal["bfloat16", "float16", "float32", "bf16", "fp16", "fp32"] = described(
        "bfloat16", "of what is gathered, exchanged and multiplied; sums are float32"
    )
    simulate_compute: bool = described(True, "compute while communicating")
    compute_type: Literal["gemm", "transformer"] = described("gemm", "what is computed")
    include_backward_compute: bool = described(True, "compute a backward pass too")
    real_backward: bool | None = described(
        None, "says how that is done: true by autograd (transformer), false by products (gemm); null: either"
    )
    shared_layer_weights: bool = described(False, "fsdp: the transformer's layers share one set of weights")
    gemm_size: int | None = described(None, "rows and columns of a matrix; null: 5120, or 64 on a CPU")
    gemm_layers: int | None = described(None, "products in an iteration; null: 26, or 2 on a CPU")
    model_dim: int | None = described(None, "width of the transformer; null: 2048, or 64 on a CPU")
    num_heads: int = described(0, "heads of the transformer; 0: model_dim / 128, at least 1")
    ffn_size: int = described(0, "inner width of the transformer; 0: four times model_dim")
    seq_len: int | None = described(None, "tokens of the transformer; null: 512, or 16 on a CPU")
    batch_size: int = described(1, "sequences of the transformer")
    optimizer: Literal["none", "adamw", "sgd"] = described("none", "ddp: steps on the reduced gradients")
    optimizer_lr: float = described(1e-4, "its learning rate")
    optimizer_weight_decay: float = described(0.01, "its weight decay")
    optimizer_betas: tuple[float, float] = described((0.9, 0.999), "adamw: decay of its two averages")
    optimizer_eps: float = described(1e-8, "adamw: what is added below the fraction")
    deterministic: bool = described(False, "deterministic kernels; the transformer's output is checked then")
    deterministic_seed: int = described(42, "seed of the transformer's weights")
    ddp_bucketed: bool = described(False, "ddp: reduce layer by layer instead of all at once")
    reuse_buffers: bool = described(True, "write to the same memory in each iteration")
    pin_memory: bool = described(True, "copy to the device from pinned memory")
    h2d_prefetch: bool = described(False, "copy to the device what the next iteration uses, one ahead")
    same_stream_mode: bool = described(False, "everything in one stream: no overlap")
    gpu_max_hw_queues: int | None = described(4, "GPU_MAX_HW_QUEUES, if it is not set; null: left alone")
    expected_local_world_size: int | None = described(None, "ranks on a node that the recipe is made for")
    inject: Inject | None = attrs.field(
        default=None, metadata={"doc": "plant a corruption in what this rank received"}
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what makes no sense. Raises ValueError."""
        _check_mode(self)
        _check_numbers(self)
        if self.inject is not None and min(self.inject.rank, self.inject.layer, self.inject.iteration) < 0:
            raise ValueError("inject: rank, layer and iteration count from 0")


def _check_mode(config: RaceConfig) -> None:
    if config.mode == FSDP and (config.same_stream_mode or not config.reuse_buffers):
        raise ValueError(
            "mode fsdp has streams and buffers of its own: leave reuse_buffers and same_stream_mode out"
        )
    if config.optimizer != "none" and config.mode != DDP:
        raise ValueError(f"optimizer {config.optimizer} is for mode ddp")
    by_autograd = config.compute_type == "transformer"
    if config.real_backward is not None and config.real_backward != by_autograd:
        how = "autograd's" if by_autograd else "products of matrices"
        raise ValueError(
            f"real_backward is {str(config.real_backward).lower()}, but the backward pass of compute_type"
            f" {config.compute_type} is {how}: leave real_backward out, or change compute_type"
        )
    if config.shared_layer_weights and not by_autograd:
        raise ValueError("shared_layer_weights is for compute_type transformer: gemm has no weights")


def _check_numbers(config: RaceConfig) -> None:
    for name in ("warmup_iterations", "log_interval", "num_heads", "ffn_size"):
        if (getattr(config, name) or 0) < 0:
            raise ValueError(f"{name} is {getattr(config, name)}, below 0")
    for field in attrs.fields(RaceConfig):
        value = getattr(config, field.name)
        if field.name in _POSITIVE and value is not None and value < 1:
            raise ValueError(f"{field.name} is {value}, below 1")
    if not all(0 <= beta < 1 for beta in config.optimizer_betas):
        raise ValueError(f"optimizer_betas are {list(config.optimizer_betas)}, not from 0 to below 1")


_POSITIVE = (
    "steps",
    "verify_iterations",
    "h2d_tensor_size",
    "alltoall_tensor_size",
    "allreduce_tensor_size",
    "fsdp_shard_size",
    "num_layers",
    "gemm_size",
    "gemm_layers",
    "model_dim",
    "seq_len",
    "batch_size",
    "gpu_max_hw_queues",
    "expected_local_world_size",
)


@frozen
class Sizes:
    """The sizes that are used, where the config leaves them to the device."""

    warmup: int
    verify: int
    h2d: int
    alltoall: int
    allreduce: int
    shard: int
    gemm: int
    products: int
    model_dim: int
    seq_len: int


def sizes(config: RaceConfig, *, gpu: bool) -> Sizes:
    """Return the sizes for a device."""

    def chosen(given: int | None, on_gpu: int, on_cpu: int) -> int:
        return given if given is not None else on_gpu if gpu else on_cpu

    return Sizes(
        warmup=chosen(config.warmup_iterations, 100, 2),
        verify=chosen(config.verify_iterations, config.steps, config.steps),
        h2d=chosen(config.h2d_tensor_size, 1_000_000, 10_000),
        alltoall=chosen(config.alltoall_tensor_size, 100_000, 1_000),
        allreduce=chosen(config.allreduce_tensor_size, 100_000, 1_000),
        shard=chosen(config.fsdp_shard_size, 100_000, 1_000),
        gemm=chosen(config.gemm_size, 5120, 64),
        products=chosen(config.gemm_layers, 26, 2),
        model_dim=chosen(config.model_dim, 2048, 64),
        seq_len=chosen(config.seq_len, 512, 16),
    )


def check_inject(config: RaceConfig, *, ranks: int, iterations: int) -> None:
    """Refuse a corruption that would be planted nowhere. Raises ValueError."""
    planted = config.inject
    if planted is None:
        return
    layers = config.num_layers if config.mode != DEFAULT else 1
    of_mode = f" in mode {config.mode}"
    for key, value, end, what in (
        ("rank", planted.rank, ranks, count_of(ranks, "rank")),
        ("layer", planted.layer, layers, count_of(layers, "layer") + of_mode),
        ("iteration", planted.iteration, iterations, count_of(iterations, "verified iteration")),
    ):
        check_below(f"inject.{key}", value, end, what)


def dtype_of(config: RaceConfig) -> Any:
    """Return the torch dtype."""
    import torch

    names = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
    return getattr(torch, names.get(config.dtype, config.dtype))
