"""A run of several ranks: where they were, and who was to blame, in the page, the document, XML and lists."""

import json

import pytest

from aorta.cli.sweep_summary import end_summary
from aorta.model.frozen import evolve
from aorta.sweep.json_schema import complaint
from aorta.sweep.matrix.junit import junit
from aorta.sweep.matrix.run_facts import STOPPED, NodeFacts, State
from aorta.sweep.matrix.schema import MATRIX
from aorta.sweep.summary import Blamed

from .made import RUN, cell, document, matrix, trial, trials

NODES = (
    NodeFacts(node="node1", ranks=(0, 1), host_digest="sha256:1"),
    NodeFacts(node="node2", ranks=(2, 3), host_digest="sha256:2"),
)
FOUR = evolve(RUN, launcher="slurm", nodes=NODES)


def blamed(rank):
    return Blamed(
        rank=rank, node=f"node{rank // 2 + 1}", stderr=f"cells/none/trial_000.rank{rank}.stderr.log"
    )


def failing(number, *ranks, reason="1 failure", verdict="fail"):
    who = tuple(map(blamed, ranks))
    return trial("none", number, verdict, reason=f"{who[0].named}: {reason}", blamed=who)


def notes(text):
    return text.partition("## Notes")[2].partition("## Where")[0]


def test_the_page_says_where_the_ranks_were():
    text = matrix([cell("none")], trials("none", "p"), run=FOUR).markdown(State(word="complete"))
    assert "\n* Ranks: 4 on 2 nodes (slurm): node1: 0-1, node2: 2-3\n" in text
    alone = matrix([cell("none")], trials("none", "p"))
    assert "Ranks" not in alone.markdown(State(word="complete"))


def test_ranks_by_hand_are_told_in_words():
    hand = evolve(FOUR, launcher="by_hand")
    text = matrix([cell("none")], [], run=hand).markdown(State(word="complete"))
    assert "\n* Ranks: 4 on 2 nodes by hand (RANK, WORLD_SIZE): node1: 0-1, node2: 2-3\n" in text


def test_nodes_with_other_ranks_than_the_recipe_is_made_for_are_told_once_a_cell():
    cells = [cell("none", workload_config={"expected_local_world_size": 8}), cell("a"), cell("b")]
    other = {"topology_matches_recipe": False, "local_world_size": 2}
    made = [trial("none", 0, metrics=other), trial("none", 1, "fail", metrics=other)]
    made += [trial("a", 0, metrics={**other, "topology_matches_recipe": None})]
    made += [trial("b", 0, metrics={"topology_matches_recipe": False})]
    done = matrix(cells, made, run=FOUR)
    warnings = done.document(State(word="complete"))["warnings"]
    told = "nodes have other ranks than the recipe is made for"
    assert warnings == [
        f"cell none: {told}: expected_local_world_size is 8, and a node has 2",
        f"cell b: {told}",
    ]
    assert f"* Warning: {warnings[0]}\n" in notes(done.markdown(State(word="complete")))


def test_many_nodes_are_not_all_named():
    many = tuple(NodeFacts(node=f"n{number}", ranks=(number,)) for number in range(20))
    text = matrix([cell("none")], [], run=evolve(FOUR, nodes=many)).markdown(State(word="complete"))
    assert "n7: 7, and 12 more\n" in text
    assert "n8" not in text


def test_reasons_of_different_ranks_are_one_kind():
    summaries = [
        failing(0, 1, reason="1 failure, first in iteration 3"),
        failing(1, 2, reason="2 failure, first in iteration 9"),
        failing(2, 0, 1, 2, 3, reason="1 failure, first in iteration 3 (4 of 4 ranks failed)"),
        evolve(failing(4, 0, 1, 2, 3), reason="all 4 ranks: 3 failures, first in iteration 5"),
        failing(
            3, 0, 3, reason="1 failure, first in iteration 1; rank 3 on node2 was lost: ended by SIGKILL"
        ),
    ]
    [made] = document([cell("none")], summaries, run=FOUR)["cells"]
    assert made["failure_kinds"] == [
        {"kind": "N failure, first in iteration N", "trials": 4},
        {"kind": "N failure, first in iteration N; a rank was lost: ended by SIGKILL", "trials": 1},
    ]


def test_a_reason_of_one_rank_is_left_as_it_is():
    [made] = document([cell("none")], [trial("none", 0, "fail", reason="rank 1 on x: bad")])["cells"]
    assert made["failure_kinds"] == [{"kind": "rank N on x: bad", "trials": 1}]


