"""Settings, flags and options of a torch build, from the text of its configuration."""

from aorta.collect import Answer, Context
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.pytorch.config import BuildConfig, build_flags
from aorta_collectors.pytorch.model import Flags

CONFIGURED = ("build_settings", "cxx_defines", "cxx_flags_raw", "cuda_flags_raw", "config_lines")


def describe(ctx: Context, torch: TorchFacts, config: Answer[BuildConfig]) -> Flags:
    """Return what the configuration text says of flags."""
    archs = _archs(ctx, torch)
    if config.value is None:
        for field in CONFIGURED:
            ctx.take(config, f"flags.{field}")
        return Flags(gpu_arch_list=archs)
    found = config.value
    flags = Flags(
        build_settings=found.settings,
        cxx_defines=found.defines,
        cxx_flags_raw=found.cxx_flags,
        cuda_flags_raw=found.cuda_flags,
        config_lines=found.lines,
        gpu_arch_list=archs,
    )
    for field in CONFIGURED:
        if getattr(flags, field) is None:
            unnamed(ctx, torch, f"flags.{field}", "torch's configuration text does not name any")
    return flags


def _archs(ctx: Context, torch: TorchFacts) -> tuple[str, ...] | None:
    told = ctx.take(torch.told("arch_flags"), "flags.gpu_arch_list")
    archs = tuple(told.split()) if isinstance(told, str) else ()
    if not archs and torch.told("arch_flags").ok:
        text = "a build without GPU code" if told is None else "torch names no architecture"
        ctx.note(ReasonKind.ABSENT, "flags.gpu_arch_list", text, subject="torch")
    return archs or None


def options(
    ctx: Context, torch: TorchFacts, config: Answer[BuildConfig]
) -> dict[str, bool | str | None] | None:
    """Return the fixed list of build options, as settings and flags name them."""
    found = ctx.take(config, "build_flags")
    if found is not None and found.settings is None:
        unnamed(ctx, torch, "build_flags", "torch's configuration text has no build settings")
    return build_flags(found) if found is not None else None


def unnamed(ctx: Context, torch: TorchFacts, field: str, text: str) -> None:
    """Note that the configuration text does not hold something, or why there is no such text."""
    told = torch.told("config")
    if told.ok:
        ctx.note(ReasonKind.ABSENT, field, text, subject="torch.__config__")
    else:
        ctx.take(told, field)


def runtime(ctx: Context, torch: TorchFacts, config: Answer[BuildConfig], field: str) -> str | None:
    """Return the version of a line that only builds for HIP have, and those only beside a device."""
    found = ctx.take(config, field)
    if found is None:
        return None
    line = "HIP Runtime" if field == "hip_runtime" else "MIOpen"
    value = found.hip_runtime if field == "hip_runtime" else found.miopen
    if value is None:
        hip = torch.text("hip")
        text = "this torch was not built with HIP"
        if hip:
            text = f"built with HIP {hip}, its configuration text has no line {line}: torch found no device"
        unnamed(ctx, torch, field, text)
    return value
