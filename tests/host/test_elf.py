"""ELF files that gcc built, that binutils describe, that were edited, and that are none."""

import functools
import glob
import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

from aorta.host import elf
from aorta.host.elf import ElfError, parse_elf, reader_of, told, untold
from aorta.host.fake import FakeHost
from aorta.host.live import LiveHost
from tests.parts.elf_files import (
    ORIGIN,
    both_tags,
    built,
    content,
    dynamic,
    handmade,
    header,
    library,
    linker_view,
    many_segments,
    overwritten,
    place_of,
    segments,
    value_of,
    with_tags,
    without_sections,
)
from tests.parts.needs import need

SYSTEM = "/usr/lib/x86_64-linux-gnu"
#: Debian's own ROCm, a C++ library, and the C library, whose symbols carry versions.
WITH_SYMBOLS = (
    "/usr/lib/librocm_smi64.so.1",
    f"{SYSTEM}/libamdhip64.so.5",
    f"{SYSTEM}/libhsa-runtime64.so.1",
    f"{SYSTEM}/libamd_comgr.so.2",
    f"{SYSTEM}/libhsakmt.so.1",
    f"{SYSTEM}/libstdc++.so.6",
    f"{SYSTEM}/libc.so.6",
    f"{SYSTEM}/libm.so.6",
)


def parsed(data, symbols=None):
    return parse_elf(reader_of(data), len(data), symbols)


def refusal(data, symbols=None):
    with pytest.raises(ElfError) as caught:
        parsed(data, symbols)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "rpath", "runpath"),
    [
        ("rpath", ORIGIN, None),
        ("runpath", None, ORIGIN),
        ("none", None, None),
        ("empty_rpath", "", None),
        ("named", None, None),
    ],
)
def test_tags(name, rpath, runpath):
    found = parsed(content(f"{name}.so"))
    assert (found.dynamic, found.rpath, found.runpath) == (True, rpath, runpath)
    assert (found.bits, found.byte_order, found.machine) == (64, "little", "EM_X86_64")
    assert found.soname == ("libnamed.so.5" if name == "named" else None)


def test_both_tags():
    found = parsed(both_tags())
    assert (found.rpath, found.runpath) == (ORIGIN, ORIGIN)


@pytest.mark.parametrize(
    ("words", "wins"),
    [
        ((), 2),
        (("-Wl,--disable-new-dtags", "-Wl,-rpath,"), 2),
        (("-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/own"), 1),
        (("-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN/own"), 2),
    ],
)
def test_what_the_dynamic_linker_makes_of_them(tmp_path, words, wins):
    """RPATH wins over LD_LIBRARY_PATH, RUNPATH and an empty RPATH do not: asked of the linker itself."""
    built()
    for place, number in (("own", 1), ("theirs", 2)):
        (tmp_path / place).mkdir()
        (tmp_path / "g.c").write_text(f"int g(void) {{ return {number}; }}")
        subprocess.run(
            [
                "gcc",
                "-nostdlib",
                "-shared",
                "-fPIC",
                "-Wl,-soname,libg.so",
                "-o",
                tmp_path / place / "libg.so",
                tmp_path / "g.c",
            ],
            check=True,
        )
    (tmp_path / "h.c").write_text("int g(void); int h(void) { return g(); }")
    above = tmp_path / "libh.so"
    subprocess.run(
        [
            "gcc",
            "-nostdlib",
            "-shared",
            "-fPIC",
            "-o",
            above,
            tmp_path / "h.c",
            tmp_path / "own" / "libg.so",
            *words,
        ],
        check=True,
    )
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "theirs")}
    program = f"import ctypes; print(ctypes.CDLL({str(above)!r}).h())"
    done = subprocess.run(["python3", "-c", program], env=environment, capture_output=True, check=True)
    assert int(done.stdout) == wins
    found = parsed(above.read_bytes())
    assert found.needed == ("libg.so",)
    assert bool(found.runpath is None and found.rpath) is (wins == 1)


