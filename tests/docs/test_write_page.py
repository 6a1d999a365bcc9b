"""``docs/write-a-collector.md`` is enough: its files, its tests, its tables."""

import importlib
import inspect
import json
import os
import re
import subprocess
import sys

import pytest

from aorta.model.vocabulary import Outcome, Provenance, ReasonKind, Scope
from aorta.testing import FakeHost, collect
from tests.parts.doc_programs import environment
from tests.parts.pages import ROOT, blocks, sections, text_of
from tests.parts.wheels import wheels

PAGE = "docs/write-a-collector.md"
FILES = {block.title: block.text for block in blocks(PAGE) if block.title}

#: The most lines of the page from its first to the test that passes.
MOST = 150

#: What stands around the bodies of collectors in the table.
HEAD = """
import ctypes, os, subprocess, sys
from typing import Annotated
import attrs
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector
from aorta_collectors.providers import RocmRoots

@attrs.frozen(kw_only=True)
class Burnin:
    passed: Annotated[bool | None, Fact("Whether it passed.")] = None
    date: Annotated[str | None, Fact("When.")] = None

@collector(section="site.{name}", model=Burnin, provenance=Provenance.PROCESS, timeout_s=2)
def collect(ctx):
    \"\"\"One that misbehaves.\"\"\"
    {body}
    return Burnin()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the files of the page, which can be imported."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
        sys.modules.pop(name.removesuffix(".py"), None)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def module(name):
    return importlib.import_module(name)


def run(line, folder, env, *, code=0, timeout=55):
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def rows(heading, number=0):
    """Return the cells of the rows of a table under a heading."""
    section = text_of(PAGE).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    lines = tables[number].replace("\\|", "\0").splitlines()[2:]
    return [[cell.strip().replace("\0", "|") for cell in line.strip("|").split("|")] for line in lines]


def codes(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_the_first_green_test_comes_soon():
    before = text_of(PAGE).split("$ python -m pytest -q\n```")
    assert len(before) == 2
    assert before[0].count("\n") + 2 <= MOST


def test_the_collector_passes_its_tests(folder):
    env = environment(folder)
    (folder / "test_recordings.py").unlink()
    done = run("python -m pytest -q -W error -p no:cacheprovider", folder, env)
    tests = ("test_site_burnin.py", "test_site_drives.py")
    assert f"{sum(FILES[name].count('def test_') for name in tests)} passed" in done.stdout


def test_its_tests_can_fail(folder):
    """Each test but the contract's notices a collector that says nothing."""
    wrong = FILES["site_burnin.py"].replace("return ctx.take", "ctx.take")
    (folder / "site_burnin.py").write_text(f"{wrong}    return Burnin()\n")
    assert "return ctx.take" in FILES["site_burnin.py"]
    (folder / "test_recordings.py").unlink()
    done = run("python -m pytest -q -p no:cacheprovider", folder, environment(folder), code=1)
    assert "1 failed" in done.stdout


def test_the_lines_say_what_the_page_says(folder):
    probe, show = [line for block in sections(PAGE)["Run it"] for line in block.commands]
    env = environment(folder)
    run(probe, folder, env)
    done = run(show, folder, env)
    assert json.loads(done.stdout) is None
    assert done.stderr.strip() in text_of(PAGE)
    assert "\n! " not in run("aorta env show env.json", folder, env).stdout
    reasons = json.loads(run("aorta env show env.json --field collection.reasons", folder, env).stdout)
    [reason] = [one for one in reasons if one["section"] == "site.burnin"]
    assert (reason["kind"], reason["field"]) == ("absent", "passed")
    listed = run("aorta env collectors --plugin site_burnin", folder, env).stdout
    assert "Whether this node passed the site's burn-in." in listed


def test_the_recordings(folder):
    line, again = [
        line for block in sections(PAGE)["Record a machine, test on it"] for line in block.commands
    ]
    env = environment(folder)
    run(line, folder, env)
    run(again, folder, env)
    document = json.loads((folder / "node.json").read_text())
    assert document["extensions"]["site.burnin"]["data"] == {"passed": None, "date": None}
    run(f"{again.replace(' --plugin site_burnin', '')} --force", folder, env)
    assert json.loads((folder / "node.json").read_text())["extensions"] == {}
    done = run("python -m pytest -q -W error -p no:cacheprovider test_recordings.py", folder, env)
    assert "2 passed" in done.stdout
    first, *others = (folder / "node.jsonl").read_text().splitlines(keepends=True)
    own = [one for one in others if "/etc/site/burnin" in one]
    (folder / "node.jsonl").write_text("".join([first, *own]))
    done = run("python -m pytest -q -W error -p no:cacheprovider test_recordings.py", folder, env)
    assert "2 passed" in done.stdout


