"""The example of a plugin beside aorta, both installed with pip from wheels into a fresh environment."""

import ast
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import jsonschema
import pytest

from tests.parts.pages import ROOT
from tests.parts.wheels import CLEAN, checkout, environment, run, wheels

EXAMPLE = ROOT / "collectors" / "example_nic_plugin"
RECORDING = EXAMPLE / "tests" / "recordings" / "three_nics.jsonl"
SECTION, MODULE, NAME = "acme.link_health", "acme_link_health.section", "acme_link_health"
PUBLIC = {
    "aorta.collect",
    "aorta.model.fact",
    "aorta.model.frozen",
    "aorta.model.vocabulary",
    "aorta.plugin",
    "aorta.testing",
}

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the wheels of aorta and of the example."""
    source = checkout(tmp_path_factory.mktemp("source"))
    example = source / EXAMPLE.relative_to(ROOT)
    return wheels(tmp_path_factory.mktemp("wheels"), source, example)


@pytest.fixture(scope="module")
def programs(built, tmp_path_factory):
    """Return the folder of programs of an environment with both, and pytest for the example's own tests."""
    aorta, example = built
    return environment(tmp_path_factory.mktemp("fresh") / "env", [aorta, f"{example}[test]"])


@pytest.fixture
def aorta(programs, tmp_path):
    """Call the installed ``aorta`` in an empty folder."""

    def call(*words, **env):
        return run(programs / "aorta", *words, cwd=tmp_path, env={**CLEAN, **env})

    return call


@pytest.fixture
def probe(aorta, tmp_path):
    """Take a snapshot of two sections; return the document."""

    def call(*words, **env):
        sections = [word for name in (SECTION, "env_vars") for word in ("--section", name)]
        aorta("env", "probe", "--quiet", "--force", "-o", "env.json", *(words or sections), **env)
        return json.loads((tmp_path / "env.json").read_text())

    return call


def table(text):
    """Return the rows of the table of plugins."""
    lines = text.splitlines()
    return [line.split() for line in lines[next(i for i, line in enumerate(lines) if "PLUGIN" in line) :]]


def files_of(wheel):
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_neither_wheel_holds_the_other(built):
    aorta, example = built
    assert {name.split("/")[0] for name in files_of(aorta)} == {"aorta", "aorta_collectors"}
    own = {"__init__.py", "counters.py", "py.typed", "section.py"}
    assert files_of(example) == {f"{NAME}/{name}" for name in own}


def test_a_snapshot_of_this_machine(aorta, probe):
    document = probe("--extended")
    data = document["extensions"][SECTION]["data"]
    record = document["collection"]["collectors"][SECTION]
    assert (record["status"], record["plugin"], record["scope"]) == ("ok", NAME, "process")
    [told] = [one for one in document["collection"]["plugins"] if one["source"] != "builtin"]
    assert told == {
        "name": NAME,
        "version": "1.2.0",
        "source": "entry_point",
        "module": MODULE,
        "sections": [SECTION],
        "status": "loaded",
        "detail": "",
    }
    if os.path.isdir("/sys/class/net"):
        real = [name for name in sorted(os.listdir("/sys/class/net")) if _has_device(name)]
        assert [one["name"] for one in data["interfaces"]] == [
            re.sub("x[0-9a-f]{12}", "x<redacted>", name) for name in real
        ]
        for one, name in zip(data["interfaces"], real, strict=True):
            assert (
                0 <= one["carrier_changes"] <= int(Path(f"/sys/class/net/{name}/carrier_changes").read_text())
            )
    jsonschema.validate(document, json.loads(aorta("schema", "show", "--with-plugins")))


def _has_device(name):
    return os.path.exists(f"/sys/class/net/{name}/device")


def test_a_recording_of_another_machine(aorta, probe):
    document = probe("--replay", RECORDING, "--section", SECTION)
    data = document["extensions"][SECTION]["data"]
    assert [one["name"] for one in data["rdma_ports"]] == ["bnxt_re0/1", "mlx5_0/1", "rocex<redacted>/1"]
    assert [one["ecn_marked"] for one in data["rdma_ports"]] == [7, 17, 70]
    assert [one["name"] for one in data["interfaces"]] == ["enx<redacted>", "eth0"]
    kinds = {one["kind"] for one in document["collection"]["reasons"] if one["section"] == SECTION}
    assert kinds == {"unsupported"}
    jsonschema.validate(document, json.loads(aorta("schema", "show", "--with-plugins")))


def test_a_comparison_leaves_out_what_the_plugin_declares_to_change_by_itself(aorta, probe, tmp_path):
    """Where the plugin is; elsewhere its counters are values like others, each by the name of its link."""
    text = RECORDING.read_text()
    assert text.count('"17\\n"') == 1
    (tmp_path / "later.jsonl").write_text(text.replace('"17\\n"', '"18\\n"'))
    for name, recording in (("a", RECORDING), ("b", tmp_path / "later.jsonl")):
        probe("--replay", recording, "--section", SECTION)
        (tmp_path / "env.json").rename(tmp_path / f"{name}.json")

    def rows(**env):
        found = json.loads(aorta("env", "diff", "--json", "a.json", "b.json", **env))
        return [(row["path"], row["a"], row["b"]) for row in found["differences"]]

    assert rows() == []
    place = f'extensions["{SECTION}"].data.rdma_ports[name=mlx5_0/1].ecn_marked'
    assert rows(AORTA_PLUGINS=f"no:{NAME}") == [(place, 17, 18)]


