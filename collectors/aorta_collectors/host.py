"""The machine below the job: kernel, C library, processors, memory and their settings."""

import posixpath
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from aorta.collect import Answer, Context, parsed
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.redact import REDACTED, redact
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.host_files import (
    Processors,
    chosen,
    parse_boot_id,
    parse_cmdline,
    parse_cpuinfo,
    parse_cpulist,
    parse_digest,
    parse_glibc,
    parse_governor,
    parse_limits,
    parse_meminfo,
    parse_os_release,
    parse_small_number,
    parse_status,
)
from aorta_collectors.kernel_files import believed
from aorta_collectors.observations import mapping
from aorta_collectors.observations import text as text_of

T = TypeVar("T")
KIB = 1024
CPUINFO_LIMIT = 8 << 20
POLICY_SAMPLE = 64
_FILES = (Provenance.FILESYSTEM,)
_PROCESS = (Provenance.PROCESS,)

#: Kernel parameters that name a machine or its network, not how it runs.
IDENTITY_PARAMETERS = frozenset(
    ("ip", "ifname", "bootif", "hostname", "systemd.hostname", "nfsroot", "nfsaddrs", "netroot", "ds")
)


@frozen
class Distribution:
    """The distribution of the root file system."""

    id: Annotated[str | None, Fact("ID of os-release, e.g. ubuntu.")] = None
    version_id: Annotated[str | None, Fact("VERSION_ID of os-release, e.g. 22.04; none if rolling.")] = None
    pretty_name: Annotated[str | None, Fact("PRETTY_NAME of os-release.")] = None


@frozen
class Cpu:
    """The processors that are online."""

    model: Annotated[str | None, Fact("Model name of the first processor.")] = None
    sockets: Annotated[int | None, Fact("Number of physical packages.")] = None
    cores: Annotated[int | None, Fact("Number of physical cores on all sockets.")] = None
    logical: Annotated[int | None, Fact("Number of logical processors online.")] = None
    allowed: Annotated[
        str | None,
        Fact("Processors that this process may run on, as a list such as 0-47,96-143.", provenance=_PROCESS),
    ] = None
    governors: Annotated[
        tuple[str, ...] | None,
        Fact(
            "Distinct frequency governors, sorted.",
            caveat=f"Of more than {POLICY_SAMPLE} policies at most as many are read, spread over all.",
        ),
    ] = None


@frozen
class NumaNode:
    """One NUMA node."""

    node: Annotated[int | None, Fact("Number of the node.")] = None
    cpus: Annotated[str | None, Fact("Its processors, e.g. 0-47,96-143; empty for memory only.")] = None
    memory_bytes: Annotated[int | None, Fact("Its memory in bytes.")] = None


@frozen
class Numa:
    """How memory and processors are divided."""

    node_count: Annotated[int | None, Fact("Number of NUMA nodes online.")] = None
    balancing: Annotated[int | None, Fact("kernel.numa_balancing: 0 off, 1 on, 2 tiering.")] = None
    allowed: Annotated[
        str | None, Fact("Nodes that this process may take memory from.", provenance=_PROCESS)
    ] = None
    nodes: Annotated[tuple[NumaNode, ...] | None, Fact("The nodes by number.")] = None


@frozen
class Hugepages:
    """Large pages of memory."""

    transparent: Annotated[str | None, Fact("Transparent huge pages: always, madvise or never.")] = None
    defrag: Annotated[str | None, Fact("When transparent huge pages wait for compaction.")] = None
    total: Annotated[int | None, Fact("Number of reserved huge pages of the default size.")] = None
    size_bytes: Annotated[int | None, Fact("Default size of a huge page in bytes.")] = None
    reserved_bytes: Annotated[int | None, Fact("Bytes in reserved huge pages of all sizes.")] = None


@frozen
class Iommu:
    """Translation of device addresses."""

    parameters: Annotated[
        tuple[str, ...] | None, Fact("Kernel parameters about the IOMMU, as they stand.")
    ] = None
    groups: Annotated[int | None, Fact("Number of IOMMU groups; 0: it is off.")] = None


@frozen
class Limit:
    """One resource limit of the process; a number or the word ``unlimited``."""

    soft: Annotated[int | str | None, Fact("What is enforced.")] = None
    hard: Annotated[int | str | None, Fact("What the process may raise it to.")] = None


