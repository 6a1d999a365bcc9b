"""The document: what stands in it, in every state of a run, and that it stays the same."""

import json
import random
from pathlib import Path

import attrs
import jsonschema
import pytest

from aorta.sweep.json_schema import complaint
from aorta.sweep.matrix.matrix import Matrix
from aorta.sweep.matrix.run_facts import COMPLETE, INTERRUPTED, RUNNING, STOPPED, RunFacts, State
from aorta.sweep.matrix.schema import MATRIX, matrix_schema
from aorta.sweep.planning.overlay import Layer
from aorta.sweep.recipe.model import Change, StopAfter

from .made import DONE, RUN, by_name, cell, document, matrix, plan, stepped, trial

ROOT = Path(__file__).resolve().parents[2]
STATES = [
    State(word=RUNNING, cell="b", trial=2, at="2026-11-30T12:01:00Z"),
    State(word=RUNNING),
    State(word=COMPLETE),
    State(word=INTERRUPTED, why="SIGTERM", cell="b", trial=1),
    State(word=INTERRUPTED, why="disk full", cell="b"),
    State(word=STOPPED, why="fail_fast: trial 0 of b failed"),
]
CELLS = [
    cell("none", trials=3),
    cell("b", trials=3, workload_config={"n": 1, "x": [1, {"y": None}]}, diagnostic="d"),
    cell("c", stop_after=StopAfter(events=1, max_trials=9)),
]


def some():
    return [
        stepped("none", 0, 5, 1.25, 2, metrics={"loss": 0.5}, env_digest="d1", exit_code=0),
        trial("none", 1, "error", reason="did not run", iterations=0, configured_iterations=5),
        stepped("b", 0, 5, 9, 9, verdict="fail", failed=("tier1:sigsegv",), warned=("w",), signal="SIGSEGV"),
        stepped("b", 1, 5, 9, 9, env_digest="d1", hint="look"),
        stepped("b", 2, 5, 9, 9, env_digest="d2", started_at="2026-11-30T12:00:01Z"),
    ]


def strict(text):
    def refuse(name):
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def test_the_schema_is_the_file():
    written = json.loads((ROOT / "schema" / "matrix-1.json").read_text())
    assert written == matrix_schema(), "stale; run: python scripts/make_schema.py"
    jsonschema.Draft202012Validator.check_schema(written)


@pytest.mark.parametrize("state", STATES, ids=lambda state: f"{state.word}-{state.trial}")
@pytest.mark.parametrize("summaries", [[], some()], ids=["none", "some"])
def test_every_state_is_as_the_schema_has_it(state, summaries):
    made = strict(matrix(CELLS, summaries).json_text(state))
    jsonschema.validate(made, matrix_schema())
    assert complaint(made, MATRIX) is None
    assert made["complete"] is (state.word == COMPLETE)
    assert (made["state"], made["why"]) == (state.word, state.why)
    assert made["in_flight"] == ({"cell": state.cell, "trial": state.trial} if state.cell else None)


def test_what_stands_of_the_run():
    made = document(CELLS, some())
    assert made["totals"] == {"planned": 15, "done": 5, "passed": 3, "failed": 1, "errors": 1}
    assert made["recipe_source"] == {"path": "recipes/a.yaml", "sha256": "ab" * 32, "fingerprint": "f1"}
    assert made["runtime_provenance"] == {"package_version": "1.2.3", "git_sha": "0123456789abcdef"}
    assert (made["workload"], made["ticket"], made["baseline_cell"]) == ("command", "T-1", "none")
    assert made["run_timestamp"] == "2026-11-30T12:00:00Z"


def test_what_stands_of_a_cell():
    made = by_name(document(CELLS, some()))["b"]
    assert (made["trials"], made["done_count"], made["passed_count"], made["failed_count"]) == (3, 3, 2, 1)
    assert made["exit_status_counts"] == {"SIGSEGV": 1}
    assert made["failure_detectors"] == [{"id": "tier1:sigsegv", "trials": 1}]
    assert made["failure_hints"] == [{"hint": "look", "trials": 1}]
    assert made["env_digests"] == [{"digest": "d1", "trials": [1]}, {"digest": "d2", "trials": [2]}]
    assert made["step_time_samples"] == 6
    assert made["mean_step_time_ms"] == 9
    assert made["first_failure"]["path"] == "cells/b/trial_000.json"
    assert made["trial_paths"] == [f"cells/b/trial_00{number}.json" for number in range(3)]
    assert made["trial_results"][0]["signal"] == "SIGSEGV"
    assert by_name(document(CELLS, some()))["none"]["outcome_counts"] == {"did_not_run": 1, "unknown": 1}


