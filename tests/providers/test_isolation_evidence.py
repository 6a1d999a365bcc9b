"""The judgement on signs of containers: every known set of evidence, and what a set cannot show."""

import errno
from pathlib import Path

import pytest
import yaml

from aorta.model.vocabulary import Coverage, ReasonKind
from aorta.testing import FakeHost, provide
from aorta_collectors.providers import IsolationEvidence

SETS = Path(__file__).resolve().parents[1] / "isolation"
TRUTHS = ("container", "runtime", "orchestrator", "container_id", "private_mounts")


def sets():
    for file in ("variants.yaml", "own_variants.yaml"):
        for each in yaml.safe_load((SETS / file).read_text()):
            yield pytest.param(each, id=each["name"])


def host_of(each):
    files, links = dict(each.get("files") or {}), dict(each.get("links") or {})
    for path, what in files.items():
        files[path] = getattr(errno, what["errno"]) if isinstance(what, dict) else what
    for line in each.get("unreadable") or ():
        word, _, path = line.partition(" ")
        (links if "/ns/" in path else files)[path] = getattr(errno, word)
    return FakeHost(files, links=links, env=each.get("env") or {})


def judge(*args, **kwargs):
    return provide(FakeHost(*args, **kwargs), IsolationEvidence)


ROOT = "29 1 259:2 / / rw shared:1 - ext4 /dev/nvme0n1p2 rw\n23 29 0:22 / /proc rw - proc proc rw\n"


@pytest.mark.parametrize("each", list(sets()))
def test_each_set_is_judged_as_its_truth_says(each):
    result = provide(host_of(each), IsolationEvidence)
    evidence = result.typed
    said = {name: getattr(evidence, name) for name in TRUTHS} | {"container_detected": evidence.detected}
    assert said == each["truth"]
    assert result.reasons == ()


@pytest.mark.parametrize("each", list(sets()))
def test_a_null_has_a_gap_and_a_value_has_none(each):
    evidence = provide(host_of(each), IsolationEvidence).typed
    assert (evidence.container is None) == (evidence.container_gap is not None)
    assert (evidence.private_mounts is None) == (evidence.private_mounts_gap is not None)


def test_of_nothing_nothing_is_claimed():
    result = judge()
    evidence = result.typed
    assert (evidence.container, evidence.private_mounts, evidence.detected) == (None, None, None)
    assert evidence.runtime == "unknown"
    assert evidence.container_gap.kind is ReasonKind.ABSENT
    assert result.coverage["isolation"] is Coverage.UNKNOWN
    assert "fired" not in {signal.outcome for signal in evidence.signals}


def test_denied_everywhere_is_unknown_and_says_denied():
    paths = ("self/mountinfo", "self/cgroup", "1/cgroup", "1/environ", "1/comm", "self/uid_map", "version")
    evidence = judge(
        {f"/proc/{path}": errno.EACCES for path in paths},
        links={"/proc/self/ns/mnt": errno.EACCES, "/proc/1/ns/mnt": errno.EACCES},
    ).typed
    assert evidence.detected is None
    assert evidence.container_gap.kind is ReasonKind.DENIED
    assert evidence.private_mounts_gap.kind is ReasonKind.DENIED
    outcomes = {signal.source: signal.outcome for signal in evidence.signals}
    assert outcomes["/proc/self/mountinfo"] == "unreadable"
    assert outcomes["/proc/1/environ"] == "unreadable"
    assert outcomes["/proc/self/cgroup"] == "unreadable"


def test_w34_pid1_refused_to_a_user_is_neither_same_nor_different_nor_partial():
    evidence = judge(
        {"/proc/self/mountinfo": ROOT},
        links={"/proc/self/ns/mnt": "mnt:[1]", "/proc/1/ns/mnt": errno.EACCES},
    ).typed
    assert evidence.private_mounts is None
    assert evidence.private_mounts_gap.kind is ReasonKind.UNSUPPORTED
    signal = next(signal for signal in evidence.signals if signal.name == "private-mount-namespace")
    assert (signal.outcome, signal.source) == ("unreadable", "/proc/1/ns/mnt")
    assert signal.value.startswith("PID 1's namespace may not be read here")
    assert "Permission denied" in signal.value
    assert evidence.private_mounts_gap.detail == signal.value


def test_a_namespace_link_that_fails_otherwise_keeps_its_kind():
    evidence = judge(
        {"/proc/self/mountinfo": ROOT},
        links={"/proc/self/ns/mnt": "mnt:[1]", "/proc/1/ns/mnt": TimeoutError(errno.ETIMEDOUT, "no answer")},
    ).typed
    assert evidence.private_mounts_gap.kind is ReasonKind.TIMED_OUT