@frozen
class Ulimits:
    """Resource limits of the process."""

    memlock: Annotated[Limit, Fact("Locked memory in bytes; too little breaks RDMA.")] = Limit()
    nofile: Annotated[Limit, Fact("Open files.")] = Limit()
    nproc: Annotated[Limit, Fact("Processes of the user.")] = Limit()
    stack: Annotated[Limit, Fact("Stack in bytes.")] = Limit()
    core: Annotated[Limit, Fact("Core file in bytes.")] = Limit()
    address_space: Annotated[Limit, Fact("Virtual memory in bytes.")] = Limit()


@frozen
class Host:
    """The machine without its name."""

    kernel_release: Annotated[str | None, Fact("uname release, the host's even in a container.")] = None
    kernel_version: Annotated[
        str | None, Fact("uname version: tells builds of one release apart, so patched kernels too.")
    ] = None
    machine: Annotated[str | None, Fact("uname machine, e.g. x86_64.")] = None
    glibc_version: Annotated[
        str | None,
        Fact("glibc's version, e.g. 2.35.", caveat="The container's, not the host's.", provenance=_PROCESS),
    ] = None
    distribution: Annotated[
        Distribution,
        Fact("From os-release.", caveat="The container's, not the host's.", provenance=_FILES),
    ] = Distribution()
    cpu: Annotated[
        Cpu, Fact("From /proc/cpuinfo.", caveat="A container may see only its own share (lxcfs).")
    ] = Cpu()
    memory_bytes: Annotated[
        int | None, Fact("MemTotal in bytes.", caveat="Not the limit of a container or job.")
    ] = None
    swap_bytes: Annotated[int | None, Fact("SwapTotal in bytes.")] = None
    numa: Annotated[Numa, Fact("From /sys/devices/system/node.")] = Numa()
    hugepages: Annotated[Hugepages, Fact("Huge pages.")] = Hugepages()
    kernel_command_line: Annotated[
        str | None, Fact("Kernel parameters; secrets, names and addresses of the machine are redacted.")
    ] = None
    iommu: Annotated[Iommu, Fact("The IOMMU.")] = Iommu()
    ulimits: Annotated[Ulimits, Fact("Limits of this process.", provenance=_PROCESS)] = Ulimits()
    boot_id: Annotated[str | None, Fact("The kernel's random number of this boot.", volatile=True)] = None
    machine_digest: Annotated[
        str | None,
        Fact(
            "16 hexadecimal digits of a SHA-256 over /etc/machine-id: tells machines apart, names none.",
            caveat="In a container it is the image's, if there is one.",
            provenance=(Provenance.FILESYSTEM,),
        ),
    ] = None


@collector(section="host", model=Host, provenance=Provenance.HOST_KERNEL, scope=Scope.NAMESPACE, timeout_s=10)
def collect(ctx: Context) -> Host:
    """Kernel, C library, distribution, processors, memory, NUMA, limits and kernel parameters."""
    memory = _table(ctx, "/proc/meminfo", parse_meminfo, _MEMORY)
    allowed = _table(ctx, "/proc/self/status", parse_status, _ALLOWED)
    line = _parsed(ctx, "/proc/cmdline", parse_cmdline, "kernel_command_line", "iommu.parameters")
    return Host(
        **_uname(ctx),
        glibc_version=_glibc(ctx),
        distribution=_distribution(ctx),
        cpu=_cpu(ctx, allowed.get("cpu.allowed")),
        memory_bytes=memory.get("memory_bytes"),
        swap_bytes=memory.get("swap_bytes"),
        numa=_numa(ctx, allowed.get("numa.allowed")),
        hugepages=_hugepages(ctx, memory),
        kernel_command_line=_command_line(ctx, line),
        iommu=_iommu(ctx, line),
        ulimits=_ulimits(ctx),
        boot_id=_parsed(ctx, "/proc/sys/kernel/random/boot_id", parse_boot_id, "boot_id"),
        machine_digest=_machine_digest(ctx),
    )


def _machine_digest(ctx: Context) -> str | None:
    answer = ctx.observe("machine_digest")
    if answer.ok and answer.value is None:
        ctx.note(ReasonKind.ABSENT, "machine_digest", "/etc/machine-id has no id")
        return None
    return ctx.take(parsed(answer, parse_digest), "machine_digest")


