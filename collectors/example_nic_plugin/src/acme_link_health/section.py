"""The section ``acme.link_health``: what went wrong on the links of this node since their counters began."""

from collections.abc import Mapping
from typing import Annotated, Any

from acme_link_health import counters
from aorta.collect import Answer, Context, parsed
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector, env_names

CLASSES = "/sys/class"
INFINIBAND, NET = f"{CLASSES}/infiniband", f"{CLASSES}/net"

KERNEL = (Provenance.HOST_KERNEL,)
NARROW = "Narrow on many devices (8 to 16 bits) and stays at its largest value; a reset clears it."


def _counted(doc: str, caveat: str = "", provenance: tuple[Provenance, ...] = ()) -> Fact:
    """Declare a counter: it moves while one looks, so it is no part of digests and comparisons."""
    return Fact(doc, caveat=caveat, provenance=provenance, volatile=True)


@frozen
class RdmaPort:
    """A port of an RDMA device: its link now, and its counters."""

    name: Annotated[
        str | None,
        Fact("Device and port, mlx5_0/1, as rdma(8) names a link; a hardware address in it is masked."),
    ] = None
    state: Annotated[
        str | None, Fact("ACTIVE, DOWN, INIT, … when the counters were read.", volatile=True)
    ] = None
    physical_state: Annotated[str | None, Fact("LinkUp, Polling, Disabled, …", volatile=True)] = None
    rate_gbps: Annotated[
        float | None,
        Fact("Rate in Gb/s.", caveat="Of a port that is down the driver names any, often 10.", volatile=True),
    ] = None
    symbol_errors: Annotated[int | None, _counted("Minor errors on the lanes.", NARROW)] = None
    link_recoveries: Annotated[int | None, _counted("Times the link recovered by itself.", NARROW)] = None
    link_downs: Annotated[int | None, _counted("Times the link went down.", NARROW)] = None
    receive_errors: Annotated[int | None, _counted("Packets with an error when received.", NARROW)] = None
    transmit_discards: Annotated[
        int | None,
        _counted("Packets that were dropped and not sent: the port was down or congested.", NARROW),
    ] = None
    transmit_waits: Annotated[
        int | None,
        _counted("Ticks in which there was data and no credit to send it.", "Ticks of the device."),
    ] = None
    ecn_marked: Annotated[
        int | None, _counted("RoCE packets that arrived with the mark of congestion (ECN).")
    ] = None
    cnp_sent: Annotated[int | None, _counted("Congestion notifications (CNP) sent.")] = None
    cnp_received: Annotated[
        int | None, _counted("Congestion notifications received.", "mlx5 counts those that it acted on.")
    ] = None
    out_of_sequence: Annotated[
        int | None, _counted("Packets that arrived out of sequence.", "Adaptive routing reorders them too.")
    ] = None
    ack_timeouts: Annotated[
        int | None, _counted("Times an acknowledgement did not come in time.", "bnxt_re counts retransmits.")
    ] = None


@frozen
class Interface:
    """A network interface with a device behind it, and its counters."""

    name: Annotated[str | None, Fact("Name; a hardware address in it is masked.", provenance=KERNEL)] = None
    carrier_changes: Annotated[
        int | None, _counted("Times the carrier came or went.", "Counts start-up too.", KERNEL)
    ] = None
    receive_errors: Annotated[int | None, _counted("Bad packets received, of any kind.")] = None
    receive_crc_errors: Annotated[
        int | None, _counted("Packets with a wrong checksum: cable, transceiver or port.")
    ] = None
    receive_drops: Annotated[
        int | None, _counted("Good packets that were dropped.", "Also those that nobody listens to.", KERNEL)
    ] = None
    receive_missed: Annotated[int | None, _counted("Packets for which the device had no room.")] = None
    transmit_errors: Annotated[int | None, _counted("Packets that could not be sent.")] = None
    transmit_drops: Annotated[int | None, _counted("Packets dropped before sending.", "", KERNEL)] = None


@frozen
class LinkHealth:
    """All links of the node."""

    rdma_ports: Annotated[
        tuple[RdmaPort, ...] | None, Fact("Ports of RDMA devices by name; empty: positively none.")
    ] = None
    interfaces: Annotated[
        tuple[Interface, ...] | None,
        Fact(
            "Interfaces by name, without virtual ones (lo, bridges, veth); empty: positively none.",
            caveat="Those of another network namespace are not seen.",
            provenance=KERNEL,
        ),
    ] = None


@env_names
def variables() -> list[str]:
    """Return the variables with which our launcher places ranks on links."""
    return ["ACME_RAIL_MAP", "ACME_LINK_*"]


