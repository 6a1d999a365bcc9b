"""Client against workload, and workloads among each other: what is compared, and what is never a difference."""

import pytest

from tests.parts.pairs import (
    GONE,
    REVISION,
    captured,
    client,
    found,
    hosts,
    judged,
    old_client,
    old_workload,
    texts,
    workload,
)

SAME = {"host.boot_id": None, "launcher.node": None, "host.machine_digest": None, "gpus": []}
#: Of a client that does not tell its host.
NOWHERE = {"host": None, "launcher": None, "probe_namespace": None}
KERNEL = {"host.kernel_release": "6.8", "host.kernel_version": "#1", "host.machine": "x86_64"}


def standing(client_changes, workload_changes):
    base = {**SAME, **KERNEL, "probe_namespace": None}
    verdict = judged(client({**base, **client_changes}), workload({**base, **workload_changes}))
    return verdict.standings[0]


@pytest.mark.parametrize(
    ("one", "other", "word"),
    [
        ("mnt:0123456789abcdef", "mnt:0123456789abcdef", "same"),
        ("mnt:0123456789abcdef", "mnt:fedcba9876543210", "different"),
        ("cgroup-ns:01", "cgroup-ns:02", "different"),
        ("mnt:01", "cgroup-ns:02", "unknown"),
        ("mnt-local:01", "mnt-local:02", "unknown"),
        ("mnt-local:01", "mnt-local:01", "unknown"),
        ("mnt:01", "mnt-local:01", "unknown"),
        (None, "mnt:01", "unknown"),
        ("mnt:01", GONE, "unknown"),
        ("unknown", "unknown", "unknown"),
        ("mnt", "mnt", "unknown"),
        ("mnt:", "mnt:", "unknown"),
        (["mnt:01"], ["mnt:01"], "unknown"),
    ],
)
def test_namespaces(one, other, word):
    relation = standing({"probe_namespace": one}, {"probe_namespace": other}).namespace
    assert relation.word == word
    assert (word == "same") == relation.basis.startswith("advisory")


@pytest.mark.parametrize(
    ("one", "other", "word"),
    [
        ({}, {}, "unknown"),
        ({"host.boot_id": "a1"}, {"host.boot_id": "a1"}, "same"),
        ({"host.boot_id": "a1"}, {"host.boot_id": "a2"}, "different"),
        ({"host.boot_id": "a1"}, {"host.boot_id": "a1", "host.kernel_release": "5.4"}, "different"),
        ({"host.kernel_release": "6.8"}, {"host.kernel_release": "5.4"}, "different"),
        ({"host.glibc_version": "2.35"}, {"host.glibc_version": "2.39"}, "unknown"),
        ({"launcher.node": "n1"}, {"launcher.node": "n2"}, "different"),
        ({"launcher.node": "n1"}, {"launcher.node": "n1"}, "same"),
        ({"launcher.node": None}, {"launcher.node": "n1"}, "unknown"),
        ({"gpus": [{"unique_id": "0x1"}]}, {"gpus": [{"unique_id": "0x1"}, {"unique_id": "0x2"}]}, "same"),
        ({"gpus": [{"unique_id": "0x1"}]}, {"gpus": [{"unique_id": "0x2"}]}, "unknown"),
        ({"probe_namespace": "mnt:1"}, {"probe_namespace": "mnt:1"}, "same"),
        ({"host.machine_digest": "a"}, {"host.machine_digest": "b"}, "unknown"),
        (
            {"host.machine_digest": "a", "container_detected": False},
            {"host.machine_digest": "b", "container_detected": False},
            "different",
        ),
        (
            {"host.machine_digest": "a", "container_detected": False},
            {"host.machine_digest": "a", "container_detected": False},
            "same",
        ),
    ],
)
def test_hosts(one, other, word):
    relation = standing(one, other).host
    assert relation.word == word
    assert (word == "same") == relation.basis.startswith("advisory")


def test_majors_in_any_mix():
    clients = [
        client(),
        client({"schema_version": "2.7"}),
        *(old_client(version) for version in ("1.13", "1.17")),
    ]
    workloads = [
        workload(),
        workload({"schema_version": "2.3"}),
        old_workload("1.13"),
        old_workload("1.17-node"),
    ]
    for one in clients:
        for other in workloads:
            assert judged(one, other).passed
            assert not found(judged(one, other)) & {"client.schema", "workload.schema", "pair.tool"}
        assert judged(one, *workloads).passed


