"""Real isolation, one function for each kind: the words that start a program in it.

All that is started is a child in a session of its own, with a ``/run`` of its own; who gives up waiting ends
the session. Control groups that the tools leave are removed at the end, like the folder that holds the rest.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.parts.docker_engine import PATH, Engine, docker_engine
from tests.parts.needs import need
from tests.parts.rootfs import make

PROGRAMS = (
    "bwrap",
    "chroot",
    "runc",
    "systemd-nspawn",
    "lxc-execute",
    "ch-run",
    "podman",
    "dockerd",
    "unshare",
)
#: Where the other root has the program, and the folder that it shares with this machine.
PROGRAM, OUT = "/aorta.pyz", "/out"
IMAGE = "aorta-tests:1"
#: The limits that an engine may set without the right to raise any.
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000")
#: What the tools keep below /run goes with the mount namespace.
OWN_RUN = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs run /run && exec "$0" "$@"')
GROUPS = Path("/sys/fs/cgroup")
#: The control groups that the tools make and leave behind.
LEFT_GROUPS = ("docker", "kubepods", "libpod_parent", "lxc.pivot", "payload", "supervisor")


@dataclass
class Run:
    """What one run is to be: the tool's options, the program's words and variables, a folder to share."""

    of: "Sandboxes"
    options: Sequence[str]
    program: Sequence[str]
    env: Mapping[str, str]
    out: Path | None
    folder: Path

    def variables(self, option: str) -> list[str]:
        """Return options that set the program's variables."""
        return [word for pair in self.env.items() for word in (option, "=".join(pair))]

    def bound(self, *form: str) -> list[str]:
        """Return options that bind the folder, in a tool's form of them."""
        return [word.format(outside=self.out, inside=OUT) for word in form] if self.out else []


@dataclass
class Ended:
    """How a program ended; ``identity`` is what the engine says that the container was called."""

    code: int
    stdout: str
    stderr: str
    identity: str | None


def machine(run: Run) -> list[str]:
    """This machine's own root; the options are the words before the program."""
    return [*run.options, *run.program]


def chroot(run: Run) -> list[str]:
    """The other root in the mounts of this machine, or of what the options start."""
    return [*run.options, "chroot", str(run.of.root), *run.program]


def bwrap(run: Run) -> list[str]:
    """The other root in bubblewrap."""
    root = ["--bind", str(run.of.root), "/", *run.bound("--bind", "{outside}", "{inside}")]
    return ["bwrap", *root, *run.options, "--", *run.program]


def runc(run: Run) -> list[str]:
    """A container of runc; an option changes its specification, as ``PATH=JSON``."""
    subprocess.run(["runc", "spec"], cwd=run.folder, env={"PATH": PATH}, check=True, timeout=10)
    file = run.folder / "config.json"
    spec = json.loads(file.read_text())
    spec["root"] = {"path": str(run.of.root), "readonly": False}
    process = spec["process"]
    process.update(terminal=False, args=list(run.program), env=["=".join(pair) for pair in run.env.items()])
    del process["rlimits"]
    if run.out:
        spec["mounts"].append({"destination": OUT, "source": str(run.out), "options": ["bind", "rw"]})
    for option in run.options:
        path, _, value = option.partition("=")
        *parents, last = path.split(".")
        target = spec
        for name in parents:
            target = target[name]
        target[last] = json.loads(value)
    file.write_text(json.dumps(spec))
    return ["runc", "--root", f"{run.folder}/state", "run", "--bundle", str(run.folder), run.folder.name]


def nspawn(run: Run) -> list[str]:
    """A container of systemd-nspawn, without systemd; read-only, as it lets no other use the tree else."""
    alone = ["--quiet", "--register=no", "--keep-unit", "--console=pipe", "--read-only"]
    named = ["-D", str(run.of.root), f"--machine={run.folder.name.replace('_', 'x')}"]
    given = [*run.variables("--setenv"), *run.bound("--bind={outside}:{inside}"), *run.options]
    return ["systemd-nspawn", *alone, *named, *given, "--", *run.program]


def lxc(run: Run) -> list[str]:
    """An application container of LXC; an option is a line of its configuration."""
    lines = [f"lxc.rootfs.path = dir:{run.of.root}", "lxc.net.0.type = empty"]
    lines += [f"lxc.environment = {'='.join(pair)}" for pair in run.env.items()]
    lines += run.bound("lxc.mount.entry = {outside} .{inside} none bind 0 0")
    configuration = run.folder / "config"
    configuration.write_text("\n".join([*lines, *run.options, ""]))
    named = ["-n", run.folder.name, "-P", str(run.folder), "-f", str(configuration)]
    return ["lxc-execute", *named, "--", *run.program]