def _parsed(
    ctx: Context, path: str, parse: Callable[[str], T], *fields: str, limit: int = 1 << 20
) -> T | None:
    """Read and parse a file; what is missing is noted against each of ``fields``."""
    answer = parsed(believed(ctx, ctx.text(path, limit)), parse)
    for field in fields:
        ctx.take(answer, field)
    return answer.value


#: Field -> key of /proc/meminfo and of /proc/self/status.
_MEMORY = {
    "memory_bytes": "MemTotal",
    "swap_bytes": "SwapTotal",
    "hugepages.total": "HugePages_Total",
    "hugepages.size_bytes": "Hugepagesize",
    "hugepages.reserved_bytes": "Hugetlb",
}
_ALLOWED = {"cpu.allowed": "Cpus_allowed_list", "numa.allowed": "Mems_allowed_list"}


def _table(
    ctx: Context, path: str, parse: Callable[[str], dict[str, T]], keys: dict[str, str]
) -> dict[str, T]:
    """Return the values of a file by field; a key that this kernel does not write is noted."""
    found = _parsed(ctx, path, parse, *keys)
    if found is None:
        return {}
    for field, key in keys.items():
        if key not in found:
            ctx.note(ReasonKind.UNSUPPORTED, field, f"{path} has no {key}", subject=path)
    return {field: found[key] for field, key in keys.items() if key in found}


def _uname(ctx: Context) -> dict[str, str | None]:
    answer = mapping(ctx, "uname")
    found: dict[str, str | None] = {}
    for field, key in (("kernel_release", "release"), ("kernel_version", "version"), ("machine", "machine")):
        found[field] = text_of(answer, key)
        if found[field] is None:
            _unobserved(ctx, answer, field, f"uname tells no {key}")
    return found


def _unobserved(ctx: Context, answer: Answer[Any], field: str, text: str) -> None:
    if answer.kind is not None:
        ctx.take(answer, field)
    else:
        ctx.note(ReasonKind.UNSUPPORTED, field, text, subject=answer.subject)


def _glibc(ctx: Context) -> str | None:
    answer = ctx.observe("glibc")
    if answer.value is None:
        text = "confstr knows no CS_GNU_LIBC_VERSION: the C library is not glibc (musl, for one)"
        _unobserved(ctx, answer, "glibc_version", text)
        return None
    return ctx.take(parsed(answer, parse_glibc), "glibc_version")


def _distribution(ctx: Context) -> Distribution:
    answer = ctx.text("/etc/os-release")
    if answer.absent:
        answer = ctx.text("/usr/lib/os-release")
    told = ctx.take(parsed(answer, parse_os_release), "distribution")
    if told is None:
        return Distribution()
    for field in ("id", "version_id", "pretty_name"):
        if field.upper() not in told:
            text = f"os-release has no {field.upper()}"
            ctx.note(ReasonKind.ABSENT, f"distribution.{field}", text, subject=answer.subject)
    return Distribution(
        id=told.get("ID"), version_id=told.get("VERSION_ID"), pretty_name=told.get("PRETTY_NAME")
    )


def _cpu(ctx: Context, allowed: str | None) -> Cpu:
    fields = ("model", "sockets", "cores", "logical")
    answer = parsed(believed(ctx, ctx.text("/proc/cpuinfo", CPUINFO_LIMIT)), parse_cpuinfo)
    if answer.value is None:
        for field in fields:
            ctx.take(answer, f"cpu.{field}")
    found = answer.value or Processors()
    for field in fields:
        if answer.ok and getattr(found, field) is None:
            text = f"/proc/cpuinfo does not tell the {field}"
            ctx.note(ReasonKind.UNSUPPORTED, f"cpu.{field}", text, subject="/proc/cpuinfo")
    return Cpu(
        model=found.model,
        sockets=found.sockets,
        cores=found.cores,
        logical=found.logical,
        allowed=allowed,
        governors=_governors(ctx),
    )


