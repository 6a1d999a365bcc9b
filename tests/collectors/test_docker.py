import errno

from aorta.testing import FakeHost, collect

ROOT = "29 1 259:2 / / rw - ext4 /dev/sda1 rw\n23 29 0:22 / /proc rw - proc proc rw\n"
ID = "0123456789abcdef" * 4


def test_null_outside_containers_needs_no_reason():
    result = collect(FakeHost({"/proc/self/mountinfo": ROOT}), "docker")
    assert (result.value, result.reasons) == (None, ())


def test_a_private_namespace_is_no_container():
    links = {"/proc/self/ns/mnt": "mnt:[2]", "/proc/1/ns/mnt": "mnt:[1]"}
    assert collect(FakeHost({"/proc/self/mountinfo": ROOT}, links=links), "docker").value is None


def test_all_three():
    env = {"AORTA_DOCKER_IMAGE": "rocm/pytorch:latest", "AORTA_DOCKER_DIGEST": "sha256:ab"}
    result = collect(FakeHost({"/proc/self/cgroup": f"0::/docker/{ID}\n"}, env=env), "docker")
    assert result.value == {"image": "rocm/pytorch:latest", "digest": "sha256:ab", "container_id": ID}
    assert result.reasons == ()


def test_unset_variables_are_named_and_not_partial():
    result = collect(FakeHost({"/.dockerenv": ""}), "docker")
    assert result.value == {"image": None, "digest": None, "container_id": None}
    assert [(reason.kind.value, reason.field) for reason in result.reasons] == [
        ("not_requested", "image"),
        ("not_requested", "digest"),
        ("absent", "container_id"),
    ]
    assert "AORTA_DOCKER_IMAGE" in result.reasons[0].detail
    assert not any(reason.partial for reason in result.reasons)


def test_w16_the_launchers_word_is_kept_for_an_unnamed_runtime():
    env = {"AORTA_DOCKER_IMAGE": "registry/re-image:7"}
    sandbox = "9 8 0:39 /newroot / rw - tmpfs tmpfs rw\n23 9 0:22 / /proc rw - proc proc rw\n"
    for host in (FakeHost({"/proc/self/mountinfo": sandbox}, env=env), FakeHost(env=env)):
        assert collect(host, "docker").value["image"] == "registry/re-image:7"


def test_w15_a_hex_group_or_a_pod_is_no_container_id():
    text = "4:memory:/docker/2f6f7592d9208792b2a1b440a27f1a0a\n"
    result = collect(FakeHost({"/.dockerenv": "", "/proc/self/cgroup": text}), "docker")
    assert result.value["container_id"] is None


def test_the_launchers_word_on_a_bare_machine_is_not_silently_dropped():
    for name in ("AORTA_DOCKER_IMAGE", "AORTA_DOCKER_DIGEST"):
        result = collect(FakeHost({"/proc/self/mountinfo": ROOT}, env={name: "x"}), "docker")
        assert result.value is None
        (reason,) = result.reasons
        assert (reason.kind.value, reason.subject) == ("absent", name)


def test_nothing_to_be_seen_is_no_bare_machine():
    result = collect(FakeHost({"/proc/self/mountinfo": errno.EACCES}), "docker")
    assert result.value is None
    assert result.kinds("") == ["denied"]
