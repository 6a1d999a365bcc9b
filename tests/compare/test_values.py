"""When two values are the same, when they are said, and when they cannot be compared."""

import pytest

from aorta.compare.values import bounded, near, same, spelled_alike
from tests.parts.compared import Found, document

HASH, OTHER_HASH = "0123456789abcdef", "fedcba9876543210"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (True, True, True),
        ([1], [1], False),
        (10**400, 1e300, False),
    ],
)
def test_same(one, other, expected):
    assert same(one, other) is same(other, one) is expected


def test_numbers_in_a_section():
    assert Found(document(host={"x": 1, "y": [1, 2.0]}), document(host={"x": 1.0, "y": [2, 1]})).kinds == (
        [],
        [],
        [],
    )
    assert Found(document(host={"x": 1}), document(host={"x": True})).differences == ["host.x"]


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("/opt/rocm/lib", "/opt/rocm/lib/", 1),
        ("/opt/rocm//lib:/x", "/opt/rocm/lib:/x/:/opt/rocm/lib", 1),
        ("/a:/b", "/b:/a", 0),
        ("/a:/b", "/a", 0),
        ("/a:", "/a", 0),
        ("/", "", 0),
    ],
)
def test_spelling_of_paths_is_informational_and_their_order_counts(one, other, kind):
    found = Found(document(env_vars={"LD_LIBRARY_PATH": one}), document(env_vars={"LD_LIBRARY_PATH": other}))
    assert [len(rows) for rows in found.kinds] == [int(number == kind) for number in range(3)]


def test_another_order_of_paths_is_said():
    one, other = (document(env_vars={"PATH": text}) for text in ("/a:/b", "/b:/a"))
    assert Found(one, other).rows["env_vars.PATH"].note == "in another order"


REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (REVISION, REVISION[:12], 1),
        (REVISION, REVISION[:12].upper(), 1),
        (REVISION, REVISION[:6], 0),
        (REVISION, "f" * 12, 0),
        (REVISION[:12], REVISION[:12] + "+", 0),
        (REVISION + "+", REVISION[:12] + "+", 1),
        ("v2.9.0", "v2.9.0-rc1", 0),
    ],
)
def test_an_abbreviated_revision_is_informational(one, other, kind):
    found = Found(document(pytorch_build={"git_commit": one}), document(pytorch_build={"git_commit": other}))
    assert [len(rows) for rows in found.kinds] == [int(number == kind) for number in range(3)]


def test_what_is_no_revision_is_not_abbreviated():
    found = Found(document(launcher={"x": "1234567"}), document(launcher={"x": "12345678"}))
    assert found.differences == ["launcher.x"]


def test_one_path_is_spelled_too_but_nothing_else():
    one, other = (document(env_vars={"ROCM_PATH": text}) for text in ("/opt/rocm", "/opt/rocm/"))
    assert Found(one, other).informational == ["env_vars.ROCM_PATH"]
    assert not spelled_alike("a//b", "a/b", several=False)
    one, other = (document(env_vars={"NCCL_IB_HCA": text}) for text in ("rdma0,rdma1", "rdma0"))
    assert Found(one, other).differences == ["env_vars.NCCL_IB_HCA"]


def test_digests_of_two_methods_are_unknown():
    full, head = f"sha256:{'0' * 64}", f"identity:{'1' * 64}"
    found = Found(document(rccl={"lib_hash": full}), document(rccl={"lib_hash": head}))
    assert found.kinds == ([], [], ["rccl.lib_hash"])
    assert found.rows["rccl.lib_hash"].note == "made by different methods: sha256, identity"
    assert Found(
        document(rccl={"lib_hash": full}), document(rccl={"lib_hash": f"sha256:{'1' * 64}"})
    ).differences


def test_fingerprints_of_two_kinds_are_unknown():
    one, other = (
        document(buck_invocation={"context_fingerprint": f"{kind}:{HASH * 4}"})
        for kind in ("sha256-v2", "sha256-v1")
    )
    assert Found(one, other).unknown == ["buck_invocation.context_fingerprint"]
    third = document(buck_invocation={"context_fingerprint": f"sha256-v2:{OTHER_HASH * 4}"})
    assert Found(one, third).differences == ["buck_invocation.context_fingerprint"]


def test_namespaces_are_said_and_no_difference():
    one, other, third = (
        document(probe_namespace=text) for text in ("mnt:01234567", "mnt:89abcdef", "cgroup-ns:01234567")
    )
    assert Found(one, other).kinds == ([], ["probe_namespace"], [])
    assert Found(one, third).kinds == ([], [], ["probe_namespace"])


def test_files_digested_by_another_method_are_unknown():
    def menu(**digest):
        row = {"name": "x.dat", "size": 1, "sha256": None, "identity": None, **digest}
        return document(
            miopen_catalog={"menu": {"files": [row], "digests": "full" if "sha256" in digest else "identity"}}
        )

    found = Found(menu(sha256="0" * 64), menu(identity="1" * 64))
    assert (found.differences, found.informational) == ([], [])
    assert len(found.unknown) == 2
    assert Found(menu(sha256="0" * 64), menu(sha256="1" * 64)).differences == [
        "miopen_catalog.menu.files[name=x.dat].sha256"
    ]


def test_configuration_hashes_of_buck_are_no_difference():
    def client(text, hashed):
        row = {
            "name": "rccl",
            "target": "root//x:rccl",
            "configured_target": f"root//x:rccl ({text}#{hashed})",
        }
        return document(
            library_introspection=[row], buck_invocation={"root_configurations": [f"{text}#{hashed}"]}
        )

    assert Found(client("cfg", HASH), client("cfg", OTHER_HASH)).kinds == ([], [], [])
    assert len(Found(client("cfg", HASH), client("opt", HASH)).differences) == 2
    assert Found(client("cfg", HASH), client("cfg", "0")).differences


def test_measured_sizes_of_equal_machines_are_said():
    one, other, third = (document(host={"memory_bytes": size}) for size in (1000000, 1000500, 2000000))
    assert Found(one, other).kinds == ([], ["host.memory_bytes"], [])
    assert Found(one, third).differences == ["host.memory_bytes"]
    assert not near("1", 1) and not near(10**400, 1.5)


def test_another_type_is_a_difference():
    assert Found(document(host={"x": {"a": 1}}), document(host={"x": [1]})).differences == ["host.x"]


def test_a_value_that_is_shown_is_bounded():
    deep = []
    for _ in range(50):
        deep = [deep]
    assert len(str(bounded(deep))) < 100
    assert bounded(list(range(150)))[-1] == "and 50 more"
    row = Found(document(x={"a": list(range(150)), "b": 1}), document(x={"b": 1})).rows["x.a"]
    assert len(row.a) == 101
