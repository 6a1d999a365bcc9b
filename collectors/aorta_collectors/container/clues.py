"""Every sign of a container that a process can see, each looked at once.

A sign may be there although there is no container: a marker file stays in a machine made from an image,
a variable is handed on by a scheduler. ``Trust`` says which roots such a sign holds for.
"""

import enum
import re
from collections.abc import Iterator
from typing import Any

from aorta.collect import Answer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.container.cgroup_paths import KUBERNETES, container_of, in_a_machines_unit
from aorta_collectors.container.root_mount import RootKind

FIRED, NOT_FIRED, UNREADABLE = "fired", "not_fired", "unreadable"
_SHOWN = 200


class Trust(enum.Enum):
    """The roots that a sign holds for: all, all but the machine's own, none of the machine's, or none."""

    ALWAYS = frozenset(RootKind)
    UNLESS_OWN = frozenset(RootKind) - {RootKind.OWN}
    UNLESS_HOST = frozenset((RootKind.FOREIGN, RootKind.UNKNOWN))
    NEVER = frozenset[RootKind]()


@frozen
class Clue:
    """One sign. ``rank`` orders the names of runtimes, the lowest wins; ``trust`` NEVER only informs.

    ``stays`` is what a sign is (a file, a variable) that can stay behind where no container is.
    ``network`` tells that the id is that of the container whose network it shares, ``against`` that the
    sign did not fire and shows a place of a machine.
    """

    name: str
    source: str
    outcome: str = FIRED
    value: str | None = None
    runtime: str | None = None
    container_id: str | None = None
    orchestrator: str | None = None
    rank: int = 0
    trust: Trust = Trust.ALWAYS
    stays: str | None = None
    network: bool = False
    against: bool = False


class Rank(enum.IntEnum):
    """What names the runtime best: the innermost root, then what lies in it, then hearsay."""

    INNER_ROOT = 0
    LAID_FILE = 1
    ROOT = 2
    CGROUP = 3
    SINGULARITY = 4
    SOCKET = 5
    MANAGER = 6
    CONTAINERENV = 7
    PID1_CGROUP = 8
    PID1_COMMAND = 9
    VARIABLE = 10
    MARKER = 11
    KERNEL = 12


#: Words of ``container=`` and of systemd's files, and the runtime each names (None: none in particular).
WORDS: dict[str, str | None] = {
    "oci": None,
    "crio": "cri-o",
    "kube": None,
    **{
        word: word
        for word in (
            *("apptainer", "charliecloud", "containerd", "cri-o", "docker", "firejail", "flatpak", "incus"),
            *("lxc", "lxc-libvirt", "lxd", "podman", "pouch", "proot", "rkt", "singularity"),
            "systemd-nspawn",
        )
    },
}
#: Words of runtimes whose containers may stand on the machine's own root, or on a whole disk.
_ON_DISKS = frozenset(("firejail", "incus", "lxc", "lxc-libvirt", "lxd", "systemd-nspawn"))
_NO_CONTAINER = ("", "wsl", "none", "host")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")


def clues(ctx: Context) -> list[Clue]:
    """Return every sign but those of the mount table."""
    return [
        *_cgroups(ctx),
        *_markers(ctx),
        *_managers(ctx),
        *_pid1(ctx),
        *_variables(ctx),
        *_kernel(ctx),
    ]


def _clue(name: str, source: str, answer: Answer[Any], **fired: Any) -> Clue:
    """Return a sign whose being there is all: fired, not fired, or unreadable."""
    if answer.ok:
        return Clue(name=name, source=source, **fired)
    # The kernel's own files are always there: one that is missing is hidden, or /proc is not mounted.
    unread = not answer.absent or source.startswith("/proc/")
    outcome = UNREADABLE if unread else NOT_FIRED
    return Clue(name=name, source=source, outcome=outcome, value=_why(answer) if unread else None)


def _why(answer: Answer[Any]) -> str:
    return answer.detail or (answer.kind or ReasonKind.FAILED).value


def _text(answer: Answer[bytes]) -> str:
    return (answer.value or b"").decode("utf-8", "replace")


