"""The models that are trained, and how their layers are spread over ranks."""

from typing import Any

from aorta.workloads.training.config import ModelConfig, TrainingConfig


def model_of(config: ModelConfig, device: Any) -> Any:
    """Return a model that maps tokens to logits."""
    from torch import nn

    width = config.hidden_size
    layers = [_layer(config) for _ in range(config.num_layers)]
    return nn.Sequential(
        nn.Embedding(config.vocab_size, width), *layers, nn.Linear(width, config.vocab_size)
    ).to(device)


def _layer(config: ModelConfig) -> Any:
    from torch import nn

    width = config.hidden_size
    if config.kind == "transformer":
        return nn.TransformerEncoderLayer(
            width, config.num_heads, config.ffn_size, dropout=0.0, batch_first=True, norm_first=True
        )
    return nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, config.ffn_size), nn.GELU(), nn.Linear(config.ffn_size, width)
    )


def spread(model: Any, config: TrainingConfig, device: Any, world_size: int) -> Any:
    """Return the model under DDP, or sharded in place by FSDP2, each of its layers by itself."""
    import torch

    if config.parallelism == "ddp":
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh(device.type, (world_size,))
    low = torch.bfloat16 if config.dtype == "bfloat16" else None
    policy = MixedPrecisionPolicy(param_dtype=low, reduce_dtype=torch.float32)
    for layer in model:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model
