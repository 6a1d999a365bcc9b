"""The libraries that a process has mapped: each file once, with what became of it."""

import errno
import subprocess
import sys

import pytest

from aorta.host.live import LiveHost
from aorta.testing import FakeHost, provide, torch_report
from aorta_collectors.providers import MappedLibraries
from aorta_collectors.providers.mapped_libraries import MAPS, MappedFile, parse_maps

TEXT = (
    "7f1000000000-7f1000001000 r--p 00000000 08:01 42                         /opt/rocm/lib/librccl.so.1.0.70200\n"
    "7f1000001000-7f1000002000 r-xp 00001000 08:01 42                         /opt/rocm/lib/librccl.so.1.0.70200\n"
    "7f2000000000-7f2000001000 r-xp 00000000 00:2f 7                          /data/my env/lib/libamdhip64.so (deleted)\n"
    "7f3000000000-7f3000001000 rw-p 00000000 00:00 0                          [heap]\n"
    "7f4000000000-7f4000001000 r--p 00000000 08:01 9                          /usr/lib/locale/C.utf8/LC_CTYPE\n"
    "7f5000000000-7f5000001000 rw-s 00000000 00:01 3                          /dev/shm/x\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
)
RCCL = MappedFile(path="/opt/rocm/lib/librccl.so.1.0.70200", device="08:01", inode=42)
HIP = MappedFile(path="/data/my env/lib/libamdhip64.so", device="00:2f", inode=7, deleted=True)
TORCH = {"modules": {"torch": "/sp/torch/__init__.py"}, "files": {"/sp/torch/version.py": ""}}


def test_each_library_once_and_blanks_kept():
    assert list(parse_maps(TEXT)) == [RCCL, HIP]


def test_two_files_of_one_path_are_two():
    replaced = TEXT.replace("08:01 42", "08:01 43").replace(
        "librccl.so.1.0.70200", "librccl.so.1.0.70200 (deleted)"
    )
    found = [each for each in parse_maps(TEXT + replaced) if "rccl" in each.path]
    assert [(each.inode, each.deleted) for each in found] == [(42, False), (43, True)]


@pytest.mark.parametrize("character", "\v\f\x1c\x1d\x1e\x85\u2028\u2029\r\xa0")
def test_what_ends_a_line_elsewhere_is_part_of_a_path(character):
    path = f"/a{character}b/libtorch.so"
    (found,) = parse_maps(f"7f10-7f20 r-xp 00000000 08:01 5    {path}\n")
    assert found.path == path


def test_lines_that_are_none():
    assert list(parse_maps("garbage\n\n1-2 r\n1-2 r--p 0 08:01 x /lib/a.so\n")) == [
        MappedFile(path="/lib/a.so", device="08:01")
    ]


def test_this_process_where_torch_is_asked_in_it():
    told = provide(FakeHost({MAPS: TEXT}), MappedLibraries, import_strategy="in_process").typed
    assert (told.process, told.files) == ("self", (RCCL, HIP))


def test_the_child_where_that_one_was_asked():
    report = torch_report(mapped=TEXT.splitlines())
    host = FakeHost(observed={"torch": report}, modules=TORCH["modules"], files=TORCH["files"])
    told = provide(host, MappedLibraries, import_strategy="child").typed
    assert (told.process, told.files) == ("torch_child", (RCCL, HIP))


def test_without_torch_there_is_no_process_to_look_at():
    told = provide(FakeHost({MAPS: TEXT}), MappedLibraries, import_strategy="child").typed
    assert (told.process, told.files, told.gap.kind) == ("torch_child", None, "absent")


def test_a_path_that_is_no_text_costs_nothing():
    data = TEXT.encode().replace(b"/opt/rocm/lib/librccl", b"/opt/\xff/lib/librccl")
    told = provide(FakeHost({MAPS: data}), MappedLibraries, import_strategy="in_process").typed
    assert [each.path for each in told.files] == ["/opt/\udcff/lib/librccl.so.1.0.70200", HIP.path]


def test_denied():
    told = provide(FakeHost({MAPS: errno.EACCES}), MappedLibraries, import_strategy="in_process").typed
    assert (told.files, told.gap.kind) == (None, "denied")


def test_a_library_that_was_replaced_is_told_by_the_kernel_itself(tmp_path):
    library, copy = tmp_path / "libaorta_test.so", tmp_path / "new"
    for file in (library, copy):
        file.write_bytes(b"x" * 4096)
    code = f"""
import mmap, os
kept = mmap.mmap(os.open({str(library)!r}, os.O_RDONLY), 0, prot=mmap.PROT_READ)
os.rename({str(copy)!r}, {str(library)!r})
print(open("{MAPS}").read())
"""
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    told = [each for each in parse_maps(text) if each.name == library.name]
    assert [(each.path, each.deleted) for each in told] == [(str(library), True)]


def test_live():
    host = LiveHost()
    told = provide(host, MappedLibraries, import_strategy="in_process").typed
    host.close()
    assert any(each.name.startswith("libc.so") for each in told.files)
