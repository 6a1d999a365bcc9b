"""Whose root file system a process sees, and what is mounted into it. Pure: mounts in, answers out.

A host that runs containers shows their paths all over its own mount table, so only the mounts at fixed
points count: ``/`` itself, and the few files that a runtime lays into every container.
"""

import enum
import re
from collections.abc import Iterator, Sequence

from aorta.collect import Mount
from aorta.model.frozen import frozen
from aorta_collectors.container.cgroup_paths import KUBERNETES

#: Runtime of ``/containers/storage``: podman, buildah and CRI-O share it.
CONTAINERS_STORAGE = "containers-storage"

_ROOT_WORDS = (
    ("apptainer", re.compile(r"/apptainer/")),
    ("singularity", re.compile(r"/singularity/")),
    ("enroot", re.compile(r"/enroot[/-]|/pyxis_")),
    ("charliecloud", re.compile(r"\.ch/|/charliecloud/")),
    ("sarus", re.compile(r"/sarus/")),
    ("shifter", re.compile(r"/udiMount|/shifter/")),
    ("udocker", re.compile(r"/\.udocker/")),
    ("buildkit", re.compile(r"buildkit[/_]|/runc-overlayfs/")),
    (CONTAINERS_STORAGE, re.compile(r"/containers/storage/")),
    ("containerd", re.compile(r"/io\.containerd\.snapshotter\.")),
    (
        "docker",
        re.compile(
            r"/overlay2/|/docker/(?:aufs|btrfs|devicemapper|fuse-overlayfs|overlay|rootfs|vfs|zfs)/"
            r"|/docker-\d{1,4}:\d{1,4}-\d{1,12}-[0-9a-f]{64}|(?m:^/[^\n]{1,200}/[0-9a-f]{64}$)"
        ),
    ),
    ("incus", re.compile(r"/incus/")),
    ("lxd", re.compile(r"/lxd/")),
    ("lxc", re.compile(r"/lxc/[^/]{1,200}/|/subvol-\d{1,10}-disk-")),
    ("systemd-nspawn", re.compile(r"/machines/")),
    ("kata", re.compile(r"kataShared|/kata-containers/")),
)
#: Runtimes that users start inside anything else: their root is always the innermost.
INNERMOST = frozenset(
    ("apptainer", "singularity", "enroot", "charliecloud", "sarus", "shifter", "udocker", "buildkit")
)

_STACKED = frozenset(("overlay", "tmpfs", "ramfs", "rootfs", "squashfs", "erofs", "aufs"))
_OWN_LAYERS = re.compile(
    r"/run/(?:ostree|rootfsbase|overlayfs|live|initramfs)|cfsroot|/live/|/cow|/root-ro|=/(?:lower|rofs|sysroot)$"
)
#: ``server:/path`` and ``//server/path``: words of a path on a server are names that people gave.
_ON_A_SERVER = re.compile(r"[^/]{1,200}:/|//")
_OSTREE = re.compile(r"/ostree/deploy/.+/deploy/[^/]+")
_INITIAL_PARENTS = (0, 1)

_CONTAINERENV = "/run/.containerenv"
_LAID_FILES = (_CONTAINERENV, "/etc/hostname", "/etc/resolv.conf", "/etc/hosts")
_STORAGE_FILE = re.compile(r"/[a-z0-9-]{1,20}-containers/(?P<id>[0-9a-f]{64})/userdata/")
_DOCKER_FILE = re.compile(r"/containers/(?P<id>[0-9a-f]{64})/(?:hostname|hosts|resolv\.conf)$")
_NERDCTL_FILE = re.compile(r"/nerdctl/.{1,200}/(?P<id>[0-9a-f]{64})/(?:hostname|hosts|resolv\.conf)$")
_SANDBOX_FILE = re.compile(r"/io\.containerd\.[a-z0-9.]{1,40}/sandboxes/|/containerd/")
_SERVICE_ACCOUNT = tuple(f"{run}/secrets/kubernetes.io/serviceaccount" for run in ("/run", "/var/run"))
_SNAP_HOST = "/var/lib/snapd/hostfs"
_TMP = ("/tmp", "/var/tmp")  # noqa: S108
_PRIVATE_TMP = re.compile(r"/systemd-private-[^/]+/tmp$|^/(?P<job>\d{1,12})/\.(?P=job)(?:/|$)")


class RootKind(enum.Enum):
    """Whose root it is: ``COPY`` is the machine's own root in a mount namespace of the process's own."""

    OWN = "own"
    COPY = "copy"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"


@frozen
class Root:
    """The judgement on the mount at ``/``. ``shown`` is a text for the reader."""

    kind: RootKind
    shown: str = ""
    runtime: str | None = None
    snap: bool = False


def judge_root(mounts: Sequence[Mount]) -> Root:
    """Tell whose root file system the mounts show."""
    points = {mount.mount_point: mount for mount in mounts}
    mount = points.get("/")
    if mount is None:
        # The kernel lists what can be reached; /proc, which we read, always can be. Without / too, this
        # is a chroot into a plain directory; without /proc it is an excerpt that says nothing.
        chroot = "/proc" in points
        shown = "/ is no mount: a directory of another file system" if chroot else ""
        return Root(kind=RootKind.FOREIGN if chroot else RootKind.UNKNOWN, shown=shown)
    # The first mount of the machine's first table is its own root, whatever it is called.
    own = mount.parent_id in _INITIAL_PARENTS or mount.parent_id == mount.mount_id
    runtime = None if own else _runtime_of(mount)
    return Root(
        kind=RootKind.OWN if own else RootKind.FOREIGN if runtime else _kind_of(mount),
        shown=f"{mount.fs_type} {mount.source} {mount.root}",
        runtime=runtime,
        snap=_SNAP_HOST in points,
    )


