"""Whatever a header or a file name holds: no exception, nothing made up."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from aorta_collectors.tree.arch import is_arch, parse_archs, parse_device_ids, uncovered
from aorta_collectors.tree.catalog import MIOPEN, TENSILE
from aorta_collectors.tree.gemm import matches, version_code
from aorta_collectors.tree.headers import parse_defines, version, word

MANY = settings(max_examples=2000, deadline=None, derandomize=True)
KNOWN = (
    "gfx803",
    "gfx906",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1151",
    "gfx1250",
)
PIECES = st.sampled_from(
    [
        *KNOWN,
        "gfx",
        "gfx9",
        "gfx9-4-generic",
        "gfx94X",
        "fallback",
        "130",
        "e4",
        "_",
        "-",
        "xnack+",
        "sramecc-",
    ]
    + [".", ".dat", ".zlib", "/", "ID75a0", "0", "٣", "İ", "\n", " ", "\udcff"]
)
NAMES = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=8).map("".join))
LINES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            [
                "#define A_VERSION_MAJOR       1",
                "#define A_VERSION_MINOR 2",
                "  #  define A_VERSION_PATCH 3",
                "#define A_VERSION_TWEAK",
                "#define A_VERSION_TWEAK 4a92c6f1-dirty",
                "// #define A_VERSION_MAJOR 9",
                "/*",
                "*/",
                "#if 0",
                "#endif",
                "\\",
                '"',
            ]
        ),
    ),
    max_size=12,
).map("\n".join)


@MANY
@given(NAMES)
def test_names_never_raise_and_only_whole_architectures_come_out(name):
    for each in parse_archs(name):
        assert re.fullmatch(
            r"gfx(?:[6-9][0-9a-f]{2}|1[0-9][0-9a-f]{2}|\d{1,2}(?:-\d{1,2})?-generic)", each.arch
        )
        assert each.arch in name.lower()
        assert each.compute_units is None or 0 <= each.compute_units <= 0xFFF
        assert each.target.startswith(each.arch)
    assert all(re.fullmatch(r"[0-9a-f]{4}", each) for each in parse_device_ids(name))
    assert not is_arch(name) or len(parse_archs(name)) == 1


@MANY
@given(st.sampled_from(KNOWN), st.text("_-./", min_size=1, max_size=1), NAMES)
def test_an_architecture_between_bounds_is_found(arch, bound, rest):
    assert arch in {each.arch for each in parse_archs(f"{rest}{bound}{arch}.dat")}


@MANY
@given(st.sampled_from(KNOWN), st.integers(1, 0xFFF))
def test_compute_units_as_miopen_writes_them(arch, units):
    name = f"{arch}_{units}.db.txt" if units <= 64 else f"{arch}{units:x}.db.txt"
    (named,) = parse_archs(name)
    assert (named.arch, named.compute_units) == (arch, units)


@MANY
@given(st.sampled_from([TENSILE, MIOPEN]), NAMES)
def test_a_member_ends_with_its_suffix_and_no_longer_one_fits(family, name):
    suffix = family.suffix(name)
    fitting = [each for each in (*family.logic, *family.other) if name.lower().endswith(each)]
    assert (suffix is None) == (not fitting)
    assert not fitting or suffix == max(fitting, key=len)
    assert family.member(name) is (suffix is not None)


@MANY
@given(LINES)
def test_headers_never_raise(text):
    defines = parse_defines(text)
    number = version(defines, "A_VERSION_")
    assert number is None or re.fullmatch(r"\d+\.\d+\.\d+", number)
    assert number is None or version_code(number) >= 0
    tweak = word(defines, "A_VERSION_TWEAK")
    assert tweak is None or re.fullmatch(r"[A-Za-z0-9_.+-]+", tweak)
    assert matches("0" * 40, tweak) in (None, True, False)


@MANY
@given(st.integers(0, 9), st.integers(0, 999), st.integers(0, 99))
def test_a_version_is_read_and_becomes_a_number(major, minor, patch):
    text = f"#define A_VERSION_MAJOR {major}\n#define A_VERSION_MINOR\t{minor}\n#define A_VERSION_PATCH ({patch}u)"
    number = version(parse_defines(text), "A_VERSION_")
    assert number == f"{major}.{minor}.{patch}"
    assert version_code(number) == major * 100_000 + minor * 100 + patch


@MANY
@given(st.lists(st.sampled_from(KNOWN)), st.lists(NAMES))
def test_what_is_not_covered_is_present(present, covered):
    archs = {each.arch for name in covered for each in parse_archs(name)}
    left = uncovered(present, archs)
    assert set(left) <= set(present) - archs