@collector(
    section="acme.link_health",
    model=LinkHealth,
    provenance=Provenance.HOST_DEVICE,
    scope=Scope.PROCESS,
    timeout_s=10,
)
def collect(ctx: Context) -> LinkHealth:
    """Errors, drops and congestion of RDMA ports and network interfaces since their counters began."""
    classes = ctx.scan(CLASSES)
    if classes.value is None:
        for field in ("rdma_ports", "interfaces"):
            # A container may have no /sys: that says nothing about its links.
            kind = ReasonKind.UNSUPPORTED if classes.absent else classes.kind or ReasonKind.FAILED
            ctx.note(kind, field, classes.detail, subject=CLASSES)
        return LinkHealth()
    there = {entry.name for entry in classes.value}
    ports, interfaces = Members(ctx, "rdma_ports"), Members(ctx, "interfaces")
    found = LinkHealth(
        rdma_ports=_rdma_ports(ports) if "infiniband" in there else (),
        interfaces=_interfaces(interfaces) if "net" in there else (),
    )
    ports.note_gaps()
    interfaces.note_gaps()
    return found


class Members:
    """Reads the files of several links, and notes what is missing once a field, with how often."""

    def __init__(self, ctx: Context, field: str) -> None:
        self.ctx = ctx
        self.field = field
        self.number = 0
        self._gaps: dict[tuple[str, ReasonKind], list[Answer[Any]]] = {}

    def names(self, path: str) -> list[str] | None:
        """Return the names in a directory; the whole field is missing where it cannot be listed."""
        entries = self.ctx.take(self.ctx.scan(path), self.field)
        return None if entries is None else [entry.name for entry in entries]

    def take(self, name: str, answer: Answer[Any]) -> Any:
        """Return a value of one link, or remember why there is none: what is not offered is unsupported."""
        kind = ReasonKind.UNSUPPORTED if answer.absent else answer.kind
        if kind is not None:
            self._gaps.setdefault((name, kind), []).append(answer)
        return answer.value

    def counter(self, name: str, path: str) -> Any:
        """Return a counter of one link."""
        answer = parsed(self.ctx.text(path), counters.parse_counter)
        if answer.ok and answer.value is None:
            detail = f"{path}: the device does not count it"
            answer = Answer(kind=ReasonKind.UNSUPPORTED, subject=path, detail=detail)
        return self.take(name, answer)

    def note_gaps(self) -> None:
        """Note what was missing."""
        for (name, kind), answers in self._gaps.items():
            first = answers[0]
            text = f"{counters.public(first.detail)} ({len(answers)} of {self.number})"
            subject = counters.public(first.subject or "") or None
            self.ctx.note(kind, f"{self.field}.{name}", text, subject=subject)


def _rdma_ports(members: Members) -> tuple[RdmaPort, ...] | None:
    devices = members.names(INFINIBAND)
    if devices is None:
        return None
    ports = [(device, port) for device in devices for port in _ports_of(members, device)]
    members.number = len(ports)
    return tuple(_rdma_port(members, device, port) for device, port in ports)


def _ports_of(members: Members, device: str) -> list[str]:
    names = members.names(f"{INFINIBAND}/{device}/ports") or ()
    return sorted(names, key=lambda name: (len(name), name))


def _rdma_port(members: Members, device: str, port: str) -> RdmaPort:
    path = f"{INFINIBAND}/{device}/ports/{port}"

    def read(field: str, file: str, parse: Any) -> Any:
        return members.take(field, parsed(members.ctx.text(f"{path}/{file}"), parse))

    return RdmaPort(
        name=counters.public(f"{device}/{port}"),
        state=read("state", "state", counters.parse_state),
        physical_state=read("physical_state", "phys_state", counters.parse_state),
        rate_gbps=read("rate_gbps", "rate", counters.parse_rate),
        **_rdma_counters(members, path),
    )


def _rdma_counters(members: Members, path: str) -> Mapping[str, Any]:
    """Return what a port counts, in the spelling of whichever driver it has."""
    listed = {name: members.ctx.scan(f"{path}/{name}") for name in (counters.STANDARD, counters.DRIVER)}
    values = {}
    for field, (directory, spellings) in counters.RDMA.items():
        names = listed[directory]
        file = counters.counter_in((entry.name for entry in names.value or ()), field)
        if file is not None:
            values[field] = members.counter(field, f"{path}/{file}")
        elif names.value is not None:
            text = f"{path}/{directory}: none of {', '.join(spellings)}"
            members.take(field, Answer(kind=ReasonKind.UNSUPPORTED, subject=names.subject, detail=text))
        else:
            members.take(field, names)
    return values


def _interfaces(members: Members) -> tuple[Interface, ...] | None:
    names = members.names(NET)
    if names is None:
        return None
    real = [name for name in names if _has_device(members.ctx, name)]
    members.number = len(real)
    return tuple(
        Interface(
            name=counters.public(name),
            **{
                field: members.counter(field, f"{NET}/{name}/{file}")
                for field, file in counters.NETWORK.items()
            },
        )
        for name in real
    )


def _has_device(ctx: Context, name: str) -> bool:
    answer = ctx.stat(f"{NET}/{name}/device")
    if not (answer.ok or answer.absent):
        ctx.take(answer, "interfaces")
    return answer.ok