def _cgroups(ctx: Context) -> Iterator[Clue]:
    for name, source, rank in (
        ("cgroup", "/proc/self/cgroup", Rank.CGROUP),
        ("pid1-cgroup", "/proc/1/cgroup", Rank.PID1_CGROUP),
    ):
        answer = ctx.data(source)
        place = container_of(_text(answer))
        if place is None:
            yield Clue(
                name=name,
                source=source,
                outcome=NOT_FIRED if answer.ok else UNREADABLE,
                value=None if answer.ok else _why(answer),
                against=rank is Rank.CGROUP and in_a_machines_unit(_text(answer)),
            )
            continue
        # A path that leads out of the own control group is another container's.
        other = rank is Rank.PID1_CGROUP and place.path.startswith("/..")
        yield Clue(
            name=name,
            source=source,
            value=place.path[:_SHOWN],
            runtime=place.runtime,
            container_id=None if other else place.container_id,
            orchestrator=place.orchestrator,
            rank=rank,
            # Anything can name a group after a digest.
            trust=Trust.ALWAYS if place.runtime or place.orchestrator else Trust.UNLESS_HOST,
        )


FILE, VARIABLE = "file", "variable"
# Virtual machines of LXD and Incus have the sockets, too.
_MARKERS = (
    ("docker-marker", "/.dockerenv", "docker", Rank.MARKER, Trust.UNLESS_HOST, FILE),
    ("singularity-marker", "/.singularity.d", "singularity", Rank.SINGULARITY, Trust.UNLESS_HOST, FILE),
    ("flatpak-marker", "/.flatpak-info", "flatpak", Rank.SOCKET, Trust.UNLESS_HOST, FILE),
    ("lxd-socket", "/dev/lxd/sock", "lxd", Rank.SOCKET, Trust.UNLESS_OWN, None),
    ("incus-socket", "/dev/incus/sock", "incus", Rank.SOCKET, Trust.UNLESS_OWN, None),
)
_SERVICE_ACCOUNT = "/run/secrets/kubernetes.io/serviceaccount"
_CONTAINERENV = "/run/.containerenv"
_CONTAINERENV_ID = re.compile(r'^id="([0-9a-f]{8,64})"', re.MULTILINE)
_CONTAINERENV_ENGINE = re.compile(r'^engine="([a-z]{1,20})', re.MULTILINE)


def _markers(ctx: Context) -> Iterator[Clue]:
    for name, source, runtime, rank, trust, stays in _MARKERS:
        told = {"runtime": runtime, "rank": rank, "trust": trust, "stays": stays}
        yield _clue(name, source, ctx.stat(source), **told)
    yield _clue(
        "kubernetes-service-account",
        _SERVICE_ACCOUNT,
        ctx.stat(_SERVICE_ACCOUNT),
        orchestrator=KUBERNETES,
        trust=Trust.UNLESS_HOST,
    )
    answer = ctx.data(_CONTAINERENV)
    content = _text(answer)
    identity, engine = _CONTAINERENV_ID.search(content), _CONTAINERENV_ENGINE.search(content)
    # An unreadable file is a file all the same.
    there = answer if answer.ok or answer.absent else ctx.stat(_CONTAINERENV)
    yield _clue(
        "podman-marker",
        _CONTAINERENV,
        there,
        runtime=engine[1] if engine else "podman",
        container_id=identity[1] if identity else None,
        rank=Rank.CONTAINERENV,
        trust=Trust.UNLESS_HOST,
    )


def _managers(ctx: Context) -> Iterator[Clue]:
    """Look at what a container's manager told the init inside it."""
    for name, source in (
        ("systemd-container", "/run/systemd/container"),
        ("container-manager", "/run/host/container-manager"),
    ):
        answer = ctx.data(source, 4096)
        word = _text(answer).strip()
        yield _worded(name, source, answer, word if answer.ok else None)
    source = "/proc/1/environ"
    answer = ctx.data(source)
    variables = (entry.partition("=") for entry in _text(answer).split("\0"))
    word = next((value for key, _, value in variables if key == "container"), "")
    yield _worded("pid1-environment", source, answer, word if answer.ok else None)