def test_an_extract_is_judged_by_what_it_holds():
    one = {
        "schema_version": "1.13",
        "build_system": {"kind": "buck2"},
        "buck_invocation": {
            "status": "success",
            "context_source": "default_confirmed",
            "context_fingerprint": "x1",
        },
        "library_introspection": [{"name": "pytorch"}],
    }
    other = {
        "schema_version": "1.13",
        "python_version": "3.12",
        "pytorch_version": "2.9",
        "pytorch_build": {"git_commit": "abc"},
        "rocm": {"version": "7.0"},
        "gpu_arch": {"gfx_targets": ["gfx942"]},
        "execution_context": {"probe_invocation": "buck2_run"},
    }
    assert judged(one, other).findings == []
    assert not judged(one, {}).passed
    assert not judged({}, other).passed


def test_an_old_workload_says_why_it_cannot_be_declared():
    [line] = texts(judged(client(), old_workload("1.9", {"execution_context": GONE})), "workload.invocation")
    assert "1.11" in line


@pytest.mark.parametrize(
    ("changes", "finds"),
    [
        ({"collection.tool.version": None}, set()),
        ({"collection": GONE}, set()),
        ({"collection.tool.revision": None}, set()),
        ({"build_system.revision": REVISION[:12]}, set()),
        ({"build_system.revision": REVISION + "+"}, set()),
        ({"build_system.revision": "f" * 40, "build_system.revision_source": "hg"}, set()),
        ({"build_system.revision": "f" * 40}, {"pair.revision"}),
        ({"build_system.revision": "unknown"}, set()),
    ],
)
def test_unknown_on_one_side_is_no_difference(changes, finds):
    assert found(judged(client(), workload(changes))) == finds


def test_the_clients_own_host_is_not_compared():
    """Its driver, its ROCm, its torch and its libraries are other things than the workload's."""
    one, other = client(), workload()
    assert one["rocm"]["version"] != other["rocm"]["version"]
    assert one["hipblaslt"]["lib_hash"] != other["hipblaslt"]["lib_hash"]
    assert judged(one, other).findings == []


def test_alternates_are_compared_where_both_sides_know_them():
    theirs = workload()["hipblaslt"]

    def compared(**row):
        changes = {**NOWHERE, "library_introspection_alternates": [{"name": "hipblaslt", **row}]}
        verdict = judged(client(changes), workload())
        return {(one.field, one.relation) for one in verdict.compared if one.library == "hipblaslt"}, found(
            verdict
        )

    assert compared(package_version=theirs["package_version"], lib_hash=theirs["lib_hash"]) == (
        {("hipblaslt.package_version", "same"), ("hipblaslt.lib_hash", "same")},
        set(),
    )
    assert compared(lib_hash="sha256:" + "0" * 64)[1] == {"pair.library"}
    assert compared(lib_hash="md5:" + "0" * 32) == (set(), set()), "made in another way"
    assert compared(lib_hash=None, package_version="unknown", revision=7) == (set(), set())
    # Without a release's tweak the version is told in its place, which is no tweak.
    assert compared(package_version=theirs["package_version"], revision=theirs["package_version"]) == (
        {("hipblaslt.package_version", "same")},
        set(),
    )
    assert compared(revision="70200-other")[1] == {"pair.library"}


def test_rccls_alternate_tells_its_version_as_revision():
    """As both lines of documents have it: a version of its own section, and no package's."""

    def compared(revision):
        row = {"name": "rccl", "source": "package", "revision": revision, "package_version": None}
        changes = {**NOWHERE, "library_introspection_alternates": [row]}
        verdict = judged(client(changes), workload({"rccl.version": "2.27.7"}))
        return {(one.field, one.relation) for one in verdict.compared if one.library == "rccl"}, found(
            verdict
        )

    assert compared("2.27.7") == ({("rccl.version", "same")}, set())
    assert compared("2.22.3") == ({("rccl.version", "different")}, {"pair.library"})


def test_the_graphs_revision_proves_one_source_or_nothing():
    commit = workload()["pytorch_build"]["git_commit"]
    rows = [{"name": "pytorch", "revision": commit[:12]}]
    [same] = judged(client({"library_introspection": rows}), workload()).compared
    assert same.relation == "same"
    verdict = judged(client(), workload())
    assert [one.relation for one in verdict.compared] == ["unknown"]
    assert verdict.findings == []


def job(*changes):
    return judged(client(), *(workload(one, rank=number) for number, one in enumerate(changes)))


def test_the_odd_rank_is_named():
    verdict = job({}, {}, {"rocm.version": "6.4.0"}, {})
    [line] = texts(verdict, "job.rocm")
    assert line == (
        'WARNING: w2.json: rocm.version is "6.4.0" in rank 2 on node node0 (w2.json), and "7.2.0" in 3 others'
    )
    assert verdict.passed


