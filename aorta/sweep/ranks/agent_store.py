"""torchrun's own store, through which rank 0 tells the others where it listens.

A process of its own speaks to it: torch takes a second and 200 MB, and starts threads.
"""

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from aorta.instrumentation.process import enders, raise_if_stopped
from aorta.launch.identity import Identity
from aorta.launch.ports import PORT_BASE
from aorta.launch.tasks import LaunchError

KEY = "aorta/{job}/leader"
#: Seconds between two tries of what was told.
_AGAIN_S = 0.2

#: Sets the key and ends; or prints its value, again whenever it is another one than before. It ends with who
#: started it, and imports nothing from the working directory, where a user may have a folder named torch.
_TALKS = """
import os, sys, threading
sys.path[:] = [path for path in sys.path if path]
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
import datetime, time
from torch.distributed import TCPStore
host, port, key, value, seconds = sys.argv[1:]
store = TCPStore(host, int(port), is_master=False, timeout=datetime.timedelta(seconds=float(seconds)))
if value:
    store.set(key, value)
print("", flush=True)
known = None
while not value:
    told = store.get(key).decode()
    if told != known:
        known = told
        print(told, flush=True)
    time.sleep(0.2)
"""


@contextlib.contextmanager
def _talking(python: str, words: list[str], environ: Mapping[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Start the process; it has ended when this has."""
    process = subprocess.Popen(
        [python, "-c", _TALKS, *words],
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    enders.add(process.kill)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        enders.discard(process.kill)


def publish(
    python: str | None, identity: Identity, value: str, until: float, environ: Mapping[str, str]
) -> None:
    """Tell the other ranks where to come. Raises LaunchError."""
    with contextlib.closing(_lines(python, identity, value, until, environ)) as lines:
        next(lines)


def told(
    python: str | None, identity: Identity, until: float, environ: Mapping[str, str]
) -> Generator[str, None, None]:
    """Yield what rank 0 told, now and then again: what an earlier sweep left there is told first.

    Raises LaunchError when nothing was told ``until`` then.
    """
    with contextlib.closing(_lines(python, identity, "", until, environ)) as lines:
        next(lines)
        yield from lines


def _lines(
    python: str | None, identity: Identity, value: str, until: float, environ: Mapping[str, str]
) -> Generator[str, None, None]:
    """Yield an empty line once the store is reached, then each line told, the last one again and again."""
    where = f"the store of torchrun's agent at {identity.address}:{identity.port}"
    if python is None:
        raise LaunchError(
            f"{where} is not asked, since this program is no Python interpreter: set {PORT_BASE}"
        )
    seconds = max(until - time.monotonic(), 1.0)
    words = [str(identity.address), str(identity.port), KEY.format(job=identity.job), value, str(seconds)]
    line: str | None = None
    try:
        with _talking(python, words, environ) as process:
            for read in _read(process.stdout, until):
                if read is not None:
                    line = read
                if not line and read is None:
                    raise LaunchError(_why(process, where, reached=line is not None))
                yield line or ""
            raise LaunchError(_why(process, where, reached=line is not None))
    except OSError as error:
        raise LaunchError(f"{where} cannot be asked: {python}: {error.strerror}") from None


def _read(output: Any, until: float) -> Iterator[str | None]:
    """Yield each line that comes, and None where none came for a while, at first till the time is over.

    Not by the stream's own lines: what it has read of a second one no select tells of.
    """
    kept, has_told = b"", False
    while True:
        raise_if_stopped()
        left = max(until - time.monotonic(), 0.0)
        if not select.select([output], [], [], min(_AGAIN_S, left))[0]:
            if has_told or not left:
                yield None
            continue
        piece = os.read(output.fileno(), 1 << 16)
        if not piece:
            return
        *lines, kept = (kept + piece).split(b"\n")
        for line in lines:
            has_told = has_told or bool(line)
            yield line.decode("utf-8", "backslashreplace").strip()


def _why(process: "subprocess.Popen[str]", where: str, *, reached: bool) -> str:
    """Return what is wrong when the process has ended, or has to."""
    process.kill()
    said = [line for line in process.communicate()[1].splitlines() if line.strip()]
    if reached:
        return f"rank 0 did not tell through {where} where it listens: does aorta run there too?"
    last = f": {said[-1].strip()}" if said else " in time"
    if "No module named" in last:
        last += f"; install torch for this interpreter, or set {PORT_BASE} on all ranks"
    return f"{where} did not answer{last}"