def test_sonames_and_needs(tmp_path):
    for number in ("9", "10"):
        library(tmp_path / f"librocblas.so.5.{number}", f"-Wl,-soname,librocblas.so.5.{number}")
        assert (
            parsed((tmp_path / f"librocblas.so.5.{number}").read_bytes()).soname
            == f"librocblas.so.5.{number}"
        )


def test_without_section_headers():
    data = without_sections(content("rpath.so"))
    assert len(data) < len(content("rpath.so"))
    assert parsed(data, ".") == parsed(content("rpath.so"), ".")
    assert parsed(data).rpath == ORIGIN


def test_a_number_of_segments_that_does_not_fit_into_the_header():
    data = many_segments(content("rpath.so"))
    assert struct.unpack_from("<H", data, 0x38) == (0xFFFF,)
    assert parsed(data, ".") == parsed(content("rpath.so"), ".")
    assert refusal(without_sections(data)) == "an ELF file that does not say how many program headers it has"
    assert "first section header" in refusal(overwritten(data, 0x28, struct.pack("<Q", len(data))))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(("order", "word"), [("<", "little"), (">", "big")])
def test_other_classes_and_byte_orders(bits, order, word):
    found = parsed(handmade(bits, order, tags=((1, "libneeded.so"), (29, "$ORIGIN/y"))))
    assert (found.bits, found.byte_order, found.machine, found.soname) == (
        bits,
        word,
        "EM_PPC",
        "libhand.so.1",
    )
    assert (found.needed, found.rpath, found.runpath) == (("libneeded.so",), None, "$ORIGIN/y")
    assert parsed(handmade(bits, order, machine=0x4242)).machine == str(0x4242)


@pytest.mark.parametrize("bits", [32, 64])
def test_symbols_of_other_classes(bits):
    wide = bits == 64
    data = handmade(bits, ">", tags=((4, "x"), (6, "y")), soname=None)
    # The values of DT_HASH and DT_SYMTAB are addresses: of a table and of symbols put at the end.
    end = len(data)
    names = data.index(b"x\0y\0") - 1
    size = 24 if wide else 16

    def symbol(name, section):
        values = (name, 0, 0, section, 0, 0) if wide else (name, 0, 0, 0, 0, section)
        return struct.pack(">IBBHQQ" if wide else ">IIIBBH", *values)

    table = struct.pack(">IIII", 1, 3, 0, 0)
    data += table + symbol(0, 0) + symbol(1, 5) + symbol(3, 0)
    place = 64 + 2 * 56 if wide else 52 + 2 * 32
    entry = ">qQ" if wide else ">iI"
    data = overwritten(
        data, place, struct.pack(entry, 4, 0x10000 + end) + struct.pack(entry, 6, 0x10000 + end + len(table))
    )
    # The loaded segment now reaches to the end.
    data = overwritten(data, (64 + 32) if wide else (52 + 16), struct.pack(">Q" if wide else ">I", len(data)))
    assert parsed(data, ".").symbols == ("x",)
    assert data[names : names + 5] == b"\0x\0y\0"
    assert len(data) == end + len(table) + 3 * size


@pytest.mark.parametrize("name", ["static", "object.o"])
def test_without_a_dynamic_segment_nothing_is_said(name):
    found = parsed(content(name), ".")
    assert (found.dynamic, found.symbols, found.rpath) == (False, (), None)


def test_what_is_no_elf_file():
    assert refusal(content("archive.a")) == "not an ELF file"
    assert (
        refusal(b"/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\nGROUP ( /lib/libx.so.1 )\n")
        == "not an ELF file"
    )
    assert refusal(b"") == "not an ELF file"
    assert refusal(b"\x7fEL") == "not an ELF file"
    assert refusal(b"\x7fELF") == "a truncated ELF file (its header is not all there)"
    assert refusal(b"\x7fELF\x03\x01" + bytes(60)) == "an ELF file of an unknown class or byte order"
    assert refusal(b"\x7fELF\x02\x00" + bytes(60)) == "an ELF file of an unknown class or byte order"
    assert refusal(b"\x7fELF\x02\x01\x01" + bytes(50)) == "a truncated ELF file (its header is not all there)"


