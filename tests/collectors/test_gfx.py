import pytest

from aorta_collectors.gpu.gfx import decode_target_version, parse_target, parse_targets


@pytest.mark.parametrize(
    ("number", "target"),
    [
        (0, None),
        (90000, "gfx900"),
        (90006, "gfx906"),
        (90008, "gfx908"),
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (90500, "gfx950"),
        (100300, "gfx1030"),
        (100306, "gfx1036"),
        (110000, "gfx1100"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
        (120500, "gfx1250"),
    ],
)
def test_decimal_version_has_hexadecimal_minor_and_stepping(number, target):
    assert decode_target_version(number) == target


@pytest.mark.parametrize("number", [-1, 42, 91602, 90016, 1000000, 10**19])
def test_a_number_that_is_no_target(number):
    with pytest.raises(ValueError, match="stands for no target"):
        decode_target_version(number)


def test_features_and_generic():
    target = parse_target("gfx942:sramecc+:xnack-")
    assert (target.base, target.features, target.generic) == ("gfx942", {"sramecc": "+", "xnack": "-"}, False)
    assert target.text == "gfx942:sramecc+:xnack-"
    assert parse_target("gfx9-4-generic:sramecc+:xnack-").generic
    assert parse_target("gfx11-generic").generic


@pytest.mark.parametrize(
    "text", ["gfx000", "gfx9", "gfx950fa", "gfx94", "gfx942x", "gfx942:", "Traceback", "", "agfx942"]
)
def test_w36_tokens_are_bounded(text):
    assert parse_target(text) is None


def test_w19_noise_is_no_target():
    text = (
        "pid:1582 tid:0x72d6 [topology_sysfs_get_system_props] No WDDM adapters found.\r\n"
        "Timeout querying rocminfo. Are you compiling with more than 254 threads?\n"
        "gfx000\n\x1b[37mgfx906\x1b[0m\r\n  gfx1030  \ngfx9-generic\ngfx942"
    )
    assert [target.base for target in parse_targets(text)] == ["gfx906", "gfx1030", "gfx942"]
