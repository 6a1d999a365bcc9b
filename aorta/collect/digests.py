"""What is in files: digests and ELF headers, each file read once a capture, or remembered.

``full`` is the sha256 of the content. ``identity`` is the sha256 of name, size, GNU build id and the
first and last 64 KiB: enough to tell releases apart where reading gigabytes over a network is not.
"""

import contextlib
import hashlib
import posixpath
import re
import threading
import time
from collections.abc import Sequence
from typing import Any

import attrs

from aorta.collect.answer import Answer, asked
from aorta.collect.hashing import MOST_WORKERS, HashPool, processors
from aorta.collect.memory import (
    BOOT_ID,
    DURABLE_TYPES,
    TRUSTED_TYPES,
    Memory,
    directory,
    file_of,
    key_of,
    settled,
)
from aorta.host.elf import MAGIC, Elf, ElfError, told, untold
from aorta.host.protocol import Entry, FileSystem, Host, Stat
from aorta.model.vocabulary import METHODS, ReasonKind

FULL, IDENTITY, NONE = METHODS

_BOOT = re.compile(r"[0-9a-f-]{8,64}")

#: How much of a file's head and of its tail counts for its identity.
END = 64 * 1024

#: Directories that are remembered as a whole.
TREES = 16

#: The size of a file whose size is not known: it is begun first.
UNKNOWN_SIZE = 1 << 62


@attrs.define(eq=False, slots=True)
class Job:
    """One file to be hashed, and who waits for it: till ``until``; whoever reads it took ``limit``."""

    path: str
    method: str
    until: float
    limit: float
    found: Stat | Entry | None = None
    known: str | None = None
    answer: Answer[str] | None = None
    hashed: bool = False
    waiting: list["Batch"] = attrs.field(factory=list)


class Batch:
    """Somebody who waits for several jobs."""

    def __init__(self) -> None:
        self.left = 0
        self.done = threading.Event()


