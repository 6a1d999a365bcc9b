"""Unknown on one side is never a difference; not there, and not set, are known."""

import pytest

from aorta.compare.side import LOOKED
from aorta.model.vocabulary import ReasonKind, Status
from tests.parts.compared import Found, document

SEEN = document(rocm={"version": "7.2.0", "root": "/opt/rocm"})


def lacking(kind, field="version"):
    return document(("rocm", field, kind), rocm={"version": None, "root": "/opt/rocm"})


@pytest.mark.parametrize("kind", sorted(ReasonKind))
def test_each_kind_of_reason(kind):
    found = Found(SEEN, lacking(kind))
    row = found.rows["rocm.version"]
    assert (row.a, row.b) == ("7.2.0", None)
    assert row.why_b == f"{kind.value}: why"
    if kind is ReasonKind.ABSENT:
        assert found.kinds == (["rocm.version"], [], [])
    else:
        assert found.kinds == ([], [], ["rocm.version"])
        assert row.side == "b"
    mirrored = Found(lacking(kind), SEEN)
    assert mirrored.kinds == found.kinds
    assert mirrored.rows["rocm.version"].why_a == f"{kind.value}: why"


def test_a_kind_of_a_newer_version_is_unknown():
    assert Found(SEEN, lacking("dozed_off")).kinds == ([], [], ["rocm.version"])


@pytest.mark.parametrize("status", sorted(Status))
def test_each_status_of_a_section(status):
    bare = document(status={"rocm": status.value}, rocm={"version": None, "root": None})
    found = Found(SEEN, bare)
    if status.value in LOOKED:
        assert found.kinds == (["rocm"], [], [])
    else:
        assert found.kinds == ([], [], ["rocm"])
        assert status.value in found.rows["rocm"].why_b


def test_the_words_of_a_reason_beat_the_status():
    bare = document(
        ("rocm", "", "timed_out"), status={"rocm": "timed_out"}, rocm={"version": None, "root": None}
    )
    assert Found(SEEN, bare).rows["rocm"].why_b == "timed_out: why"


def test_a_null_without_a_reason_in_a_section_that_was_looked_at_is_the_answer():
    found = Found(SEEN, document(rocm={"version": None, "root": "/opt/rocm"}))
    assert found.kinds == (["rocm.version"], [], [])
    assert found.rows["rocm.version"].why_b == ""


def test_a_null_beside_a_field_that_could_not_be_seen_is_unknown():
    """The package's version has no reason of its own where its name could not be told."""
    other = {"package_name": None, "package_version": None, "kmd_version": "6"}
    one = {"package_name": "amdgpu-dkms", "package_version": "1", "kmd_version": "6"}
    found = Found(
        document(amdgpu_driver=one),
        document(("amdgpu_driver", "package_name", "unsupported"), amdgpu_driver=other),
    )
    assert found.kinds == ([], [], ["amdgpu_driver.package_name", "amdgpu_driver.package_version"])
    assert found.rows["amdgpu_driver.package_version"].why_b == "as package_name: unsupported: why"
    absent = document(("amdgpu_driver", "package_name", "absent"), amdgpu_driver=other)
    assert len(Found(document(amdgpu_driver=one), absent).differences) == 2


def test_the_nearest_reason_counts():
    one = document(host={"cpu": {"model": "x", "cores": 2}})
    nested = {"cpu": {"model": None, "cores": 2}}
    assert Found(one, document(("host", "cpu", "denied"), host=nested)).unknown == ["host.cpu.model"]
    own = document(("host", "cpu", "denied"), ("host", "cpu.model", "absent"), host=nested)
    assert Found(one, own).differences == ["host.cpu.model"]
    assert Found(one, document(("host", "", "denied"), host=nested)).unknown == ["host.cpu.model"]
    two = document(("host", "cpu.model", "absent"), ("host", "cpu.model", "denied"), host=nested)
    assert Found(one, two).unknown == ["host.cpu.model"]


