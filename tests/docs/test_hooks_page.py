"""What ``docs/hooks.md`` says of each hook holds: its example, its limits, what a broken one costs."""

import importlib
import json
import re
import subprocess
import sys

import pytest

from aorta.instrumentation import extensions
from aorta.plugin import hooks, sources
from aorta.plugin.discovery import GROUP, VARIABLE
from aorta.testing import FakeHost, collect
from tests.parts.doc_programs import environment
from tests.parts.pages import PAGES, blocks, sections, text_of

PAGE = "docs/hooks.md"
HOOKS = {name for name in vars(hooks) if name.startswith("aorta_")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the files of the page, which can be imported."""
    for block in blocks(PAGE):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
            sys.modules.pop(block.title.removesuffix(".py"), None)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def shell(line, folder, env):
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def lines(heading):
    return [line for block in sections(PAGE)[heading] for line in block.commands]


def test_every_hook_has_its_part_and_its_line_of_the_table():
    assert {heading for heading in sections(PAGE) if heading.startswith("aorta_")} == HOOKS
    rows = re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \| `@(\w+)` \|", text_of(PAGE), re.MULTILINE)
    assert {name for name, _ in rows} == HOOKS
    plugin = importlib.import_module("aorta.plugin")
    assert all(hasattr(plugin, decorator) for _, decorator in rows)


def test_the_numbers_are_the_codes():
    text = text_of(PAGE)
    assert f"{extensions.MOST} at most" in text
    assert f"{extensions.LIMIT_S:g} s or a fifth of the capture's time" in text
    assert extensions.PART == 1 / 5
    assert f"may take {sources.LIMIT_S:g} s or a third of the deadline" in text
    assert f"`{GROUP}`" in text
    assert f"`{VARIABLE}=" in text


def test_modules_to_rely_on_have_what_is_named():
    rows = [line for line in text_of(PAGE).splitlines() if line.startswith("| `aorta")]
    assert len(rows) == 6
    for row in rows:
        _, first, second, _ = row.split("|")
        modules = [importlib.import_module(name) for name in re.findall(r"`([\w.]+)`", first)]
        names = re.findall(r"`(\w+)`", second)
        assert all(any(hasattr(module, name) for module in modules) for name in names), row


def test_the_provider_is_asked_once_and_says_why_there_is_nothing(folder):
    fabric = importlib.import_module("site_fabric")
    host = FakeHost(commands={"fabricctl status": "degraded 3 of 4\n"})
    assert collect(host, fabric.fabric, plugins=[fabric]).value == {"state": "degraded"}
    assert collect(FakeHost(), fabric.fabric, plugins=[fabric]).kinds("state") == ["no_tool"]
    [line] = lines("aorta_provide")
    done = shell(line, folder, environment(folder))
    assert json.loads(done.stdout) is None
    assert "no_tool: " in done.stderr


def test_the_names_are_shown(folder):
    [line] = lines("aorta_env_names")
    env = environment(folder)
    assert json.loads(shell(line, folder, env).stdout) == "8"
    done = shell(line.replace("SITE_TUNE_RAILS", "SITE_QUEUE"), folder, env)
    assert json.loads(done.stdout) == "8"
    done = shell(line.replace("SITE_TUNE_RAILS=8", "").replace("SITE_TUNE_RAILS", "SITE_QUEUE"), folder, env)
    assert json.loads(done.stdout) is None


def test_the_patterns_are_asked_for(folder):
    from aorta.host.live import LiveHost
    from aorta.plugin.discovery import discover

    registry = discover(["site_libraries"], outside=False)
    host = LiveHost()
    try:
        found = extensions.Extensions(registry, host)
        assert found.libraries() == {"site_collectives": r"^site//comms:collectives$"}
        assert found.complaints == []
    finally:
        host.close()


def test_the_hooks_pass_their_tests(folder):
    line = "python -m pytest -q -W error -p no:cacheprovider test_site_hooks.py"
    assert "2 passed" in shell(line, folder, environment(folder)).stdout


def test_what_is_left_out(folder):
    """A plugin with its section, a section by itself, a section of aorta's, a name of nothing."""
    line = "aorta env probe -o env.json"
    usual, seen = environment(folder), {}
    for name in ("site_fabric", "site.fabric", "rccl", "site.fabrik"):
        told = shell(line, folder, {**usual, "AORTA_PLUGINS": f"site_fabric,no:{name}"}).stderr
        assert (f"no:{name} leaves nothing out" in told) == (name == "site.fabrik")
        seen[name] = json.loads((folder / "env.json").read_text())
    assert seen["site_fabric"]["extensions"] == {}
    for name, section in (("site.fabric", "site.fabric"), ("rccl", "rccl")):
        document = seen[name]
        [reason] = [one for one in document["collection"]["reasons"] if one["section"] == section]
        assert (reason["kind"], reason["field"]) == ("not_requested", "")
        value = document["rccl"] if section == "rccl" else document["extensions"][section]["data"]
        assert value
        assert set(value.values()) == {None}


def test_how_they_are_found(folder):
    listing, without, schema = lines("How plugins are found")
    env = environment(folder)
    listed = shell(listing, folder, env).stdout
    assert "site.fabric" in listed
    assert re.search(r"^aorta_collectors\.rccl .*\bblocked\b", listed, re.MULTILINE)
    shell(without, folder, env)
    document = json.loads((folder / "env.json").read_text())
    assert document["extensions"] == {}
    assert {plugin["source"] for plugin in document["collection"]["plugins"]} == {"builtin"}
    assert json.loads(shell(schema, folder, env).stdout)["properties"]["data"]["properties"]["state"]


def test_the_table_of_sources_is_the_order(folder):
    """The same plugin from two sources is the first one's; the words of the table are the document's."""
    words = re.findall(r"^\| \d \| .* \| `(\w+)` \|", text_of(PAGE), re.MULTILINE)
    assert words == ["builtin", "argument", "environment", "entry_point"]
    line = "PYTHONPATH=. AORTA_PLUGINS=site_names aorta env collectors --json"
    env = environment(folder)
    for more, source in ((" --plugin site_names", "argument"), ("", "environment")):
        listed = json.loads(shell(line + more, folder, env).stdout)["plugins"]
        assert [one["source"] for one in listed if one["module"] == "site_names"] == [source]


def test_the_page_is_linked():
    assert PAGE in PAGES
    assert "hooks.md" in text_of("docs/write-a-collector.md")
