"""A series of snapshots: what is asked again, what is taken over, and that values stay true."""

import json
import os

import pytest

from aorta.instrumentation.series import Series, state
from aorta.model.essence import lasting, without_nulls
from aorta.model.fact import Fact
from aorta.model.shape import Shape
from aorta.plugin.discovery import discover
from tests.parts.doc_programs import script

SCOPED = {
    "env_vars",
    "launcher",
    "execution_context",
    "runtime_context",
    "python_version",
    "loaded_libraries",
}


@pytest.fixture
def registry():
    return discover(outside=False)


@pytest.fixture
def environ(tmp_path):
    return {"PATH": str(tmp_path), "HOME": str(tmp_path), "LANG": "C.UTF-8"}


@pytest.fixture
def series(registry):
    series = Series(registry)
    yield series
    series.close()


def taken(series, environ):
    return json.loads(series.take(environ).text)


def reused(document):
    return {name for names in document["collection"]["reused"].values() for name in names}


def test_the_first_asks_everything_and_the_second_only_what_rests_on_the_process(series, registry, environ):
    first = series.take(environ)
    assert not reused(json.loads(first.text))
    again = taken(series, environ)
    assert set(registry.collectors) - reused(again) >= SCOPED
    assert {"rocm", "host", "isolation", "amdgpu_driver"} <= reused(again)
    [since] = again["collection"]["reused"]
    assert since == first.snapshot.captured_at


def test_a_snapshot_says_the_same_whether_taken_over_or_asked(series, registry, environ):
    series.take(environ)
    over, new = series.take(environ), Series(registry)
    try:
        fresh = new.take(environ)
    finally:
        new.close()
    one, other = json.loads(over.text), json.loads(fresh.text)
    assert over.digest == fresh.digest
    for name in registry.collectors:
        assert lasting(over.snapshot.plain[name], registry.collectors[name].shape) == lasting(
            fresh.snapshot.plain[name], registry.collectors[name].shape
        )
    assert set(one) == set(other)


def test_the_environment_that_is_given_is_the_one_seen(series, environ):
    series.take(environ)
    document = taken(series, {**environ, "HSA_XNACK": "1"})
    assert document["env_vars"]["HSA_XNACK"] == "1"
    assert "HSA_XNACK" not in taken(series, environ)["env_vars"]
    assert "HOME" not in json.dumps(taken(series, {"PATH": environ["PATH"]})["env_vars"])


def test_what_asked_for_a_variable_is_asked_again_when_it_has_another_value(series, environ, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / ".info").mkdir(parents=True)
        (tmp_path / name / ".info/version").write_text(f"6.{len(name)}.{name == 'one':d}\n")
        (tmp_path / name / "bin").mkdir()
    series.take({**environ, "ROCM_PATH": f"{tmp_path}/one"})
    other = taken(series, {**environ, "ROCM_PATH": f"{tmp_path}/two"})
    assert "rocm" not in reused(other)
    assert other["rocm"]["version"] == "6.3.0"
    back = taken(series, {**environ, "ROCM_PATH": f"{tmp_path}/one"})
    assert "rocm" in reused(back)
    assert back["rocm"]["version"] == "6.3.1"


def test_a_program_may_look_at_any_variable(series, environ, tmp_path):
    script(tmp_path / "rocm_agent_enumerator", "/bin/sh", 'echo "gfx$FLAVOUR"')
    first = taken(series, {**environ, "FLAVOUR": "942"})
    other = taken(series, {**environ, "FLAVOUR": "90a"})
    assert "gpu_arch" not in reused(other)
    assert first["gpu_arch"] != other["gpu_arch"]
    assert "gpu_arch" in reused(taken(series, {**environ, "FLAVOUR": "942"}))


def test_a_program_runs_once_for_many_snapshots(series, environ, tmp_path):
    script(tmp_path / "rocm_agent_enumerator", "/bin/sh", f"echo gfx942; echo ran >> {tmp_path}/log")
    for _ in range(4):
        series.take(environ)
    once = (tmp_path / "log").read_text().count("ran")
    series.take({**environ, "A": "1"})
    assert (tmp_path / "log").read_text().count("ran") == 2 * once


def test_a_tool_that_hangs_costs_its_time_once(registry, environ, tmp_path):
    script(tmp_path / "rocm_agent_enumerator", "/bin/sh", f"echo ran >> {tmp_path}/log; exec /bin/sleep 60")
    series = Series(registry, deadline_s=3.0)
    try:
        first, again = taken(series, environ), taken(series, environ)
    finally:
        series.close()
    assert first["partial"]
    assert again["partial_reasons"] == first["partial_reasons"]
    assert (tmp_path / "log").read_text().count("ran") <= 2


def test_another_directory_of_the_process_forgets_all(series, environ, tmp_path, monkeypatch):
    series.take(environ)
    monkeypatch.chdir(tmp_path)
    assert state()[0] == str(tmp_path)
    assert not reused(taken(series, environ))


def test_what_a_trial_embeds_has_no_nulls_and_no_records(series, environ):
    document = taken(series, environ)
    assert document["rocm"] == {} or all(value is not None for value in document["rocm"].values())
    assert not {"collectors", "providers", "plugins", "argv"} & set(document["collection"])
    assert len(series.take(environ).text) < 20_000


def test_volatile_values_are_not_in_a_digest():
    shape = Shape(
        kind="object",
        fields=(
            ("kept", Shape(kind="scalar", cls=int)),
            ("gone", Shape(kind="scalar", cls=int, fact=Fact("x", volatile=True))),
            ("nothing", Shape(kind="scalar", cls=int)),
        ),
    )
    assert lasting({"kept": 1, "gone": 2, "nothing": None}, shape) == {"kept": 1}


def test_nulls_stay_where_their_place_counts():
    assert without_nulls({"a": None, "b": [None, {"c": None, "d": 0}]}) == {"b": [None, {"d": 0}]}


def test_the_environment_of_this_process_is_left_alone(series, environ):
    before = dict(os.environ)
    series.take(environ)
    assert dict(os.environ) == before