def test_w15_no_pod_no_layer_no_foreign_hex_is_a_container_id():
    pod = "11111111-2222-4333-8444-555555555555"
    for text in (
        f"0::/kubepods/burstable/pod{pod}\n",
        f"0::/kubepods.slice/kubepods-pod{pod.replace('-', '_')}.slice\n",
        "4:memory:/agent/2f6f7592d9208792b2a1b440a27f1a0a\n",
        "0::/user.slice/tmux-spawn-00000000-0000-4000-8000-000000000001.scope\n",
    ):
        assert judge({"/proc/self/cgroup": text}).typed.container_id is None
    layer = f"9 8 0:1 / / rw - overlay overlay rw,upperdir=/var/lib/docker/overlay2/{'a' * 64}/diff\n"
    evidence = judge({"/proc/self/mountinfo": layer}).typed
    assert (evidence.runtime, evidence.container_id) == ("docker", None)


COPY = ROOT.replace("29 1 ", "29 28 ")


def signal_of(evidence, source):
    return next(signal for signal in evidence.signals if signal.source == source)


@pytest.mark.parametrize(("table", "why"), [(ROOT, "own root"), (COPY, "namespace of its own")])
def test_a_stale_marker_is_shown_with_why_it_does_not_count(table, why):
    evidence = judge({"/proc/self/mountinfo": table, "/.dockerenv": "", "/.singularity.d/x": ""}).typed
    assert evidence.container is False
    for source in ("/.dockerenv", "/.singularity.d"):
        marker = signal_of(evidence, source)
        assert marker.outcome == "fired"
        assert marker.value.startswith("does not count: / is the machine's own root")
        assert marker.value.endswith(why)


def test_what_was_seen_stays_before_why_it_does_not_count():
    cgroup = {"/proc/self/cgroup": f"0::/actions/{'a' * 64}\n", "/proc/self/mountinfo": ROOT}
    evidence = judge(cgroup, env={"container": "podman"}).typed
    value = signal_of(evidence, "/proc/self/cgroup").value
    assert value == f"/actions/{'a' * 64}; does not count: / is the machine's own root"
    assert signal_of(evidence, "container").value.startswith("podman; does not count")


def test_a_sign_that_counts_is_not_talked_down():
    docker = {"/proc/self/cgroup": f"0::/docker/{'a' * 64}\n", "/.dockerenv": ""}
    assert not any("count" in (signal.value or "") for signal in judge(docker).typed.signals)
    gvisor = {"/proc/version": "Linux version 4.4.0\n", "/proc/self/mountinfo": ROOT}
    evidence = judge(gvisor, env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}).typed
    assert evidence.orchestrator == "kubernetes"
    assert signal_of(evidence, "KUBERNETES_SERVICE_HOST").value is None


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (errno.EMFILE, ReasonKind.FAILED),
        (errno.EACCES, ReasonKind.DENIED),
        (TimeoutError(errno.ETIMEDOUT, "no answer"), ReasonKind.TIMED_OUT),
    ],
)
def test_a_marker_and_no_mount_table_is_unknown_for_the_reason_of_the_table(failure, kind):
    session = {"/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n", "/.dockerenv": ""}
    result = judge(session | {"/proc/self/mountinfo": failure})
    evidence = result.typed
    assert (evidence.container, evidence.runtime, evidence.detected) == (None, "unknown", None)
    assert (evidence.container_gap.kind, evidence.container_gap.subject) == (kind, "/proc/self/mountinfo")
    assert result.coverage["isolation"] is Coverage.UNKNOWN
    assert signal_of(evidence, "/.dockerenv").value.startswith("does not count alone")


def test_pid1_of_a_nested_namespace_is_said_to_prove_nothing():
    links = {"/proc/self/ns/mnt": "mnt:[7]", "/proc/1/ns/mnt": "mnt:[7]", "/proc/self/ns/pid": "pid:[9]"}
    evidence = judge({"/proc/self/mountinfo": ROOT}, links=links).typed
    assert evidence.private_mounts is None
    assert evidence.private_mounts_gap.kind is ReasonKind.UNSUPPORTED
    assert "nested" in evidence.private_mounts_gap.detail
    assert "nested" in signal_of(evidence, "/proc/1/ns/mnt").value
    first = judge({"/proc/self/mountinfo": ROOT}, links=links | {"/proc/self/ns/pid": "pid:[4026531836]"})
    assert first.typed.private_mounts is False
    other = judge({"/proc/self/mountinfo": ROOT}, links=links | {"/proc/1/ns/mnt": "mnt:[8]"})
    assert other.typed.private_mounts is True