def test_separate_debug_information_is_no_library():
    assert refusal(content("rpath.so.debug")) == "an ELF file with a dynamic segment of 0 bytes"


@pytest.mark.parametrize("bits", [32, 64])
def test_cut_at_every_place(bits):
    """A small file that is cut anywhere: its last byte but none is needed."""
    data = handmade(bits, "<")
    assert parsed(data).rpath == "$ORIGIN/x"
    for length in range(len(data)):
        refusal(data[:length])


def test_a_real_library_cut_at_every_place():
    """What is cut away can be missing without a loss only behind all that the linker reads."""
    data = without_sections(content("named.so"))
    needed = max(
        [place_of(data, value_of(data, 5)) + value_of(data, 10), dynamic(data)[-1][0]]
        + [offset + size for _, kind, offset, _, size in segments(data) if kind == 4]
    )
    for length in range(len(data)):
        try:
            found = parsed(data[:length])
        except ElfError:
            # Of the dynamic table the nulls behind the first are room that the linker does not read.
            assert length < needed + 16
        else:
            assert found == parsed(data)


def test_cuts_say_what_is_missing():
    data = content("rpath.so")
    ((_, _, offset, _, _),) = [segment for segment in segments(data) if segment[1] == 2]
    notes = min(offset for _, kind, offset, _, _ in segments(data) if kind == 4)
    assert (
        refusal(data[: header(data).phoff + 10])
        == "a truncated ELF file (its program header table is not all there)"
    )
    assert refusal(data[: offset + 8]) == "a truncated ELF file (its dynamic segment is not all there)"
    symbols = place_of(data, value_of(data, 6))
    assert notes < symbols
    assert refusal(data[: symbols + 30]).startswith("a truncated ELF file")


def test_damaged_headers():
    data = content("rpath.so")
    first = header(data).phoff
    ((place, _, offset, address, size),) = [segment for segment in segments(data) if segment[1] == 2]
    assert refusal(overwritten(data, 0x36, struct.pack("<H", 8))).endswith("program headers of 8 bytes")
    assert refusal(overwritten(data, 0x36, struct.pack("<H", 64))).endswith("program headers of 64 bytes")
    assert "program header table" in refusal(overwritten(data, 0x20, struct.pack("<Q", len(data) - 8)))
    assert "program header table" in refusal(overwritten(data, 0x20, struct.pack("<Q", 1 << 63)))
    assert not parsed(overwritten(data, 0x20, bytes(8))).dynamic
    assert not parsed(overwritten(data, 0x38, bytes(2))).dynamic
    assert not parsed(overwritten(data, place, struct.pack("<I", 0))).dynamic
    for length in (0, 24, 8 << 21, 1 << 63):
        assert (
            refusal(overwritten(data, place + 32, struct.pack("<Q", length)))
            == f"an ELF file with a dynamic segment of {length} bytes"
        )
    assert (
        refusal(overwritten(data, place + 8, struct.pack("<Q", offset + 16)))
        == "an ELF file with a dynamic segment in two places"
    )
    assert (
        refusal(overwritten(data, place + 16, struct.pack("<Q", address + 16)))
        == "an ELF file with a dynamic segment in two places"
    )
    assert (
        refusal(overwritten(data, place + 16, struct.pack("<Q", 1 << 40)))
        == "an ELF file whose tables are in no segment"
    )
    assert first < place
    ends = [entry for entry, tag, _ in dynamic(data) if tag == 0]
    assert (
        refusal(overwritten(data, place + 32, struct.pack("<Q", ends[0] - offset)))
        == "an ELF file whose dynamic segment does not end"
    )
    assert size % 16 == 0


