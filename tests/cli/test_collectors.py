from aorta.plugin.discovery import discover

PLUGIN = '''
from typing import Annotated
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector

print("noise at import")

@collector(section="acme.nic", model=Annotated[int | None, Fact("Number.")], provenance=Provenance.PROCESS)
def number(ctx):
    """Number of acme's cards."""
'''


def test_every_declaration_is_listed(cli):
    known = discover(outside=False)
    ran = cli("env", "collectors")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].split() == ["SECTION", "PROVENANCE", "SCOPE", "DETAIL", "NEEDS", "DEADLINE", "SUMMARY"]
    for spec in known.specs():
        (line,) = [line for line in lines if line.split()[:1] == [spec.name]]
        assert spec.summary in line
        assert f"{spec.timeout_s:g} s" in line
    for record in known.plugins:
        assert any(line.startswith(record.name) and "builtin" in line and "loaded" in line for line in lines)


def test_json(cli):
    known = discover(outside=False)
    listed = cli("env", "collectors", "--json").json
    assert {one["section"] for one in listed["collectors"]} == set(known.collectors)
    assert {one["name"] for one in listed["providers"]} == set(known.providers)
    host = next(one for one in listed["collectors"] if one["section"] == "host")
    assert host["provenance"] and host["scope"] and host["detail"] == "compact" and host["timeout_s"] > 0


def test_a_plugin_named_here_and_one_that_fails(cli):
    (cli.folder / "acme.py").write_text(PLUGIN)
    ran = cli("env", "collectors", "--plugin", "acme", env={"AORTA_PLUGINS": "no_such_module,no:rocm"})
    assert ran.code == 0
    assert "acme.nic" in ran.out and "Number of acme's cards." in ran.out
    assert "noise at import" in ran.err and "noise at import" not in ran.out
    (line,) = [line for line in ran.out.splitlines() if line.startswith("no_such_module")]
    assert "failed" in line and "ModuleNotFoundError" in line
    assert "left out by AORTA_PLUGINS" in ran.out


def test_schema(cli):
    ran = cli("schema", "show")
    assert ran.code == 0
    assert "host" in ran.json["properties"]
    assert cli("schema", "show", "--section", "host").json
    ran = cli("schema", "show", "--section", "bogus")
    assert (ran.code, len(ran.lines)) == (2, 1)
