import pytest

from aorta_collectors.container.cgroup_paths import container_of, in_a_machines_unit, parse_cgroup

ID = "0123456789abcdef" * 4
OTHER = "f" * 64


@pytest.mark.parametrize(
    ("path", "runtime", "identity", "orchestrator"),
    [
        (f"/docker/{ID}", "docker", ID, None),
        (f"/system.slice/docker-{ID}.scope", "docker", ID, None),
        (f"/../../../system.slice/docker-{ID}.scope", "docker", ID, None),
        (f"/docker/{OTHER}/docker/{ID}/init.scope", "docker", ID, None),
        (f"/machine.slice/libpod-{ID}.scope/container", "podman", ID, None),
        (f"/libpod_parent/libpod-{ID}", "podman", ID, None),
        (f"/user.slice/user@1000.service/user.slice/libpod-payload-{ID}", "podman", ID, None),
        (f"/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope", "containerd", ID, "kubernetes"),
        (f"/kubepods-pod1.slice:cri-containerd:{ID}", "containerd", ID, "kubernetes"),
        (f"/kubepods/besteffort/pod1/crio-{ID}", "cri-o", ID, "kubernetes"),
        (f"/kubepods/besteffort/pod1/{ID}", None, ID, "kubernetes"),
        (f"/k8s.io/{ID}", "containerd", ID, None),
        (f"/system.slice/nerdctl-{ID}.scope", "containerd", ID, None),
        (f"/system.slice/runc-{ID}.scope", None, ID, None),
        (f"/system.slice/crun-{ID}.scope", None, ID, None),
        (f"/ecs/0123/{ID}", None, ID, None),
        ("/kubepods/besteffort/pod1", None, None, "kubernetes"),
        ("/lxc/c1", "lxc", None, None),
        ("/lxc.payload.c1/init.scope", "lxc", None, None),
        ("/docker/buildkit/abcdefgh", "buildkit", None, None),
        ("/machine.slice/systemd-nspawn@t.service/payload", "systemd-nspawn", None, None),
    ],
)
def test_paths_of_containers(path, runtime, identity, orchestrator):
    place = container_of(f"12:pids:/\n0::{path}\n")
    assert (place.runtime, place.container_id, place.orchestrator) == (runtime, identity, orchestrator)
    assert place.path == path


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/init.scope",
        "/system.slice/docker.service",
        "/system.slice/containerd.service",
        "/system.slice/crio.service",
        "/kubelet.slice/kubelet.service",
        "/system.slice/lxc.service",
        "/lxc",
        "/lxc.monitor.c1",
        "/user.slice/user-1000.slice/user@1000.service/app.slice/podman.service",
        f"/machine.slice/libpod-conmon-{ID}.scope",
        f"/system.slice/crio-conmon-{ID}.scope",
        f"/system.slice/conmon-{ID}.scope",
        "/slurm/uid_1001/job_1000001/step_0/task_0",
        "/system.slice/node01_slurmstepd.scope/job_1/step_extern/user/task_special",
        "/agent/2f6f7592d9208792b2a1b440a27f1a0a",
        f"/system.slice/build-{ID}.scope",
        f"/system.slice/{ID}.scope",
        f"/user.slice/user-1000.slice/user@1000.service/app.slice/app-{ID}.scope",
        f"/app/build-{ID}",
        f"/app/{ID}0",
        f"/app/{ID.upper()}",
    ],
)
def test_paths_of_the_host(path):
    assert container_of(f"0::{path}\n") is None


def test_the_line_that_says_most_wins():
    text = f"5:cpu:/kubepods/pod1\n4:memory:/docker/{ID}\n0::/system.slice/containerd.service\n"
    assert container_of(text).container_id == ID


def test_lines_that_are_none():
    assert parse_cgroup("") == []
    assert parse_cgroup("12:pids\n0::/a:b\r\nx:y:relative\n") == ["/a:b"]


def test_a_unit_of_a_whole_system():
    for path in ("/init.scope", "/user.slice/user-1.slice/session-1.scope", "/system.slice/a.service"):
        assert in_a_machines_unit(f"4:memory:/\n0::{path}\n")
    for path in ("/", f"/docker/{ID}", "/../x", "/actions"):
        assert not in_a_machines_unit(f"0::{path}\n")
    assert not in_a_machines_unit("")
