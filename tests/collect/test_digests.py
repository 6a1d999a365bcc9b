"""Digests: each file is read once, and never again while it is surely the same."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aorta.collect import memory as memories
from aorta.collect.commands import CommandPool
from aorta.collect.context import Context, Shared
from aorta.collect.digests import END, Digests
from aorta.collect.hashing import HashPool
from aorta.collect.memory import Memory
from aorta.collect.request import Request
from aorta.collect.tree_digest import TreeFile, names_digest
from aorta.host.live import LiveHost
from aorta.model.frozen import evolve
from aorta.model.vocabulary import ReasonKind
from aorta.testing import FakeHost
from tests.parts.fuse import hanging_mount
from tests.parts.needs import need


class Counting(LiveHost):
    """This machine, which counts what is hashed and what is read as ELF."""

    def __init__(self):
        super().__init__()
        self.hashed = []
        self.parsed = []

    def sha256(self, path, *, timeout=None):
        self.hashed.append(path)
        return super().sha256(path, timeout=timeout)

    def elf(self, path, symbols=None, *, timeout=None):
        self.parsed.append(path)
        return super().elf(path, symbols, timeout=timeout)


@pytest.fixture(autouse=True)
def _private_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)


@pytest.fixture
def tree(tmp_path):
    """Return a directory of files, one of them a level down, and one that is no member."""
    place = tmp_path / "library"
    (place / "gfx942").mkdir(parents=True)
    (place / "a.dat").write_bytes(b"a" * 1000)
    (place / "b.co").write_bytes(b"b" * 300_000)
    (place / "gfx942" / "c.hsaco").write_bytes(b"c" * 10)
    (place / "README").write_text("not a member")
    return place


@pytest.fixture(autouse=True)
def _all_is_settled(monkeypatch):
    """Files of a test are young: without this nothing would be remembered."""
    monkeypatch.setattr(memories, "SETTLED_NS", -(10**18))


def context(memory=None, *, host=None, verify=False, seconds=20.0, **wishes):
    host = host or Counting()
    digests = Digests(host, memory=memory, verify=verify)
    shared = Shared(host=host, request=Request(**wishes), commands=CommandPool(host), digests=digests)
    return Context(shared, "sec", deadline=time.monotonic() + seconds), digests, host


def is_member(name):
    return name.endswith((".dat", ".co", ".hsaco"))


def is_architecture(name):
    return name.startswith("gfx")


def told(ctx, place):
    answer = ctx.digest_tree(
        str(place),
        members=is_member,
        descend=is_architecture,
    )
    assert answer.ok, answer
    return answer.value


def sha256(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_tree_is_its_files_by_name_and_one_digest_over_them(tree):
    ctx, _, host = context()
    found = told(ctx, tree)
    assert [(file.name, file.size, file.digest.value) for file in found.files] == [
        ("a.dat", 1000, sha256(b"a" * 1000)),
        ("b.co", 300_000, sha256(b"b" * 300_000)),
        ("gfx942/c.hsaco", 10, sha256(b"c" * 10)),
    ]
    lines = "\n".join(f"{file.name}\t{file.digest.value}" for file in found.files)
    assert found.combined().value == f"content-{sha256(lines.encode())}"
    assert found.method == "full"
    assert len(host.hashed) == 3
    assert (ctx.digest_count.hashed, ctx.digest_count.remembered) == (3, 0)


def test_one_capture_reads_a_file_once_whoever_asks(tree):
    ctx, digests, host = context()
    threads = [threading.Thread(target=told, args=(ctx, tree)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(host.hashed) == sorted(set(host.hashed))
    assert len(host.hashed) == 3
    assert digests.file(str(tree / "a.dat"), 5)[1] is True, "read by this capture, whoever asked first"


def test_a_second_capture_of_the_process_reads_nothing(tree):
    memory = Memory()
    first = told(context(memory)[0], tree).combined()
    ctx, _, host = context(memory)
    assert told(ctx, tree).combined() == first
    assert host.hashed == []
    assert (ctx.digest_count.hashed, ctx.digest_count.remembered) == (0, 3)


def test_a_large_directory_is_known_as_a_whole_until_something_changes(tree):
    for number in range(300):
        (tree / f"k{number:03}.co").write_bytes(b"%d" % number)
    memory, found = Memory(), []
    for _ in range(4):
        ctx, _, host = context(memory)
        found.append(told(ctx, tree))
    assert host.hashed == []
    assert found[3] is found[2], "nothing was made anew"
    assert ctx.digest_count.remembered == len(found[3].files)
    assert found[0].combined() == found[3].combined()
    for change in (one_byte, added, removed):
        change(tree)
        now = told(context(memory)[0], tree)
        assert now.combined().value == told(context()[0], tree).combined().value
        assert now.combined() != found[-1].combined()
        found.append(now)


def test_a_directory_with_a_link_is_never_known_as_a_whole(tree):
    (tree / "l.dat").symlink_to("a.dat")
    memory = Memory()
    for _ in range(3):
        told(context(memory)[0], tree)
    (tree / "a.dat").write_bytes(b"other")
    assert told(context(memory)[0], tree).files[-1].digest.value == sha256(b"other")
    assert memory.trees == {}


def test_a_later_process_reads_nothing(tree):
    _, digests, _ = first = context(Memory())
    before = told(first[0], tree).combined()
    digests.close()
    ctx, _, host = context(Memory())
    assert told(ctx, tree).combined() == before
    assert host.hashed == []


def put_back(path, times):
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def one_byte(tree):
    path = tree / "b.co"
    times = path.stat()
    with open(path, "r+b") as file:
        file.seek(150_000)
        file.write(b"X")
    put_back(path, times)


def replaced(tree):
    path = tree / "a.dat"
    times = path.stat()
    other = tree / "other"
    other.write_bytes(b"z" * 1000)
    put_back(other, times)
    other.rename(path)


def added(tree):
    (tree / "gfx942" / "d.hsaco").write_bytes(b"d")


def removed(tree):
    (tree / "a.dat").unlink()


def swapped(tree):
    one, other = tree / "a.dat", tree / "b.co"
    one.rename(tree / "t")
    other.rename(one)
    (tree / "t").rename(other)


def touched_in_place_by_a_map(tree):
    import mmap

    path = tree / "b.co"
    times = path.stat()
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[7] = ord("Y")
        memory.flush()
    put_back(path, times)


@pytest.mark.parametrize("kept", ["in the process", "on disk"])
@pytest.mark.parametrize(
    "change",
    [one_byte, replaced, added, removed, swapped, touched_in_place_by_a_map],
    ids=lambda f: f.__name__,
)
def test_no_change_goes_unseen(tree, change, kept):
    memory = Memory()
    ctx, digests, _ = context(memory)
    before = told(ctx, tree).combined().value
    digests.close()
    change(tree)
    after = told(context(memory if kept == "in the process" else Memory())[0], tree).combined().value
    assert after != before
    assert after == told(context()[0], tree).combined().value


def test_a_file_that_was_just_changed_is_not_remembered(tree, monkeypatch):
    monkeypatch.setattr(memories, "SETTLED_NS", 2_000_000_000)
    memory = Memory()
    told(context(memory)[0], tree)
    ctx, _, host = context(memory)
    told(ctx, tree)
    assert len(host.hashed) == 3


def test_a_file_that_changes_while_it_is_read_is_not_remembered(tree):
    class Changing(Counting):
        def sha256(self, path, *, timeout=None):
            digest = super().sha256(path, timeout=timeout)
            with open(path, "ab") as file:
                file.write(b"!")
            return digest

    memory = Memory()
    torn = told(context(memory, host=Changing())[0], tree)
    assert {file.digest.kind for file in torn.files} == {ReasonKind.FAILED}, (
        "a digest of no state of the file"
    )
    assert "written to while it was read" in torn.combined().detail
    ctx, _, host = context(memory)
    told(ctx, tree)
    assert len(host.hashed) == 3


def test_verifying_hashes_again_and_names_what_was_remembered_wrong(tree):
    memory = Memory()
    ctx, digests, _ = context(memory)
    told(ctx, tree)
    digests.close()
    file = next(Path(os.environ["XDG_RUNTIME_DIR"], "aorta").iterdir())
    content = json.loads(file.read_text())
    key = next(key for key, value in content["sha256"].items() if value == sha256(b"a" * 1000))
    content["sha256"][key] = sha256(b"a lie")
    file.write_text(json.dumps(content))

    believing = context(Memory())[0]
    assert told(believing, tree).files[0].digest.value == sha256(b"a lie")
    ctx, digests, host = context(Memory(), verify=True)
    assert told(ctx, tree).files[0].digest.value == sha256(b"a" * 1000)
    assert len(host.hashed) == 3
    assert [(reason.kind.value, reason.subject) for reason in ctx.reasons] == [
        ("failed", str(tree / "a.dat"))
    ]
    assert sha256(b"a lie") in ctx.reasons[0].detail
    digests.close()
    assert told(context(Memory())[0], tree).files[0].digest.value == sha256(b"a" * 1000)


def spoil_with(text):
    def spoil(directory, file):
        file.write_text(text)

    return spoil


def writable_by_others(directory, file):
    file.chmod(0o666)


def directory_of_others(directory, file):
    directory.chmod(0o777)


def owned_by_another(directory, file):
    os.chown(file, 12345, 12345)


def a_link(directory, file):
    file.rename(directory.parent / "elsewhere")
    file.symlink_to(directory.parent / "elsewhere")


def a_linked_directory(directory, file):
    directory.rename(directory.parent / "elsewhere")
    directory.symlink_to(directory.parent / "elsewhere")


def a_fifo(directory, file):
    file.unlink()
    os.mkfifo(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
@pytest.mark.parametrize(
    "spoil",
    [
        spoil_with(""),
        spoil_with("[]"),
        spoil_with('{"aorta":99}'),
        spoil_with("{" * 100_000),
        writable_by_others,
        directory_of_others,
        owned_by_another,
        a_link,
        a_linked_directory,
        a_fifo,
    ],
)
def test_a_memory_that_others_may_have_made_is_not_believed(tree, spoil):
    ctx, digests, _ = context(Memory())
    before = told(ctx, tree).combined()
    digests.close()
    directory = Path(os.environ["XDG_RUNTIME_DIR"], "aorta")
    spoil(directory, next(directory.iterdir()))
    ctx, digests, host = context(Memory())
    assert told(ctx, tree).combined() == before
    assert len(host.hashed) == 3
    digests.close()  # may fail to leave anything, which costs nothing


def test_another_boot_is_another_memory(tree):
    ctx, digests, _ = context(Memory())
    told(ctx, tree)
    digests.close()
    file = next(Path(os.environ["XDG_RUNTIME_DIR"], "aorta").iterdir())
    content = json.loads(file.read_text())
    assert content["boot"] in file.name
    file.write_text(json.dumps({**content, "boot": "00000000-0000-0000-0000-000000000000"}))
    ctx, _, host = context(Memory())
    told(ctx, tree)
    assert len(host.hashed) == 3


def test_an_earlier_boot_is_swept_away(tree):
    directory = Path(os.environ["XDG_RUNTIME_DIR"], "aorta")
    directory.mkdir(mode=0o700)
    old = directory / "digests-11111111-1111-1111-1111-111111111111.json"
    old.write_text("{}")
    half = directory / f"{old.name}.4242"
    half.write_text("{")
    os.utime(half, (1, 1))
    foreign = directory / "notes.txt"
    foreign.write_text("mine")
    ctx, digests, _ = context(Memory())
    told(ctx, tree)
    digests.close()
    assert not old.exists()
    assert not half.exists()
    assert foreign.exists()


def test_a_directory_that_can_not_be_made_costs_nothing(tree, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/proc/self")
    ctx, digests, host = context(Memory())
    told(ctx, tree)
    digests.close()
    assert len(host.hashed) == 3


def test_without_a_runtime_directory_it_is_a_private_one_in_tmp(monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    assert memories.directory() == f"/tmp/aorta-{os.geteuid()}"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts an overlay")
def test_files_of_an_overlay_are_remembered_in_the_process_alone(tree, tmp_path):
    for name in ("upper", "work", "merged"):
        (tmp_path / name).mkdir()
    options = f"lowerdir={tree},upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    merged = tmp_path / "merged"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, str(merged)], check=True)
    try:
        memory = Memory()
        ctx, digests, _ = context(memory)
        told(ctx, merged)
        digests.close()
        ctx, _, host = context(memory)
        told(ctx, merged)
        assert host.hashed == []
        ctx, _, host = context(Memory())
        told(ctx, merged)
        assert len(host.hashed) == 3
    finally:
        subprocess.run(["umount", str(merged)], check=True)


def test_a_listing_in_part_is_no_digest_of_all(tree, monkeypatch):
    def refuse(path, *, timeout=None, details=True):
        if path.endswith("gfx942"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return LiveHost.scan(host, path, timeout=timeout, details=details)

    ctx, _, host = context()
    monkeypatch.setattr(host, "scan", refuse)
    found = told(ctx, tree)
    assert [file.name for file in found.files] == ["a.dat", "b.co"]
    assert found.combined().kind is ReasonKind.DENIED
    assert found.combined().subject == str(tree / "gfx942")


def test_nothing_is_remembered_of_a_file_system_that_a_program_serves(tree):
    """Its numbers are given anew at each mount, and its times are what the program says: here 0."""
    memory = Memory()
    shutil.copy(sys.executable, tree / "a.dat")
    for _ in range(2):
        with hanging_mount("fuse_copy.py", str(tree)) as point:
            ctx, _, host = context(memory)
            assert ctx.digest(f"{point}/b.co").value == sha256(b"b" * 300_000)
            assert ctx.elf(f"{point}/a.dat").ok
            assert (host.hashed, host.parsed) == ([f"{point}/b.co"], [f"{point}/a.dat"])
            host.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts file systems")
def test_nothing_is_remembered_of_an_image(tmp_path):
    """Whoever makes an image sets the times and numbers of its files: two images can have the same."""
    need("mksquashfs", "needs squashfs-tools")
    point = tmp_path / "image"
    point.mkdir()
    memory, told_of = Memory(), []
    for content in (b"A" * 1000, b"B" * 1000):
        folder = tmp_path / content[:1].decode()
        folder.mkdir()
        (folder / "x.dat").write_bytes(content)
        image = f"{folder}.sqsh"
        command = ["mksquashfs", str(folder), image, "-quiet", "-no-progress", "-all-time", "1700000000"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["mount", "-o", "loop,ro", image, str(point)], check=True)
        try:
            ctx, digests, host = context(memory)
            told_of.append(ctx.digest(f"{point}/x.dat").value)
            digests.close()
            assert len(host.hashed) == 1
        finally:
            subprocess.run(["umount", str(point)], check=True)
    assert told_of == [sha256(b"A" * 1000), sha256(b"B" * 1000)]


def test_no_name_reads_like_several_files(tree):
    first = told(context()[0], tree)
    lines = [f"{file.name}\t{file.digest.value}" for file in first.files]
    for file in first.files[:-1]:
        (tree / file.name).unlink()
    tricky = "\n".join(lines[:-1]) + "\n" + first.files[-1].name
    assert "\t" in tricky
    one = TreeFile(name=tricky, size=10, digest=first.files[-1].digest)
    assert evolve(first, files=(one,)).combined().value != first.combined().value
    assert names_digest(["a\nb"]) != names_digest(["a", "b"])
    assert names_digest(["a\\nb"]) != names_digest(["a\nb"])


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_the_number_of_unmapped_users_is_nobodys_own(tree, monkeypatch):
    ctx, digests, _ = context(Memory())
    told(ctx, tree)
    digests.close()
    directory = Path(os.environ["XDG_RUNTIME_DIR"], "aorta")
    file = next(directory.iterdir())
    for path in (directory, file):
        os.chown(path, 65534, 65534)
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    ctx, _, host = context(Memory())
    told(ctx, tree)
    assert len(host.hashed) == 3


def test_a_memory_that_would_be_too_large_is_not_left(tree, monkeypatch):
    monkeypatch.setattr(memories, "SIZE_LIMIT", 100)
    ctx, digests, _ = context(Memory())
    told(ctx, tree)
    digests.close()
    assert not Path(os.environ["XDG_RUNTIME_DIR"], "aorta").exists()


def test_links_and_what_they_lead_to(tree):
    (tree / "gfx942" / "c.hsaco").unlink()
    (tree / "l.dat").symlink_to("a.dat")
    (tree / "broken.dat").symlink_to("nowhere")
    (tree / "gfx90a").symlink_to("gfx942")
    (tree / "gfx_is_a_file").symlink_to("a.dat")
    (tree / "gfx942" / "d.dat").write_bytes(b"d")
    found = told(context(Memory())[0], tree)
    told_of = {file.name: (file.size, file.digest.value, file.digest.kind) for file in found.files}
    assert told_of["l.dat"] == (1000, sha256(b"a" * 1000), None)
    assert told_of["broken.dat"] == (None, None, ReasonKind.EXPECTED)
    assert told_of["gfx90a/d.dat"] == (1, sha256(b"d"), None)
    assert found.combined().kind is ReasonKind.EXPECTED


def test_identity_is_name_size_build_id_and_both_ends(tree):
    ctx, _, host = context(Memory(), digests="identity")
    found = told(ctx, tree)
    assert found.method == "identity"
    assert all(file.digest.value.startswith("identity:") for file in found.files)
    assert found.combined().value.startswith("content-identity-sha256:")
    assert host.hashed == []

    def identity(path):
        return context()[1].file(str(path), 5, "identity")[0].value

    path = tree / "b.co"
    before = identity(path)
    content = bytearray(path.read_bytes())
    for at, seen in ((0, True), (END - 1, True), (END + 10, False), (300_000 - END, True), (299_999, True)):
        changed = bytearray(content)
        changed[at] ^= 1
        path.write_bytes(changed)
        assert (identity(path) != before) == seen, at
    path.write_bytes(content)
    assert identity(path) == before
    path.rename(tree / "other.co")
    assert identity(tree / "other.co") != before
    library = str(shutil.copy(sys.executable, tree / "elf.co"))
    assert identity(library).startswith("identity:")
    (tree / "bad.co").write_bytes(b"\x7fELF nonsense")
    assert identity(tree / "bad.co").startswith("identity:")


def test_none_hashes_nothing_and_says_so(tree):
    ctx, _, host = context(Memory(), digests="none")
    found = told(ctx, tree)
    assert [file.size for file in found.files] == [1000, 300_000, 10]
    assert {file.digest.kind for file in found.files} == {ReasonKind.NOT_REQUESTED}
    assert found.combined().kind is ReasonKind.NOT_REQUESTED
    assert "--digests none" in found.combined().detail
    assert ctx.digest(str(tree / "a.dat")).kind is ReasonKind.NOT_REQUESTED
    assert host.hashed == []
    (tree / "a.dat").unlink()
    (tree / "b.co").unlink()
    shutil.rmtree(tree / "gfx942")
    assert told(context(Memory(), digests="none")[0], tree).combined().kind is ReasonKind.NOT_REQUESTED


def test_libraries_are_hashed_in_full_whatever_suits_catalogs(tree):
    ctx, _, host = context(Memory(), digests="identity")
    assert ctx.digest(str(tree / "b.co")).value == sha256(b"b" * 300_000)
    assert len(host.hashed) == 1


def test_a_catalog_on_a_network_file_system_is_looked_at_by_identity():
    files = {"/nfs/lib/a.dat": "a" * 10, "/local/a.dat": "a" * 10}
    ctx = context(host=FakeHost(files, filesystems={"/nfs": "nfs4", "/": "ext4"}))[0]
    assert told(ctx, "/nfs/lib").method == "identity"
    assert told(ctx, "/local").method == "full"


def test_a_file_that_hangs_costs_the_time_that_was_given_and_the_others_nothing(tree):
    with hanging_mount() as point:
        (tree / "h.dat").symlink_to(f"{point}/hangread")
        ctx, _, host = context(Memory(), seconds=2.0)
        found = told(ctx, tree)
        kinds = {file.name: file.digest.kind for file in found.files}
        assert kinds == {
            "a.dat": None,
            "b.co": None,
            "gfx942/c.hsaco": None,
            "h.dat": ReasonKind.TIMED_OUT,
        }
        assert found.combined().kind is ReasonKind.TIMED_OUT
        host.close()


def test_nothing_is_kept_in_a_home_directory(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path) + "/")
    assert memories.directory() is None
    ctx, digests, _ = context(Memory())
    told(ctx, tree)
    digests.close()
    assert list((tmp_path / "run").iterdir()) == []
    monkeypatch.setenv("HOME", str(tmp_path / "ru"))
    assert memories.directory() == str(tmp_path / "run" / "aorta")


def test_files_that_may_hang_wait_for_each_other_alone_also_without_a_memory(tree):
    with hanging_mount() as point:
        for number in range(40):
            (tree / f"h{number:02}.dat").symlink_to(f"{point}/hangread")
        ctx, _, host = context(None, seconds=2.0)
        found = {file.name: file.digest.kind for file in told(ctx, tree).files}
        assert found["a.dat"] is found["b.co"] is found["gfx942/c.hsaco"] is None
        assert found["h00.dat"] is ReasonKind.TIMED_OUT
        host.close()


def test_large_files_are_begun_first():
    order = []
    begun = threading.Event()
    go_on = threading.Event()

    def work(job):
        begun.set()
        go_on.wait(10)
        order.append(job)
        if len(order) == 4:
            done.set()

    done = threading.Event()
    pool = HashPool(work, 1)
    pool.submit([(1, "first")])
    assert begun.wait(10)
    pool.submit([(5, "small"), (500, "large"), (50, "middle")])
    go_on.set()
    assert done.wait(10)
    assert order == ["first", "large", "middle", "small"]


def test_where_no_thread_can_be_started_the_asker_hashes(tree, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert told(context()[0], tree).combined().ok


def test_a_cleared_pool_begins_nothing_more():
    done = []
    pool = HashPool(done.append, 0)
    pool.submit([(1, "a")])
    pool.clear()
    assert done == []


def test_elf_headers_are_remembered_too(tree):
    library = str(shutil.copy(sys.executable, tree / "python"))
    memory = Memory()
    ctx, digests, _ = context(memory)
    first = ctx.elf(library)
    assert first.ok
    assert ctx.elf(library) is first
    digests.close()
    for again in (memory, Memory()):
        ctx, _, host = context(again)
        assert ctx.elf(library).value == first.value
        assert host.parsed == []
    ctx, _, host = context(Memory(), verify=True)
    assert ctx.elf(library).value == first.value
    assert host.parsed == [library]
    ctx, _, host = context(Memory())
    assert ctx.elf(library, "^Py_Main$").value.symbols in ((), ("Py_Main",))
    assert host.parsed == [library]
    assert ctx.elf(str(tree / "a.dat")).kind is ReasonKind.UNPARSED
    assert ctx.elf(str(tree / "gone")).kind is ReasonKind.ABSENT


def test_a_remembered_elf_header_that_says_nothing_is_read_anew(tree):
    library = str(shutil.copy(sys.executable, tree / "python"))
    ctx, digests, _ = context(Memory())
    first = ctx.elf(library).value
    digests.close()
    file = next(Path(os.environ["XDG_RUNTIME_DIR"], "aorta").iterdir())
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "elf": dict.fromkeys(content["elf"], {"bits": 7})}))
    ctx, _, host = context(Memory())
    assert ctx.elf(library).value == first
    assert host.parsed == [library]


def test_a_recording_is_never_answered_from_memory(tree):
    assert Counting().remembers
    assert not FakeHost().remembers
