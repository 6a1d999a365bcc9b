from aorta.testing import FakeHost, collect


def claim(env=None, **request):
    return collect(FakeHost(env=env), "execution_context", **request)


def test_direct_by_default():
    result = claim()
    assert result.value == {"probe_invocation": "direct", "likely_execution_platform": None}
    assert result.kinds() == ["unsupported"]


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