def test_what_nobody_asked_for_of_a_list_is_not_about_the_members_that_are_there():
    one, other = [{"mtu": 1, "netdev": "x"}], [{"mtu": None, "netdev": "x"}]
    reason = ("nic_devices", "", "not_requested")
    found = Found(document(nic_devices=one), document(reason, nic_devices=other))
    assert found.differences == ["nic_devices[x].mtu"]
    found = Found(
        document(host={"x": 1, "y": 1}), document(("host", "", "not_requested"), host={"x": 1, "y": None})
    )
    assert found.kinds == ([], [], ["host.y"])


def test_a_section_that_says_that_it_was_not_asked_is_unknown_as_a_whole():
    one = document(buck_invocation={"status": "success", "context_source": "explicit", "target": "//a"})
    other = document(buck_invocation={"status": "not_requested", "context_source": "none", "target": None})
    found = Found(one, other)
    assert found.kinds == ([], [], ["buck_invocation"])
    assert (found.rows["buck_invocation"].side, found.rows["buck_invocation"].why_b) == ("b", "not asked for")
    assert Found(other, document(buck_invocation={"status": "not_requested"})).kinds == ([], [], [])


def test_a_key_or_a_section_that_is_not_there_is_unknown():
    found = Found(SEEN, document(rocm={"version": "7.2.0"}))
    assert found.kinds == ([], [], ["rocm.root"])
    assert found.rows["rocm.root"].why_b == "not in this document"
    assert Found(SEEN, document()).kinds == ([], [], ["rocm"])
    assert Found(SEEN, {}).unknown == ["rocm"]


def test_without_a_record_a_null_is_unknown():
    other = document(rocm={"version": None, "root": "/opt/rocm"})
    del other["collection"]
    assert Found(SEEN, other).kinds == ([], [], ["rocm.version"])


def test_a_variable_that_is_not_set_is_known():
    one = document(env_vars={"NCCL_DEBUG": "INFO", "RCCL_X": "1", "HSA_XNACK": ""})
    other = document(env_vars={"NCCL_DEBUG": None, "HSA_XNACK": None})
    assert Found(one, other).kinds == (
        ["env_vars.HSA_XNACK", "env_vars.NCCL_DEBUG", "env_vars.RCCL_X"],
        [],
        [],
    )
    odd = document(("env_vars", "NCCL_DEBUG", "unparsed"), env_vars={"NCCL_DEBUG": None, "HSA_XNACK": None})
    assert Found(one, odd).unknown == ["env_vars.NCCL_DEBUG"]
    failed = document(status={"env_vars": "failed"}, env_vars={"NCCL_DEBUG": None})
    assert Found(one, failed).kinds == ([], [], ["env_vars"])


def test_docker_on_bare_metal_is_known():
    one = document(docker={"image": "rocm/pytorch", "digest": None, "container_id": "abc"})
    assert Found(one, document(docker=None)).kinds == (["docker.image"], [], [])
    assert Found(one, document(status={"docker": "failed"}, docker=None)).unknown == ["docker"]


def test_a_package_that_is_not_there_is_one_row():
    one = document(triton={"package_version": "3.5", "commit": "abc", "providers": []})
    other = document(
        ("triton", "", "absent"), triton={"package_version": None, "commit": None, "providers": None}
    )
    found = Found(one, other)
    assert found.kinds == (["triton"], [], [])
    assert found.rows["triton"].a["package_version"] == "3.5"


def test_a_card_that_is_not_there_is_one_row():
    here = {"present": True, "firmware": "1", "links": [{"device": "x"}]}
    gone = {"present": False, "firmware": None, "links": None}
    assert Found(document(nics={"cx7": here}), document(nics={"cx7": gone})).differences == [
        "nics.cx7.present"
    ]


def test_nothing_stands_against_nothing():
    one = document(aotriton={"bundled_present": False, "bundled_image_archs": []})
    other = document(
        ("aotriton", "", "absent"), aotriton={"bundled_present": None, "bundled_image_archs": None}
    )
    assert Found(one, other).kinds == ([], [], [])
    denied = document(
        ("aotriton", "", "denied"), aotriton={"bundled_present": None, "bundled_image_archs": None}
    )
    assert Found(one, denied).kinds == ([], [], ["aotriton"])


def test_two_nulls_of_which_one_is_unknown():
    nothing = {"package_version": None}
    absent = document(("triton", "", "absent"), triton=nothing)
    denied = document(("triton", "", "denied"), triton=nothing)
    found = Found(absent, denied)
    assert found.kinds == ([], [], ["triton"])
    assert found.rows["triton"].side == "b"
    assert Found(denied, denied).kinds == Found(absent, absent).kinds == ([], [], [])


