import json

import pytest


def ran_commands(document):
    records = {**document["collection"]["collectors"], **document["collection"]["providers"]}
    return sorted({command["argv"][0] for record in records.values() for command in record["commands"]})


def statuses(document):
    return {name: record["status"] for name, record in document["collection"]["collectors"].items()}


@pytest.fixture
def logged(cli, tools):
    """Return the environment with tools that log their call."""
    log = cli.folder / "log"
    for name in ("hipconfig", "rocm_agent_enumerator", "modinfo", "lspci", "rocminfo"):
        path = tools(name, f'echo {name} >> "{log}"; exit 1')

    def calls():
        return sorted(set(log.read_text().split())) if log.exists() else []

    return {"PATH": path}, calls


def test_w10_only_the_sections_asked_for_run(cli, logged):
    env, calls = logged
    ran = cli.probe("--section", "hip", "-o", "-", env=env)
    assert calls() == ["hipconfig"]
    assert ran_commands(ran.json) == ["hipconfig"]
    assert {name for name, status in statuses(ran.json).items() if status != "not_requested"} == {"hip"}
    reasons = [reason for reason in ran.json["collection"]["reasons"] if reason["section"] == "gpu_arch"]
    assert [reason["kind"] for reason in reasons] == ["not_requested"]


def test_w10_a_field_runs_only_its_section(cli, logged):
    env, calls = logged
    assert cli.probe("--field", "python_version", env=env).code == 0
    assert cli.probe("--field", "schema_version", env=env).out == '"2.0"\n'
    assert calls() == []
    assert cli.probe("--field", "hip.platform", env=env).code == 0
    assert calls() == ["hipconfig"]


def test_w10_a_field_of_the_whole_runs_all(cli, logged):
    env, calls = logged
    ran = cli.probe("--field", "collection.collectors.hip.status", env=env)
    assert ran.code == 0
    assert "hipconfig" in calls()
    assert len(calls()) > 1


def test_a_field_of_an_extension_runs_it_alone(cli, logged):
    env, calls = logged
    plugin = '''
from typing import Annotated
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector

@collector(section="acme.x", model=Annotated[int | None, Fact("Number.")], provenance=Provenance.PROCESS)
def number(ctx):
    """A number."""
    return 7
'''
    (cli.folder / "acme.py").write_text(plugin)
    ran = cli.probe("--plugin", "acme", "--field", 'extensions["acme.x"].data', env=env)
    assert (ran.code, ran.out) == (0, "7\n")
    assert calls() == []


def test_sections_as_lists_and_repeated(cli):
    ran = cli.probe("--section", "host,python_version", "--section", "launcher", "-o", "-")
    done = {name for name, status in statuses(ran.json).items() if status != "not_requested"}
    assert done == {"host", "python_version", "launcher"}


def test_sections_left_out(cli, logged):
    env, calls = logged
    ran = cli.probe("--no-section", "hip,gpus", "--no-section", "gpu_arch", "-o", "-", env=env)
    assert "hipconfig" not in calls()
    assert statuses(ran.json)["hip"] == "not_requested"
    assert statuses(ran.json)["host"] != "not_requested"
    assert set(ran.json["hip"].values()) == {None}


def test_a_sections_own_deadline(cli, tools):
    path = tools("hipconfig", "exec sleep 600")
    ran = cli.probe("--section", "hip", "--timeout", "hip=0.5", "-o", "-", env={"PATH": path})
    assert ran.code == 0
    assert ran.json["collection"]["elapsed_s"] < 15
    kinds = {reason["kind"] for reason in ran.json["collection"]["reasons"] if reason["section"] == "hip"}
    assert "timed_out" in kinds


def test_a_providers_own_deadline_is_no_usage_error(cli):
    assert cli.probe("--section", "python_version", "--timeout", "RocmRoots=2", "-o", "-").code == 0


@pytest.mark.parametrize("how", ["option", "variable"])
def test_the_deadline_of_all(cli, tools, how):
    path = tools("hipconfig", "exec sleep 600")
    words = ("--deadline", "1") if how == "option" else ()
    env = {"PATH": path} if how == "option" else {"PATH": path, "AORTA_DEADLINE_S": "1"}
    ran = cli.probe("--section", "hip", *words, "-o", "x.json", env=env)
    assert ran.code == 0
    document = json.loads((cli.folder / "x.json").read_text())
    assert document["collection"]["deadline_s"] == 1
    assert document["collection"]["elapsed_s"] < 20
    assert document["partial"] is True


HANGING = '''
import time
from typing import Annotated
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector

@collector(section="acme.hang", model=Annotated[int | None, Fact("Number.")], provenance=Provenance.PROCESS, timeout_s=0.5)
def hang(ctx):
    """Hangs."""
    time.sleep(600)
'''


def test_a_hanging_plugin_does_not_keep_the_process(cli):
    (cli.folder / "acme.py").write_text(HANGING)
    ran = cli.probe("--plugin", "acme", "--section", "acme.hang", "-o", "-")
    assert ran.code == 0
    record = ran.json["collection"]["collectors"]["acme.hang"]
    assert record["status"] == "timed_out"
    assert record["hung_at"].endswith("acme.py:11")


@pytest.mark.parametrize(
    ("words", "env", "asked"),
    [
        (["--sudo"], {}, True),
        (["--sudo"], {"AORTA_SUDO": "no"}, True),
        ([], {"AORTA_SUDO": "1"}, True),
        ([], {"AORTA_SUDO": "True"}, True),
        ([], {}, False),
        ([], {"AORTA_SUDO": "0"}, False),
        ([], {"AORTA_SUDO": "Off"}, False),
        ([], {"AORTA_SUDO": ""}, False),
    ],
)
def test_nothing_privileged_unasked(cli, tools, words, env, asked):
    log = cli.folder / "log"
    tools("rdhc", f'echo "$@" >> "{log}"; exit 1')
    path = tools("sudo", f'echo "$@" >> "{log}"; exit 1')
    ran = cli.probe("--section", "system_health", *words, "-o", "-", env={"PATH": path, **env})
    assert ran.code == 0
    assert log.exists() is asked


@pytest.mark.parametrize("words", [["env", "probe"], ["env", "record", "x.jsonl"], []])
def test_a_switch_that_says_neither_yes_nor_no(cli, words):
    module = "aorta" if words else "aorta.instrumentation._probe_main"
    ran = cli(*words, module=module, env={"AORTA_SUDO": "maybe"})
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
    assert "AORTA_SUDO is 'maybe'" in ran.err
    assert list(cli.folder.iterdir()) == []


@pytest.mark.parametrize("other", [["--no-digest-cache"], ["--digests", "none"], ["--replay", "x.jsonl"]])
def test_nothing_to_verify(cli, other):
    ran = cli.probe("--verify-digests", *other, "-o", "-")
    assert (ran.code, ran.out) == (2, "")
    assert " ".join(other[:2] if other[0] == "--digests" else other[:1]) in ran.err


def test_how_catalogs_are_hashed_is_one_of_three(cli):
    ran = cli.probe("--digests", "some", "-o", "-")
    assert ran.code == 2
    assert all(word in ran.err for word in ("full", "identity", "none"))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("tensil", "no section tensil (did you mean tensile?); see"),
        ("gpu,hipblas", "no section gpu, hipblas (did you mean gpus, hipblaslt?); see"),
        ("zzz", "no section zzz; see"),
    ],
)
def test_a_section_that_is_not_there_and_what_was_meant(cli, asked, said):
    ran = cli.probe("--section", asked, "-o", "-")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