def test_trials_are_in_their_order_whatever_the_order_they_came_in():
    summaries = some()
    shuffled = random.Random(3).sample(summaries, len(summaries))
    assert matrix(CELLS, shuffled).json_text(DONE) == matrix(CELLS, summaries).json_text(DONE)
    assert matrix(CELLS, shuffled).markdown(DONE) == matrix(CELLS, summaries).markdown(DONE)


def test_a_matrix_that_was_written_after_each_trial_ends_like_one_that_was_not():
    letters = random.Random(5).choices("ppffe", k=60)
    cells = [cell("none", trials=20), cell("b", trials=20), cell("c", trials=20)]
    summaries = [
        stepped(
            cells[n % 3].name, n // 3, 9, n, n + 1, verdict={"p": "pass", "f": "fail", "e": "error"}[letter]
        )
        for n, letter in enumerate(letters)
    ]
    made = matrix(cells, [])
    for n, summary in enumerate(summaries):
        made.add(summary)
        state = State(word=RUNNING, cell="b", trial=n)
        whole = matrix(cells, summaries[: n + 1])
        assert made.json_text(state) == whole.json_text(state)
        assert made.markdown(state) == whole.markdown(state)


def test_the_document_is_that_of_the_text():
    made = matrix(CELLS, some())
    assert made.document(DONE) == strict(made.json_text(DONE))


def test_a_trial_counts_once():
    made = matrix(CELLS, some())
    with pytest.raises(ValueError, match="trial 0 of cell none is there already"):
        made.add(trial("none", 0))
    with pytest.raises(KeyError):
        made.add(trial("other", 0))


def test_warnings_are_noted_once():
    made = matrix(CELLS, [], run=attrs.evolve(RUN, warnings=("a", "a")))
    made.warn("b")
    made.warn("b")
    assert made.document(DONE)["warnings"] == ["a", "b"]


def test_what_no_json_has_is_a_text():
    odd = {"rate": float("nan"), "much": float("inf"), "when": object, "n": 1.5, 3: (1, 2)}
    made = document([cell("none", workload_config=odd)], [trial("none", 0, elapsed_s=float("nan"))])
    config = made["cells"][0]["workload_config"]
    assert (config["rate"], config["much"], config["n"], config["3"]) == ("nan", "inf", 1.5, [1, 2])
    assert made["cells"][0]["trial_results"][0]["elapsed_s"] is None
    assert complaint(made, MATRIX) is None


def test_secrets_stay_out():
    secret = "hf_" + "a1B2" * 8
    layer = Layer(source="cell extra_env", change=Change(set={"HF_TOKEN": secret, "A": "b"}, unset=("C",)))
    made = Matrix(
        plan(cell("none", layers=(layer,), workload_config={"api_key": secret})),
        RunFacts(run_id="r", started_at="t", argv=("aorta", "--", "tool", "--token", secret)),
        environ={},
    )
    made.add(trial("none", 0, "fail", reason=f"refused {secret}", hint=secret))
    text = made.json_text(DONE) + made.markdown(DONE)
    assert secret not in text
    overlay = made.document(DONE)["cells"][0]["env_overlay"]
    assert (overlay["A"], overlay["C"]) == ("b", None)


def test_surrogates_and_control_characters_of_a_trial_are_written():
    made = document([cell("none")], [trial("none", 0, "fail", reason="a\ud800\x1b[31m\nb")])
    assert made["cells"][0]["trial_results"][0]["reason"] == "a\ud800\x1b[31m\nb"
    matrix([cell("none")], [trial("none", 0, "fail", reason="a\ud800\x1b\nb")]).markdown(DONE).encode()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda made: made.update(state="odd"), "state is none of running, complete, interrupted, stopped"),
        (lambda made: made.pop("totals"), "the document has no totals"),
        (lambda made: made["cells"][1].update(trials="3"), "cells[1].trials is no integer"),
        (lambda made: made["cells"][1].update(trials=True), "cells[1].trials is no integer"),
        (lambda made: made["cells"][0]["comparison"].pop("call"), "cells[0].comparison has no call"),
        (lambda made: made["cells"][0].update(failure_rate=3), "cells[0].failure_rate is out of range"),
        (
            lambda made: made["cells"][0].update(failure_rate_interval=[1]),
            "cells[0].failure_rate_interval has 1 members",
        ),
        (
            lambda made: made["cells"][0]["env_overlay"].update(A=3),
            "cells[0].env_overlay.A is no string or null",
        ),
        (
            lambda made: made["cells"][1]["trial_results"][0].update(path=None),
            "cells[1].trial_results[0].path is no string",
        ),
    ],
)
def test_the_check_names_the_place(change, told):
    made = document(CELLS, some())
    change(made)
    assert complaint(made, MATRIX) == told
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(made, matrix_schema())
