"""Documents of the 1.x line load as this version has them, and say nothing that they did not hold.

``1.17-node.json`` is a document of the established tool, from a machine whose tools and kernel files were
stand-ins; the older ones are the same with what came later taken out and old names put back. Which 13
variables 1.0 asked for is not known beyond the four build flags.
"""

import copy
import json

import jsonschema
import pytest

from aorta.model.codec import DocumentError, dump, parse_json, to_json
from aorta.model.schema import document_schema
from aorta.model.sections import ORDER
from aorta.model.upgrade.keys import KEYS, SINCE, VARIABLES
from aorta.model.upgrade.steps import STEPS
from aorta.plugin.discovery import discover
from tests.parts.old_documents import VERSIONS, codec, facts, invented, old

CODEC = codec()


def upgraded(document):
    return dump(CODEC.load(parse_json(json.dumps(document))))


def kinds(document, section, field=""):
    return [
        reason["kind"]
        for reason in document["collection"]["reasons"]
        if (reason["section"], reason["field"]) == (section, field)
    ]


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


def test_the_fixtures_hold_what_their_version_had():
    assert len(old("1.0")) == 13
    assert len(old("1.13")) == 38
    assert len(old("1.17")) == len(old("1.17-node")) == 41
    for name in VERSIONS:
        document = old(name)
        number = tuple(map(int, document["schema_version"].split(".")))
        younger = {place for place, since in SINCE.items() if since > number}
        assert {place for place in younger if place in document} == set()
        assert [place for place in SINCE if "." not in place and place not in younger | set(document)] == []


def test_the_table_is_that_of_the_fixtures():
    assert list(KEYS) == list(old("1.17")) == list(old("1.17-node"))
    assert list(old("1.17")["env_vars"]) == VARIABLES
    assert [target for target, _ in STEPS] == sorted(target for target, _ in STEPS)


def test_nothing_is_invented_and_nothing_is_lost(version):
    before = old(version)
    after = upgraded(before)
    assert invented(before, after) == {}
    lost = set(facts(before)) - set(facts(after))
    assert lost <= {
        "hipblaslt.commit",
        "hipblaslt.tensile_yaml_revision",
        "composable_kernel.pytorch_bundled.present",
        # An empty list stands in 1.x also where nobody asked.
        "library_introspection",
        "library_introspection_alternates",
    }


def test_it_is_a_whole_document_of_this_version(version):
    after = upgraded(old(version))
    assert after["schema_version"] == "2.0"
    assert after["collection"]["upgraded_from"] == old(version)["schema_version"]
    assert [name for name in ORDER if name not in after] == []
    jsonschema.validate(after, document_schema(discover(outside=False)))
    assert dump(CODEC.load(parse_json(to_json(after)))) == after


def test_what_the_version_did_not_have_is_not_recorded(version):
    after = upgraded(old(version))
    number = tuple(map(int, old(version)["schema_version"].split(".")))
    for place, since in SINCE.items():
        section, _, field = place.partition(".")
        if since > number and SINCE.get(section, (0, 0)) <= number:
            assert kinds(after, section, field) == ["not_recorded"], place
    for section in ("gpus", "nic_devices", "isolation", "launcher", "loaded_libraries"):
        assert kinds(after, section) == ["not_recorded"]
    assert after["partial"] is True


def test_a_variable_that_nobody_asked_for_is_not_unset():
    after = upgraded(old("1.13"))
    assert after["env_vars"]["LD_LIBRARY_PATH"] is None
    assert kinds(after, "env_vars", "LD_LIBRARY_PATH") == ["not_recorded"]
    assert after["env_vars"]["HIP_VISIBLE_DEVICES"] is None
    assert kinds(after, "env_vars", "HIP_VISIBLE_DEVICES") == []
    assert after["env_vars"]["NCCL_IB_TC"] == ""


def test_every_line_is_a_reason(version):
    before = old(version)
    after = upgraded(before)
    assert set(before["partial_reasons"]) <= set(after["partial_reasons"])
    told = [reason for reason in after["collection"]["reasons"] if reason["kind"] == "unspecified"]
    assert len(told) == len(before["partial_reasons"])
    assert {reason["section"] for reason in told} <= set(ORDER)


def test_lines_of_any_form_are_kept():
    lines = ["no place at all", "unknown.place: x", "rocm: ", "rocm.version: a: b", "", "collect: y"]
    after = upgraded({**old("1.17"), "partial_reasons": lines})
    told = [
        (reason["section"], reason["field"], reason["detail"])
        for reason in after["collection"]["reasons"]
        if reason["kind"] == "unspecified"
    ]
    assert ("rocm", "version", "a: b") in told
    for line in lines[:3]:
        assert ("collection", "", line) in told
    after = upgraded({**old("1.17"), "partial_reasons": "rocm.version: x"})
    assert after["extensions"]["aorta.set_aside"]["data"]["partial_reasons"] == "rocm.version: x"
    assert kinds(after, "collection")[1:] == ["unparsed", "unspecified"]


