from aorta import __version__
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
    place = next(number for number, line in enumerate(lines) if line.startswith("PLUGIN"))
    assert lines[place].split() == ["PLUGIN", "VERSION", "SOURCE", "STATUS", "SECTIONS", "DETAIL"]
    (own,) = lines[place + 1 :]
    about = f"{len(known.plugins)} modules of aorta itself"
    told = ["aorta", __version__, "builtin", "loaded", str(len(known.collectors)), *about.split()]
    assert own.split() == told


def test_json(cli):
    known = discover(outside=False)
    listed = cli("env", "collectors", "--json").json
    assert {one["section"] for one in listed["collectors"]} == set(known.collectors)
    assert {one["name"] for one in listed["providers"]} == set(known.providers)
    host = next(one for one in listed["collectors"] if one["section"] == "host")
    assert [one["name"] for one in listed["plugins"]] == [record.name for record in known.plugins]
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
    table = ran.out.splitlines()
    place = next(number for number, line in enumerate(table) if line.startswith("PLUGIN"))
    # One's own stand first, and of aorta's only what was left out.
    heads = [" ".join(line.split()[:5]) for line in table[place + 1 :]]
    assert heads[0] == "acme - argument loaded acme.nic"
    assert heads[1] == "no_such_module - environment failed -"
    assert heads[2].endswith("builtin blocked rocm")
    assert heads[3].startswith("aorta ")
    assert len(heads) == 4


def test_without_plugins(cli):
    (cli.folder / "acme.py").write_text(PLUGIN)
    variable = {"AORTA_PLUGINS": "acme,no:rocm"}
    ran = cli("env", "collectors", "--no-plugins", env=variable)
    assert (ran.code, ran.out) == (0, cli("env", "collectors").out)
    ran = cli("env", "collectors", "--no-plugins", "--plugin", "acme")
    assert (ran.code, ran.lines) == (2, ["aorta: --plugin acme and --no-plugins: only one of them"])


def test_schema(cli):
    ran = cli("schema", "show")
    assert ran.code == 0
    assert "host" in ran.json["properties"]
    assert cli("schema", "show", "--section", "host").json
    ran = cli("schema", "show", "--section", "bogus")
    assert (ran.code, len(ran.lines)) == (2, 1)


def test_schema_of_a_plugin(cli):
    (cli.folder / "acme.py").write_text(PLUGIN)
    named = {"AORTA_PLUGINS": "acme"}
    assert cli("schema", "show", env=named).json["properties"]["extensions"]["properties"] == {}
    assert cli("schema", "show", "--section", "acme.nic", env=named).code == 2
    ways = (("--with-plugins",), named), (("--plugin", "acme"), {})
    for words, env in ways:
        whole = cli("schema", "show", *words, env=env).json
        one = cli("schema", "show", *words, "--section", "acme.nic", env=env).json
        assert one == whole["properties"]["extensions"]["properties"]["acme.nic"]
        assert one["properties"]["data"]["description"] == "Number of acme's cards."
