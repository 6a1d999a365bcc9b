"""What the pages about Buck show works on the stand-in, and what they say stands in the documents."""

import ast
import json
import re
import shlex
import subprocess
from xml.etree import ElementTree as ET

import pytest

from aorta.cli.root import root
from aorta.compare.tables import GROUPS
from aorta.model.shape import fields_of
from aorta.plugin.discovery import discover
from aorta_collectors.buck_markers import MARKERS
from tests.parts.buck import REMOTE
from tests.parts.buck_place import ACTION, CONTEXT, EXAMPLES, WORKFLOW, Place
from tests.parts.buck_rules import rules_of
from tests.parts.doc_programs import environment
from tests.parts.pages import ROOT, blocks, inline, text_of

PROBE = "docs/env-probe.md"
RUNBOOK = "docs/runbook-residual-nan.md"
PAGES = (WORKFLOW, ACTION, CONTEXT, RUNBOOK)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def lines(page, heading=""):
    """Return the lines behind prompts, of one heading where it is named."""
    text = text_of(page)
    if heading:
        text = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


def rows(page, heading, number=0):
    """Return a table under a heading, its head left out."""
    section = text_of(page).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables = [part for part in section.split("\n\n") if part.startswith("| ")]
    return [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in tables[number].splitlines()[2:]]


def ran(place, line, **env):
    done = place.run(line, **env)
    assert done.code == 0, f"{line}\n{done.err}"
    assert "Traceback" not in done.err, line
    return done


def read(place, name):
    return json.loads((place.root / name).read_text())


CAPTURE = "The client's capture"
QUESTION = "Question 1: does a marker say that an action ran remotely?"


