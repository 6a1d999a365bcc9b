import pytest

from aorta.collect import parse_mountinfo
from aorta_collectors.container.root_mount import (
    RootKind,
    judge_root,
    laid_files,
    private_tmp,
    stacked_cgroup,
    stacked_proc,
)

PROC = "23 29 0:22 / /proc rw - proc proc rw\n"


def judged(line, rest=PROC):
    return judge_root(parse_mountinfo(f"{line}\n{rest}"))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("29 1 259:2 / / rw - ext4 /dev/sda1 rw", RootKind.OWN),
        ("29 1 0:20 / / rw - overlay overlay rw,lowerdir=/tmp/cps/root", RootKind.OWN),
        ("1 1 0:2 / / rw - rootfs rootfs rw", RootKind.OWN),
        ("29 1 0:21 / / rw - tmpfs tmpfs rw", RootKind.OWN),
        ("29 1 0:25 / / rw - nfs4 10.0.0.1:/exports/machines/node07 rw", RootKind.OWN),
        ("29 0 0:33 /lxc/node/rootfs / rw - btrfs /dev/sda2 rw,subvol=/lxc/node/rootfs", RootKind.OWN),
        ("60 50 0:25 / / rw - nfs4 10.0.0.1:/exports/machines/node07 rw", RootKind.COPY),
        ("60 50 0:25 / / rw - cifs //server/lxc/node rw", RootKind.COPY),
        ("60 50 0:25 /machines/a / rw - nfs4 server:/machines/a rw", RootKind.FOREIGN),
        ("60 50 259:4 /ostree/deploy/lxc/deploy/01ab.0 / rw - xfs /dev/sda4 rw", RootKind.COPY),
        ("60 50 0:33 / / ro - overlay composefs:01ab ro,lowerdir+=/a", RootKind.COPY),
        ("60 50 8:1 / / rw - fuseblk /dev/sda1 rw", RootKind.COPY),
        ("60 50 259:2 / / rw - ext4 /dev/sda1 rw", RootKind.COPY),
        ("60 50 0:44 / / rw - nfs4 server:/export rw", RootKind.COPY),
        ("60 50 0:33 /root / rw - btrfs /dev/sda1 rw", RootKind.COPY),
        ("60 50 0:33 /@/a/b / rw - btrfs /dev/sda1 rw,subvol=/@/a/b", RootKind.COPY),
        ("60 50 0:33 /@/a/b / rw - btrfs /dev/sda1 rw,subvol=/@", RootKind.FOREIGN),
        ("60 50 0:20 / / rw - overlay LiveOS rw,lowerdir=/run/rootfsbase", RootKind.COPY),
        ("60 50 0:20 / / rw - overlay overlay rw,lowerdir=/somewhere", RootKind.FOREIGN),
        ("60 50 0:39 /newroot / rw - tmpfs tmpfs rw", RootKind.FOREIGN),
        ("60 50 259:2 /srv/tree / rw - ext4 /dev/sda1 rw", RootKind.FOREIGN),
        ("60 50 0:60 / / rw - fuse.squashfuse squashfuse rw", RootKind.FOREIGN),
        ("60 50 7:3 / / ro - squashfs /dev/loop3 ro", RootKind.FOREIGN),
    ],
)
def test_whose_root(line, kind):
    assert judged(line).kind is kind


@pytest.mark.parametrize(
    ("line", "runtime"),
    [
        ("9 8 0:1 / / rw - overlay o rw,lowerdir=/var/lib/apptainer/mnt/session/a", "apptainer"),
        ("9 8 0:1 / / rw - overlay o rw,lowerdir=/var/singularity/mnt/session/a", "singularity"),
        ("9 8 0:1 /raid/enroot-data/user/x / rw - ext4 /dev/sda rw", "enroot"),
        ("9 8 0:1 / / rw - overlay o rw,upperdir=/var/sarus/OCIBundleDir/a", "sarus"),
        ("9 8 0:1 /var/udiMount / rw - tmpfs t rw", "shifter"),
        ("9 8 0:1 /home/u/.udocker/containers/x/ROOT / rw - ext4 /dev/sda rw", "udocker"),
        (
            "9 8 0:1 / / rw - overlay o rw,upperdir=/var/lib/buildkit/runc-overlayfs/snapshots/1/fs",
            "buildkit",
        ),
        ("9 8 254:3 /rootfs / rw - ext4 /dev/mapper/docker-8:1-77-" + "a" * 64 + " rw", "docker"),
        ("9 8 0:1 /var/lib/docker/vfs/dir/abc / rw - ext4 /dev/sda rw", "docker"),
        ("9 8 0:1 /var/snap/lxd/common/lxd/storage-pools/d/containers/c / rw - btrfs /dev/sda rw", "lxd"),
        ("9 8 0:1 / / rw - zfs rpool/data/subvol-101-disk-0 rw", "lxc"),
        ("9 8 0:1 /var/lib/lxc/c1/rootfs / rw - ext4 /dev/sda rw", "lxc"),
        ("9 8 0:1 /var/lib/machines/t / rw - btrfs /dev/sda rw,subvol=/var/lib/machines/t", "systemd-nspawn"),
        ("9 8 0:1 / / rw - virtiofs kataShared rw", "kata"),
        ("9 8 0:1 / / rw - zfs rpool/" + "a" * 64 + " rw", "docker"),
        ("9 8 0:1 / / rw - overlay o rw,upperdir=/v/buildx_buildkit_b0_state/_data/x/fs", "buildkit"),
        ("9 8 0:1 / / rw - ext4 /dev/sda rw", None),
    ],
)
def test_names_in_the_root_mount(line, runtime):
    assert judged(line).runtime == runtime


