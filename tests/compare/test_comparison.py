"""The whole of a comparison: triage, weight, views, sections, plugins."""

import pytest

from aorta.compare.tables import TRIAGE
from tests.parts.compared import Found, document

LOOKED = {
    "runtime_context": {"type": "docker"},
    "container_detected": True,
    "probe_namespace": "mnt:01234567",
    "amdgpu_driver": {"kfd_device_present": True},
}


def verdicts(found):
    return {row.path: row.verdict for row in found.comparison.triage}


def test_the_triage_is_always_there():
    one = document(**LOOKED)
    assert verdicts(Found(one, one)) == dict.fromkeys(TRIAGE, "same")
    assert verdicts(Found(one, one, {"rocm"})) == dict.fromkeys(TRIAGE, "same")
    assert verdicts(Found({}, {})) == dict.fromkeys(TRIAGE, "unknown")
    assert verdicts(Found(one, document(**LOOKED, status=dict.fromkeys(LOOKED, "failed")))) == dict.fromkeys(
        TRIAGE, "same"
    )


def test_the_triage_says_what_differs():
    other = document(
        ("amdgpu_driver", "kfd_device_present", "denied"),
        runtime_context={"type": "baremetal"},
        container_detected=False,
        probe_namespace="mnt:89abcdef",
        amdgpu_driver={"kfd_device_present": None},
    )
    found = Found(document(**LOOKED), other)
    assert list(verdicts(found).values()) == ["different", "different", "different", "unknown"]
    assert found.comparison.triage[3].why == "denied: why"
    assert found.kinds == (
        ["runtime_context.type", "container_detected"],
        ["probe_namespace"],
        ["amdgpu_driver.kfd_device_present"],
    )
    assert found.comparison.triage[0].a == "docker"


def test_rows_stand_by_weight():
    sections = "amdgpu_driver rocm hip rccl loaded_libraries miopen_catalog pytorch_build nics env_vars host python_version".split()
    one, other = (document(**{name: {"x": number} for name in reversed(sections)}) for number in (1, 2))
    found = Found(one, other)
    assert found.differences == [f"{name}.x" if name != "env_vars" else "env_vars.x" for name in sections]
    weights = [row.weight for row in found.comparison.differences]
    assert weights == [
        "driver",
        "rocm",
        "rocm",
        "libraries",
        "libraries",
        "kernels",
        "torch",
        "network",
        "variables",
        "other",
        "other",
    ]
    assert found.rows["amdgpu_driver.x"].provenance == ("host_kernel",)


def test_only_some_sections():
    one, other = (document(rocm={"x": n}, rccl={"x": n}) for n in (1, 2))
    assert Found(one, other, {"rccl"}).differences == ["rccl.x"]


def test_what_changes_by_itself_and_names_are_left_out():
    def at(n):
        made = document(
            host={"boot_id": n, "machine_digest": n},
            docker={"container_id": n},
            launcher={"rank": n, "node": n, "job_id": n, "master_port": n},
            gpus=[{"bdf": "1", "uuid": n, "pcie_link": {"speed": n}, "ras": {"umc": {"correctable": n}}}],
            miopen_catalog={"user_db_file_count": n},
            system_health={"gpu_info": n},
        )
        made["collection"] |= {"elapsed_s": n, "tool": {"version": n}}
        return made | {"captured_at": n, "partial": n, "partial_reasons": [n], "schema_compat": n}

    assert Found(at("1"), at("2")).kinds == ([], [], [])


@pytest.mark.parametrize(
    ("a", "b", "differ"),
    [
        ("direct", "direct", False),
        ("direct", "buck2_run", True),
        ("buck2_run", "buck2_action", False),
        ("buck2_action", "direct", True),
    ],
)
def test_views(a, b, differ):
    views = Found(
        *(document(execution_context={"probe_invocation": word}) for word in (a, b))
    ).comparison.views
    assert views.differ is differ


def test_who_asked_buck_is_a_client():
    client = document(buck_invocation={"status": "success"}, execution_context={"probe_invocation": "direct"})
    direct = document(buck_invocation={"status": "not_requested"})
    assert Found(client, direct).comparison.views.a == "client"
    assert Found(client, direct).comparison.views.b == "direct"
    assert not Found(client, direct).comparison.views.differ
    assert Found(
        client, document(execution_context={"probe_invocation": "buck2_run"})
    ).comparison.views.differ


def plugin(data, kind="ok"):
    made = document()
    made["extensions"]["vendor.burnin"] = {"schema": "vendor.burnin/1", "data": data}
    made["collection"]["collectors"]["vendor.burnin"] = {"status": kind, "provenance": ["filesystem"]}
    return made


def test_sections_of_plugins_are_compared():
    one, other = (
        plugin({"passed": True, "hosts": [{"name": "b"}, {"name": "a"}]}),
        plugin({"passed": False, "hosts": [{"name": "a"}, {"name": "b"}]}),
    )
    found = Found(one, other)
    assert found.differences == ['extensions["vendor.burnin"].data.passed']
    row = found.comparison.differences[0]
    assert (row.section, row.weight, row.provenance) == ("vendor.burnin", "other", ("filesystem",))
    assert Found(one, document()).unknown == ['extensions["vendor.burnin"].data']
    assert Found(one, plugin(None, "failed")).unknown == ['extensions["vendor.burnin"].data']
    assert Found(one, other, {"vendor.burnin"}).differences == found.differences


def test_markers_of_buck_are_compared_by_presence():
    def markers(present, value):
        mark = {"present": present, "value": value, "proves": "p", "limits": "l"}
        return document(execution_context={"markers": {"BUCK_RUN_BUILD_ID": mark}})

    assert Found(markers(True, "1"), markers(True, "2")).kinds == ([], [], [])
    assert Found(markers(True, "1"), markers(False, None)).differences == [
        "execution_context.markers.BUCK_RUN_BUILD_ID.present"
    ]
