"""torchrun's own store, through which rank 0 tells the others where it listens.

A process of its own speaks to it: torch takes a second and 200 MB, and starts threads.
"""

import contextlib
import select
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import Any

from aorta.launch.identity import Identity
from aorta.launch.tasks import LaunchError

KEY = "aorta/{job}/leader"
#: Seconds between two tries of what was told.
_AGAIN_S = 0.2

#: Sets the key and ends, or prints its value whenever it is another one than before.
_TALKS = """
import datetime, sys, time
from torch.distributed import PrefixStore, TCPStore
host, port, key, value, seconds = sys.argv[1:]
store = TCPStore(host, int(port), is_master=False, timeout=datetime.timedelta(seconds=float(seconds)))
if value:
    store.set(key, value)
    print("set", flush=True)
    raise SystemExit
known = None
while True:
    told = store.get(key).decode()
    if told != known:
        known = told
        print(told, flush=True)
    time.sleep(0.2)
"""


@contextlib.contextmanager
def _talking(
    python: str, identity: Identity, value: str, seconds: float, environ: Mapping[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    words = (str(identity.address), str(identity.port), KEY.format(job=identity.job), value, str(seconds))
    process = subprocess.Popen(
        [python, "-c", _TALKS, *words],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def publish(python: str, identity: Identity, value: str, until: float, environ: Mapping[str, str]) -> None:
    """Tell the other ranks where to come. Raises LaunchError."""
    for _ in told(python, identity, until, environ, value=value):
        return


def told(
    python: str, identity: Identity, until: float, environ: Mapping[str, str], *, value: str = ""
) -> Iterator[str]:
    """Yield what rank 0 told, now and then again: what an earlier run left there is told first.

    Raises LaunchError when there is no answer ``until`` then.
    """
    seconds = max(until - time.monotonic(), 1.0)
    line = ""
    with _talking(python, identity, value, seconds, environ) as process:
        output: Any = process.stdout
        while True:
            left = max(until - time.monotonic(), 0.0)
            ready = select.select([output], [], [], min(_AGAIN_S, left) if line else left)[0]
            if ready or not line:
                line = output.readline().strip() if ready else ""
            if not line:
                raise LaunchError(_why(process, identity))
            yield line


def _why(process: "subprocess.Popen[str]", identity: Identity) -> str:
    process.kill()
    said = [line for line in process.communicate()[1].splitlines() if line.strip()]
    last = f": {said[-1].strip()}" if said else " in time"
    if "No module named" in last:
        last += "; install torch for this interpreter, or set AORTA_TRIAL_MASTER_PORT_BASE"
    return f"the store of torchrun's agent at {identity.address}:{identity.port} did not answer{last}"
