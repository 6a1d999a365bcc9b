"""The texts of the kernel, without a machine."""

import pytest

from acme_link_health import counters


@pytest.mark.parametrize(
    ("text", "value"),
    [("0\n", 0), ("18446744073709551615\n", 2**64 - 1), (" 7 ", 7), ("N/A (no PMA)\n", None)],
)
def test_a_counter(text, value):
    assert counters.parse_counter(text) == value


@pytest.mark.parametrize("text", ["", "-1", "1.5", "0x10", "9" * 21, "٣", "1\n2"])
def test_what_is_no_counter(text):
    with pytest.raises(ValueError, match="is no counter"):
        counters.parse_counter(text)


@pytest.mark.parametrize(("text", "word"), [("4: ACTIVE\n", "ACTIVE"), ("5: LinkUp", "LinkUp")])
def test_a_state(text, word):
    assert counters.parse_state(text) == word


@pytest.mark.parametrize("text", ["", "ACTIVE", "4:", "x: ACTIVE"])
def test_what_is_no_state(text):
    with pytest.raises(ValueError, match="is no state"):
        counters.parse_state(text)


@pytest.mark.parametrize(
    ("text", "gbps"), [("400 Gb/sec (4X NDR)\n", 400.0), ("2.5 Gb/sec (1X SDR)", 2.5), ("100 Gb/sec", 100.0)]
)
def test_a_rate(text, gbps):
    assert counters.parse_rate(text) == gbps


@pytest.mark.parametrize("text", ["", "fast", "400", "400 Gb/second", "1234567 Gb/sec"])
def test_what_is_no_rate(text):
    with pytest.raises(ValueError, match="is no rate"):
        counters.parse_rate(text)


def test_the_spelling_of_a_driver():
    names = ["tx_cnp_pkts", "rx_cnp_pkts"]
    assert counters.counter_in(names, "cnp_sent") == "hw_counters/tx_cnp_pkts"
    assert counters.counter_in(names, "ecn_marked") is None


def test_a_hardware_address_in_a_name_is_masked():
    assert counters.public("/sys/class/net/enx00005e005301/x") == "/sys/class/net/enx<redacted>/x"
    assert counters.public("mlx5_0") == "mlx5_0"
