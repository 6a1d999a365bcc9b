"""ELF files for tests: really built ones, edited ones, and small ones made by hand for classes gcc here lacks.

``built()`` compiles once a process. All are libraries without the C library, so gcc and binutils suffice.
"""

import atexit
import functools
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

from tests.parts.needs import need

SOURCE = """
extern int elsewhere(void);
int chosen_one(void) { return 1; }
int chosen_two(void) { return chosen_one(); }
static int hidden_one(void) { return 3; }
int data_one = 7;
int calls(void) { return hidden_one(); }
"""
ORIGIN = "$ORIGIN:$ORIGIN/rocm_sysdeps/lib"
OLD, NEW = "-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags"
#: What each library is linked with; the empty RPATH is what ``-rpath ''`` makes.
LINKED = {
    "rpath": [OLD, f"-Wl,-rpath,{ORIGIN}"],
    "runpath": [NEW, f"-Wl,-rpath,{ORIGIN}"],
    "none": [],
    "empty_rpath": [OLD, "-Wl,-rpath,"],
    "gnu_hash": ["-Wl,--hash-style=gnu"],
    "sysv_hash": ["-Wl,--hash-style=sysv"],
    "both_hashes": ["-Wl,--hash-style=both"],
    "no_build_id": ["-Wl,--build-id=none"],
    "named": ["-Wl,-soname,libnamed.so.5", "-Wl,-z,noseparate-code"],
}


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


@functools.cache
def built():
    """Return the folder of the built files: ``<name>.so`` of LINKED, ``object.o``, ``archive.a``, ``static``."""
    need("gcc", "ELF files are built by gcc (Debian: apt install gcc)")
    folder = Path(tempfile.mkdtemp(prefix="elf-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "source.c").write_text(SOURCE)
    run("gcc", "-c", "-fPIC", "-g", "-o", folder / "object.o", folder / "source.c")
    run("ar", "rc", folder / "archive.a", folder / "object.o")
    for name, words in LINKED.items():
        link(folder / f"{name}.so", folder / "object.o", *words)
    run("gcc", "-nostdlib", "-static", "-Wl,-e,calls", "-o", folder / "static", folder / "object.o")
    run("objcopy", "--only-keep-debug", folder / "rpath.so", folder / "rpath.so.debug")
    return folder


def link(path, source, *words):
    """Link a shared library that needs nothing."""
    run("gcc", "-nostdlib", "-shared", "-Wl,--build-id=sha1", "-o", path, source, *words)


def library(path, *words):
    """Link the shared library of SOURCE with further options."""
    link(path, built() / "object.o", *words)


def content(name):
    """Return the bytes of a built file."""
    return (built() / name).read_bytes()


def header(data):
    """Return what the header of a 64-bit little-endian file says."""
    names = "phoff shoff flags ehsize phentsize phnum shentsize shnum shstrndx"
    return SimpleNamespace(
        **dict(zip(names.split(), struct.unpack_from("<QQIHHHHHH", data, 0x20), strict=True))
    )


def segments(data):
    """Return (place of the header, type, offset, address, file size) of each segment."""
    head = header(data)
    places = [head.phoff + number * head.phentsize for number in range(head.phnum)]
    found = [(place, *struct.unpack_from("<IIQQQQQQ", data, place)) for place in places]
    return [(place, kind, offset, address, size) for place, kind, _, offset, address, _, size, *_ in found]


def dynamic(data):
    """Return (place, tag, value) of each entry of the dynamic table, with all of its nulls."""
    ((_, _, offset, _, size),) = [segment for segment in segments(data) if segment[1] == 2]
    return [(place, *struct.unpack_from("<qQ", data, place)) for place in range(offset, offset + size, 16)]


def value_of(data, tag):
    """Return the first value of a tag."""
    return next(value for _, found, value in dynamic(data) if found == tag)


def place_of(data, address):
    """Return where in the file an address lies."""
    return next(
        offset + address - start
        for _, kind, offset, start, size in segments(data)
        if kind == 1 and start <= address < start + size
    )


def overwritten(data, place, new):
    """Return the bytes with others written over them."""
    return data[:place] + new + data[place + len(new) :]


def with_tags(data, *tags):
    """Return a library with further entries in the room that the linker leaves in the dynamic table."""
    nulls = [place for place, tag, _ in dynamic(data) if tag == 0]
    assert len(nulls) > len(tags)
    for place, (tag, value) in zip(nulls, tags, strict=False):
        data = overwritten(data, place, struct.pack("<qQ", tag, value))
    return data


def both_tags():
    """Return a library with RPATH and RUNPATH of the same text."""
    data = content("rpath.so")
    return with_tags(data, (29, value_of(data, 15)))


def without_sections(data):
    """Return a file cut before its section headers, which the header names no more."""
    head = header(data)
    cut = data[: head.shoff] if head.shoff + head.shnum * head.shentsize >= len(data) - 64 else data
    cut = overwritten(cut, 0x28, bytes(8))
    return overwritten(cut, 0x3C, bytes(4))


def many_segments(data):
    """Return a file whose header says that the first section header tells the number of segments."""
    head = header(data)
    data = overwritten(data, head.shoff + 0x2C, struct.pack("<I", head.phnum))
    return overwritten(data, 0x38, b"\xff\xff")


def handmade(bits=32, order=">", *, tags=((15, "$ORIGIN/x"),), soname="libhand.so.1", machine=20):
    """Return a small library with one loaded segment, for any class and byte order."""
    texts = b"\0"
    entries = []
    for tag, text in (*((14, soname),) * bool(soname), *tags):
        entries.append((tag, len(texts)))
        texts += text.encode() + b"\0"
    wide = bits == 64
    base, ehsize, phsize = 0x10000, 64 if wide else 52, 56 if wide else 32
    entry = struct.Struct(order + ("qQ" if wide else "iI"))
    at = ehsize + 2 * phsize
    strings = at + entry.size * (len(entries) + 3)
    entries += [(5, base + strings), (10, len(texts)), (0, 0)]
    table = b"".join(entry.pack(*each) for each in entries)
    total = strings + len(texts)

    def segment(kind, offset, size):
        address = base + offset
        if wide:
            return struct.pack(order + "IIQQQQQQ", kind, 4, offset, address, address, size, size, 8)
        return struct.pack(order + "IIIIIIII", kind, offset, address, address, size, size, 4, 4)

    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    word = "Q" if wide else "I"
    head = struct.pack(
        f"{order}HHI{word}{word}{word}IHHHHHH", 3, machine, 1, 0, ehsize, 0, 0, ehsize, phsize, 2, 0, 0, 0
    )
    return ident + head + segment(1, 0, total) + segment(2, at, len(table)) + table + texts


def linker_view(data):
    """Return (rpath, runpath) as the dynamic linker would come by them, or None where it refuses the file.

    Written apart from the reader under test: by addresses alone, the last of what stands twice counts.
    """
    try:
        if data[:7] != b"\x7fELF\x02\x01\x01" or header(data).phentsize != 56:
            return None
        parts = segments(data)
        address = [segment[3] for segment in parts if segment[1] == 2 and segment[4]][-1]
        place, told = place_of(data, address), {}
        while (entry := struct.unpack_from("<qQ", data, place))[0]:
            told[entry[0]] = entry[1]
            place += 16
        strings = place_of(data, told[5])

        def text(tag):
            if tag not in told:
                return None
            start = strings + told[tag]
            return data[start : data.index(b"\0", start)]

        return text(15), text(29)
    except (struct.error, StopIteration, IndexError, KeyError, ValueError, OverflowError):
        return None