def test_all_files_are_typed(folder):
    """As an author's editor sees them, with aorta's own types."""
    pytest.importorskip("mypy")
    names = [name for name in FILES if name.endswith(".py") and name != "app.py"]
    env = {**environment(folder), "MYPYPATH": f"{ROOT}:{ROOT}/collectors"}
    options = "--strict --follow-imports=silent --cache-dir=.mypy"
    run(f"python -m mypy {options} {' '.join(names)}", folder, env)


DRIVES = '{"Devices": [{"ModelNumber": "M1", "Firmware": "F2"}, {"ModelNumber": "M3"}]}'


def test_the_drives(folder):
    function = module("site_drives").drives
    host = FakeHost(commands={"nvme list -o json": DRIVES})
    assert collect(host, function).value == [
        {"model": "M1", "firmware": "F2"},
        {"model": "M3", "firmware": None},
    ]
    assert collect(FakeHost(), function).kinds() == ["no_tool"]
    for text in ("", "[]", '{"Devices": [3]}', "no JSON"):
        assert collect(FakeHost(commands={"nvme list -o json": text}), function).kinds() == ["unparsed"]
    assert collect(FakeHost(commands={"nvme list -o json": {"exit": 1}}), function).kinds() == ["failed"]


def test_the_racks(folder):
    racks = module("site_racks")
    host = FakeHost(files={"/etc/site/rack": "r7"}, dirs=["/sys/class/infiniband/mlx5_0"])
    assert collect(host, racks.fabric, plugins=[racks]).value == {"rack": "r7", "rails": 1}
    devices = module("aorta_collectors.providers").RdmaDevices(names=("mlx5_0", "mlx5_1"))
    assert collect(host, racks.fabric, plugins=[racks], given=[devices]).value["rails"] == 2
    nothing = collect(FakeHost(), racks.fabric, plugins=[racks])
    assert nothing.value == {"rack": None, "rails": None}
    assert nothing.kinds("rack") == ["absent"]
    assert nothing.kinds("rails") != []


def test_the_asset(folder):
    """One provenance and a tuple of them; a kind per field."""
    asset = module("site_asset").asset
    place = "/sys/class/dmi/id/product_serial"
    found = collect(FakeHost(files={"/etc/site/tag": "t1\n", place: "s2\n"}), asset)
    assert found.value == {"tag": "t1", "owner": None, "serial": "s2"}
    assert found.kinds("owner") == ["absent"]
    assert collect(FakeHost(files={"/etc/site/tag": "t1\n"}), asset).value["serial"] == "t1"
    assert collect(FakeHost(), asset).kinds("serial") == ["absent"]
    facts = {name: member.fact for name, member in asset.aorta_spec.shape.fields}
    assert facts["tag"].provenance == ()
    assert facts["owner"].provenance == (Provenance.EXTERNALLY_ASSERTED,)
    assert facts["serial"].provenance == (Provenance.HOST_KERNEL, Provenance.FILESYSTEM)


def test_fields_of_reasons(folder):
    """The paths of the page stand in the document as they were noted."""
    body = (
        "[ctx.note(ReasonKind.ABSENT, one, one) for one in ('a.b', 'list[0].b', '')]\n"
        "    return Burnin(a=One(), list=(One(),))"
    )
    one = '@attrs.frozen(kw_only=True)\nclass One:\n    b: Annotated[str | None, Fact("B.")] = None\n\n'
    fields = (
        '    a: Annotated[One | None, Fact("A.")] = None\n'
        '    list: Annotated[tuple[One, ...] | None, Fact("L.")] = None\n'
    )
    text = HEAD.format(name="paths", body=body).replace("@attrs.frozen", f"{one}@attrs.frozen", 1)
    text = text.replace("    passed:", f"{fields}    passed:", 1)
    text = text.replace("import Provenance", "import Provenance, ReasonKind", 1)
    (folder / "site_paths.py").write_text(text)
    function = module("site_paths").collect
    paths = ("a.b", "list[0].b", "")
    assert [reason.field for reason in collect(FakeHost(), function).reasons] == list(paths)
    assert all(f'`"{path}"`' in text_of(PAGE) for path in paths)