def test_a_table_of_zeros_is_no_library_without_rpath():
    """An offset that leads to zeros, whatever the address, would be an empty table: that says nothing."""
    data = content("rpath.so")
    ((_, _, offset, _, _),) = [segment for segment in segments(data) if segment[1] == 2]
    assert refusal(overwritten(data, offset, bytes(16))) == "an ELF file with a dynamic segment without names"


def test_damaged_names():
    data = content("rpath.so")
    places = {tag: place for place, tag, _ in dynamic(data)}
    text = place_of(data, value_of(data, 5)) + value_of(data, 15)
    assert data[text:].startswith(ORIGIN.encode() + b"\0")
    outside = "an ELF file with a name outside of its string table"
    assert refusal(overwritten(data, places[15] + 8, struct.pack("<Q", value_of(data, 10)))) == outside
    assert refusal(overwritten(data, places[10] + 8, bytes(8))) == outside
    endless = overwritten(data, places[10] + 8, struct.pack("<Q", value_of(data, 15) + 5))
    assert refusal(endless) == "an ELF file with a name that does not end"
    assert (
        refusal(overwritten(data, places[5] + 8, struct.pack("<Q", 1 << 50)))
        == "an ELF file whose tables are in no segment"
    )
    assert parsed(overwritten(data, text, b"\xff\xfe")).rpath == "\\xff\\xfe" + ORIGIN[2:]


def test_long_names_are_read_and_longer_ones_refused(tmp_path):
    for length in (200, 256, 300, 5000, 60_000):
        library(tmp_path / "long.so", "-Wl,--disable-new-dtags", "-Wl,-rpath," + "/" + "a" * (length - 1))
        assert len(parsed((tmp_path / "long.so").read_bytes()).rpath) == length
    library(tmp_path / "long.so", "-Wl,--disable-new-dtags", "-Wl,-rpath," + "/" + "a" * 70_000)
    assert refusal((tmp_path / "long.so").read_bytes()) == "an ELF file with a name that does not end"


def test_the_last_of_what_stands_twice_counts():
    data = content("runpath.so")
    twice = with_tags(data, (29, 0), (5, value_of(data, 5)))
    assert parsed(twice).runpath == ""
    assert linker_view(twice) == (None, b"")


def test_the_last_dynamic_segment_counts():
    data = content("rpath.so")
    spare = next(where for where, kind, *_ in segments(data) if kind == 0x6474E551)
    ((place, _, offset, address, size),) = [segment for segment in segments(data) if segment[1] == 2]
    behind = 16 + next(entry for entry, tag, _ in dynamic(data) if tag == 15) - offset
    later = struct.pack("<IIQQQQQQ", 2, 6, offset + behind, *[address + behind] * 2, *[size - behind] * 2, 8)
    twice = overwritten(data, spare, later)
    assert spare > place
    assert (parsed(twice).rpath, linker_view(twice)) == (None, (None, None))


def test_more_needs_than_are_read():
    many = tuple((1, "x") for _ in range(4097))
    assert len(parsed(handmade(64, "<", tags=many[1:])).needed) == 4096
    assert refusal(handmade(64, "<", tags=many)) == "an ELF file that needs 4097 libraries"


@pytest.mark.parametrize("name", ["gnu_hash", "sysv_hash", "both_hashes", "rpath"])
def test_symbols_by_either_hash_table(name):
    tags = {tag for _, tag, _ in dynamic(content(f"{name}.so"))}
    assert (0x6FFFFEF5 in tags, 4 in tags) == {
        "gnu_hash": (True, False),
        "sysv_hash": (False, True),
        "both_hashes": (True, True),
    }.get(name, (True, False))
    assert set(parsed(content(f"{name}.so"), ".").symbols) == {
        "calls",
        "chosen_one",
        "chosen_two",
        "data_one",
    }
    assert set(parsed(content(f"{name}.so"), "^chosen_|^one$").symbols) == {"chosen_one", "chosen_two"}
    assert parsed(content(f"{name}.so"), "^lls").symbols == ()
    assert parsed(content(f"{name}.so")).symbols == ()