def test_the_names_of_1_0():
    before, after = old("1.0"), upgraded(old("1.0"))
    assert after["hipblaslt"]["rocm_release_tweak"] == before["hipblaslt"]["commit"] is not None
    assert after["hipblaslt"]["kernel_db_revision"] == before["hipblaslt"]["tensile_yaml_revision"]
    assert "commit" not in after["hipblaslt"]
    assert after["env_vars"]["USE_ROCM_CK_SDPA"] == "1"
    assert after["extensions"] == {}
    # Both names: the old one is no longer a commit of anything.
    both = upgraded({**before, "hipblaslt": {**before["hipblaslt"], "rocm_release_tweak": "x"}})
    assert both["hipblaslt"]["rocm_release_tweak"] == "x"
    assert both["extensions"]["aorta.set_aside"]["data"]["hipblaslt.commit"] == before["hipblaslt"]["commit"]
    host = {"glibc_version": "glibc 2.35"}
    assert upgraded({**before, "host": host})["host"]["glibc_version"] is None
    assert upgraded({**old("1.9"), "host": host})["host"]["glibc_version"] == "glibc 2.35"


@pytest.mark.parametrize(
    ("target", "bare", "configured"),
    [
        ("//a:b (cfg:x#12)", "//a:b", "//a:b (cfg:x#12)"),
        ("//a:b", "//a:b", None),
    ],
)
def test_the_target_before_1_6(target, bare, configured):
    before = {**old("1.9"), "schema_version": "1.5"}
    entry = {"name": "rccl", "source": "buck", "revision": None, "target": target}
    after = upgraded({**before, "library_introspection": [entry]})
    assert after["library_introspection"][0]["target"] == bare
    assert after["library_introspection"][0]["configured_target"] == configured
    field = "[0].configured_target"
    assert kinds(after, "library_introspection", field) == ([] if configured else ["not_recorded"])


def test_versions_are_numbers():
    assert upgraded({**old("1.9"), "schema_version": "1.9"})["probe_namespace"] is None
    later = upgraded({**old("1.9"), "schema_version": "1.13", "probe_namespace": "mnt:1"})
    assert later["probe_namespace"] == "mnt:1"


def test_w33_what_a_later_reader_filled_in_is_no_fact():
    """The established reader gives an old document its own defaults and leaves the version as it was."""
    invented_here = {
        "amdgpu_driver": {"status": "absent", "kfd_device_present": False},
        "container_detected": False,
        "execution_context": {"probe_invocation": "direct"},
    }
    after = upgraded({**old("1.9"), **copy.deepcopy(invented_here), "library_linkage": None})
    assert after["amdgpu_driver"]["status"] is None
    assert after["amdgpu_driver"]["kfd_device_present"] is None
    assert after["container_detected"] is None
    assert kinds(after, "amdgpu_driver") == kinds(after, "container_detected") == ["not_recorded"]
    assert after["extensions"]["aorta.set_aside"]["data"] == {**invented_here, "library_linkage": None}


def test_w33_unknown_keys_are_kept_where_they_mislead_nobody():
    before = old("1.17-node")
    before |= {"gpus": "eight", "collection": 5, "vendor": {"a": [1]}, "schema_version": "1.19"}
    before["rocm"]["include_root"] = 7
    before["library_linkage"]["libraries"][0]["why.not"] = True
    before["docker"]["?"] = 1
    after = upgraded(before)
    assert after["extensions"]["aorta.set_aside"] == {
        "schema": "aorta.set_aside/1",
        "data": {
            "gpus": "eight",
            "collection": 5,
            "vendor": {"a": [1]},
            "rocm.include_root": 7,
            'library_linkage.libraries[0]["why.not"]': True,
            "docker.?": 1,
        },
    }
    assert after["gpus"] is None
    assert after["collection"]["upgraded_from"] == "1.19"


def test_w2_a_capture_that_failed_as_a_whole_asserts_nothing():
    before = old("1.17")
    before["partial_reasons"] += ["collect_env: unexpected failure (PermissionError: no)"]
    after = upgraded(before)
    kept = ("container_detected", "probe_namespace", "python_version", "rocm", "execution_context")
    held = {path.split(".")[0] for path in facts(after)}
    assert held == {*kept, "buck_invocation"}
    assert kinds(after, "amdgpu_driver") == ["not_recorded"]
    assert kinds(after, "env_vars") == ["not_recorded"]
    [text] = {r["detail"] for r in after["collection"]["reasons"] if r["section"] == "runtime_context"}
    assert text.endswith("unexpected failure (PermissionError: no)")