class Digests:
    """The digests of one capture by path and method.

    ``memory`` holds what was found out before, None for a host that is not this machine; with
    ``verify`` every file is hashed all the same, and ``wrong`` names those whose memory was false.
    """

    def __init__(self, host: Host, *, memory: Memory | None = None, verify: bool = False) -> None:
        self.wrong: dict[str, str] = {}
        self._host = host
        self._memory = memory
        self._verify = verify
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._disk: tuple[str, str] | None = None
        self._opened = memory is None
        self._jobs: dict[tuple[str, str], Job] = {}
        self._elves: dict[tuple[str, str | None], Answer[Elf]] = {}
        self._filesystems: dict[tuple[str, int], FileSystem] = {}
        self._local = HashPool(self._hash, min(MOST_WORKERS, processors()))
        self._remote = HashPool(self._hash, 1)

    def file(self, path: str, timeout: float, method: str = FULL) -> tuple[Answer[str], bool]:
        """Return ``sha256:HEX`` (``identity:HEX``) of a file and whether this capture read it for that."""
        return self.files([(path, None)], timeout, method)[0]

    def files(
        self, wanted: Sequence[tuple[str, Entry | None]], timeout: float, method: str = FULL
    ) -> list[tuple[Answer[str], bool]]:
        """Return the digests of several files, each as ``file`` does, and wait ``timeout`` seconds at most.

        An entry of a listing spares the look at the file. Who asks for a file that is being read
        waits for that, as long as its own time goes; a time that was over is not remembered.
        """
        known = self._known(wanted, method)
        rest = [place for place, answer in enumerate(known) if answer is None]
        told = self._asked([wanted[place] for place in rest], timeout, method) if rest else []
        answers = dict(zip(rest, told, strict=True))
        return [(answer, False) if answer else answers[place] for place, answer in enumerate(known)]

    def _known(self, wanted: Sequence[tuple[str, Entry | None]], method: str) -> list[Answer[str] | None]:
        """Return what is remembered of listed files, None for each of the others.

        A large directory is all of such, so this is one loop: a call for each file would take as long again.
        """
        memory, trusted = self._memory, dict[tuple[str, int], bool]()
        if memory is None or method != FULL or self._verify:
            return [None] * len(wanted)
        answers: list[Answer[str] | None] = []
        for path, entry in wanted:
            value = None
            if entry is not None:
                place = path.rpartition("/")[0], entry.dev
                trust = trusted.get(place)
                if trust is None:
                    trust = trusted[place] = self._trusts(path, entry)
                if trust and entry.ctime_ns > 0:
                    value = memory.get("sha256", key_of(entry)) or self._recalled("sha256", path, entry)
            answers.append(Answer(value=value, subject=path) if isinstance(value, str) else None)
        return answers

    def known_tree(self, question: Any, listings: Sequence[list[Entry]]) -> Any:
        """Return the tree that was remembered for a question, if its listings are the same."""
        if self._memory is None or self._verify:
            return None
        before, tree = self._memory.trees.get(question, ((), None))
        # Large ones that have not changed are the very same objects, which compares at once.
        return tree if before == tuple(listings) else None

    def remember_tree(self, question: Any, listings: Sequence[list[Entry]], tree: Any) -> None:
        """Remember a tree whose files were all remembered themselves."""
        if self._memory is not None:
            while len(self._memory.trees) >= TREES:
                self._memory.trees.pop(next(iter(self._memory.trees)), None)
            self._memory.trees[question] = tuple(listings), tree

    def _asked(
        self, wanted: Sequence[tuple[str, Entry | None]], timeout: float, method: str
    ) -> list[tuple[Answer[str], bool]]:
        until = time.monotonic() + timeout
        jobs = self._join(wanted, method, until)
        self._wait(jobs, until)
        timed_out = [place for place, job in enumerate(jobs) if _timed_out(job)]
        again = [place for place in timed_out if jobs[place].limit < until and _left(until)]
        if again:
            retried = self._join([wanted[place] for place in again], method, until)
            self._wait(retried, until)
            for place, job in zip(again, retried, strict=True):
                jobs[place] = job
        return [(job.answer or _no_time(job.path, timeout), job.hashed) for job in jobs]

    def _join(self, wanted: Sequence[tuple[str, Entry | None]], method: str, until: float) -> list[Job]:
        """Return the job of each file, begun by whoever asks first."""
        jobs, new = [], []
        with self._lock:
            for path, entry in wanted:
                job = self._jobs.get((path, method))
                if job is None:
                    job = self._jobs[path, method] = Job(path, method, until, until, entry)
                    new.append(job)
                job.until = max(job.until, until)
                jobs.append(job)
        queues: dict[HashPool, list[tuple[int, Job]]] = {}
        for job in new:
            if not self._remembered(job):
                size = job.found.size if job.found is not None else UNKNOWN_SIZE
                queues.setdefault(self._pool(job), []).append((size, job))
        for pool, queue in queues.items():
            pool.submit(queue)
        return jobs

    def _wait(self, jobs: Sequence[Job], until: float) -> None:
        batch = Batch()
        with self._lock:
            for job in jobs:
                if job.answer is None:
                    job.waiting.append(batch)
                    batch.left += 1
        if batch.left:
            batch.done.wait(max(0.0, until - time.monotonic()))

    def _remembered(self, job: Job) -> bool:
        """Settle a job by what is remembered, or by why the file can not be looked at."""
        if not self._host.remembers:
            return False
        if job.found is None:
            looked = asked(job.path, lambda: self._host.stat(job.path, timeout=_left(job.until)))
            if looked.value is None:
                self._settle(job, looked.failure)
                return True
            job.found = looked.value
        if job.found.kind != "file" or job.method != FULL:
            return False
        known = self._recalled("sha256", job.path, job.found)
        if not isinstance(known, str):
            return False
        if self._verify:
            job.known = known
            return False
        self._settle(job, Answer(value=known, subject=job.path))
        return True

    def _hash(self, job: Job) -> None:
        job.limit = job.until
        left = _left(job.limit)
        if not left:
            return self._settle(job, _no_time(job.path, 0))
        make = self._identity if job.method == IDENTITY else self._full
        answer = self._still(job, asked(job.path, lambda: make(job.path, left)))
        if answer.value is not None:
            job.hashed = True
            if job.known is not None and job.known != answer.value:
                text = f"remembered as {job.known}, its content is {answer.value}"
                self.wrong[job.path] = f"{job.path}: {text}"
            if job.method == FULL and job.found is not None:
                self._remember("sha256", job.path, job.found, answer.value)
        return self._settle(job, answer)

    def _still(self, job: Job, answer: Answer[str]) -> Answer[str]:
        """Return the answer, or that the file was written to meanwhile: it is of no state then."""
        if answer.value is None or job.found is None or not job.found.ctime_ns:
            return answer
        now = asked(job.path, lambda: self._host.stat(job.path, timeout=1.0))
        if now.value is None:
            return now.failure
        if key_of(now.value) == key_of(job.found):
            return answer
        detail = f"{job.path}: it was written to while it was read"
        return Answer(kind=ReasonKind.FAILED, subject=job.path, detail=detail)

    def _full(self, path: str, timeout: float) -> str:
        return f"sha256:{self._host.sha256(path, timeout=timeout)}"

    def _identity(self, path: str, timeout: float) -> str:
        until = time.monotonic() + timeout
        size = self._host.stat(path, timeout=timeout).size
        head = self._host.read_bytes(path, END, timeout=_left(until))
        tail = b""
        if size > END:
            tail = self._host.read_bytes(path, END, timeout=_left(until), offset=max(END, size - END))
        build_id = ""
        if head.startswith(MAGIC):
            try:
                build_id = self._host.elf(path, timeout=_left(until)).build_id or ""
            except ElfError:
                build_id = "malformed"
        name = posixpath.basename(path).encode("utf-8", "surrogateescape")
        digest = hashlib.sha256(b"%s\n%d\n%s\n" % (name, size, build_id.encode()))
        digest.update(head)
        digest.update(tail)
        return f"identity:{digest.hexdigest()}"

    def _settle(self, job: Job, answer: Answer[str]) -> None:
        with self._lock:
            job.answer = answer
            if answer.kind is ReasonKind.TIMED_OUT:
                self._jobs.pop((job.path, job.method), None)
            for batch in job.waiting:
                batch.left -= 1
                if not batch.left:
                    batch.done.set()
            job.waiting.clear()

    def elf(self, path: str, symbols: str | None, timeout: float) -> Answer[Elf]:
        """Return what an ELF file says to the dynamic linker; without ``symbols`` it is remembered."""
        answer = self._elves.get((path, symbols))
        if answer is None:
            answer = asked(path, lambda: self._elf(path, symbols, timeout))
            if answer.kind is not ReasonKind.TIMED_OUT:
                self._elves[path, symbols] = answer
        return answer

    def _elf(self, path: str, symbols: str | None, timeout: float) -> Elf:
        until = time.monotonic() + timeout
        if self._memory is None or symbols is not None:
            return self._host.elf(path, symbols, timeout=timeout)
        found = self._host.stat(path, timeout=timeout)
        known = self._recalled("elf", path, found)
        if known is not None and not self._verify:
            try:
                return untold(known)
            except ValueError:
                pass
        elf = self._host.elf(path, timeout=_left(until))
        if key_of(self._host.stat(path, timeout=_left(until))) == key_of(found):
            self._remember("elf", path, found, told(elf))
        return elf

    def _recalled(self, kind: str, path: str, found: Stat | Entry) -> Any:
        """Return what this process remembers of a file, or one before it where that counts, or None."""
        if self._memory is None or not self._trusts(path, found):
            return None
        if not self._opened:
            self._open()
        key = key_of(found)
        value = self._memory.get(kind, key)
        if value is None:
            value = self._memory.stored(kind, key)
            if value is None or not self._durable(path, found):
                return None
            self._memory.put(kind, key, value)
        return value

    def _remember(self, kind: str, path: str, found: Stat | Entry, value: object) -> None:
        """Remember a value of a file that was the same before and after it was read."""
        if self._memory is not None and settled(found) and self._trusts(path, found):
            self._memory.put(kind, key_of(found), value, durable=self._durable(path, found))

    def _trusts(self, path: str, found: Stat | Entry) -> bool:
        """Tell whether a file's number and times say which file it is: not where others made them up."""
        return found.ctime_ns > 0 and self.filesystem(path, found).kind in TRUSTED_TYPES

    def filesystem(self, path: str, found: Stat | Entry | None) -> FileSystem:
        """Return what holds a file; asked once for all files of a directory on one device."""
        place = (path.rpartition("/")[0], found.dev if found is not None else -1)
        if place not in self._filesystems:
            answer = asked(path, lambda: self._host.filesystem(path, timeout=1.0))
            self._filesystems[place] = answer.value or FileSystem()
        return self._filesystems[place]

    def _durable(self, path: str, found: Stat | Entry | None) -> bool:
        return self.filesystem(path, found).kind in DURABLE_TYPES

    def _pool(self, job: Job) -> HashPool:
        # One process reads a file system that may hang, so a second thread would only wait for it.
        if not self._host.remembers:
            return self._local
        return self._remote if self.filesystem(job.path, job.found).may_hang else self._local

    def _open(self) -> None:
        """Read, at the first question, what other processes of this boot left on disk."""
        with self._opening:
            if self._opened or self._memory is None:
                return
            boot = (asked(BOOT_ID, lambda: self._host.read_text(BOOT_ID)).value or "").strip()
            place = directory()
            if place is not None and _BOOT.fullmatch(boot) and self._is_local(place):
                self._disk = file_of(place, boot), boot
                self._memory.load(*self._disk)
            self._opened = True

    def _is_local(self, place: str) -> bool:
        found = asked(place, lambda: self._host.filesystem(place, timeout=1.0)).value
        return found is not None and not found.may_hang

    def close(self) -> None:
        """Begin no further file, and leave on disk what was found out."""
        self._local.clear()
        self._remote.clear()
        if self._memory is not None and self._disk is not None:
            # A full or a foreign directory costs the next process time, and this one nothing.
            with contextlib.suppress(OSError):
                self._memory.save(*self._disk)


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())


def _timed_out(job: Job) -> bool:
    return job.answer is not None and job.answer.kind is ReasonKind.TIMED_OUT


def _no_time(path: str, timeout: float) -> Answer[str]:
    detail = f"{path}: not read within {timeout:.3g} s"
    return Answer(kind=ReasonKind.TIMED_OUT, subject=path, detail=detail)