def _runtime_of(mount: Mount) -> str | None:
    if _OSTREE.fullmatch(mount.root):
        return None
    source = "" if _ON_A_SERVER.match(mount.source) else f"/{mount.source}"
    evidence = "\n".join((f"{mount.root}/", source, *mount.super_options))
    return next((name for name, pattern in _ROOT_WORDS if pattern.search(evidence)), None)


def _kind_of(mount: Mount) -> RootKind:
    if mount.fs_type in _STACKED:
        own = mount.source.startswith("composefs") or any(map(_OWN_LAYERS.search, mount.super_options))
        return RootKind.COPY if own else RootKind.FOREIGN
    if mount.fs_type.startswith("fuse") and mount.fs_type != "fuseblk":
        return RootKind.FOREIGN
    whole = mount.root == "/" or _OSTREE.fullmatch(mount.root) or _is_subvolume(mount)
    return RootKind.COPY if whole else RootKind.FOREIGN


def _is_subvolume(mount: Mount) -> bool:
    return mount.fs_type in ("btrfs", "bcachefs") and (
        f"subvol={mount.root}" in mount.super_options or mount.root.count("/") == 1
    )


def private_tmp(mounts: Sequence[Mount]) -> str | None:
    """Return the mount that a service manager or Slurm put on /tmp for this process alone, as a text."""
    for mount in mounts:
        if mount.mount_point in _TMP and _PRIVATE_TMP.search(mount.root):
            return f"{mount.root} on {mount.mount_point}"
    return None


def stacked_cgroup(mounts: Sequence[Mount]) -> str | None:
    """Return a cgroup mount from outside the process's own cgroup namespace, as a text."""
    for mount in mounts:
        if mount.fs_type.startswith("cgroup") and mount.root.startswith("/.."):
            return f"{mount.root} on {mount.mount_point}"
    return None


def stacked_proc(mounts: Sequence[Mount]) -> str | None:
    """Return a /proc that was mounted on another /proc, as a text."""
    below = {m.mount_id: m for m in mounts if m.mount_point == "/proc" and m.fs_type == "proc"}
    for mount in below.values():
        under = below.get(mount.parent_id)
        if under is not None and under.major_minor != mount.major_minor:
            return f"proc on {mount.mount_point}, on another proc"
    return None


@frozen
class LaidFile:
    """A mount that a runtime lays into a container. ``container_id`` is None where it is not the own.

    With ``network`` the id is that of the container whose network is shared: the pod's sandbox, often.
    """

    shown: str
    runtime: str | None = None
    container_id: str | None = None
    orchestrator: str | None = None
    network: bool = False


def laid_files(mounts: Sequence[Mount]) -> list[LaidFile]:
    """Return what the mounts at the fixed points of a container say, the most telling first."""
    points = {mount.mount_point: mount for mount in mounts}
    found = [told for point in _LAID_FILES if point in points and (told := _laid_file(points[point]))]
    return [*found, *_other_signs(mounts)]


def _other_signs(mounts: Sequence[Mount]) -> Iterator[LaidFile]:
    """Yield the first mount of each further kind that only a container has."""
    service = next((m for m in mounts if m.mount_point in _SERVICE_ACCOUNT), None)
    log = next((m for m in mounts if m.mount_point == "/dev/termination-log" and "/pods/" in m.root), None)
    lxcfs = next(
        (m for m in mounts if m.fs_type == "fuse.lxcfs" and m.mount_point.startswith("/proc/")), None
    )
    firejail = next((m for m in mounts if m.root.startswith("/firejail/")), None)
    for mount, runtime, orchestrator in (
        (service, None, KUBERNETES),
        (log, None, KUBERNETES),
        (lxcfs, "lxc", None),
        (firejail, "firejail", None),
    ):
        if mount is not None:
            shown = f"{mount.fs_type} {mount.root} on {mount.mount_point}"
            yield LaidFile(shown=shown, runtime=runtime, orchestrator=orchestrator)


def _laid_file(mount: Mount) -> LaidFile | None:
    shown = f"{mount.root} on {mount.mount_point}"
    if "/kubelet/pods/" in mount.root:
        return LaidFile(shown=shown, orchestrator=KUBERNETES)
    if "/buildkit/" in mount.root:
        return LaidFile(shown=shown, runtime="buildkit")
    for runtime, pattern in (
        (CONTAINERS_STORAGE, _STORAGE_FILE),
        ("containerd", _NERDCTL_FILE),
        ("docker", _DOCKER_FILE),
    ):
        match = pattern.search(mount.root)
        if match is not None:
            shared = mount.mount_point != _CONTAINERENV
            return LaidFile(shown=shown, runtime=runtime, container_id=match["id"], network=shared)
    if _SANDBOX_FILE.search(mount.root):
        return LaidFile(shown=shown, runtime="containerd")
    return None
