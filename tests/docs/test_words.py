"""What the code knows stands on its page, and what a page names is known to the code."""

import json
import re
import subprocess
import sys

import click
import pytest

from aorta.cli.capturing import DEADLINE_S
from aorta.cli.errors import Failure, Misuse
from aorta.cli.probe import DEFAULT_OUTPUT, PARTIAL, probe
from aorta.cli.root import LazyGroup, root
from aorta.collect import Context
from aorta.instrumentation import capture
from aorta.instrumentation import environment as in_process
from aorta.model.codec import dump
from aorta.model.fieldpath import parse_path
from aorta.model.shape import fields_of
from aorta.model.vocabulary import (
    EXPECTABLE,
    INVOCATIONS,
    PARTIAL_KINDS,
    Coverage,
    Outcome,
    ReasonKind,
    Status,
)
from aorta.plugin import hooks
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost
from tests.fake_buck2.options import FLAGS, VALUES
from tests.parts.buck_rules import FLAGS as SWITCHES
from tests.parts.buck_rules import VALUES as BUILD
from tests.parts.pages import PAGES, ROOT, blocks, inline, text_of

PROBE, SNAPSHOT, WRITE, DESIGN = (
    f"docs/{name}.md" for name in ("env-probe", "snapshot", "write-a-collector", "design")
)


#: What pages name of buck2 itself: what its stand-ins take.
BUCK2 = {f"--{name}" for kind in (*VALUES.values(), *FLAGS.values()) for name in kind} | {*BUILD, *SWITCHES}


def options(command):
    return {
        name
        for one in command.params
        if isinstance(one, click.Option)
        for name in (*one.opts, *one.secondary_opts)
    }


def commands(group, path=("aorta",)):
    """Yield every command with the words that call it."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, LazyGroup):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def rows(page, heading):
    """Return the first cells of the table under a heading."""
    section = text_of(page).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]


def test_every_option_of_probe_is_in_the_table_and_no_other():
    named = {
        word for cell in rows(PROBE, "Options") for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", cell)
    }
    assert named == options(probe)


@pytest.mark.parametrize("page", PAGES)
def test_every_option_that_a_page_names_exists(page):
    known = {name for _, command in commands(root) for name in options(command)} | {"--version", "--help"}
    known |= BUCK2
    others = (
        "apptainer|conda|docker|dpkg|hipconfig|kubectl|mpirun|nicctl|pip|pipx|podman|rdhc|rpm|sbatch|SBATCH|srun"
        "|sudo|torchrun"
    )
    text = re.sub(rf"\b({others})\"? [^`\n]*?(?=\baorta(\.pyz)? env|`|\n)", "", text_of(page))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


def test_every_command_is_shown_somewhere():
    everything = "\n".join(map(text_of, PAGES))
    for path, _ in commands(root):
        assert " ".join(path) in everything


def test_every_exit_code():
    told = {int(number) for cell in rows(PROBE, "Exit codes")[1:] for number in re.findall(r"\d+", cell)}
    assert told == {0, Failure.exit_code, Misuse.exit_code, PARTIAL, 128 + 2, 128 + 15}


def test_every_kind_of_reason_on_the_right_side():
    text = " ".join(text_of(SNAPSHOT).split())
    complete, partial = (
        text.split("Each reason is")[1].split("make the snapshot **partial**")[0].split("The others, ")
    )
    assert {kind for kind in ReasonKind if f"`{kind.value}`" in complete} == set(ReasonKind) - PARTIAL_KINDS
    assert {kind for kind in ReasonKind if f"`{kind.value}`" in partial} == PARTIAL_KINDS
    page = " ".join(text_of(WRITE).split())
    words = page.split(" leave a snapshot complete")[0].rsplit(". ", 1)[-1].rsplit("|", 1)[-1]
    assert set(re.findall(r"`(\w+)`", words)) == set(ReasonKind) - PARTIAL_KINDS


@pytest.mark.parametrize("vocabulary", [Status, Outcome, Coverage])
def test_every_word_of_the_document(vocabulary):
    named = inline(SNAPSHOT)
    assert [word.value for word in vocabulary if word.value not in named] == []


def test_every_key_of_the_document():
    document = dump(capture(registry=discover(outside=False), host=FakeHost()))
    cells = " ".join(rows(SNAPSHOT, "How it came about: `collection`")[1:])
    assert set(re.findall(r"`(\w+)`", cells)) == set(document["collection"])
    frame = text_of(SNAPSHOT).split("```")[1]
    outside = set(document) - set(discover(outside=False).collectors)
    for key in ("schema_version", "schema_compat", "captured_at", "partial", "partial_reasons", "collection"):
        assert key in outside
        assert key in frame
    assert f'"{document["schema_version"]}"' in text_of(SNAPSHOT)


def test_limits_defaults_and_words_of_options():
    text = text_of(PROBE)
    assert f"{DEADLINE_S:g} s by default" in text
    assert f"The default limit is {in_process.DEADLINE_S:g} s" in text
    assert f"`{DEFAULT_OUTPUT}` by default" in text
    assert all(f"`{word}`" in text for word in INVOCATIONS)
    [expect] = [re.findall(r"[a-z]+", cell)[1:] for cell in rows(PROBE, "Options") if "--expect" in cell]
    assert set(expect) == set(EXPECTABLE)


def test_paths_of_fields_are_of_fields():
    registry = discover(outside=False)
    known = {
        f"{name}.{path}".replace(".[]", "")
        for name, spec in registry.collectors.items()
        for path, _ in fields_of(spec.model)
    }
    [line] = [line for line in text_of(PROBE).splitlines() if line.startswith("`PATH` of `--field`")]
    paths = re.findall(r"`([^`]+)`", line.split(":", 1)[1])
    assert len(paths) == 4
    for path in paths:
        parse_path(path)
        if not path.startswith("extensions"):
            assert re.sub(r"\[[^\]]*\]", "", path) in known


def test_every_hook():
    named = {name for name in vars(hooks) if name.startswith("aorta_")}
    assert len(named) == 4
    for name in named:
        assert f"`{name}`" in text_of(DESIGN)


#: What is asked of a context by what runs a collector in another process, not by the collector.
APART = {"begin", "need_packed"}


def test_everything_that_a_collector_may_ask():
    public = {name for name in vars(Context) if not name.startswith("_")}
    told = set(re.findall(r"\bctx\.(\w+)", text_of(WRITE)))
    assert told - public == set()
    assert public - told == APART


def test_every_variable_that_a_page_names_is_read():
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("aorta", "collectors", "tests/parts")
        for path in (ROOT / folder).rglob("*.py")
    )
    source += "".join(block.text for page in PAGES for block in blocks(page, "python"))
    for page in PAGES:
        for name in re.findall(r"\bAORTA_[A-Z_]+\b", text_of(page)):
            assert name in source, f"{page}: {name}"


def test_every_file_that_a_page_names_is_there():
    for page in PAGES:
        for word in inline(page):
            name = word.removeprefix("python ")
            if re.fullmatch(r"(aorta|collectors|scripts|schema|tests|docs|bench)/\w[\w./-]*", name):
                assert (ROOT / name).exists(), f"{page}: {name}"


def test_the_schema_is_what_the_command_prints():
    command = [sys.executable, "-m", "aorta", "schema", "show"]
    env = {"PYTHONPATH": f"{ROOT}:{ROOT}/collectors", "PATH": "/usr/bin:/bin"}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    [named] = [word for word in inline(SNAPSHOT) if word.endswith(".schema.json")]
    assert json.loads(printed) == json.loads((ROOT / named).read_text(encoding="utf-8"))