def test_a_rank_that_stands_out_is_told():
    summaries = [failing(number, 3) for number in range(4)] + [failing(4, 2), failing(5, 0)]
    made = matrix([cell("none", trials=6)], summaries, run=FOUR)
    text = made.markdown(State(word="complete"))
    assert "Nodes to blame for the 6 trials that did not pass: node2 in 5, node1 in 1.\n" in notes(text)
    ranks = "rank 3 on node2 in 4, rank 0 on node1 in 1, rank 2 on node2 in 1"
    assert f"  * {ranks}\n" in text.partition("## Where to look")[2]
    assert "Ranks to blame for the 6 trials that did not pass: rank 3 on node2 in 4, " in notes(text)
    [one] = made.document(State(word="complete"))["cells"]
    assert one["blamed_nodes"] == [{"node": "node2", "trials": 5}, {"node": "node1", "trials": 1}]
    assert one["blamed_ranks"][0] == {"rank": 3, "node": "node2", "trials": 4}


def test_a_failure_of_all_ranks_blames_no_one_of_them():
    summaries = [failing(number, 0, 1, 2, 3) for number in range(3)]
    text = matrix([cell("none")], summaries, run=FOUR).markdown(State(word="complete"))
    assert "to blame" not in text


def test_a_lost_rank_is_at_the_top_and_its_log_is_linked():
    lost = failing(0, 2, reason="ended by SIGKILL", verdict="error")
    why = "rank 2 on node2 was lost in trial 0 of none: ended by SIGKILL"
    made = matrix([cell("none"), cell("a")], [lost], run=FOUR)
    state = State(word=STOPPED, why=why, lost=True)
    text = made.markdown(state)
    assert text.splitlines()[2] == f"> **Stopped early ({why}): 1 of 10 trials done.**"
    assert (
        "  * first error, [cells/none/trial_000.json](cells/none/trial_000.json) (log:"
        " [cells/none/trial_000.rank2.stderr.log](cells/none/trial_000.rank2.stderr.log)):"
        " rank 2 on node2: ended by SIGKILL\n"
    ) in text
    told = end_summary(made.document(state))
    assert f"The run is stopped ({why}): 1 of 10 trials done." in told
    assert "[error] none: 1/1 without a verdict: rank 2 on node2: ended by SIGKILL -> cells/none" in told


def test_the_document_is_as_its_schema_has_it_and_one_rank_weighs_what_it_did():
    several = document([cell("none")], [failing(0, 2), *trials("none", "p")[1:]], run=FOUR)
    assert complaint(several, MATRIX) is None
    [listed] = several["cells"][0]["trial_results"]
    assert (listed["rank"], listed["node"], listed["stderr"]) == (2, "node2", blamed(2).stderr)
    alone = document([cell("none")], [trial("none", 0, "fail", reason="x")])
    [one] = alone["cells"]
    assert not {"blamed_ranks", "blamed_nodes"} & set(one)
    assert not {"rank", "node", "stderr"} & {*one["trial_results"][0], *one["first_failure"]}


def test_junit_has_the_ranks_and_the_log():
    text = junit(document([cell("none")], [failing(0, 2)], run=FOUR))
    assert '<property name="ranks" value="4 on 2 nodes (slurm): node1: 0-1, node2: 2-3" />' in text
    assert 'message="rank 2 on node2: 1 failure"' in text
    assert "trial_000.json\ncells/none/trial_000.rank2.stderr.log</failure>" in text


def test_a_cell_s_trials_show_the_rank_s_logs(cli, run):
    folder = run([cell("none")], [failing(0, 2, reason="exit status 3")], where="r", run=FOUR)
    logs = folder / "cells" / "none"
    logs.mkdir(parents=True)
    for rank in range(4):
        (logs / f"trial_000.rank{rank}.stderr.log").write_text(f"rank {rank}\nthe end of {rank}\n")
    lines = cli("sweep", "show", "r", "--cell", "none").out.splitlines()
    assert lines[1:] == [
        "  trial 0     fail     1.5 s  rank 2 on node2: exit status 3",
        "    r/cells/none/trial_000.json",
        "    r/cells/none/trial_000.rank2.stderr.log",
        "    r/cells/none/trial_000.rank*.log: 3 more logs",
        "    stderr ends: the end of 2",
    ]


@pytest.mark.parametrize(("full", "linked"), [("stderr stdout", "stderr"), ("stdout", "stdout"), ("", None)])
def test_the_log_that_is_linked_is_one_that_holds_something(tmp_path, full, linked):
    folder = tmp_path / "cells" / "none"
    folder.mkdir(parents=True)
    for name in ("stderr", "stdout"):
        (folder / f"trial_000.rank2.{name}.log").write_text("words\n" if name in full else "")
    lost = failing(0, 2, reason="ended by SIGKILL", verdict="error")
    made = matrix([cell("none")], [lost], run=evolve(FOUR, folder=str(tmp_path)))
    document, text = made.document(State(word="complete")), made.markdown(State(word="complete"))
    log = linked and f"cells/none/trial_000.rank2.{linked}.log"
    assert (f" (log: [{log}]({log})): rank 2" in text, "(log:" in text) == (bool(log), bool(log))
    [one] = document["cells"]
    assert [one["first_error"]["log"], one["trial_results"][0]["log"]] == [log, log]
    assert complaint(document, MATRIX) is None
    assert (f"trial_000.json\n{log}</error>" in junit(document), "rank2.std" in junit(document)) == (
        bool(log),
        bool(log),
    )