def test_a_pattern_that_is_none_is_the_callers_mistake():
    with pytest.raises(re.error):
        parsed(content("none.so"), "(")


def test_damaged_hash_tables():
    data = content("gnu_hash.so")
    table = place_of(data, value_of(data, 0x6FFFFEF5))
    buckets, first, bloom, _ = struct.unpack_from("<IIII", data, table)
    chain = table + 16 + 8 * bloom + 4 * buckets
    assert parsed(data, ".").symbols
    for place in (table, table + 8):
        assert refusal(overwritten(data, place, struct.pack("<I", 2**31)), ".")
    assert (
        refusal(overwritten(data, table, struct.pack("<I", 2**21)), ".")
        == "an ELF file with a hash table larger than is read"
    )
    starts = overwritten(data, chain - 4 * buckets, struct.pack("<I", 2**31) * buckets)
    assert refusal(starts, ".") == "an ELF file with a hash table that does not end"
    nothing = overwritten(data, chain - 4 * buckets, bytes(4 * buckets))
    assert parsed(nothing, ".").symbols == ()
    assert first > 0
    system_v = content("sysv_hash.so")
    place = place_of(system_v, value_of(system_v, 4)) + 4
    assert (
        refusal(overwritten(system_v, place, struct.pack("<I", 2**31)), ".")
        == "an ELF file with more symbols than are read"
    )
    assert "symbol table" in refusal(overwritten(system_v, place, struct.pack("<I", 5000)), ".")
    assert parsed(overwritten(system_v, place, struct.pack("<I", 5000))) == parsed(system_v)


def with_chain(data, chain):
    """Return a library whose GNU hash table lies at the end of the file: one bucket, one chain."""
    _, first, _, _ = struct.unpack_from("<IIII", data, place_of(data, value_of(data, 0x6FFFFEF5)))
    place = {tag: place for place, tag, _ in dynamic(data)}[0x6FFFFEF5]
    spare = next(where for where, kind, *_ in segments(data) if kind == 0x6474E551)
    table = struct.pack("<IIIIQI", 1, first, 1, 0, 0, first) + chain
    base, end = 1 << 32, len(data)
    data = overwritten(data + table, place + 8, struct.pack("<Q", base))
    return overwritten(
        data, spare, struct.pack("<IIQQQQQQ", 1, 4, end, base, base, len(table), len(table), 8)
    )


@pytest.mark.parametrize("room", [0, 1, elf.BLOCK, 3 * elf.BLOCK + 8])
def test_a_chain_without_an_end(room):
    data = content("gnu_hash.so")
    endless = with_chain(data, b"\2" * room)
    assert refusal(endless, ".") == "an ELF file with a hash table that does not end"
    assert parsed(endless) == parsed(data)


def test_a_chain_is_followed_to_its_end():
    data = content("gnu_hash.so")
    every = parsed(data, ".").symbols
    for count in range(1, len(every) + 1):
        chain = struct.pack("<I", 2) * (count - 1) + struct.pack("<I", 3)
        assert parsed(with_chain(data, chain), ".").symbols == every[:count]
    longer = with_chain(data, struct.pack("<I", 2) * len(data) + struct.pack("<I", 3))
    assert refusal(longer, ".") == "a truncated ELF file (its symbol table is not all there)"


def test_symbols_with_endless_names():
    data = content("none.so")
    symbols, strings = place_of(data, value_of(data, 6)), place_of(data, value_of(data, 5))
    assert symbols < strings
    beyond = overwritten(data, symbols + 24, struct.pack("<I", 2**31))
    assert refusal(beyond, ".") == "an ELF file with a name outside of its string table"