def test_members_of_a_directory(folder):
    entries = FakeHost(files={"/a/c": "", "/a/b/x": ""}, links={"/a/d": "c"}).scan("/a")
    assert [(entry.name, entry.kind) for entry in entries] == [("b", "dir"), ("c", "file"), ("d", "link")]
    [row] = [cells for cells in rows("What a collector asks") if "`ctx.scan(path)`" in cells[0]]
    assert {entry.kind for entry in entries} < set(codes(row[1]))


def test_what_an_exception_said(folder):
    """A test sees it; no document, and not with ``AORTA_DEBUG`` either."""
    (folder / "site_said.py").write_text(HEAD.format(name="said", body="raise ValueError('its text')"))
    error = collect(FakeHost(), module("site_said").collect).error
    assert (type(error), str(error)) == (ValueError, "its text")
    assert error.__traceback__ is not None
    env = {**environment(folder), "AORTA_DEBUG": "1"}
    done = run("aorta env probe --plugin site_said --section site.said -o env.json", folder, env)
    assert "its text" not in done.stderr + (folder / "env.json").read_text()
    assert "! failed: site.said: ValueError at " in run("aorta env show env.json", folder, env).stdout


def test_the_application(folder):
    run("python -W error app.py", folder, environment(folder))
    document = json.loads((folder / "env.app.json").read_text())
    assert document["extensions"]["site.burnin"]["data"] == {"passed": None, "date": None}
    [plugin] = [one for one in document["collection"]["plugins"] if one["source"] == "argument"]
    assert (plugin["module"], plugin["status"]) == ("site_burnin", "loaded")