def test_a_recording_of_this_machine_says_the_same_again(aorta, probe, tmp_path):
    aorta("env", "record", "--quiet", "node.jsonl")
    replayed = probe("--replay", tmp_path / "node.jsonl", "--section", SECTION)
    again = replayed["extensions"][SECTION]["data"]
    assert [one["name"] for one in again["interfaces"] or ()] == [
        one["name"] for one in probe()["extensions"][SECTION]["data"]["interfaces"] or ()
    ]
    assert "not_recorded" not in {
        one["kind"] for one in replayed["collection"]["reasons"] if one["section"] == SECTION
    }


def test_the_list_and_the_schema(aorta):
    assert table(aorta("env", "collectors"))[1][:5] == [NAME, "1.2.0", "entry_point", "loaded", SECTION]
    listed = json.loads(aorta("env", "collectors", "--json"))
    [told] = [one for one in listed["collectors"] if one["section"] == SECTION]
    assert (told["plugin"], told["timeout_s"], told["blocked"]) == (NAME, 10, None)
    schema = json.loads(aorta("schema", "show", "--with-plugins", "--section", SECTION))
    port = schema["properties"]["data"]["properties"]["rdma_ports"]["items"]["properties"]
    assert port["link_downs"]["x-volatile"] is True
    assert port["link_downs"]["x-provenance"] == ["host_device"]
    assert json.loads(aorta("schema", "show"))["properties"]["extensions"]["properties"] == {}


def test_the_variables_that_it_adds(probe):
    mine = {"ACME_RAIL_MAP": "0,1", "ACME_LINK_SPREAD": "2", "ACME_OTHER": "x"}
    shown = probe(**mine)["env_vars"]
    assert (shown["ACME_RAIL_MAP"], shown["ACME_LINK_SPREAD"]) == ("0,1", "2")
    assert "ACME_OTHER" not in shown
    assert probe()["env_vars"]["ACME_RAIL_MAP"] is None
    left_out = probe("--section", "env_vars", "--no-plugins", **mine)["env_vars"]
    assert not [name for name in left_out if name.startswith("ACME_")]


@pytest.mark.parametrize("name", [NAME, MODULE])
def test_it_is_left_out_by_its_names(aorta, probe, name):
    left_out = {"AORTA_PLUGINS": f"no:{name}"}
    document = probe("--section", "env_vars", ACME_RAIL_MAP="0", **left_out)
    assert document["extensions"] == {}
    assert "ACME_RAIL_MAP" not in document["env_vars"]
    [told] = [one for one in document["collection"]["plugins"] if one["source"] != "builtin"]
    assert (told["name"], told["status"], told["detail"]) == (NAME, "blocked", "left out by AORTA_PLUGINS")
    assert document["partial"] is False
    [_, row, *_] = table(aorta("env", "collectors", **left_out))
    assert row[:4] == [NAME, "1.2.0", "entry_point", "blocked"]


def test_its_section_is_left_out(probe):
    document = probe(AORTA_PLUGINS=f"no:{SECTION}")
    assert document["extensions"][SECTION]["data"] == {"rdma_ports": None, "interfaces": None}
    assert document["collection"]["collectors"][SECTION]["status"] == "not_requested"
    assert "ACME_RAIL_MAP" in document["env_vars"]


def test_no_plugins_leaves_nothing_of_it(aorta, probe):
    document = probe("--section", "env_vars", "--no-plugins")
    assert document["extensions"] == {}
    assert {one["source"] for one in document["collection"]["plugins"]} == {"builtin"}
    assert NAME not in aorta("env", "collectors", "--no-plugins")


@pytest.mark.parametrize("how", ["entry point", "name", "object"])
def test_a_program_captures_with_it(programs, tmp_path, how):
    """A plugin that is given beside its entry point is there once."""
    given = {"entry point": "", "name": f"'{MODULE}'", "object": "acme_link_health.section"}[how]
    program = tmp_path / "program.py"
    program.write_text(
        "import acme_link_health.section\nfrom aorta.instrumentation import capture_to\n"
        f"capture_to('out.json', sections=['{SECTION}'], plugins=[{given}])\n"
    )
    run(programs / "python", program, cwd=tmp_path)
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["extensions"][SECTION]["data"]["rdma_ports"] is not None
    sources = [one["source"] for one in document["collection"]["plugins"] if one["module"] == MODULE]
    assert sources == ["entry_point" if how == "entry point" else "argument"]


def test_its_own_tests_pass_where_it_is_installed(programs, tmp_path):
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(EXAMPLE / "pyproject.toml", tmp_path)
    done = subprocess.run(
        [programs / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=CLEAN,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed in", done.stdout, re.MULTILINE), done.stdout


def test_uninstalled_it_leaves_nothing(aorta, built, programs, probe):
    pip = (programs / "python", "-m", "pip")
    run(*pip, "uninstall", "-q", "-y", "acme-link-health")
    try:
        document = probe("--section", "env_vars")
        assert document["extensions"] == {}
        assert {one["source"] for one in document["collection"]["plugins"]} == {"builtin"}
        assert NAME not in aorta("env", "collectors")
        assert "acme" not in aorta("schema", "show", "--with-plugins")
        site = next((programs.parent / "lib").glob("*/site-packages"))
        assert list(site.glob("acme*")) == []
    finally:
        run(*pip, "install", "-q", "--no-deps", built[1])


@pytest.mark.parametrize("path", sorted(EXAMPLE.rglob("*.py")), ids=lambda path: path.stem)
def test_it_uses_public_names_alone(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module)
        elif isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
    assert {name for name in imported if name.startswith("aorta")} <= PUBLIC
    if "src" in path.parts:
        assert "aorta.testing" not in imported
        assert imported <= {*PUBLIC, NAME, "collections.abc", "functools", "re", "typing"}