def test_meanings_that_changed():
    after = upgraded(old("1.17"))
    assert after["rocm"]["layout"] == "none"
    assert after["composable_kernel"]["pytorch_bundled"]["present"] is None
    assert kinds(after, "composable_kernel", "pytorch_bundled.present") == ["not_recorded"]
    assert upgraded(old("1.17-node"))["rocm"]["layout"] == "classic"


def test_what_1_x_writes_as_one_key_is_all_there():
    after = upgraded(old("1.17"))
    told = {reason["field"] for reason in after["collection"]["reasons"] if reason["section"] == "nics"}
    assert {field for field in told if not field.endswith("mixed")} == set()
    assert after["nics"]["cx7"]["present"] is False
    assert after["nics"]["cx7"]["driver_version"] is None
    assert kinds(after, "build_system", "revision") == []


@pytest.mark.parametrize(("detected", "told"), [(True, True), (False, False)])
def test_a_container_without_a_name_has_no_image_on_record(detected, told):
    before = {**old("1.17"), "docker": None, "container_detected": detected}
    before["runtime_context"]["type"] = "baremetal"
    after = upgraded(before)
    assert after["docker"] is None
    assert kinds(after, "docker") == (["not_recorded"] if told else [])


def test_credentials_and_bytes_are_as_in_a_capture():
    before = old("1.17")
    before["env_vars"]["MIOPEN_USER_DB_PATH"] = "a\udcff"
    before["env_vars"]["ROCBLAS_LOG_PATH"] = "https://me:hunter2@host/x"
    after = upgraded(before)
    assert after["env_vars"]["MIOPEN_USER_DB_PATH"] == "a\\xff"
    assert kinds(after, "env_vars", "MIOPEN_USER_DB_PATH") == ["unparsed"]
    assert "hunter2" not in json.dumps(after)
    assert after["collection"]["redacted"] == ["ROCBLAS_LOG_PATH"]


def test_detail_is_what_the_document_holds():
    assert upgraded(old("1.9"))["collection"]["detail"] == "full"
    assert upgraded(old("1.13"))["collection"]["detail"] == "compact"


def test_what_is_null_or_gone_is_said():
    before = {**old("1.17-node"), "rocm": None, "python_version": None}
    del before["hip"], before["gpu_arch"]["gfx_targets"], before["captured_at"]
    after = upgraded(before)
    assert set(after["rocm"].values()) == {None}
    assert kinds(after, "rocm")[0] == kinds(after, "hip")[0] == "not_recorded"
    assert kinds(after, "gpu_arch", "gfx_targets") == ["not_recorded"]
    assert after["captured_at"] is None


def test_no_document_at_all():
    after = upgraded({"schema_version": "1.0"})
    assert facts(after) == {}
    assert [name for name in ORDER if kinds(after, name) != ["not_recorded"]] == []
    assert kinds(upgraded({"schema_version": "1.17", "partial": True}), "collection")[-1] == "unspecified"


@pytest.mark.parametrize("value", ["x", 5, [], True])
def test_what_is_not_of_its_type_is_refused(value):
    with pytest.raises(DocumentError, match="rocm"):
        CODEC.load({**old("1.17"), "rocm": value})


def test_nested_without_end():
    deep = []
    for _ in range(300):
        deep = [deep]
    after = upgraded({**old("1.17"), "system_health": {"a": deep}})
    assert any(r["section"] == "system_health" for r in after["collection"]["reasons"])
    for _ in range(20_000):
        deep = [deep]
    after = dump(CODEC.load({**old("1.17"), "system_health": {"a": deep}}))
    assert any(r["section"] == "system_health" for r in after["collection"]["reasons"])


def test_the_original_stays_as_it_is(version):
    before = old(version)
    CODEC.load(before)
    assert before == old(version)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("success", None),
        ("not_requested", "not_requested"),
        ("failure", "not_recorded"),
        (None, "not_recorded"),
    ],
)
def test_no_libraries_of_a_buck_graph_are_an_answer_only_of_a_query_that_succeeded(status, kind):
    before = old("1.17")
    before["buck_invocation"]["status"] = status
    after = upgraded({**before, "library_introspection": [], "library_introspection_alternates": []})
    for section in ("library_introspection", "library_introspection_alternates"):
        assert after[section] == (None if kind else [])
        assert kinds(after, section, "") == ([kind] if kind else [])
