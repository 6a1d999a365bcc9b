"""Whatever a network tool or a file of sysfs holds: no exception, and no "none" where something was said."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta.testing import FakeHost, collect
from aorta_collectors.nic import nicctl
from aorta_collectors.nic.names import natural, pci_address, public
from aorta_collectors.nic.sysfs import after_number, function_of, hexadecimal, number, word, word_or_unknown
from aorta_collectors.nic.tools import parse_ethtool, parse_links, parse_lspci, parse_verbs
from aorta_collectors.nic.userspace import parse_access
from tests.parts.nic_hosts import NO_DEVICES, Nics, ethtool

MANY = settings(max_examples=2000, deadline=None, derandomize=True)
PIECES = st.sampled_from(
    [
        *(
            "link ",
            "mlx5_0/1",
            "state ",
            "ACTIVE ",
            "netdev ",
            "lid ",
            "/",
            "1" * 40,
            "\n",
            "\r\n",
            "\t",
            " ",
        ),
        *("driver: ", "version: ", "firmware-version: ", "/pkg ", " (MT_0000000838)", "N/A", ": ", ":"),
        *("0000:1a:00.0 ", "0200: ", "15b3:1021", " (rev 01)", "Class ", "device ", "------", "0x"),
        *("libibverbs: Warning: ", "driver ionic does not support the kernel ABI of 4 (supports 1 to 1)"),
        *(
            " for device /sys/class/infiniband/x",
            "no userspace device-specific driver found for ",
            "couldn't load driver '",
        ),
        *(
            '{"nic": [',
            '{"id": ',
            '"asic": "salina"',
            "]}",
            "}",
            "[",
            "NIC : ",
            "Status : Enabled",
            "device_config_",
            "pf1_vf8",
        ),
        *("\x1b[31m", "\x1b[", "\x00", "\ud800", "é", "9" * 5000, "-", "²", "٣"),
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))
WORDS = st.text(string.ascii_letters + string.digits + "_-.", min_size=1, max_size=15)
PARSERS = [
    parse_ethtool,
    parse_links,
    parse_lspci,
    lambda text: parse_verbs(text, text),
    lambda text: parse_verbs(NO_DEVICES + text, text),
    parse_access,
    nicctl.parse_version,
    nicctl.rows,
    nicctl.parse_card,
    lambda text: nicctl.parse_firmware(text, "a"),
    nicctl.parse_software,
    nicctl.parse_profile,
    nicctl.parse_dcqcn,
    hexadecimal,
    number,
    word,
    word_or_unknown,
    after_number,
]
NAMES = "ethtool links lspci verbs verbs_rows access version rows card firmware software profile dcqcn hex number word operstate after"


@pytest.mark.parametrize("parse", PARSERS, ids=NAMES.split())
@MANY
@given(text=TEXTS)
def test_a_text_is_read_or_refused_with_a_value_error(parse, text):
    try:
        parse(text)
    except ValueError as error:
        assert type(error) is ValueError


@MANY
@given(text=TEXTS)
def test_names_of_any_form(text):
    assert isinstance(public(text), str)
    assert pci_address(text) is None or ":" in text
    assert function_of("/sys/devices/" + text) is None or ":" in text
    assert sorted([text, text[::-1]], key=natural)


@MANY
@given(
    rows=st.lists(
        st.tuples(WORDS, st.integers(1, 99), st.sampled_from(["ACTIVE", "DOWN", "INIT"]), st.none() | WORDS),
        max_size=6,
    ),
    noise=st.lists(st.sampled_from(["warning", "", "  caps: <A>", "link", "é\x00"]), max_size=3),
)
def test_every_link_that_is_printed_is_found(rows, noise):
    lines = [
        f"link {name}/{port} subnet_prefix fe80:: lid 1 state {state} physical_state LINK_UP"
        + (f" netdev {net} " if net else " ")
        for name, port, state, net in rows
    ]
    if not lines:
        noise = []
    found = parse_links("\n".join([*noise, *lines]))
    assert [(one.device, one.port, one.state, one.netdev) for one in found] == rows


@MANY
@given(
    ids=st.dictionaries(
        st.tuples(st.integers(0, 0xFFFFF), st.integers(0, 255), st.integers(0, 31), st.integers(0, 7)),
        st.tuples(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF)),
        max_size=6,
    ),
    tail=st.sampled_from(["", " (rev 01)", " (prog-if 01)"]),
)
def test_every_function_that_is_printed_is_found(ids, tail):
    rows, expected = [], {}
    for (domain, bus, device, function), (kind, vendor, model) in ids.items():
        bdf = f"{domain:04x}:{bus:02x}:{device:02x}.{function}"
        rows.append(f"{bdf} {kind:04x}: {vendor:04x}:{model:04x}{tail}")
        expected[bdf] = (f"0x{kind:04x}", f"0x{vendor:04x}", f"0x{model:04x}")
    assert parse_lspci("\n".join(rows)) == expected


@MANY
@given(driver=WORDS, version=WORDS, firmware=WORDS, package=st.none() | WORDS, board=st.booleans())
def test_ethtool_gives_back_what_was_printed(driver, version, firmware, package, board):
    line = firmware + (f"/pkg {package}" if package else " (MT_0000000838)" if board else "")
    try:
        told = parse_ethtool(ethtool(driver, version, line))
    except ValueError:
        assert driver.lower() in ("none", "unknown")
        return
    silent = {"none", "unknown"}
    assert told.version == (None if version.lower() in silent else version)
    if firmware.lower() not in silent:
        assert told.firmware == firmware
        expected = None if package in (None, firmware) or package.lower() in silent else package
        assert told.package == expected
        assert told.board_id == ("MT_0000000838" if board and not package else None)


@MANY
@given(
    names=st.lists(WORDS, max_size=5, unique=True), noise=st.sampled_from(["", "libibverbs: Warning: x\n"])
)
def test_every_device_that_is_listed_is_found(names, noise):
    rows = "".join(f"    {name:<16}\t{at:016x}\n" for at, name in enumerate(names))
    assert parse_verbs(noise + NO_DEVICES + rows, noise).names == tuple(names)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    state=TEXTS,
    ids=st.tuples(TEXTS, TEXTS),
    tool=TEXTS,
)
def test_a_machine_of_rubbish_still_gives_both_sections(state, ids, tool):
    """Nothing is claimed of a card whose files say nothing: it is listed, and neither present nor usable."""
    bdf = "0000:1a:00.0"
    nics = (
        Nics().function(bdf, (*ids, "mlx5_core")).net("eth0", bdf, mtu=state).rdma("mlx5_0", bdf, state=state)
    )
    for name, text in list(nics.files.items()):
        nics.files[name] = text.encode("utf-8", "surrogatepass")
    plain = tool.encode("utf-8", "replace").decode()
    lines = ("ethtool -i eth0", "ibv_devices", "rdma link", "lspci -D -n")
    host = FakeHost(files=nics.files, links=nics.links, dirs=nics.dirs, commands=dict.fromkeys(lines, plain))
    devices, cards = collect(host, "nic_devices"), collect(host, "nics")
    assert devices.record.status in ("ok", "partial")
    assert cards.record.status in ("ok", "partial")
    (device,) = [one for one in devices.value if one["bdf"] == bdf]
    assert device["usable"] is not True
    json.dumps([devices.value, cards.value], allow_nan=False).encode()
    if device["device_id"] is None and not plain:
        assert all(block["present"] is not True for block in cards.value.values())