@pytest.mark.parametrize("word", ["unknown", "unreadable", "[redacted]"])
def test_a_word_that_says_unknown_is_unknown(word):
    one, other = document(therock={"status": word}), document(therock={"status": "absent"})
    found = Found(one, other)
    assert found.kinds == ([], [], ["therock.status"])
    assert found.rows["therock.status"].side == "a"
    assert Found(one, one).kinds == ([], [], [])


def test_what_a_variable_is_set_to_is_no_such_word_but_a_hidden_secret_is():
    one = document(env_vars={"A": "unknown", "B": "[redacted]"})
    found = Found(one, document(env_vars={"A": "1", "B": "1"}))
    assert found.kinds == (["env_vars.A"], [], ["env_vars.B"])


OLD = {"upgraded_from": "1.17"}


def test_a_null_of_1x_without_a_reason_is_unknown():
    for one in (SEEN, document(**OLD, rocm={"version": "7.2.0", "root": "/opt/rocm"})):
        other = document(**OLD, rocm={"version": None, "root": "/opt/rocm"})
        assert Found(one, other).kinds == ([], [], ["rocm.version"])


def test_a_line_of_1x_is_unknown():
    other = document(("rocm", "version", "unspecified"), **OLD, rocm={"version": None, "root": "/opt/rocm"})
    assert Found(SEEN, other).rows["rocm.version"].why_b == "unspecified: why"


BARE_METAL = {"runtime_context": {"type": "baremetal"}, "container_detected": False}


@pytest.mark.parametrize(
    ("section", "here", "gone", "beside", "row"),
    [
        ("env_vars", {"A": "1"}, {"A": None}, {}, "env_vars.A"),
        ("docker", {"image": "x"}, None, BARE_METAL, "docker.image"),
        ("fbgemm", {"package_version": "1"}, {"package_version": None}, {}, "fbgemm.package_version"),
        (
            "therock",
            {"rocm_version": "1", "status": "present"},
            {"rocm_version": None, "status": "absent"},
            {},
            "",
        ),
        ("nics", {"cx7": {"present": True}}, {"cx7": {"present": False}}, {}, "nics.cx7.present"),
        ("amdgpu_driver", {"status": "present", "x": 1}, {"status": "absent", "x": None}, {}, ""),
    ],
)
def test_what_1x_documents_as_an_absence_is_known(section, here, gone, beside, row):
    one = document(**{section: here}, **beside)
    found = Found(one, document(**OLD, **{section: gone}, **beside))
    assert found.differences and found.unknown == []
    assert not row or found.differences == [row]


@pytest.mark.parametrize(
    ("section", "here", "gone", "beside"),
    [
        ("env_vars", {"A": "1"}, {"B": None}, {}),
        (
            "docker",
            {"image": "x"},
            None,
            {"runtime_context": {"type": "baremetal"}, "container_detected": None},
        ),
        (
            "docker",
            {"image": "x"},
            None,
            {"runtime_context": {"type": "baremetal"}, "container_detected": True},
        ),
        ("nics", {"cx7": {"firmware": "1"}}, {"cx7": {"firmware": None}}, {}),
        ("hip", {"version": "1"}, {"version": None}, {}),
    ],
)
def test_what_1x_does_not_document_is_unknown(section, here, gone, beside):
    one = document(**{section: here}, **beside)
    found = Found(one, document(**OLD, **{section: gone}, **beside))
    assert found.differences == []
    assert [path for path in found.unknown if path.startswith(section)]


def test_what_1x_filled_in_another_way_is_not_compared_with_2():
    one, other = ({"symbol_count": number} for number in (7, 9))
    one, other = ({"pytorch_bundled": {"present": True, **counts}} for counts in (one, other))
    mixed = Found(document(composable_kernel=one), document(**OLD, composable_kernel=other))
    assert mixed.kinds == ([], [], ["composable_kernel.pytorch_bundled.symbol_count"])
    alike = Found(document(**OLD, composable_kernel=one), document(**OLD, composable_kernel=other))
    assert len(alike.differences) == 1
