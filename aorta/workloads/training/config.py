"""The keys of ``training``."""

from typing import Literal

import attrs

from aorta.workloads.config import described


@attrs.frozen(kw_only=True)
class ModelConfig:
    """The model: a stack of layers."""

    kind: Literal["mlp", "transformer"] = described("transformer", "what a layer is")
    hidden_size: int = described(256, "width of a token")
    num_layers: int = described(2, "layers between embedding and output")
    num_heads: int = described(4, "heads of a transformer's layer")
    ffn_size: int = described(1024, "inner width of a layer")
    vocab_size: int = described(32000, "different tokens")


@attrs.frozen(kw_only=True)
class ChecksConfig:
    """What ends a trial as a failure."""

    fail_on_nan_loss: bool = described(True, "a loss that is not finite is a failure")
    fail_on_nan_grad: bool = described(True, "a gradient that is not finite is a failure")
    fail_on_nonfinite_output: bool = described(False, "an output that is not finite is a failure")


@attrs.frozen(kw_only=True)
class TrainingConfig:
    """The keys of ``workload_config``."""

    steps: int = described(1, "timed steps; the trial's steps")
    warmup_steps: int = described(1, "steps before those")
    parallelism: Literal["ddp", "fsdp"] = described("fsdp", "DistributedDataParallel, or fully_shard (FSDP2)")
    device: Literal["auto", "cpu", "cuda"] = described("auto", "where it runs; auto: a GPU if torch sees one")
    dtype: Literal["float32", "bfloat16"] = described(
        "float32", "bfloat16 is autocast under ddp, and mixed precision under fsdp"
    )
    batch_size: int = described(2, "sequences of a rank in a step")
    seq_len: int = described(128, "tokens of a sequence")
    learning_rate: float = described(1e-3, "of AdamW")
    seed: int = described(1234, "of weights and data")
    model: ModelConfig = attrs.field(factory=ModelConfig)
    checks: ChecksConfig = attrs.field(factory=ChecksConfig)

    def __attrs_post_init__(self) -> None:
        """Refuse what makes no sense. Raises ValueError."""
        model = self.model
        least = (self.batch_size, self.seq_len, model.num_layers, model.num_heads, model.hidden_size)
        if min(*least, model.ffn_size, model.vocab_size) < 1 or self.warmup_steps < 0:
            raise ValueError("sizes are at least 1, warmup_steps at least 0")
        if model.kind == "transformer" and model.hidden_size % model.num_heads:
            raise ValueError(f"hidden_size {model.hidden_size} is no multiple of num_heads {model.num_heads}")