def _worded(name: str, source: str, answer: Answer[Any], word: str | None) -> Clue:
    if word is None:
        return _clue(name, source, answer)
    if word in _NO_CONTAINER:
        return Clue(name=name, source=source, outcome=NOT_FIRED, value=word or None)
    named = WORDS.get(word, word if _WORD.fullmatch(word) and not word.isdecimal() else None)
    return Clue(name=name, source=source, value=word[:_SHOWN], runtime=named, rank=Rank.MANAGER)


_SANDBOX_INITS = {"bwrap": "bwrap", "firejail": "firejail", "docker-init": "docker"}


def _pid1(ctx: Context) -> Iterator[Clue]:
    """Look at PID 1: a sandbox's own first process names it."""
    source = "/proc/1/comm"
    answer = ctx.data(source, 4096)
    if not answer.ok:
        yield _clue("pid1-command", source, answer)
        return
    command = _text(answer).strip()
    runtime = _SANDBOX_INITS.get(command)
    yield Clue(
        name="pid1-command",
        source=source,
        outcome=FIRED if runtime else NOT_FIRED,
        value=command[:_SHOWN] or None,
        runtime=runtime,
        rank=Rank.PID1_COMMAND,
    )


_VARIABLES = (
    (("APPTAINER_CONTAINER", "APPTAINER_NAME", "APPTAINER_ENVIRONMENT"), "apptainer", Rank.SINGULARITY),
    (("SINGULARITY_CONTAINER", "SINGULARITY_NAME"), "singularity", Rank.SINGULARITY),
    (("ENROOT_ROOTFS",), "enroot", Rank.SINGULARITY),
    (("CH_RUNNING",), "charliecloud", Rank.SINGULARITY),
    (("SHIFTER_RUNTIME",), "shifter", Rank.SINGULARITY),
)


def _variables(ctx: Context) -> Iterator[Clue]:
    """Look at the variables that runtimes set; schedulers hand them on to hosts."""
    word = ctx.env("container") or ""
    known = word in WORDS
    yield Clue(
        name="environment",
        source="container",
        outcome=FIRED if known else NOT_FIRED,
        value=word[:_SHOWN] or None,
        runtime=WORDS.get(word),
        rank=Rank.VARIABLE,
        trust=Trust.UNLESS_OWN if word in _ON_DISKS else Trust.UNLESS_HOST,
        stays=VARIABLE,
    )
    for names, runtime, rank in _VARIABLES:
        name = next((name for name in names if ctx.env(name)), None)
        if name is not None:
            yield Clue(
                name="environment",
                source=name,
                runtime=runtime,
                rank=rank,
                trust=Trust.UNLESS_HOST,
                stays=VARIABLE,
            )
    name = "KUBERNETES_SERVICE_HOST"
    fired = bool(ctx.env(name))
    yield Clue(
        name="environment",
        source=name,
        outcome=FIRED if fired else NOT_FIRED,
        orchestrator=KUBERNETES if fired else None,
        trust=Trust.UNLESS_HOST,
        stays=VARIABLE,
    )


_GVISOR = re.compile(
    r"Linux version (?:[0-9.]{1,20} #1 SMP Sun Jan 10 15:06:54 PST 2016|[0-9.]{1,20}-gvisor\b|4\.4\.0\s*$)"
)
_IDENTITY = ("0", "0", "4294967295")


def _kernel(ctx: Context) -> Iterator[Clue]:
    """Look at the kernel's own version, which gVisor makes up, and at the user namespace."""
    source = "/proc/version"
    answer = ctx.data(source, 4096)
    match = _GVISOR.match(_text(answer))
    if match is not None:
        yield Clue(name="kernel", source=source, value=match[0], runtime="gvisor", rank=Rank.KERNEL)
    else:
        value = None if answer.ok else _why(answer)
        yield Clue(name="kernel", source=source, outcome=NOT_FIRED if answer.ok else UNREADABLE, value=value)
    source = "/proc/self/uid_map"
    answer = ctx.data(source, 4096)
    if not answer.ok:
        yield _clue("user-namespace", source, answer)
        return
    fields = tuple(_text(answer).split())
    # Alone it is no container: `unshare -U` makes one on the machine's own root.
    yield Clue(
        name="user-namespace",
        source=source,
        outcome=NOT_FIRED if fields == _IDENTITY else FIRED,
        value=" ".join(fields)[:_SHOWN],
        trust=Trust.NEVER,
    )