STACK = "\n".join(
    [
        "Fatal Python error: Segmentation fault",
        "Thread 0x1 (most recent call first):",
        '  File "other.py", line 1 in wait',
        "Current thread 0x2 (most recent call first):",
        *(f'  File "main.py", line {number} in f' for number in range(20)),
    ]
)
RAISED = "\n".join([*(f"frame {number}" for number in range(20)), "ValueError: token=hunter2\x1b[31m"])


@pytest.mark.parametrize(
    ("lost", "shown"),
    [
        (
            {"signal": "SIGSEGV", "phase": "run", "traceback": STACK},
            [
                "    lost: rank 3 on node2, SIGSEGV, in run: why",
                "      Current thread 0x2 (most recent call first):",
                *(f'        File "main.py", line {number} in f' for number in range(7)),
                "        …",
            ],
        ),
        (
            {"phase": "setup", "traceback": "Traceback\n  frame\nValueError: x" + "y" * 400},
            [
                "    lost: rank 3 on node2, in setup: why",
                "      Traceback",
                "        frame",
                f"      ValueError: x{'y' * 187}",
            ],
        ),
        ({"traceback": None, "reason": None}, ["    lost: rank 3 on node2: exited"]),
        (None, []),
    ],
)
def test_a_cell_s_trials_show_where_a_rank_was_lost(cli, run, lost, shown):
    folder = run([cell("none")], [failing(0, 3, reason="why", verdict="error")], where="r", run=FOUR)
    (folder / "cells" / "none").mkdir(parents=True)
    told = lost and {"rank": 3, "node": "node2", "end": "exited", "reason": "why", **lost}
    (folder / "cells" / "none" / "trial_000.json").write_text(json.dumps({"lost": told}))
    done = cli("sweep", "show", "r", "--cell", "none")
    assert (done.code, done.out.splitlines()[3:]) == (0, shown)


def test_a_long_traceback_is_cut_and_nothing_of_it_steers_a_terminal(cli, run):
    folder = run([cell("none")], [failing(0, 3, verdict="error")], where="r", run=FOUR)
    (folder / "cells" / "none").mkdir(parents=True)
    lost = {"rank": 3, "node": "node2", "end": "raised", "reason": "why", "traceback": RAISED}
    path = folder / "cells" / "none" / "trial_000.json"
    path.write_text(json.dumps({"lost": lost}))
    lines = cli("sweep", "show", "r", "--cell", "none").out.splitlines()[4:]
    assert lines[:2] == ["        …", "      frame 13"]
    assert len(lines) == 9
    assert lines[-1].startswith("      ValueError: token=")
    assert not {"hunter2", "\x1b"} & {text for text in ("hunter2", "\x1b") if text in lines[-1]}
    for odd in (
        "",
        "[]",
        '{"lost": 3}',
        '{"lost": {"rank": 1}}',
        "\udcff".encode("utf-8", "surrogateescape"),
    ):
        path.write_bytes(odd if isinstance(odd, bytes) else odd.encode())
        done = cli("sweep", "show", "r", "--cell", "none")
        assert (done.code, "lost" in done.out) == (0, False)


def test_the_last_words_are_on_standard_output_where_nothing_is_on_standard_error(cli, run):
    folder = run([cell("none")], [failing(0, 2, reason="exit status 3")], where="r", run=FOUR)
    logs = folder / "cells" / "none"
    logs.mkdir(parents=True)
    (logs / "trial_000.rank2.stderr.log").write_text("")
    (logs / "trial_000.rank2.stdout.log").write_text("one\ntwo\n")
    assert "    stdout ends: two" in cli("sweep", "show", "r", "--cell", "none").out.splitlines()
    (logs / "trial_000.rank2.stdout.log").write_text("")
    assert "ends:" not in cli("sweep", "show", "r", "--cell", "none").out


@pytest.mark.parametrize("json_too", [False, True])
def test_a_matrix_from_before_there_were_ranks_is_read(cli, run, json_too):
    folder = run([cell("none")], trials("none", "pf"))
    path = folder / "matrix.json"
    old = json.loads(path.read_text())
    for name in ("lost_rank", "launcher", "world_size", "nodes"):
        del old[name]
    path.write_text(json.dumps(old))
    done = cli("sweep", "show", folder, *(("--json",) if json_too else ()))
    assert (done.code, done.err) == (0, "")
    if json_too:
        assert done.json["nodes"] == [{"node": "node-1", "ranks": [0], "host_digest": None}]
