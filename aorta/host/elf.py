"""ELF files: what the dynamic linker reads in one. Pure: bytes in, ``Elf`` out.

pyelftools reads the file's header; the tables that it locates are unpacked in one pass each. Section
headers are not needed (a stripped or cut file may have none): all comes from the program headers
and the dynamic segment, as for the linker itself. What is damaged is refused and never taken for an
empty table, since that would say that a library has no RPATH.
"""

import functools
import itertools
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aorta.host.patterns import chosen
from aorta.model.frozen import frozen

#: Reads up to ``size`` bytes at ``offset`` of a file. Raises OSError.
Reader = Callable[[int, int], bytes]

MAGIC = b"\x7fELF"
BLOCK = 16 * 1024
TABLE_LIMIT = 8 << 20
STRING_LIMIT = 64 * 1024
STRINGS_LIMIT = 256 << 20
NEEDED_LIMIT, NAMES_LIMIT = 4096, 256 * 1024
NOTE_LIMIT = 64 * 1024
NOTES_LIMIT = 64

#: By class: size of the header, place of sh_info in a section header.
_PLACES = {32: (52, 0x1C), 64: (64, 0x2C)}
_PN_XNUM = 0xFFFF
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE = 1, 2, 4
_DT_NULL, _DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ = 0, 1, 4, 5, 6, 10
_DT_SONAME, _DT_RPATH, _DT_RUNPATH, _DT_GNU_HASH = 14, 15, 29, 0x6FFFFEF5
_NT_GNU_BUILD_ID = 3


class ElfError(ValueError):
    """A file that is no ELF file, or one whose tables can not be read; the text says which."""


@frozen
class Elf:
    """What an ELF file says to the dynamic linker.

    ``bits`` is 32 or 64, ``byte_order`` little or big, ``machine`` its constant's name
    (``EM_X86_64``). ``dynamic`` tells whether there is a dynamic segment; without one ``soname``,
    ``needed``, ``rpath`` and ``runpath`` say nothing. ``build_id`` is hexadecimal. ``symbols`` are the
    (mangled) names of the defined dynamic symbols that were asked for, in the table's order.
    """

    bits: int
    byte_order: str
    machine: str
    dynamic: bool = False
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: str | None = None
    runpath: str | None = None
    build_id: str | None = None
    symbols: tuple[str, ...] = ()


def parse_elf(read: Reader, size: int, symbols: str | None = None) -> Elf:
    """Return what an ELF file of ``size`` bytes says.

    ``symbols`` is a regular expression searched for in each symbol's mangled name. Raises ElfError
    for what is no readable ELF file, and the OSErrors of ``read``.
    """
    if symbols is not None:
        re.compile(symbols.encode())
    try:
        return _File(read, size).parsed(symbols)
    except (OSError, ElfError, MemoryError):
        raise
    except Exception as error:
        # The file is hostile until shown otherwise, and so is what a parser makes of it.
        raise ElfError(f"a malformed ELF file ({type(error).__name__})") from error