@pytest.mark.timeout(120)
def test_the_distribution(folder, tmp_path):
    """The wheel that pip builds of it declares the plugin, with its version."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "site_burnin.py"):
        (source / name).write_text(FILES[name])
    [wheel] = wheels(tmp_path / "wheels", source)
    env = environment(folder)
    env["PYTHONPATH"] = f"{wheel}:{ROOT}:{ROOT}/collectors"
    listed = json.loads(run("aorta env collectors --json", tmp_path, env).stdout)["plugins"]
    [plugin] = [one for one in listed if one["source"] == "entry_point"]
    told = {name: plugin[name] for name in ("name", "version", "module", "status", "sections")}
    assert told == {
        "name": "burnin",
        "version": "1.0",
        "module": "site_burnin",
        "status": "loaded",
        "sections": ["site.burnin"],
    }
    for blocked in ("burnin", "site.burnin", "site_burnin"):
        less = {**env, "AORTA_PLUGINS": f"no:{blocked}"}
        run("aorta env probe -o env.json --deadline 30", tmp_path, less)
        document = json.loads((tmp_path / "env.json").read_text())
        data = document["extensions"].get("site.burnin", {"data": {}})["data"]
        assert set(data.values()) <= {None}
        run("rm env.json", tmp_path, less)


# The tables


def test_the_arguments_of_the_made_up_machine():
    named = {name for cells in rows("The made-up machine") for name in codes(cells[0])}
    assert named == set(inspect.signature(FakeHost).parameters) - {"now", "tree"}


def test_the_answers_of_its_commands():
    table = rows("The made-up machine", 1)
    assert [key for cells in table for key in codes(cells[0])] == [
        "stdout",
        "stderr",
        "exit",
        "outcome",
        "detail",
    ]
    [words] = [codes(cells[1]) for cells in table if cells[0] == "`outcome`"]
    assert words == [word.value for word in Outcome]
    for word in words:
        given = {"stdout": "o", "stderr": "e", "exit": 3, "outcome": word, "detail": "d"}
        done = FakeHost(commands={"x": given}).run(("x",), timeout=1)
        assert (done.outcome, done.stdout, done.stderr, done.detail) == (word, "o", "e", "d")
    ended = FakeHost(commands={"x": {"exit": -9}}).run(("x",), timeout=1)
    assert (ended.outcome, ended.exit_code) == ("signal", -9)


def test_the_words_of_a_declaration():
    table = {
        codes(cells[0])[0]: {word for word in codes(cells[1]) if word.isupper()}
        for cells in rows("What a model may hold")
    }
    assert table["provenance"] == set(Provenance.__members__)
    assert table["scope"] == set(Scope.__members__)


def test_the_kinds_of_reasons():
    named = {word for cells in rows("Which reason") for word in codes(cells[-1])}
    # The others are the orchestrator's to give.
    own = {ReasonKind.BUDGET, ReasonKind.BLOCKED, ReasonKind.UNSPECIFIED, ReasonKind.NOT_RECORDED}
    assert named == set(ReasonKind) - own


def test_the_public_providers():
    providers = module("aorta_collectors.providers")
    public = {name for name, value in vars(providers).items() if isinstance(value, type)}
    table = rows("What others have found already")
    assert {name for cells in table for name in codes(cells[0])} == public
    for names, words in [(codes(cells[0]), codes(cells[1])) for cells in table]:
        fields = {name for one in names for name in dir(getattr(providers, one))}
        fields |= {field.name for one in names for field in getattr(providers, one).__attrs_attrs__}
        assert {word for word in words if word.isidentifier()} - {"gfx_target", "properties"} <= fields, names


def misbehaving(folder):
    """Write a plugin for each body in the table; return its name, its body, and the rest of its row."""
    found = {}
    for cells in rows("When it misbehaves"):
        for body in codes(cells[0]):
            name = f"bad{len(found)}"
            (folder / f"{name}.py").write_text(HEAD.format(name=name, body=body))
            found[name] = (body, *cells[1:])
    return found


@pytest.mark.timeout(120)
def test_collectors_that_misbehave(folder):
    found = misbehaving(folder)
    env = {**environment(folder), "AORTA_PLUGINS": ",".join(found)}
    chosen = " ".join(f"--section site.{name}" for name in found)
    run(f"aorta env probe {chosen} --deadline 60 -o env.json", folder, env, timeout=100)
    document = json.loads((folder / "env.json").read_text())
    for name, (body, status, said) in found.items():
        record = document["collection"]["collectors"][f"site.{name}"]
        told = [one for one in document["collection"]["reasons"] if one["section"] == f"site.{name}"]
        assert record["status"] == codes(status)[0], (body, told)
        assert set(document["extensions"][f"site.{name}"]["data"]) == {"passed", "date"}
        assert bool(told) == (record["status"] != "ok"), body
        if "the line" in said:
            assert f"{name}.py:" in told[0]["detail"], body


@pytest.mark.timeout(120)
def test_modules_that_cannot_be_loaded(folder):
    found = {}
    for cells in rows("When it misbehaves", 1)[:2]:
        for text in codes(cells[0]):
            found[f"mod{len(found)}"] = text
            (folder / f"mod{len(found) - 1}.py").write_text(f"import os, sys\n{text}\n")
    assert len(found) == 5
    env = {**environment(folder), "AORTA_PLUGINS": ",".join((*found, "nowhere"))}
    done = run("aorta env probe --section host --deadline 12 -o env.json", folder, env, timeout=100)
    document = json.loads((folder / "env.json").read_text())
    plugins = {one["name"]: one for one in document["collection"]["plugins"]}
    for name, text in {**found, "nowhere": ""}.items():
        assert plugins[name]["status"] == "failed", text
        assert f"the plugin {name} is left out: {plugins[name]['detail']}" in done.stderr
        assert any(one["subject"] == name for one in document["collection"]["reasons"])
    assert "does not end" in plugins["mod3"]["detail"]
    assert "mod3.py:2" in plugins["mod3"]["detail"]
    assert "ends the process" in plugins["mod4"]["detail"]
    run("aorta env probe --plugin nowhere", folder, {**env, "AORTA_PLUGINS": ""}, code=1)


def test_where_its_code_runs(folder):
    """By name in another process, as an object in this one; the environment is the job's in both."""
    (folder / "site_where.py").write_text(
        HEAD.format(name="where", body="return Burnin(date=f\"{os.getpid()} {os.environ.get('SITE')}\")")
    )
    program = (
        "import os, site_where\nfrom aorta.instrumentation import capture\nfrom aorta.model.codec import dump\n"
        "for one in ('site_where', site_where):\n"
        "    taken = capture(plugins=[one], sections=['site.where'])\n"
        "    print(os.getpid(), dump(taken)['extensions']['site.where']['data']['date'])\n"
    )
    (folder / "both.py").write_text(program)
    env = {**environment(folder), "SITE": "x"}
    named, given = [line.split() for line in run("python both.py", folder, env).stdout.splitlines()]
    assert named[0] != named[1]
    assert given[0] == given[1] == named[0]
    assert named[2] == given[2] == "x"


def test_the_example_is_there():
    assert os.path.exists(ROOT / "collectors" / "example_nic_plugin" / "pyproject.toml")