def test_symbols_that_share_one_long_name(monkeypatch):
    """A small file may claim gigabytes of names: what is searched through has a limit of its own."""
    name = "n" * 60_000
    data = handmade(64, "<", tags=((4, name), (6, "")), soname=None)
    end, count, place = len(data), 100, 64 + 2 * 56
    data += struct.pack("<IIII", 1, count, 0, 0) + struct.pack("<IBBHQQ", 1, 0, 0, 5, 0, 0) * count
    entries = struct.pack("<qQqQ", 4, 0x10000 + end, 6, 0x10000 + end + 16)
    data = overwritten(overwritten(data, place, entries), 64 + 32, struct.pack("<Q", len(data)))
    assert parsed(data, "n").symbols == (name,) * count
    monkeypatch.setattr(elf, "STRINGS_LIMIT", count * len(name) - 1)
    assert refusal(data, "n") == "an ELF file with longer names than are read"


def test_symbols_without_a_table_or_a_hash_table():
    assert parsed(handmade(64, "<"), ".").symbols == ()
    data = content("none.so")
    places = {tag: place for place, tag, _ in dynamic(data)}
    assert parsed(overwritten(data, places[0x6FFFFEF5], struct.pack("<q", 0x70000000)), ".").symbols == ()


def test_build_ids():
    assert parsed(content("no_build_id.so")).build_id is None
    data = content("rpath.so")
    (place,) = [
        offset
        for _, kind, offset, _, size in segments(data)
        if kind == 4 and b"GNU\0" in data[offset : offset + size]
    ][:1]
    assert struct.unpack_from("<III", data, place) == (4, 20, 3)
    told_id = parsed(data).build_id
    assert told_id == data[place + 16 : place + 36].hex()
    lost = "an ELF file with a build id that is not all there"
    assert refusal(overwritten(data, place + 4, struct.pack("<I", 2**31))) == lost
    assert refusal(overwritten(data, place + 4, bytes(4))) == lost
    assert parsed(overwritten(data, place + 8, struct.pack("<I", 9))).build_id is None
    assert parsed(overwritten(data, place, struct.pack("<I", 2**31))).build_id is None


def test_a_build_id_behind_a_property_note_of_eight_byte_steps():
    """A note segment of alignment 8 pads its notes to 8 bytes."""
    data = content("rpath.so")
    header_place, _, _, _, _ = next(segment for segment in segments(data) if segment[1] == 4)
    notes = (
        struct.pack("<III", 4, 12, 5)
        + b"GNU\0"
        + bytes(12)
        + bytes(4)
        + struct.pack("<III", 4, 3, 3)
        + b"GNU\0"
        + b"abc"
    )
    moved = data + notes
    moved = overwritten(moved, header_place + 8, struct.pack("<Q", len(data)))
    moved = overwritten(moved, header_place + 32, struct.pack("<QQQ", len(notes), len(notes), 8))
    assert parsed(moved).build_id == b"abc".hex()


def test_many_notes_take_no_time(monkeypatch):
    read = []
    data = content("rpath.so")
    head = header(data)
    places = [segment for segment in segments(data) if segment[1] == 4]
    headers = data[places[0][0] : places[0][0] + 56] * 5000
    new = len(data)
    own = data[head.phoff : head.phoff + 56 * head.phnum].replace(
        struct.pack("<I", 4) + b"\4\0\0\0", struct.pack("<I", 0x70000001) + b"\4\0\0\0"
    )
    data = overwritten(data + own + headers, 0x20, struct.pack("<Q", new))
    data = overwritten(data, 0x38, struct.pack("<H", head.phnum + 5000))
    monkeypatch.setattr(elf, "_NT_GNU_BUILD_ID", 77)
    parse_elf(lambda offset, size: read.append(size) or data[offset : offset + size], len(data))
    assert sum(read) < 10 * len(data)


