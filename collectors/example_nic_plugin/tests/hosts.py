"""Made-up nodes: what the kernel shows of three NICs, each in the words of its driver."""

from aorta.testing import FakeHost

STANDARD = {
    "symbol_error": 3,
    "link_error_recovery": 0,
    "link_downed": 2,
    "port_rcv_errors": 1,
    "port_xmit_discards": 40,
    "port_xmit_wait": 123456,
}
MLX5 = {
    "np_ecn_marked_roce_packets": 17,
    "np_cnp_sent": 16,
    "rp_cnp_handled": 5,
    "out_of_sequence": 9,
    "local_ack_timeout_err": 1,
}
BNXT = {
    "rx_ecn_marked_pkts": 7,
    "tx_cnp_pkts": 6,
    "rx_cnp_pkts": 4,
    "oos_drop_count": 3,
    "to_retransmits": 2,
}
IONIC = {
    "rx_rdma_ecn_pkts": 70,
    "tx_rdma_cnp_pkts": 60,
    "rx_rdma_cnp_pkts": 40,
    "resp_rx_outouf_seq": 30,
    "tx_rdma_ack_timeout": 20,
}
NETWORK = {
    "carrier_changes": 4,
    "statistics/rx_errors": 1,
    "statistics/rx_crc_errors": 1,
    "statistics/rx_dropped": 0,
    "statistics/rx_missed_errors": 250,
    "statistics/tx_errors": 0,
    "statistics/tx_dropped": 0,
}


def port(device, *, state="4: ACTIVE", physical="5: LinkUp", rate="400 Gb/sec (4X NDR)", **counters):
    """Return the files of an RDMA port; ``counters`` are its directories, each names to numbers."""
    place = f"/sys/class/infiniband/{device}/ports/1"
    files = {f"{place}/state": state, f"{place}/phys_state": physical, f"{place}/rate": rate}
    for directory, values in counters.items():
        files |= {f"{place}/{directory}/{name}": str(value) for name, value in values.items()}
    return {path: f"{text}\n" for path, text in files.items()}


def interface(name, *, device=True, **counters):
    """Return the files of a network interface."""
    place = f"/sys/class/net/{name}"
    files = {f"{place}/{file}": f"{value}\n" for file, value in {**NETWORK, **counters}.items()}
    return files | ({f"{place}/device/vendor": "0x15b3\n"} if device else {})


def node(**more):
    """Return a node with an mlx5, a bnxt_re and an ionic, two interfaces with a device and one without."""
    files = {
        **port("mlx5_0", counters=STANDARD, hw_counters=MLX5),
        **port(
            "bnxt_re0",
            state="1: DOWN",
            physical="3: Disabled",
            rate="10 Gb/sec (4X SDR)",
            counters=STANDARD,
            hw_counters=BNXT,
        ),
        **port("rocex00005e005301", hw_counters=IONIC),
        **interface("eth0"),
        **interface("enx00005e005301"),
        **interface("lo", device=False),
    }
    return FakeHost(files={**files, **more})