def _governors(ctx: Context) -> tuple[str, ...] | None:
    base = "/sys/devices/system/cpu/cpufreq"
    entries = ctx.take(believed(ctx, ctx.scan(base)), "cpu.governors")
    if entries is None:
        return None
    policies = [entry.name for entry in entries if re.fullmatch(r"policy[0-9]{1,5}", entry.name)]
    if not policies:
        ctx.note(
            ReasonKind.UNSUPPORTED,
            "cpu.governors",
            "no frequency policy, as in virtual machines",
            subject=base,
        )
        return None
    # With one policy for each of hundreds of processors, reading all of them tells little more.
    step = -(-len(policies) // POLICY_SAMPLE)
    read = [
        _parsed(ctx, posixpath.join(base, name, "scaling_governor"), parse_governor, "cpu.governors")
        for name in policies[::step]
    ]
    return tuple(sorted({governor for governor in read if governor})) if any(read) else None


def _numa(ctx: Context, allowed: str | None) -> Numa:
    base = "/sys/devices/system/node"
    balancing = _parsed(ctx, "/proc/sys/kernel/numa_balancing", parse_small_number, "numa.balancing")
    answer = believed(ctx, ctx.scan(base))
    entries = ctx.take(answer, "numa.nodes")
    ctx.take(answer, "numa.node_count")
    numbers = sorted(
        int(entry.name[4:]) for entry in entries or () if re.fullmatch(r"node[0-9]{1,5}", entry.name)
    )
    if not numbers:
        if entries is not None:
            ctx.note(ReasonKind.UNSUPPORTED, "numa.nodes", "no node is listed", subject=base)
            ctx.note(ReasonKind.UNSUPPORTED, "numa.node_count", "no node is listed", subject=base)
        return Numa(balancing=balancing, allowed=allowed)
    nodes = tuple(_node(ctx, base, number, at) for at, number in enumerate(numbers))
    return Numa(node_count=len(nodes), balancing=balancing, allowed=allowed, nodes=nodes)


def _node(ctx: Context, base: str, number: int, at: int) -> NumaNode:
    field, path = f"numa.nodes[{at}]", f"{base}/node{number}"
    cpus = _parsed(ctx, f"{path}/cpulist", parse_cpulist, f"{field}.cpus")
    memory = _parsed(ctx, f"{path}/meminfo", parse_meminfo, f"{field}.memory_bytes") or {}
    return NumaNode(node=number, cpus=cpus, memory_bytes=memory.get("MemTotal"))


def _hugepages(ctx: Context, memory: dict[str, int]) -> Hugepages:
    base = "/sys/kernel/mm/transparent_hugepage"
    return Hugepages(
        transparent=_parsed(ctx, f"{base}/enabled", chosen, "hugepages.transparent"),
        defrag=_parsed(ctx, f"{base}/defrag", chosen, "hugepages.defrag"),
        total=memory.get("hugepages.total"),
        size_bytes=memory.get("hugepages.size_bytes"),
        reserved_bytes=memory.get("hugepages.reserved_bytes"),
    )


def _command_line(ctx: Context, words: list[str] | None) -> str | None:
    if words is None:
        return None
    shown = redact(" ".join(_without_identity(word) for word in words))
    if REDACTED in shown:
        ctx.redacted.add("host.kernel_command_line")
    return shown


def _without_identity(word: str) -> str:
    name, equals, _ = word.partition("=")
    return f"{name}={REDACTED}" if equals and name.lower() in IDENTITY_PARAMETERS else word


def _iommu(ctx: Context, words: list[str] | None) -> Iommu:
    parameters = None if words is None else tuple(redact(word) for word in words if "iommu" in word.lower())
    groups = ctx.take(believed(ctx, ctx.scan("/sys/kernel/iommu_groups")), "iommu.groups")
    return Iommu(parameters=parameters, groups=None if groups is None else len(groups))


def _ulimits(ctx: Context) -> Ulimits:
    answer = ctx.observe("ulimits")
    if answer.value is None:
        _unobserved(ctx, answer, "ulimits", "this interpreter does not tell its limits")
        return Ulimits()
    limits = ctx.take(parsed(answer, parse_limits), "ulimits") or {}
    found = {}
    for name in ("memlock", "nofile", "nproc", "stack", "core", "address_space"):
        soft, hard = limits.get(name, (None, None))
        if soft is None:
            ctx.note(ReasonKind.UNSUPPORTED, f"ulimits.{name}", "not told", subject="ulimits")
        found[name] = Limit(soft=soft, hard=hard)
    return Ulimits(**found)
