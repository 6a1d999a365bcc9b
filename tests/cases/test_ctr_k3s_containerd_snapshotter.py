"""A pod with nothing but an overlay root."""

from aorta.testing import FakeHost, collect

CASE = "ctr-k3s-containerd-snapshotter"

SNAPSHOTS = "/var/lib/rancher/k3s/agent/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"


def host(root):
    return FakeHost(
        {
            "/proc/self/cgroup": "0::/\n",
            "/proc/self/mountinfo": f"{root}\n4660 4659 0:987 / /proc rw - proc proc rw\n",
        }
    )


def test_the_snapshotter_is_a_sign_and_a_missing_id_is_normal():
    pod = host(
        f"4659 3172 0:976 / / rw master:446 - overlay overlay rw,lowerdir={SNAPSHOTS}/215/fs:{SNAPSHOTS}/125/fs,"
        f"upperdir={SNAPSHOTS}/218/fs,workdir={SNAPSHOTS}/218/work,uuid=on"
    )
    assert collect(pod, "container_detected").value is True
    result = collect(pod, "docker")
    assert result.value["container_id"] is None
    assert not any(reason.partial for reason in result.reasons)


def test_an_overlay_root_of_a_live_system_is_none():
    live = host("29 25 0:20 / / rw shared:1 - overlay LiveOS_rootfs rw,lowerdir=/run/rootfsbase")
    assert collect(live, "container_detected").value is False
    diskless = host("29 1 0:20 / / rw shared:1 - overlay overlay rw,lowerdir=/tmp/cps/root")
    assert collect(diskless, "container_detected").value is False
