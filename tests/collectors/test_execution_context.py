import errno
import os
import subprocess
import sys

import pytest

from aorta.host.observe import OBSERVATIONS
from aorta.testing import FakeHost, collect
from aorta_collectors.buck_markers import BEACON, DIRECTORIES, MARKERS, TAKEN_OUT, VALUES
from tests.parts.probing import ROOT

TOLD = {"cwd": "/home/one/project", "start_variables": []}

#: What NativeLink calls its directory, and that of an action in it.
WORK = "work"


def claim(env=None, *, files=None, observed=None, **request):
    host = FakeHost(env=env, files=files, observed={**TOLD, **(observed or {})})
    return collect(host, "execution_context", **request)


def present(result):
    return {name for name, marker in result.value["markers"].items() if marker["present"]}


def contradictions(env, invocation, **more):
    result = claim(env, probe_invocation=invocation, **more)
    assert result.value["probe_invocation"] == invocation
    told = [reason for reason in result.reasons if reason.kind == "expected"]
    assert {reason.field for reason in told} <= {"probe_invocation"}
    return [reason.detail for reason in told]


def test_direct_by_default():
    result = claim()
    assert (result.value["probe_invocation"], result.value["likely_execution_platform"]) == ("direct", None)
    assert {reason.field for reason in result.reasons} == {"likely_execution_platform"}


def test_the_argument_beats_the_variable():
    env = {"AORTA_PROBE_INVOCATION": "buck2_action"}
    assert claim(env).value["probe_invocation"] == "buck2_action"
    assert claim(env, probe_invocation="buck2_run").value["probe_invocation"] == "buck2_run"
    assert claim({"AORTA_PROBE_INVOCATION": ""}).value["probe_invocation"] == "direct"


def test_an_unknown_word_is_recorded_as_direct_and_said():
    result = claim({"AORTA_PROBE_INVOCATION": "buck3" * 99})
    assert result.value["probe_invocation"] == "direct"
    assert result.kinds("probe_invocation") == ["unparsed"]
    assert len(result.reasons[0].detail) < 200


def test_every_marker_is_there_with_what_it_proves_and_does_not():
    markers = claim().value["markers"]
    assert list(markers) == list(MARKERS)
    for marker in markers.values():
        assert (marker["present"], marker["value"]) == (False, None)
        assert marker["proves"].endswith(".")
        assert marker["limits"].endswith(".")


def test_values_of_images_and_identifiers_alone_are_stored():
    variables = [name for name in MARKERS if name not in (BEACON, "GEN_DIR", *DIRECTORIES)]
    result = claim({name: f"value-of-{name}" for name in variables})
    assert present(result) == set(variables)
    held = {name: marker["value"] for name, marker in result.value["markers"].items() if marker["value"]}
    assert held == {name: f"value-of-{name}" for name in VALUES}
    assert "BUCK2_DAEMON_UUID" not in held


def test_a_secret_in_an_image_is_not_stored():
    env = {"AORTA_RE_IMAGE": "https://robot:hunter2secret@registry.example/rocm@sha256:abc"}
    result = claim(env)
    value = result.value["markers"]["AORTA_RE_IMAGE"]["value"]
    assert "hunter2secret" not in value
    assert value.endswith("registry.example/rocm@sha256:abc")


def test_a_value_beyond_all_measure_is_not_stored():
    result = claim({"BUCK_BUILD_ID": "x" * 513})
    assert result.value["markers"]["BUCK_BUILD_ID"]["present"] is True
    assert result.value["markers"]["BUCK_BUILD_ID"]["value"] is None
    assert result.kinds("markers.BUCK_BUILD_ID.value") == ["unparsed"]
    assert claim({"BUCK_BUILD_ID": "x" * 512}).value["markers"]["BUCK_BUILD_ID"]["value"] == "x" * 512


def test_a_variable_that_is_set_to_nothing_marks_nothing_but_the_cache_buster():
    assert present(claim(dict.fromkeys(MARKERS, ""))) == {"__BUCK2_LOCAL_ONLY_CACHE_BUSTER"}
    assert present(claim({"AORTA_RE_IMAGE": " "})) == set()


@pytest.mark.parametrize(("value", "marks"), [("GEN_DIR_DEPRECATED", True), ("buck-out/gen", False)])
def test_gen_dir_marks_a_genrule_with_its_constant_alone(value, marks):
    assert claim({"GEN_DIR": value}).value["markers"]["GEN_DIR"]["present"] is marks


def test_the_beacon():
    result = claim(files={BEACON: ""})
    assert present(result) == {BEACON}
    assert contradictions({}, "buck2_action", files={BEACON: ""}) == []


@pytest.mark.parametrize(("why", "kind"), [(errno.EACCES, "denied"), (errno.EIO, "failed")])
def test_a_beacon_that_cannot_be_looked_at_is_unknown(why, kind):
    refusal = OSError(why, os.strerror(why))
    host = FakeHost(files={BEACON: ""}, observed=TOLD)
    host.stat = lambda path, **_: (_ for _ in ()).throw(refusal)
    result = collect(host, "execution_context")
    assert result.value["markers"][BEACON]["present"] is None
    assert result.kinds(f"markers.{BEACON}.present") == [kind]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/re_cwd", "cwd:/re_cwd"),
        ("/re_cwd/fbcode", "cwd:/re_cwd"),
        ("/buildbuddy-execroot", "cwd:/buildbuddy-execroot"),
        (f"/tmp/nativelink/{WORK}/0b9f/{WORK}", "cwd:nativelink/work"),
        ("/home/one/project/buck-out/v2/gen/root/abc/__x__/srcs", "cwd:buck-out"),
        ("/home/re_cwd", None),
        ("/re_cwd2", None),
        ("/home/one/project", None),
    ],
)
def test_the_working_directory_is_a_hint_and_its_path_not_stored(path, name):
    result = claim(observed={"cwd": path})
    assert present(result) == ({name} if name else set())
    assert path not in {marker["value"] for marker in result.value["markers"].values()}
    assert contradictions({}, "buck2_run", observed={"cwd": path}) == []