def test_a_recorded_answer_is_the_answer_or_refused():
    found = parsed(both_tags(), ".")
    assert untold(told(found)) == found
    assert untold(told(parsed(content("static")))) == parsed(content("static"))
    for wrong in (
        None,
        [],
        {},
        {**told(found), "x": 1},
        {**told(found), "bits": 16},
        {**told(found), "needed": [1]},
        {**told(found), "rpath": 7},
    ):
        with pytest.raises(ValueError):
            untold(wrong)


def test_a_file_on_the_live_host_and_on_a_made_up_one(tmp_path):
    (tmp_path / "libx.so").write_bytes(content("rpath.so"))
    (tmp_path / "script.so").write_text("INPUT(libx.so)")
    live = LiveHost()
    try:
        assert live.elf(str(tmp_path / "libx.so"), "chosen") == FakeHost(
            files={"/x": content("rpath.so")}
        ).elf("/x", "chosen")
        with pytest.raises(ElfError, match="not an ELF file"):
            live.elf(str(tmp_path / "script.so"))
        with pytest.raises(FileNotFoundError):
            live.elf(str(tmp_path / "nothing"))
        with pytest.raises(IsADirectoryError):
            live.elf(str(tmp_path))
    finally:
        live.close()


def test_little_of_a_large_file_is_read(tmp_path):
    """What a table claims is read only as far as the file goes, and never all of it."""
    read = []
    data = content("rpath.so")
    path = tmp_path / "large"
    path.write_bytes(data)
    os.truncate(path, 1 << 40)
    with path.open("rb") as file:

        def reader(offset, size):
            read.append(size)
            return os.pread(file.fileno(), size, offset)

        assert parse_elf(reader, 1 << 40, ".") == parsed(data, ".")
    assert sum(read) <= 8 * elf.BLOCK


@functools.cache
def system_libraries():
    need("readelf", "binutils describe the system's libraries")
    return [
        path
        for path in sorted(glob.glob(f"{SYSTEM}/*.so*"))
        if not os.path.islink(path) and Path(path).read_bytes()[:4] == b"\x7fELF"
    ]


def test_all_system_libraries_as_readelf_tells_them():
    libraries = system_libraries()
    assert len(libraries) > 100
    text = subprocess.run(
        ["readelf", "-W", "-d", "-n", *libraries],
        capture_output=True,
        text=True,
        env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
    ).stdout
    parts = re.split(r"^File: (.*)\n", text, flags=re.M)[1:]
    assert len(parts) == 2 * len(libraries)
    for path, part in zip(parts[::2], parts[1::2], strict=True):

        def said(word, part=part):
            return re.findall(rf"\({word}\)\s+.*\[(.*)\]$", part, re.M)

        data = Path(path).read_bytes()
        found = parsed(data)
        assert found.dynamic is ("Dynamic section at offset" in part), path
        assert list(found.needed) == said("NEEDED"), path
        for tag in ("soname", "rpath", "runpath"):
            assert [getattr(found, tag)] == (said(tag.upper()) or [None]), path
        assert [found.build_id] == (re.findall(r"Build ID: ([0-9a-f]+)", part)[:1] or [None]), path
        assert linker_view(data) == tuple(
            None if text is None else text.encode() for text in (found.rpath, found.runpath)
        )


@pytest.mark.parametrize("path", WITH_SYMBOLS)
def test_symbols_as_nm_tells_them(path):
    need(os.path.exists(path), f"Debian's {path}")
    done = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", path], capture_output=True, text=True, check=True
    )
    wanted = sorted(line.split()[0].partition("@")[0] for line in done.stdout.splitlines())
    found = parsed(Path(path).read_bytes(), ".").symbols
    assert len(found) > 10
    assert sorted(found) == wanted
    some = [each for each in found if "hip" in each or "hsa" in each]
    assert sorted(parsed(Path(path).read_bytes(), "hip|hsa").symbols) == sorted(some)


def test_too_little_memory_is_no_defect_of_the_file():
    def read(offset, size):
        raise MemoryError

    with pytest.raises(MemoryError):
        parse_elf(read, 1000)
