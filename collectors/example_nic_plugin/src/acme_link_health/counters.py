"""What the kernel's counters of links are called, and how their files are read. No machine is needed here."""

import functools
import re
from collections.abc import Iterable

#: Directories of an RDMA port: counters that the InfiniBand standard names, and those of the driver.
STANDARD, DRIVER = "counters", "hw_counters"

#: Member of ``RdmaPort`` to its directory and the names there: of mlx5, of bnxt_re, of ionic.
RDMA = {
    "symbol_errors": (STANDARD, ("symbol_error",)),
    "link_recoveries": (STANDARD, ("link_error_recovery",)),
    "link_downs": (STANDARD, ("link_downed",)),
    "receive_errors": (STANDARD, ("port_rcv_errors",)),
    "transmit_discards": (STANDARD, ("port_xmit_discards",)),
    "transmit_waits": (STANDARD, ("port_xmit_wait",)),
    "ecn_marked": (DRIVER, ("np_ecn_marked_roce_packets", "rx_ecn_marked_pkts", "rx_rdma_ecn_pkts")),
    "cnp_sent": (DRIVER, ("np_cnp_sent", "tx_cnp_pkts", "tx_rdma_cnp_pkts")),
    "cnp_received": (DRIVER, ("rp_cnp_handled", "rx_cnp_pkts", "rx_rdma_cnp_pkts")),
    "out_of_sequence": (DRIVER, ("out_of_sequence", "oos_drop_count", "resp_rx_outouf_seq")),
    "ack_timeouts": (DRIVER, ("local_ack_timeout_err", "to_retransmits", "tx_rdma_ack_timeout")),
}

#: Member of ``Interface`` to its file below the interface's directory.
NETWORK = {
    "carrier_changes": "carrier_changes",
    "receive_errors": "statistics/rx_errors",
    "receive_crc_errors": "statistics/rx_crc_errors",
    "receive_drops": "statistics/rx_dropped",
    "receive_missed": "statistics/rx_missed_errors",
    "transmit_errors": "statistics/tx_errors",
    "transmit_drops": "statistics/tx_dropped",
}

#: The longest text that is taken for a counter of 64 bits.
DIGITS = 20


def counter_in(names: Iterable[str], field: str) -> str | None:
    """Return a counter's file, relative to its port, as one of the drivers spells it; None: it has none."""
    directory, spellings = RDMA[field]
    there = set(names)
    return next((f"{directory}/{name}" for name in spellings if name in there), None)


def parse_counter(text: str) -> int | None:
    """Return a counter; None for ``N/A (no PMA)``, which says that the device does not count it."""
    word = text.strip()
    if word.startswith("N/A"):
        return None
    if not (word.isascii() and word.isdigit() and len(word) <= DIGITS):
        raise ValueError(f"{word[:40]!r} is no counter")
    return int(word)


def parse_state(text: str) -> str:
    """Return the word of ``4: ACTIVE`` or ``5: LinkUp``."""
    number, colon, word = text.strip().partition(": ")
    if not (colon and number.isdigit() and word):
        raise ValueError(f"{text.strip()[:40]!r} is no state")
    return word


def parse_rate(text: str) -> float:
    """Return the Gb/s of ``400 Gb/sec (4X NDR)``."""
    found = _rate().match(text.strip())
    if found is None:
        raise ValueError(f"{text.strip()[:40]!r} is no rate")
    return float(found[1])


@functools.cache
def _rate() -> re.Pattern[str]:
    return re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,3})?) Gb/sec(?![^ ])")


@functools.cache
def _hardware() -> re.Pattern[str]:
    return re.compile(r"x[0-9a-f]{12,40}(?![0-9A-Za-z])")


def public(name: str) -> str:
    """Return a name with the hardware address in it masked, as in ``enx00005e005301``."""
    return _hardware().sub("x<redacted>", name)
