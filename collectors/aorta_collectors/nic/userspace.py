"""What user space has of RDMA devices: uverbs nodes, access to them, provider libraries, libibverbs."""

import re
from typing import Any, NamedTuple

from aorta.collect import Answer, CommandAnswer, Context, Stat, parsed
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.kernel_files import believed
from aorta_collectors.nic.ids import PROVIDERS
from aorta_collectors.nic.model import NicDevice, NicVerbs
from aorta_collectors.nic.sysfs import number, word
from aorta_collectors.nic.tools import Verbs, parse_verbs
from aorta_collectors.observations import machine, mapping

CLASS = "/sys/class/infiniband_verbs"
NODES = "/dev/infiniband"
IBV_DEVICES = ("ibv_devices",)
#: access(2) asks the device cgroup too, which no mode shows, and opens nothing.
ACCESS = ("find", NODES, "-maxdepth", "1", "-name", "uverbs*", "-readable", "-writable")


class Access(NamedTuple):
    """Whether a device node may be opened. ``why`` says what speaks against it."""

    openable: bool | None
    why: str = ""


class UserSpace(NamedTuple):
    """The whole of it. ``uverbs`` maps RDMA devices to uverbs devices, ``listing`` says if all were seen."""

    uverbs: dict[str, str]
    listing: Answer[Any]
    libraries: dict[str, str]
    library_dirs: Answer[Any]
    nodes: Answer[list[str]]
    access: Answer[frozenset[str]]
    verbs: Answer[Verbs]


def look(ctx: Context) -> UserSpace:
    """Read uverbs and the provider libraries; ``with_answers`` adds what the commands say."""
    listing = believed(ctx, ctx.scan(CLASS))
    uverbs = {}
    for entry in listing.value or ():
        name = parsed(ctx.text(f"{CLASS}/{entry.name}/ibdev"), word).value
        if name is not None:
            uverbs[name] = entry.name
    libraries, dirs = _libraries(ctx)
    scanned = ctx.scan(NODES)
    names = parsed(scanned, lambda found: [each.name for each in found])
    unasked: Answer[Any] = Answer(kind=ReasonKind.ABSENT, subject=NODES)
    return UserSpace(
        uverbs=uverbs,
        listing=listing,
        libraries=libraries,
        library_dirs=dirs,
        nodes=names,
        access=unasked,
        verbs=unasked,
    )


def parse_access(text: str) -> frozenset[str]:
    """Read the paths that ``find`` printed: names of the nodes that may be opened."""
    return frozenset(line.strip().rpartition("/")[2] for line in text.splitlines() if line.startswith(NODES))


def heard(answer: CommandAnswer) -> Answer[Verbs]:
    """Read ibv_devices' answer."""
    return parsed(answer, lambda done: parse_verbs(done.stdout, done.stderr))


def _libraries(ctx: Context) -> tuple[dict[str, str], Answer[Any]]:
    """Return provider to library, from where rdma-core puts them; the last answer that was no listing."""
    found: dict[str, str] = {}
    trouble: Answer[Any] = Answer()
    name = re.compile(r"lib([A-Za-z0-9_]{1,40})-rdmav[0-9]{1,4}\.so")
    multiarch = f"/usr/lib/{machine(ctx)}-linux-gnu"
    for place in (multiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"):
        listing = ctx.scan(f"{place}/libibverbs")
        if not (listing.ok or listing.absent):
            trouble = listing
        for entry in listing.value or ():
            match = name.fullmatch(entry.name)
            if match and entry.kind != "dir":
                found.setdefault(match[1], f"{place}/libibverbs/{entry.name}")
    return found, trouble


def provider_of(device: NicDevice) -> str | None:
    """Return the name of the provider that would serve a device; None without a known driver."""
    return PROVIDERS.get(device.driver, device.driver) if device.driver else None


def describe(ctx: Context, device: NicDevice, space: UserSpace) -> NicVerbs:
    """Say what user space has of one RDMA device."""
    name = device.rdma_device or ""
    uverbs = space.uverbs.get(name)
    heard_of, complaint = space.verbs.value, None
    if heard_of is not None:
        complaint = heard_of.mismatches.get(name) or heard_of.mismatches.get(uverbs or "")
    kernel = parsed(ctx.text(f"{CLASS}/{uverbs}/abi_version"), number).value if uverbs else None
    if kernel is None and complaint is not None:
        kernel = int(complaint[1])
    return NicVerbs(
        uverbs=uverbs,
        kernel_abi=kernel,
        core_abi=parsed(ctx.text(f"{CLASS}/abi_version"), number).value,
        provider_abi=complaint[2] if complaint else None,
        provider_library=space.libraries.get(provider_of(device) or ""),
        openable=access(ctx, uverbs, space).openable if uverbs else None,
        listed=None if heard_of is None else name in heard_of.names,
    )


def access(ctx: Context, uverbs: str, space: UserSpace) -> Access:
    """Tell whether a node may be opened: what find says of it, else its mode and owner."""
    path = f"{NODES}/{uverbs}"
    node = ctx.stat(path)
    if node.value is None:
        return Access(openable=False if node.absent else None, why=node.detail)
    by_mode = _by_mode(ctx, node.value)
    mode = f"{path}: mode {node.value.mode & 0o7777:04o}, owner {node.value.uid}:{node.value.gid}"
    refused = ctx.data(path, 1).kind is ReasonKind.DENIED if node.value.kind == "file" else False
    if refused or (space.access.value is not None and uverbs not in space.access.value):
        return Access(openable=False, why=f"{mode}{', yet refused (device cgroup?)' if by_mode else ''}")
    if space.access.value is not None:
        return Access(openable=True)
    if by_mode is None:
        return Access(openable=None, why=f"{mode}; this user's groups are not known")
    return Access(openable=by_mode, why="" if by_mode else mode)


def _by_mode(ctx: Context, node: Stat) -> bool | None:
    """Tell whether the mode lets this user read and write; a device cgroup may still refuse."""
    if node.mode & 0o006 == 0o006:
        return True
    user = mapping(ctx, "user").value
    if user is None or not isinstance(user.get("groups"), list):
        return None
    if user.get("root") is True or (user.get("uid") == node.uid and node.mode & 0o600 == 0o600):
        return True
    return node.gid in user["groups"] and node.mode & 0o060 == 0o060