def test_the_topmost_root_is_the_root():
    line = "1 1 0:2 / / rw - rootfs rootfs rw\n29 7 0:39 /newroot / rw - tmpfs tmpfs rw"
    assert judged(line).kind is RootKind.FOREIGN


def test_a_table_without_root_is_a_chroot_or_an_excerpt():
    assert judge_root(parse_mountinfo(PROC)).kind is RootKind.FOREIGN
    assert judge_root(parse_mountinfo("9 8 0:1 / /sys rw - sysfs sysfs rw\n")).kind is RootKind.UNKNOWN
    assert judge_root([]).kind is RootKind.UNKNOWN


def test_laid_files_count_at_their_points_only():
    host = f"9 8 0:1 / /var/lib/docker/containers/{'a' * 64}/hostname rw - ext4 /dev/sda rw\n"
    assert laid_files(parse_mountinfo(host)) == []
    plain = "9 8 0:1 /etc/elsewhere /etc/hosts rw - ext4 /dev/sda rw\n"
    assert laid_files(parse_mountinfo(plain)) == []


def test_more_signs_in_the_table():
    table = (
        "9 8 0:1 / /run/secrets/kubernetes.io/serviceaccount ro - tmpfs tmpfs rw\n"
        "9 8 0:1 /var/lib/kubelet/pods/p/containers/c/1 /dev/termination-log rw - ext4 /dev/sda rw\n"
        "9 8 0:1 /firejail/mnt/x /run/firejail/mnt rw - tmpfs tmpfs rw\n"
    )
    told = laid_files(parse_mountinfo(table))
    assert [file.orchestrator for file in told] == ["kubernetes", "kubernetes", None]
    assert told[2].runtime == "firejail"


def test_w15_only_the_marker_lies_in_the_directory_of_the_container_itself():
    storage = "/containers/storage/overlay-containers/" + "a" * 64 + "/userdata"
    table = (
        f"9 8 0:1 {storage}/hostname /etc/hostname rw - tmpfs tmpfs rw\n"
        f"9 8 0:1 {storage}/.containerenv /run/.containerenv rw - tmpfs tmpfs rw\n"
    )
    assert [(file.container_id, file.network) for file in laid_files(parse_mountinfo(table))] == [
        ("a" * 64, False),
        ("a" * 64, True),
    ]


def test_a_service_account_below_another_root_is_another_containers():
    point = "/mnt/tree/run/secrets/kubernetes.io/serviceaccount"
    assert laid_files(parse_mountinfo(f"9 8 0:1 / {point} ro - tmpfs tmpfs rw\n")) == []


def test_a_proc_on_another_proc():
    below = "45 43 0:21 / /proc rw - proc proc rw\n"
    assert stacked_proc(parse_mountinfo(below + "63 45 0:39 / /proc rw - proc proc rw\n"))
    assert stacked_proc(parse_mountinfo(below + "63 45 0:21 / /proc rw - proc proc rw\n")) is None
    assert stacked_proc(parse_mountinfo(below + "63 45 0:39 / /proc/x rw - proc proc rw\n")) is None
    assert stacked_proc(parse_mountinfo(below)) is None


def test_private_tmp_and_cgroup_mount():
    tmp = "9 8 0:1 /77/.77/_tmp /tmp rw - xfs /dev/sda rw\n"
    assert private_tmp(parse_mountinfo(tmp)) == "/77/.77/_tmp on /tmp"
    assert private_tmp(parse_mountinfo("9 8 0:1 /tmp /tmp rw - xfs /dev/sda rw\n")) is None
    inner = "9 8 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    assert stacked_cgroup(parse_mountinfo(inner)) is None