@pytest.mark.timeout(240)
def test_the_lines_of_the_workflow_run_as_they_stand(place):
    """In their order, in one checkout; what they write is what the page says.

    The gate gets the files with what this machine lacks put in: it has neither a torch nor a GPU.
    """
    for line in lines(WORKFLOW):
        if "validate" in line:
            for path in place.root.glob("env.workload*.json"):
                path.write_text(json.dumps(complete(json.loads(path.read_text()))))
        done = ran(place, line)
        if "--field" in line:
            assert json.loads(done.out)
    client = read(place, "env.client.json")
    assert client["buck_invocation"]["status"] == "success"
    for rank in (0, 2):
        told = read(place, f"env.workload.{rank}.json")
        assert told["execution_context"]["probe_invocation"] == "buck2_run"
        assert told["build_system"]["kind"] is None
        reasons = {one["kind"] for one in told["collection"]["reasons"] if one["section"] == "build_system"}
        assert reasons == {"not_requested"}
    suites = ET.parse(place.root / "pair.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["0"]


def captures(place):
    """Yield the page's lines that query, with the document of each."""
    for line in lines(WORKFLOW, CAPTURE):
        if "env probe" in line:
            ran(place, line)
            words = shlex.split(line)
            yield line, read(place, words[words.index("-o") + 1])["buck_invocation"]


def test_a_query_that_failed_is_status_3_and_a_file(place):
    """With the page's option; without it the file is there as well, and the status 0."""
    line = lines(WORKFLOW, CAPTURE)[0].replace("//app:trainer", "//app:none_such")
    for text, code in ((line, 3), (line.replace("--fail-on-partial ", ""), 0)):
        done = place.run(text)
        assert done.code == code, text
        assert "none_such" in done.err
        assert read(place, "env.client.json")["buck_invocation"]["status"] == "failure"
        (place.root / "env.client.json").unlink()


def test_one_mode_has_one_fingerprint_however_it_is_marked(place):
    line = lines(WORKFLOW, CAPTURE)[0]
    found = []
    for mode in ("mode/opt", "@mode/opt", place.root / "mode/opt"):
        ran(place, line.replace("mode=mode/opt", f"mode={mode}"))
        found.append(read(place, "env.client.json")["buck_invocation"]["context_fingerprint"])
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("pattern", ["//app/...", "//app:"])
def test_a_pattern_has_no_root_and_the_gate_says_so(pair, pattern):
    place, *_ = pair
    line = lines(WORKFLOW, CAPTURE)[0].replace("--fail-on-partial ", "").replace("//app:trainer", pattern)
    ran(place, line.replace("env.client.json", "pattern.json"))
    client = read(place, "pattern.json")
    assert client["buck_invocation"]["status"] == "success"
    assert client["buck_invocation"]["configured_root_target"] is None
    assert {row["role"] for row in client["library_introspection"]} == {"other"}
    (place.root / "w.json").write_text(json.dumps(pair[2]))
    done = place.run("aorta validate pair pattern.json w.json --json")
    found = [one for one in json.loads(done.out)["findings"] if one["rule"] == "client.root"]
    assert [one["severity"] for one in found] == ["warning"]


def test_equal_options_have_equal_fingerprints_in_both_forms(place):
    ordered, grouped, default, flagged, private = [document for _, document in captures(place)]
    assert ordered["context_fingerprint"] == grouped["context_fingerprint"]
    assert ordered["option_order"] == ["mode", "config", "modifier"]
    assert (default["context_source"], private["context_source"]) == ("default_confirmed",) * 2
    assert len({found["context_fingerprint"] for found in (ordered, default, flagged)}) == 3
    assert default["context_fingerprint"] == private["context_fingerprint"]
    queries = place.project.queries()
    shown = next(word for word in inline(WORKFLOW) if word.startswith("buck2 cquery @"))
    assert [word for word in queries[0] if word not in ("--console", "none")] == shlex.split(shown)[1:]
    assert queries[-1][3:] == ["deps(%s)", "//app:trainer", "--json"] or "-a" in queries[-1]


def test_a_private_daemon_is_what_buck2_is_told(place):
    [line] = [line for line in lines(WORKFLOW) if "BUCK_ISOLATION_DIR" in line]
    ran(place, line)
    told = {call["environ"].get("BUCK_ISOLATION_DIR") for call in place.project.calls("cquery")}
    assert told == {"aorta-probe"}


def test_the_flag_file_reaches_buck2(place):
    """Its options are buck2's: the platform it names is the configuration of the target."""
    [line] = [line for line in lines(WORKFLOW) if "probe.flags" in line]
    ran(place, line)
    found = read(place, "env.client.json")["buck_invocation"]
    assert found["mode_files"] == ["probe.flags"]
    assert "root//platforms:mi350#" in found["configured_root_target"]


@pytest.mark.parametrize(
    "words",
    [
        ("--buck-target", "//app:trainer", "--buck-option", "mode=mode/opt -c a.b=c"),
        ("--buck-target", "//app:trainer?mi350", "--buck-default-context"),
        ("--buck-target", "//app:a+b", "--buck-default-context"),
        ("--buck-target", "//app:trainer", "--buck-option", "mode=mode/opt", "--buck-mode-file", "mode/opt"),
        ("--buck-default-context",),
    ],
)
def test_what_the_page_says_is_refused(place, words):
    done = place.run(shlex.join(["aorta", "env", "probe", *words, "-o", "none.json"]))
    assert done.code == 2
    assert done.err.strip()
    assert not (place.root / "none.json").exists()


def test_a_target_alone_is_no_evidence(place):
    ran(place, "aorta env probe --buck-target //app:trainer -o env.client.json")
    found = read(place, "env.client.json")["buck_invocation"]
    assert (found["context_source"], found["context_fingerprint"]) == ("unspecified", None)


def test_the_selected_platform_is_in_the_clients_file(place):
    ran(place, lines(WORKFLOW, CAPTURE)[0])
    context = read(place, "env.client.json")["execution_context"]
    assert context["likely_execution_platform"] == REMOTE
    assert context["likely_execution_platform_source"] == "cquery:buck.execution_platform"


# What each file must report: the gate says what the page's third column says.


def alter(document, path, value):
    *above, name = path.split(".")
    for key in above:
        document = document[key]
    document[name] = value


def complete(workload):
    """Put into a document what a GPU node has."""
    for path, value in (
        ("pytorch_version", "2.9.0"),
        ("pytorch_build.git_commit", "a" * 40),
        ("pytorch_build.hip_version", "7.1"),
        ("rocm.version", "7.1.0"),
        ("hip.version", "7.1.0"),
        ("gpu_arch.gfx_targets", ["gfx950"]),
        ("rccl.version", "2.27.7"),
        ("rccl.lib_hash", f"sha256:{'0' * 64}"),
        ("container_detected", True),
    ):
        alter(workload, path, value)
    return workload


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A pair of the page's own lines, and what this machine lacks put in."""
    place = Place(tmp_path_factory.mktemp("pair"))
    ran(place, lines(WORKFLOW, CAPTURE)[0])
    [line] = [line for line in lines(WORKFLOW) if line.startswith("AORTA_ENV_OUTPUT") and "buck2 run" in line]
    ran(place, line)
    client, workload = read(place, "env.client.json"), read(place, "env.workload.0.json")
    complete(workload)
    return place, client, workload


def gate(pair, *options, client=(), workload=()):
    """Run the gate on the pair with changes; return its exit status and its findings."""
    place, *documents = pair
    for name, document, changes in zip(("c", "w"), documents, (client, workload), strict=True):
        document = json.loads(json.dumps(document))
        for path, value in changes:
            alter(document, path, value)
        (place.root / f"{name}.json").write_text(json.dumps(document))
    return place.run(shlex.join(["aorta", "validate", "pair", "c.json", "w.json", *options]))


def test_the_pair_of_the_page_passes(pair):
    assert gate(pair).code == 0


CLIENT_ROWS = rows(WORKFLOW, "What each file must report")
WORKLOAD_ROWS = rows(WORKFLOW, "What each file must report", 1)


def fields(cell):
    return re.findall(r"`([\w.]+)`", cell)


@pytest.mark.parametrize(
    ("row", "which"), [(row, "client") for row in CLIENT_ROWS] + [(row, "workload") for row in WORKLOAD_ROWS]
)
def test_what_a_file_must_report(pair, row, which):
    """Without it the gate says what the row says; with it nothing."""
    cell, _, verdict = row
    broken = {"container_detected": False, "schema_version": "1.12", "library_introspection": []}
    broken["build_system.dirty"] = True
    changes = [(path, broken.get(path)) for path in fields(cell)]
    options = []
    if cell == "`container_detected`":
        changes.append(("execution_context.probe_invocation", "buck2_action"))
    if "--require-library" in cell:
        options, changes = ["--require-library", "rccl"], [("rccl.version", None), ("rccl.lib_hash", None)]
    done = gate(pair, *options, **{which: changes})
    assert done.code == (1 if verdict.startswith("error") else 0), done.err
    assert len(done.err.splitlines()) > len(gate(pair).err.splitlines())
    option = re.search(r"unless `(--[\w-]+)`", verdict)
    if option:
        assert gate(pair, option[1], **{which: changes}).code == 0


def test_a_required_library_that_is_not_there(pair):
    assert gate(pair, "--require-library", "pytorch").code == 0
    assert gate(pair, "--require-library", "none_such").code == 1


# The workload.


def test_the_snippet_writes_only_where_it_is_told(place):
    ran(place, "buck2 run @mode/opt //app:trainer")
    assert not list(place.root.glob("env*"))


def test_the_snippet_names_the_files_of_nodes_apart(place):
    """Rank 8 is the first one of the second node: its file has its own name."""
    for rank, local in ((0, 0), (1, 1), (8, 0), (9, 1)):
        env = {"RANK": str(rank), "LOCAL_RANK": str(local), "AORTA_ENV_OUTPUT": "env.workload.{rank}.json"}
        ran(place, "./trainer.par", **env, SLURM_PROCID="7", SLURM_LOCALID="0")
    assert sorted(path.name for path in place.root.glob("env*")) == [
        "env.workload.0.json",
        "env.workload.8.json",
    ]


def test_srun_alone_names_the_files_of_nodes_apart(place):
    [line] = [line for line in lines(WORKFLOW) if " srun " in line]
    ran(place, line)
    assert sorted(path.name for path in place.root.glob("env*")) == [
        "env.workload.0.json",
        "env.workload.2.json",
    ]


def test_an_unmodified_package_runs_the_probe(place):
    """aorta comes from the one file alone: the package has none on its path."""
    place.par("trainer.par", bare=True)
    write, probe = [line for line in lines(WORKFLOW) if "aorta.pyz" in line]
    ran(place, write)
    place.env["PYTHONPATH"] = str(place.root)
    ran(place, probe)
    document = read(place, "env.workload.0.json")
    assert document["execution_context"]["probe_invocation"] == "buck2_run"
    assert document["execution_context"]["markers"]["PAR_MAIN_ORIGINAL"]["present"]
    assert document["pytorch_version"], "the package's own torch"
    own = place.run("./trainer.par", AORTA_ENV_OUTPUT="none.json")
    assert "ModuleNotFoundError: No module named 'aorta'" in own.err


def function_of(source, name):
    [function] = [part for part in ast.parse(source).body if getattr(part, "name", "") == name]
    return ast.get_source_segment(source, function)


def test_there_is_one_snippet():
    """On both pages and in the program to copy; the program that only captures has its ranks from the same lines."""
    [block] = blocks(WORKFLOW, "python")
    assert block.text == blocks(PROBE, "python")[-1].text
    trainer, capture = ((EXAMPLES / "app" / f"{name}_main.py").read_text() for name in ("trainer", "capture"))
    function = function_of(block.text, "capture_environment")
    assert function == function_of(trainer, "capture_environment")
    ranks = [line for line in function.splitlines() if "rank = " in line]
    assert len(ranks) == 2
    assert ranks == [line for line in capture.splitlines() if "rank = " in line]


@pytest.mark.parametrize(
    ("env", "written"),
    [({}, []), ({"SLURM_PROCID": "8", "SLURM_LOCALID": "0"}, ["env.8.json"]), ({"LOCAL_RANK": "1"}, [])],
)
def test_the_snippet_is_a_program_as_it_stands(place, env, written):
    [block] = blocks(WORKFLOW, "python")
    (place.root / "program.py").write_text(block.text)
    named = {"AORTA_ENV_OUTPUT": "env.{rank}.json"} if env else {}
    done = ran(place, "python program.py", **env, **named)
    assert done.err == ""
    assert [path.name for path in place.root.glob("env*")] == written


def test_the_snippet_without_aorta_ends_well(place):
    [block] = blocks(WORKFLOW, "python")
    (place.root / "aorta.py").write_text("")
    (place.root / "program.py").write_text(block.text)
    done = ran(place, "python program.py", AORTA_ENV_OUTPUT="env.json", PYTHONPATH=str(place.root))
    assert len(done.err.splitlines()) == 1
    assert not (place.root / "env.json").exists()


def test_the_gate_of_a_bare_checkout(pair):
    place, client, workload = pair
    [script] = [word for word in inline(WORKFLOW) if word.startswith("python3 ")]
    for name, document in (("c.json", client), ("w.json", workload)):
        (place.root / name).write_text(json.dumps(document))
    line = script.replace("CLIENT", f"{place.root}/c.json").replace("WORKLOAD…", f"{place.root}/w.json")
    done = shell(line, ROOT, {**place.env, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr


def test_the_program_that_only_captures_sees_the_torch_of_the_trainer(place):
    ran(place, next(line for line in lines(WORKFLOW) if "//app:capture" in line))
    document = read(place, "env.workload.0.json")
    assert "#link-tree/" in document["pytorch_build"]["file"]
    assert document["execution_context"]["markers"]["BUCK_RUN_BUILD_ID"]["present"]


# The action.


@pytest.mark.timeout(240)
def test_the_lines_of_the_action_run_as_they_stand(place):
    outputs = {}
    for line in lines(ACTION):
        if "validate" in line:
            workload = complete(read(place, "env.workload.0.json"))
            (place.root / "env.workload.0.json").write_text(json.dumps(workload))
        outputs[line] = ran(place, line).out
    shown, nonce = [outputs[line].strip() for line in list(outputs)[2:4]]
    assert json.loads(shown) == nonce
    assert re.fullmatch(r"[0-9a-f-]{36}", nonce)
    [told] = [json.loads(out) for line, out in outputs.items() if "what-ran" in line]
    assert told["reproducer"]["executor"] == "Re"
    workload = read(place, "env.workload.0.json")
    assert workload["execution_context"]["probe_invocation"] == "buck2_action"
    assert not workload["execution_context"]["markers"]["BUCK2_DAEMON_UUID"]["present"]


def build(place, *changes):
    """Run the page's build with changes; return the build's id and the document."""
    line = next(line for line in lines(ACTION) if line.startswith("buck2 build"))
    for old, new in changes:
        assert old in line
        line = line.replace(old, new)
    ran(place, line)
    return (place.root / "build.id").read_text().strip(), read(place, "env.workload.0.json")


def test_a_nonce_makes_the_action_run_again(place):
    """With the same one an old file comes back, and the log has no line of it."""
    what_ran = next(line for line in lines(ACTION) if "what-ran" in line)
    ran(place, lines(ACTION)[0])
    first, one = build(place)
    second, again = build(place)
    assert first != second
    assert again == one, "an old file"
    assert ran(place, what_ran).out == ""
    ran(place, lines(ACTION)[0])
    _, other = build(place)
    assert ran(place, what_ran).out
    values = [
        document["execution_context"]["markers"]["AORTA_PROBE_NONCE"]["value"] for document in (one, other)
    ]
    assert len(set(values)) == 2


def test_a_local_action_names_its_build(place):
    """What joins a snapshot to the log; and a local marker where the caller says action is a reason."""
    ran(place, lines(ACTION)[0])
    name, document = build(place, ("--remote-only", "--local-only"))
    markers = document["execution_context"]["markers"]
    assert markers["BUCK_BUILD_ID"]["value"] == name
    assert markers["BUCK2_DAEMON_UUID"]["present"]


def test_the_image_is_said_by_the_rule(place):
    ran(place, lines(ACTION)[0])
    _, document = build(place)
    assert document["execution_context"]["markers"]["AORTA_RE_IMAGE"]["value"] == "IMAGE"


def test_the_table_of_the_rule_is_the_rules(place):
    """What the page says of the rule stands in it."""
    rule = rules_of(place.root, "//action:env_probe_action", {})["env_probe_action"]
    assert rule["kind"] == "genrule"
    assert rule["cacheable"] is False
    assert set(rule["env"]) == {"AORTA_PROBE_INVOCATION", "AORTA_RE_IMAGE", "AORTA_PROBE_NONCE"}
    cells = " ".join(row[0] for row in rows(ACTION, "The rule"))
    assert all(name in cells for name in rule["env"])
    assert 'AORTA_ENV_OUTPUT="$PWD/$OUT"' in rule["cmd"]
    assert "$(exe_target " in rule["cmd"]


@pytest.mark.parametrize(("page", "name"), [(ACTION, "action"), (CONTEXT, "markers")])
def test_the_commands_of_a_page_are_the_files(page, name):
    """What a file to copy says of its build is what its page says."""
    text = (EXAMPLES / name / "BUCK.example").read_text()
    shown = "\n".join(re.findall(r"^#     (.+)$", text, re.MULTILINE)).replace("\\\n", "").splitlines()
    assert [shlex.split(line) for line in shown] == [
        shlex.split(line) for line in lines(page) if "buck2 build" in line or line.startswith("nonce=")
    ]


# The experiment on markers.


def sides(text):
    """Return what ``comm -3`` has on its left and on its right."""
    found = text.splitlines()
    return [line for line in found if line[0] != "\t"], [line[1:] for line in found if line[0] == "\t"]


def test_the_experiment_shows_the_local_marker_and_no_variable_of_the_shell(place):
    *_, compare = outputs = [ran(place, line, SHELLS_OWN="1").out for line in lines(CONTEXT)]
    local, remote = sides(compare)
    assert len(outputs) == 3
    assert {"variable BUCK2_DAEMON_UUID", "variable BUCK_BUILD_ID"} <= set(local)
    assert "variable SHELLS_OWN" not in local
    assert {line.split()[0] for line in remote} <= {"nonce", "directory"}


def test_with_the_users_daemon_the_shell_is_in_the_way(place):
    """The trap that the page tells of."""
    named = [re.sub(r"^env -i (\S+=\S+ )+", "", line) for line in lines(CONTEXT)]
    *_, compare = [ran(place, line, SHELLS_OWN="1").out for line in named]
    assert "variable SHELLS_OWN" in sides(compare)[0]


def test_the_markers_that_the_pages_name_are_looked_at():
    names = {name for row in rows(CONTEXT, QUESTION) for name in re.findall(r"`([/\w.]+)`", row[0])}
    assert len(names) == 7
    assert names <= set(MARKERS)


# The words of all pages.


def known_paths():
    for name, spec in discover(outside=False).collectors.items():
        yield name
        yield from (re.sub(r"\.?\[\]", "", f"{name}.{path}") for path, _ in fields_of(spec.model))


KNOWN = set(known_paths())
#: Keys of the document's frame, and names inside maps.
OTHERS = r"collection(\.\w+)*|execution_context\.markers\.\w+(\.value)?|partial_reasons|schema_version"


@pytest.mark.parametrize("page", PAGES)
def test_every_field_that_a_page_names_exists(page):
    sections = {path.partition(".")[0] for path in KNOWN}
    for word in inline(page):
        first = re.match(r"\w+", word)
        if first and first[0] in sections | {"collection"} and re.fullmatch(r"[\w.\[\]]+", word):
            path = word.replace("[]", "")
            assert path in KNOWN or re.fullmatch(OTHERS, path) or path.startswith("env_vars."), (
                f"{page}: {word}"
            )


def test_every_file_of_the_examples_is_named():
    """A block with a title is the file of that name."""
    for page in PAGES:
        for block in blocks(page):
            assert not block.title or block.text.strip(), page


# The runbook: two recorded machines stand for the good and the bad one.

GOOD, BAD = "b-mi300x-docker-rocm720", "o-mi325x-docker-rocm720-host701"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nodes")
    env = environment(folder)
    for name, host in (("good.json", GOOD), ("bad.json", BAD)):
        line = f"aorta env probe --extended --replay {ROOT}/tests/hosts/{host}.jsonl -o {name}"
        assert shell(line, folder, env).returncode == 0
    return folder, env


def shell(line, folder, env):
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.timeout(180)
def test_the_lines_of_the_runbook_run_as_they_stand(nodes):
    folder, env = nodes
    for line in lines(RUNBOOK):
        done = shell(line, folder, env)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        if "--field" in line:
            json.loads(done.stdout)
    assert json.loads((folder / "differences.json").read_text())
    assert json.loads((folder / "again.json").read_text())["collection"]["host_kind"] == "replay"


def test_the_comparison_of_the_runbook_is_the_tools(nodes):
    printed = {
        " ".join(line.split())
        for line in shell("aorta env diff good.json bad.json", *nodes).stdout.splitlines()
    }
    [shown] = [block.text for block in blocks(RUNBOOK, "")]
    assert {" ".join(line.split()) for line in shown.splitlines()} <= printed


def test_triage_and_what_follows_stand_in_the_order_of_the_tool(nodes):
    printed = shell("aorta env diff good.json bad.json", *nodes).stdout
    triage = [fields(row[0])[0] for row in rows(RUNBOOK, "3. Compare")]
    block = printed.split("\ntriage\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in block.splitlines()] == ["path", *triage]
    sections = [path.partition(".")[0] for row in rows(RUNBOOK, "3. Compare", 1) for path in fields(row[1])]
    order = [name for _, names in GROUPS for name in names]
    known = [order.index(name) for name in sections if name in order and name not in ("rccl", "hipblaslt")]
    groups = [next(i for i, (_, names) in enumerate(GROUPS) if order[place] in names) for place in known]
    assert groups == sorted(groups)


def test_how_often_luck_explains_clean_runs():
    words = " ".join(text_of(RUNBOOK).split())
    [told] = re.findall(
        r"at a rate of 1 in (\d+), (\w+) clean runs still happen by chance (\d+) times in 100", words
    )
    assert told == ("10", "thirty", "4")
    assert round(100 * 0.9**30) == 4


def test_sweeps_are_not_promised():
    """The runbook says that they are not here: true as long as there is no such command."""
    assert ("sweep" in root.list_commands(None)) is ("not in this version" not in text_of(RUNBOOK))