class _Blocks:
    """A file read in blocks; nothing beyond its end, wherever its tables say that they are."""

    def __init__(self, read: Reader, size: int) -> None:
        self._read = functools.lru_cache(maxsize=64)(lambda number: read(number * BLOCK, BLOCK))
        self._raw = read
        self._size = size

    def part(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes at an offset."""
        size = min(size, self._size - offset)
        if offset < 0 or size <= 0:
            return b""
        first, last = offset // BLOCK, (offset + size - 1) // BLOCK
        if last - first > 1:
            return self._raw(offset, size)
        joined = b"".join(self._read(number) for number in range(first, last + 1))
        return joined[offset - first * BLOCK :][:size]

    def whole(self, offset: int, size: int, what: str) -> bytes:
        """Return exactly ``size`` bytes. Raises ElfError that says what is cut."""
        data = self.part(offset, size)
        if len(data) != size:
            raise ElfError(f"a truncated ELF file (its {what} is not all there)")
        return data


@functools.cache
def _structs(bits: int, order: str) -> Any:
    """Return pyelftools' description of a class, which costs more to make than all of a file to read."""
    from elftools.elf.structs import ELFStructs

    structs = ELFStructs(little_endian=order == "<", elfclass=bits)
    structs.create_basic_structs()
    return structs


#: Type, offset, address, size in the file and alignment.
_Segment = tuple[int, int, int, int, int]


class _File:
    def __init__(self, read: Reader, size: int) -> None:
        self._blocks = _Blocks(read, size)
        head = self._blocks.part(0, 64)
        if not head.startswith(MAGIC):
            raise ElfError("not an ELF file")
        if len(head) > 5 and (head[4] not in (1, 2) or head[5] not in (1, 2)):
            raise ElfError("an ELF file of an unknown class or byte order")
        self.bits = 64 if head[4:5] == b"\2" else 32
        if len(head) < _PLACES[self.bits][0]:
            raise ElfError("a truncated ELF file (its header is not all there)")
        self.order = "<" if head[5] == 1 else ">"
        self._header = _structs(self.bits, self.order).Elf_Ehdr.parse(head)
        self._loads: list[tuple[int, int, int]] = []
        self._segments = list(self._program_headers())

    def _segment_count(self) -> int:
        count: int = self._header["e_phnum"]
        if count != _PN_XNUM:
            return count
        sections: int = self._header["e_shoff"]
        if not sections:
            raise ElfError("an ELF file that does not say how many program headers it has")
        number = self._blocks.whole(sections + _PLACES[self.bits][1], 4, "first section header")
        return int(struct.unpack(self.order + "I", number)[0])

    def _program_headers(self) -> Iterator[_Segment]:
        start, size, count = self._header["e_phoff"], self._header["e_phentsize"], self._segment_count()
        form = struct.Struct(self.order + ("IIQQQQQQ" if self.bits == 64 else "IIIIIIII"))
        if not start or not count:
            return
        if size != form.size or size * count > TABLE_LIMIT:
            raise ElfError(f"an ELF file with {count} program headers of {size} bytes")
        table = self._blocks.whole(start, size * count, "program header table")
        chosen = (0, 2, 3, 5, 7) if self.bits == 64 else (0, 1, 2, 4, 7)
        for fields in form.iter_unpack(table):
            kind, offset, address, length, align = (fields[number] for number in chosen)
            if kind == _PT_LOAD:
                self._loads.append((address, offset, length))
            yield kind, offset, address, length, align

    def parsed(self, wanted: str | None) -> Elf:
        # Where something stands twice, the last one counts for the linker.
        places = [segment for segment in self._segments if segment[0] == _PT_DYNAMIC][-1:]
        tags = self._tags(places[0]) if places else {}
        strings = self._strings(tags) if places else (0, 0)
        needed = tags.get(_DT_NEEDED, [])
        if len(needed) > NEEDED_LIMIT:
            raise ElfError(f"an ELF file that needs {len(needed)} libraries")
        one = {
            name: self._text(strings, tags[tag][-1]) if tag in tags else None for name, tag in _NAMED.items()
        }
        return Elf(
            bits=self.bits,
            byte_order="little" if self.order == "<" else "big",
            machine=str(self._header["e_machine"]),
            dynamic=bool(places),
            needed=tuple(self._names(strings, needed)),
            build_id=self._build_id(),
            symbols=self._chosen(tags, strings, wanted) if wanted is not None else (),
            **one,
        )

    def _tags(self, segment: _Segment) -> dict[int, list[int]]:
        """Return the values of the dynamic table by tag; a table that does not end is none."""
        _, offset, address, size, _ = segment
        form = struct.Struct(self.order + ("qQ" if self.bits == 64 else "iI"))
        if not size or size > TABLE_LIMIT or size % form.size:
            raise ElfError(f"an ELF file with a dynamic segment of {size} bytes")
        if self._offset(address) != offset:
            # The linker goes by the address, other tools by the offset: it is not known which is right.
            raise ElfError("an ELF file with a dynamic segment in two places")
        tags: dict[int, list[int]] = {}
        for tag, value in form.iter_unpack(self._blocks.whole(offset, size, "dynamic segment")):
            if tag == _DT_NULL:
                return tags
            tags.setdefault(tag, []).append(value)
        raise ElfError("an ELF file whose dynamic segment does not end")

    def _strings(self, tags: dict[int, list[int]]) -> tuple[int, int]:
        """Return offset and size of the dynamic string table."""
        if _DT_STRTAB not in tags or _DT_STRSZ not in tags:
            raise ElfError("an ELF file with a dynamic segment without names")
        return self._offset(tags[_DT_STRTAB][-1]), tags[_DT_STRSZ][-1]

    def _offset(self, address: int) -> int:
        for start, offset, length in self._loads:
            if start <= address < start + length:
                return offset + address - start
        raise ElfError("an ELF file whose tables are in no segment")

    def _names(self, strings: tuple[int, int], places: list[int]) -> Iterator[str]:
        """Yield the names of needed libraries, as many as a real file can have."""
        total = 0
        for at in places:
            name = self._text(strings, at)
            total += len(name)
            if total > NAMES_LIMIT:
                raise ElfError("an ELF file with more names of libraries than are read")
            yield name

    def _text(self, strings: tuple[int, int], at: int) -> str:
        if at >= strings[1]:
            raise ElfError("an ELF file with a name outside of its string table")
        data = self._blocks.part(strings[0] + at, min(strings[1] - at, 256))
        if b"\0" not in data:
            data = self._blocks.part(strings[0] + at, min(strings[1] - at, STRING_LIMIT))
        text, end, _ = data.partition(b"\0")
        if not end:
            raise ElfError("an ELF file with a name that does not end")
        return text.decode("utf-8", "backslashreplace")

    def _build_id(self) -> str | None:
        """Return the first GNU build id of the note segments."""
        form = struct.Struct(self.order + "III")
        places = [segment[1:] for segment in self._segments if segment[0] == _PT_NOTE]
        for offset, _, length, align in places[:NOTES_LIMIT]:
            notes, at = self._blocks.whole(offset, min(length, NOTE_LIMIT), "notes"), 0
            step = 8 if align == 8 else 4
            while at + form.size <= len(notes):
                name_size, size, note = form.unpack_from(notes, at)
                name_at = at + form.size
                at = -(-(name_at + name_size) // step) * step
                if note == _NT_GNU_BUILD_ID and notes[name_at : name_at + name_size] == b"GNU\0":
                    found = notes[at : at + size]
                    if not found or len(found) != size:
                        raise ElfError("an ELF file with a build id that is not all there")
                    return found.hex()
                at = -(-(at + size) // step) * step
        return None

    def _chosen(self, tags: dict[int, list[int]], strings: tuple[int, int], wanted: str) -> tuple[str, ...]:
        """Return the wanted names of defined dynamic symbols."""
        names = chosen(self._symbols(tags, strings), wanted)
        return tuple(name.decode("utf-8", "backslashreplace") for name in names)

    def _symbols(self, tags: dict[int, list[int]], strings: tuple[int, int]) -> Iterator[bytes]:
        """Yield the names of defined dynamic symbols."""
        if _DT_SYMTAB not in tags:
            return
        form = struct.Struct(self.order + ("IBBHQQ" if self.bits == 64 else "IIIBBH"))
        size = form.size * self._symbol_count(tags)
        if size > STRINGS_LIMIT or strings[1] > STRINGS_LIMIT:
            raise ElfError("an ELF file with more symbols than are read")
        table = self._blocks.whole(self._offset(tags[_DT_SYMTAB][-1]), size, "symbol table")
        names = self._blocks.whole(*strings, "string table")
        section, left = 3 if self.bits == 64 else 5, STRINGS_LIMIT
        for fields in form.iter_unpack(table):
            if fields[0] and fields[section]:
                end = names.find(b"\0", fields[0], fields[0] + STRING_LIMIT)
                if end < 0:
                    raise ElfError("an ELF file with a name outside of its string table")
                left -= end - fields[0]
                if left < 0:
                    raise ElfError("an ELF file with longer names than are read")
                yield names[fields[0] : end]

    def _symbol_count(self, tags: dict[int, list[int]]) -> int:
        """Return how many dynamic symbols there are: only the hash tables tell.

        Without one the linker finds no symbol either.
        """
        if _DT_HASH in tags:
            # 64-bit entries (s390x, Alpha) are not what GPU hosts have.
            head = self._blocks.whole(self._offset(tags[_DT_HASH][-1]), 8, "hash table")
            return int(struct.unpack(self.order + "II", head)[1])
        if _DT_GNU_HASH not in tags:
            return 0
        at = self._offset(tags[_DT_GNU_HASH][-1])
        buckets, first, bloom, _ = struct.unpack(
            self.order + "IIII", self._blocks.whole(at, 16, "hash table")
        )
        at += 16 + bloom * self.bits // 8
        if max(buckets, bloom) * 8 > TABLE_LIMIT:
            raise ElfError("an ELF file with a hash table larger than is read")
        starts = struct.unpack(f"{self.order}{buckets}I", self._blocks.whole(at, 4 * buckets, "hash table"))
        last = max(starts, default=0)
        if last < first:
            return int(first)
        return int(last + 1 + self._chain(at + 4 * buckets + 4 * (last - first)))

    def _chain(self, start: int) -> int:
        """Return how many symbols follow in a chain of the GNU hash table; its end has the lowest bit set."""
        form = struct.Struct(self.order + "I")
        for at in range(start, start + TABLE_LIMIT, BLOCK):
            part = self._blocks.part(at, BLOCK)
            for number, (value,) in enumerate(form.iter_unpack(part[: len(part) // 4 * 4])):
                if value & 1:
                    return (at - start) // form.size + number
            if len(part) < BLOCK:
                break
        raise ElfError("an ELF file with a hash table that does not end")


_NAMED = {"soname": _DT_SONAME, "rpath": _DT_RPATH, "runpath": _DT_RUNPATH}


def reader_of(content: bytes) -> Reader:
    """Return a reader of bytes that are all there."""
    return lambda offset, size: content[offset : offset + size]


def told(found: Elf) -> dict[str, Any]:
    """Return a result as a JSON object, as recordings and the memory of files hold it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in _items(found)}


def _items(found: Elf) -> Sequence[tuple[str, Any]]:
    return [(name, getattr(found, name)) for name in _FIELDS]


def untold(value: Any) -> Elf:
    """Return what ``told`` made a JSON object of. Raises ValueError for anything else."""
    if not isinstance(value, dict) or not set(value) <= set(_FIELDS):
        raise ValueError("not what is told of an ELF file")
    texts = {name: value[name] for name in _TEXTS if value.get(name) is not None}
    lists = {name: value.get(name, []) for name in ("needed", "symbols")}
    if not all(isinstance(text, str) for text in itertools.chain(texts.values(), *lists.values())):
        raise ValueError("an ELF file's names must be texts")
    if value.get("bits") not in (32, 64) or not {"byte_order", "machine"} <= set(texts):
        raise ValueError("an ELF file's class is missing")
    return Elf(
        bits=value["bits"],
        dynamic=value.get("dynamic") is True,
        needed=tuple(lists["needed"]),
        symbols=tuple(lists["symbols"]),
        **texts,
    )


_FIELDS = (
    "bits",
    "byte_order",
    "machine",
    "dynamic",
    "soname",
    "needed",
    "rpath",
    "runpath",
    "build_id",
    "symbols",
)
_TEXTS = ("byte_order", "machine", "soname", "rpath", "runpath", "build_id")