def test_a_marker_that_cannot_be_opened_is_there_all_the_same():
    evidence = judge({"/run/.containerenv": errno.EACCES, "/proc/self/cgroup": "0::/\n"}).typed
    assert (evidence.runtime, evidence.container_id) == ("podman", None)


def test_an_unknown_manager_is_named_and_an_odd_word_is_not():
    assert judge({"/run/systemd/container": "newthing\n"}).typed.runtime == "newthing"
    for odd in ("1\n", "a b\n", "x" * 90):
        evidence = judge({"/run/systemd/container": odd}).typed
        assert (evidence.container, evidence.runtime) == (True, "unknown")
    assert judge({"/run/host/container-manager": "none\n"}).typed.container is None


def test_the_environment_of_pid1_is_bytes():
    environ = b"LANG=\xff\xfe\0container=lxc\0"
    assert judge({"/proc/1/environ": environ}).typed.runtime == "lxc"
    assert judge({"/proc/1/environ": b"container_ttys=\0mycontainer=docker\0"}).typed.container is None


def test_an_own_variable_counts_only_with_a_known_word():
    assert judge(env={"container": "my shell variable"}).typed.container is None
    assert judge(env={"container": "oci"}).typed.runtime == "unknown"
    assert judge(env={"container": "crio"}).typed.runtime == "cri-o"


def test_noise_in_the_texts_does_no_harm():
    noise = b"\x1b[31m\xff\r\n:::\n12:pids\n0::relative\r\n0::/docker/" + b"d" * 64 + b"\r\n"
    evidence = judge({"/proc/self/cgroup": noise, "/proc/self/mountinfo": b"\xff - \n1 2 3\n"}).typed
    assert (evidence.runtime, evidence.container_id) == ("docker", "d" * 64)
    assert judge({"/proc/self/mountinfo": "no mounts\n"}).typed.container_gap.kind is ReasonKind.UNPARSED
    excerpt = "30 29 0:1 / /sys rw - sysfs sysfs rw\n"
    assert judge({"/proc/self/mountinfo": excerpt}).typed.container_gap.kind is ReasonKind.UNPARSED


def test_coverage():
    bare = {"/proc/self/mountinfo": ROOT}
    assert judge(bare).coverage["isolation"] is Coverage.ABSENT
    assert judge(bare | {"/run/systemd/container": "lxc"}).coverage["isolation"] is Coverage.SEEN
    assert judge({"/proc/self/cgroup": "0::/\n"}).coverage["isolation"] is Coverage.UNKNOWN
    private = {"/proc/self/ns/mnt": "mnt:[1]", "/proc/1/ns/mnt": "mnt:[2]"}
    assert judge(bare, links=private).coverage["isolation"] is Coverage.SEEN


def test_crio_by_marker_alone_under_kubernetes():
    evidence = judge({"/run/.containerenv": ""}, env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}).typed
    assert (evidence.runtime, evidence.orchestrator) == ("cri-o", "kubernetes")


def test_a_pod_of_storage_without_kubernetes_says_what_its_cgroup_says():
    storage = "9 8 0:1 / / rw - overlay overlay rw,upperdir=/var/lib/containers/storage/overlay/x/diff\n"
    assert judge({"/proc/self/mountinfo": storage}).typed.runtime == "podman"
    crio = {"/proc/self/mountinfo": storage, "/proc/self/cgroup": f"0::/crio-{'b' * 64}.scope\n"}
    evidence = judge(crio).typed
    assert (evidence.runtime, evidence.container_id) == ("cri-o", "b" * 64)


def test_gvisor_by_the_version_it_makes_up():
    for text in ("Linux version 4.4.0\n", "Linux version 4.19.0-gvisor #1 SMP\n"):
        assert judge({"/proc/version": text}).typed.runtime == "gvisor"
    real = "Linux version 4.4.0 (root@host) (gcc version 5.4.0) #1 SMP Tue Jan 1 00:00:00 UTC 2019\n"
    assert judge({"/proc/version": real, "/proc/self/mountinfo": ROOT}).typed.container is False


def test_snap_is_isolated_but_no_container():
    table = "600 590 7:3 / / ro - squashfs /dev/loop3 ro\n602 600 259:2 / /var/lib/snapd/hostfs rw - ext4 /dev/sda1 rw\n"
    evidence = judge({"/proc/self/mountinfo": table}).typed
    assert (evidence.container, evidence.runtime, evidence.private_mounts) == (False, "none", True)
    assert "snap-confinement" in {signal.name for signal in evidence.signals}
