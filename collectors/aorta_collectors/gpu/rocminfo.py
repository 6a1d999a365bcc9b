"""What ``rocminfo`` prints: the GPUs as the ROCm runtime sees them, masks and overrides applied."""

import re
from collections.abc import Iterator, Sequence

from aorta.collect import CommandAnswer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.gpu.gfx import Target, parse_target, plain

COMMAND = ("rocminfo",)
TIMEOUT_S = 20.0

_LABEL = re.compile(r"( *)([^:]{1,60}):+[ \t]*(.*)")
_AGENT = re.compile(r"Agent [0-9]{1,5}\s*")
_NUMBER = re.compile(r"([0-9]{1,12})(?:\(0x[0-9a-f]+\))?")
_ATTRIBUTE_INDENT = 2
_ISA_INDENT = 6
_REFUSED = re.compile(r"Unable to open /dev/kfd[^:\n]{0,80}:\s*(.{1,80})")
_ISA = re.compile(r"amdgcn-amd-amdhsa--(\S{1,80})")

#: How the C library words the errors that opening /dev/kfd ends with.
ERRNO_NAMES = {
    "Permission denied": "EACCES",
    "Operation not permitted": "EPERM",
    "Invalid argument": "EINVAL",
    "Cannot allocate memory": "ENOMEM",
    "No such file or directory": "ENOENT",
    "No such device": "ENODEV",
    "No such device or address": "ENXIO",
    "Device or resource busy": "EBUSY",
    "Input/output error": "EIO",
}

#: What each errno means for the user.
FIXES = {
    "EACCES": "; the user is not in the group of the device",
    "EPERM": "; the device cgroup of the container or job refuses it",
    "ENOENT": "; the device is not passed into this container",
}


@frozen
class Agent:
    """One GPU agent. ``bdfid`` is bus, device and function without the domain; WSL2 prints none."""

    name: str
    node: int | None = None
    bdfid: int | None = None
    chip_id: int | None = None
    uuid: str | None = None
    marketing_name: str | None = None
    compute_units: int | None = None
    target: Target | None = None


def parse_agents(text: str) -> tuple[Agent, ...]:
    """Read the GPU agents, in the order printed. CPUs and agents without a gfx name are left out."""
    blocks = [block for block in _blocks(text) if block[0].get("Device Type") == "GPU"]
    agents = [_agent(attributes, isas) for attributes, isas in blocks]
    return tuple(agent for agent in agents if agent is not None)


def lists_any(text: str) -> bool:
    """Tell whether it is a list of agents at all; the processors are always on it."""
    return any(_AGENT.fullmatch(line) for line in plain(text).splitlines())


def _blocks(text: str) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Yield each agent's own attributes (two blanks deep) and the names of its ISAs (six deep)."""
    attributes: dict[str, str] | None = None
    isas: list[str] = []
    for line in plain(text).splitlines():
        if _AGENT.fullmatch(line):
            if attributes is not None:
                yield attributes, isas
            attributes, isas = {}, []
            continue
        match = _LABEL.fullmatch(line)
        if match is None or attributes is None:
            continue
        indent, label, value = len(match[1]), match[2].strip(), match[3].strip()
        if indent == _ATTRIBUTE_INDENT:
            attributes.setdefault(label, value)
        elif indent == _ISA_INDENT and label == "Name":
            isas.append(value)
    if attributes is not None:
        yield attributes, isas


def _agent(attributes: dict[str, str], isas: list[str]) -> Agent | None:
    base = parse_target(attributes.get("Name", ""))
    if base is None:
        return None
    targets = [parse_target(match[1]) for match in map(_ISA.fullmatch, isas) if match]
    own = [target for target in targets if target is not None and not target.generic]
    return Agent(
        name=base.base,
        node=_number(attributes.get("Internal Node ID", attributes.get("Node"))),
        bdfid=_number(attributes.get("BDFID")),
        chip_id=_number(attributes.get("Chip ID")),
        uuid=attributes.get("Uuid") or None,
        marketing_name=attributes.get("Marketing Name") or None,
        compute_units=_number(attributes.get("Compute Unit")),
        target=own[0] if own else None,
    )


def _number(text: str | None) -> int | None:
    match = _NUMBER.fullmatch(text or "")
    return int(match[1]) if match else None


def parse_kfd_refusal(text: str) -> tuple[str | None, str] | None:
    """Read why /dev/kfd could not be opened: the errno's name (None if unknown) and the words."""
    match = _REFUSED.search(plain(text))
    if match is None:
        return None
    words = match[1].strip()
    return ERRNO_NAMES.get(words), words


def ask(ctx: Context, bin_dirs: Sequence[str]) -> CommandAnswer:
    """Run rocminfo; all collectors that ask share one run."""
    return ctx.command(COMMAND, timeout=TIMEOUT_S, path=bin_dirs)


def explain(answer: CommandAnswer) -> tuple[ReasonKind, str]:
    """Say why rocminfo named no GPU; a refusal to open /dev/kfd is told apart by its errno."""
    refusal = parse_kfd_refusal(answer.value.stdout) if answer.value is not None else None
    if refusal is not None:
        name, words = refusal
        kind = ReasonKind.DENIED if name in ("EACCES", "EPERM") else ReasonKind.FAILED
        return (
            kind,
            f"rocminfo cannot open /dev/kfd: {name or 'unknown errno'} ({words}){FIXES.get(name or '', '')}",
        )
    if answer.kind is None:
        return ReasonKind.EXPECTED, "rocminfo lists no GPU"
    return answer.kind, plain(answer.detail)