def test_a_working_directory_that_is_gone_is_unknown():
    result = collect(FakeHost(observed={**TOLD, "cwd": None}), "execution_context")
    assert {result.value["markers"][name]["present"] for name in DIRECTORIES} == {None}
    assert result.kinds("markers") == ["unsupported"]
    result = collect(FakeHost(observed={**TOLD, "cwd": 3}), "execution_context")
    assert result.kinds("markers") == ["unparsed"]


def test_what_a_package_takes_out_is_seen_where_the_process_started():
    result = claim(observed={"start_variables": ["FB_SAVED_PYTHONPATH", "PAR_INVOKED_NAME_TAG"]})
    assert present(result) == {"FB_SAVED_PYTHONPATH", "PAR_INVOKED_NAME_TAG"}
    result = claim(observed={"start_variables": None})
    assert {result.value["markers"][name]["present"] for name in TAKEN_OUT} == {None}
    assert result.kinds("markers") == ["unsupported"]


def test_of_another_environment_the_start_of_this_process_says_nothing():
    result = claim(observed={"start_variables": ["FB_SAVED_PYTHONPATH"]}, env=None)
    assert present(result) == {"FB_SAVED_PYTHONPATH"}
    host = FakeHost(observed={**TOLD, "start_variables": ["FB_SAVED_PYTHONPATH"]})
    from aorta.instrumentation import capture
    from aorta.model.codec import dump

    document = dump(capture(host=host, sections=["execution_context"], env={"BUCK_RUN_BUILD_ID": "r"}))
    markers = document["execution_context"]["markers"]
    assert {name for name, marker in markers.items() if marker["present"]} == {"BUCK_RUN_BUILD_ID"}


def test_the_first_environment_gives_names_of_packages_alone():
    program = "from aorta.host.observe import OBSERVATIONS as o; print(o['start_variables'](), o['cwd']())"
    env = {"PYTHONPATH": str(ROOT), "FB_SAVED_PYTHONPATH": "hunter2", "PAR_X": "hunter3", "OTHER": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, cwd="/", check=True, capture_output=True, text=True
    )
    assert done.stdout == "['FB_SAVED_PYTHONPATH', 'PAR_X'] /\n"
    assert OBSERVATIONS["cwd"]() == os.getcwd()


DAEMON, RUN = {"BUCK2_DAEMON_UUID": "d"}, {"BUCK_RUN_BUILD_ID": "r"}
BUSTER, SCRATCH = {"__BUCK2_LOCAL_ONLY_CACHE_BUSTER": ""}, {"BUCK_SCRATCH_PATH": "buck-out/v2/tmp/x"}


@pytest.mark.parametrize("local", [DAEMON, BUSTER])
def test_an_action_with_a_local_marker_ran_locally(local):
    [text] = contradictions({**local, **SCRATCH}, "buck2_action")
    assert text.startswith("declared buck2_action")
    assert next(iter(local)) in text
    assert "ran locally" in text


@pytest.mark.parametrize("invocation", ["direct", "buck2_run", "buck2_action"])
@pytest.mark.parametrize("remote", ["INSIDE_RE_WORKER", BEACON, "AORTA_RE_IMAGE"])
def test_local_and_remote_markers_conflict_whatever_is_declared(remote, invocation):
    env = {**DAEMON, **RUN, **({} if remote == BEACON else {remote: "1"})}
    [text] = contradictions(env, invocation, files={BEACON: ""} if remote == BEACON else {})
    assert text.startswith("conflicting")
    assert "BUCK2_DAEMON_UUID" in text
    assert remote in text


def test_an_action_that_buck2_run_started():
    [text] = contradictions(RUN, "buck2_action")
    assert "started by buck2 run" in text
    for action in (SCRATCH, {"ACTION_DIGEST": "x"}, {"INSIDE_RE_WORKER": "1"}, {"BUCK_BUILD_ID": "b"}):
        assert contradictions({**RUN, **action}, "buck2_action") == []


def test_whether_an_action_was_seen_is_open_where_the_beacon_is():
    host = FakeHost(env=RUN, observed=TOLD)
    host.stat = lambda path, **_: (_ for _ in ()).throw(PermissionError(errno.EACCES, "denied"))
    result = collect(host, "execution_context", probe_invocation="buck2_action")
    assert "expected" not in result.kinds()


@pytest.mark.parametrize(
    "action", [SCRATCH, DAEMON, {"GEN_DIR": "GEN_DIR_DEPRECATED"}, {"BUCK_BUILD_ID": "b"}]
)
def test_a_run_that_an_action_started(action):
    [text] = contradictions(action, "buck2_run")
    assert text.startswith("declared buck2_run")
    assert next(iter(action)) in text
    assert contradictions({**action, **RUN}, "buck2_run") == []


def test_absence_and_direct_contradict_nothing():
    for invocation in ("direct", "buck2_run", "buck2_action"):
        assert contradictions({}, invocation) == []
    for env in (DAEMON, BUSTER, SCRATCH, RUN, {"AORTA_RE_IMAGE": "x"}, {"INSIDE_RE_WORKER": "1"}):
        assert contradictions(env, "direct") == []
    assert contradictions(SCRATCH, "buck2_action") == []
    assert contradictions({"AORTA_RE_IMAGE": "x", **SCRATCH}, "buck2_action") == []
