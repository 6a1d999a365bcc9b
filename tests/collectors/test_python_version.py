from aorta.testing import FakeHost, collect


def test_version():
    result = collect(FakeHost(observed={"interpreter": {"version": "3.13.0"}}), "python_version")
    assert result.value == "3.13.0"
    assert result.reasons == ()


def test_an_interpreter_that_tells_nothing():
    for said in (None, {"prefix": "/usr", "base_prefix": "/usr"}):
        result = collect(FakeHost(observed={"interpreter": said}), "python_version")
        assert result.value is None
        assert result.kinds() == ["failed"]