def test_without_a_rank_the_file_is_named():
    nowhere = {"launcher": None}
    [line] = texts(
        job(nowhere, {**nowhere, "rocm.version": "6.4.0"}, {**nowhere, "python_version": "3.10"}), "job.rocm"
    )
    assert '"6.4.0" in w1.json, and "7.2.0" in 2 others' in line


def test_with_a_tie_both_groups_are_named():
    verdict = job({}, {"rocm.version": "6.4.0"}, {"rocm.version": "6.4.0"}, {})
    [line] = texts(verdict, "job.rocm")
    assert all(f"(w{number}.json)" in line for number in range(4))
    assert line.startswith("WARNING: 4 workloads: ") and line.endswith(": no majority")
    [line] = texts(job({}, {"rocm.version": "6.4.0"}), "job.rocm")
    assert '"7.2.0" in rank 0' in line and '"6.4.0" in rank 1' in line


def test_three_values():
    [line] = texts(job({}, {}, {"rocm.version": "6.4.0"}, {"rocm.version": "6.3.0"}), "job.rocm")
    assert '"6.4.0" in rank 2' in line and '"6.3.0" in rank 3' in line and '"7.2.0" in 2 others' in line
    assert line.startswith("WARNING: 2 files (w2.json, w3.json): ")


@pytest.mark.parametrize("nothing", [None, "", "unknown", GONE, [], 7, {"a": 1}])
def test_what_one_does_not_know_is_no_difference(nothing):
    for path in ("rocm.version", "rccl.lib_hash", "amdgpu_driver.kmd_version", "pytorch_build.git_commit"):
        verdict = job({}, {path: nothing}, {})
        assert not {rule for rule in found(verdict) if rule.startswith("job.")}


def test_digests_made_in_two_ways_are_not_compared():
    other = {"hipblaslt.kernel_db_revision": "content-sha256:" + "0" * 64}
    assert "job.libraries" not in found(job({}, other))
    assert "job.libraries" in found(
        job({}, {}, other, {"hipblaslt.kernel_db_revision": "content-sha256:" + "1" * 64})
    )


def rows(**digests):
    return {
        "loaded_libraries": [
            {"soname": f"lib{name}.so", "basis": "observed", "digest": f"sha256:{digest}"}
            for name, digest in digests.items()
        ]
    }


def test_loaded_libraries_that_set_the_same_ones_apart_are_one_line():
    [line] = texts(
        job(rows(a="1", b="1", c="1"), rows(a="1", b="1"), rows(a="2", b="2", c="1")), "job.loaded"
    )
    assert "liba.so (observed), libb.so (observed)" in line
    assert "libc.so" not in line and "rank 2" in line and "2 others" in line


def test_loaded_and_predicted_are_two_things():
    predicted = rows(a="2")
    predicted["loaded_libraries"][0]["basis"] = "predicted"
    assert "job.loaded" not in found(job(rows(a="1"), predicted))
    twice = rows(a="1")
    twice["loaded_libraries"].append({**twice["loaded_libraries"][0], "digest": "sha256:3"})
    assert "job.loaded" not in found(job(twice, rows(a="2"))), "a library that is there twice"


def test_a_rank_of_two_jobs_is_no_rank_given_twice():
    verdict = job({"launcher.rank": 0}, {"launcher.rank": 0, "launcher.job_id": "8"})
    assert found(verdict) == {"job.job"}


def test_reasons_are_counted_over_workloads():
    reasons = {"partial_reasons": ["rccl: timed out", 7, None, "x\n\x1b[31m: y" + "z" * 5000]}
    verdict = job(reasons, reasons, {**reasons, "partial_reasons": reasons["partial_reasons"][:1]})
    first, second = texts(verdict, "file.reasons")
    assert first == "WARNING: 3 workloads: rccl: timed out"
    assert second.startswith("WARNING: 2 files (w0.json, w1.json): x \\x1b[31m: yzzz")
    assert len(second) < 500
    many = judged(client({"partial_reasons": [f"a: {number}" for number in range(5000)]}), workload())
    assert len(texts(many, "file.reasons")) == 101
    assert texts(many, "file.reasons")[-1].endswith("and 4900 more findings of file.reasons")


@pytest.mark.parametrize("host", hosts())
def test_recorded_hosts_are_judged(host):
    """Whatever the host lacks, each is a workload that can be asked; what is wrong is told."""
    verdict = judged(client(), workload(base=captured(host)))
    errors = {finding.rule for finding in verdict.findings if finding.severity == "error"}
    assert errors == (set() if captured(host)["python_version"] else {"workload.python_version"})
