"""A real Docker engine of its own, on its own socket, for as long as a ``with`` block lasts.

It has no bridge and writes no firewall rules. It lives in a mount namespace of its own, so its mounts go
with it, and the kernel ends it when the tests die.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.parts.needs import need
from tests.parts.probing import left_behind

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
START_S = 30

#: What the engine writes outside its folder goes with its mount namespace: FOLDER PROGRAM...
FURNISH = """
set -e
mkdir "$0/own"
mount -t tmpfs -o size=16m own "$0/own"
for name in etc opt; do
    mkdir "$0/own/$name" "$0/own/$name-work"
    mount -t overlay -o "lowerdir=/$name,upperdir=$0/own/$name,workdir=$0/own/$name-work" overlay "/$name"
done
mount -t tmpfs run /run
exec "$@"
"""


class Engine:
    """A running engine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = ["docker", "--host", f"unix://{folder}/sock"]

    def docker(self, *words: object, **options) -> "subprocess.CompletedProcess[str]":
        """Run the client."""
        return subprocess.run(
            [*self.client, *map(str, words)],
            env={"PATH": PATH, "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=60,
            **{"check": True, **options},
        )

    def load(self, root: Path, image: str) -> None:
        """Make an image of a tree."""
        with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as packing:
            self.docker("import", "-", image, stdin=packing.stdout)
        assert packing.returncode == 0


@contextlib.contextmanager
def docker_engine() -> Iterator[Engine]:
    """Start an engine, yield it when it answers, and end it with all its containers.

    The kernel ends it with the thread that started it: that must be one that stays.
    """
    need(os.geteuid() == 0, "needs root, for an engine")
    for program in ("dockerd", "docker"):
        need(shutil.which(program, path=PATH) is not None, f"needs Docker: there is no {program}")
    # Not below a folder of the tests: the path of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="docker-", dir="/tmp"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        engine = Engine(folder)
        process = _start(folder)
        stack.callback(_end, engine, process)
        until = time.monotonic() + START_S
        while engine.docker("version", check=False).returncode:
            log = (folder / "log").read_text(errors="replace")
            assert process.poll() is None and time.monotonic() < until, f"no engine: {log[-1500:]}"
            time.sleep(0.05)
        yield engine


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    places = ["--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec", "--pidfile", f"{folder}/pid"]
    network = [
        "--bridge=none",
        "--iptables=false",
        "--ip6tables=false",
        "--ip-forward=false",
        "--ip-masq=false",
    ]
    words = ["dockerd", *places, "--host", f"unix://{folder}/sock", *network]
    alone = ["unshare", "--mount", "setpriv", "--pdeathsig", "KILL", "sh", "-c", FURNISH, str(folder)]
    with open(folder / "log", "wb") as log:
        return subprocess.Popen(
            [*alone, *words],
            env={"PATH": PATH, "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _end(engine: Engine, process: "subprocess.Popen[bytes]") -> None:
    """End the containers, then the engine, then what it may have left, each by its number."""
    if process.poll() is None:
        with contextlib.suppress(subprocess.SubprocessError):
            running = engine.docker("ps", "--quiet").stdout.split()
            if running:
                engine.docker("rm", "--force", *running)
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for number in left_behind(f"{engine.folder}/"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