def charliecloud(run: Run) -> list[str]:
    """The other root in Charliecloud."""
    return [
        "ch-run",
        *run.bound("--bind={outside}:{inside}"),
        *run.options,
        str(run.of.root),
        "--",
        *run.program,
    ]


def podman(run: Run) -> list[str]:
    """A container of podman, on the tree itself: an image would be copied for each."""
    kept = run.of.folder / "podman"
    stores = ["--root", f"{kept}/root", "--runroot", f"{kept}/run", "--tmpdir", f"{kept}/tmp"]
    engine = ["--runtime", "runc", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"]
    given = [*run.variables("-e"), *run.bound("-v", "{outside}:{inside}"), *run.options]
    options = ["--rm", "--network", "none", "--cidfile", f"{run.folder}/id", *LIMITS, *given]
    return ["podman", *stores, *engine, "run", *options, "--rootfs", f"{run.of.root}:O", *run.program]


def docker(run: Run) -> list[str]:
    """A container of a Docker engine."""
    given = [*run.variables("-e"), *run.bound("-v", "{outside}:{inside}"), *run.options]
    options = ["--rm", "--cidfile", f"{run.folder}/id", *given]
    network = () if "--network" in options else ("--network", "none")
    return [*run.of.engine.client, "run", *options, *network, IMAGE, *run.program]


TOOLS: dict[str, Callable[[Run], list[str]]] = {
    tool.__name__: tool for tool in (machine, chroot, bwrap, runc, nspawn, lxc, charliecloud, podman, docker)
}
#: The tools that hand on their own variables, and those that keep something below /run.
HANDING_ON, KEEPING = (machine, chroot, bwrap, charliecloud), (runc, nspawn, lxc, podman)


@dataclass
class Sandboxes:
    """The other root with the program in it, a Docker engine with it as an image, a folder for what is kept."""

    folder: Path
    root: Path
    engine: Engine

    def run(
        self,
        kind: str,
        options: Sequence[str],
        words: Sequence[object],
        env: Mapping[str, str],
        out: Path | None = None,
        limit_s: float = 100,
    ) -> Ended:
        """Run the program in a kind of isolation, wait for it, and return how it ended."""
        tool = TOOLS[kind]
        file = f"{self.root}{PROGRAM}" if tool is machine else PROGRAM
        program = ["/usr/bin/python3", file, *map(str, words)]
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix="run-"))
        command = tool(Run(self, options, program, env, out, folder))
        own = env if tool in HANDING_ON else {"PATH": PATH, "HOME": str(folder)}
        with subprocess.Popen(
            [*(OWN_RUN if tool in KEEPING else ()), *command],
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd="/",
        ) as process:
            try:
                stdout, stderr = process.communicate(timeout=limit_s)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        identity = folder / "id"
        return Ended(process.returncode, stdout, stderr, identity.read_text() if identity.exists() else None)


@contextlib.contextmanager
def sandboxes(program: Path) -> Iterator[Sandboxes]:
    """Make the other root with a program in it; afterwards nothing of it is left."""
    need(os.geteuid() == 0, "needs root, for namespaces")
    for name in PROGRAMS:
        need(shutil.which(name, path=PATH) is not None, f"needs {name}")
    # Not below a folder of the tests: others must be able to come in.
    folder = Path(tempfile.mkdtemp(prefix="isolation-", dir="/tmp"))
    folder.chmod(0o755)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        stack.callback(_remove_groups, before=set(_groups()))
        root = make(folder / "root")
        shutil.copy(program, root / PROGRAM[1:])
        engine = stack.enter_context(docker_engine())
        engine.load(root, IMAGE)
        yield Sandboxes(folder, root, engine)


def _groups() -> Iterator[Path]:
    """Yield the control groups with the tools' names and those in them, the inner ones first."""
    for folder, _, _ in os.walk(GROUPS, topdown=False):
        parts = Path(folder).relative_to(GROUPS).parts
        if any(name in parts for name in LEFT_GROUPS):
            yield Path(folder)


def _remove_groups(before: set[Path]) -> None:
    for group in _groups():
        if group not in before:
            # One that holds a process or a group is another's.
            with contextlib.suppress(OSError):
                group.rmdir()
