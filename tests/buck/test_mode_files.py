"""The content of mode files: a digest beside the fingerprint, since the fingerprint knows their names alone."""

import hashlib

import pytest

from tests.parts.buck import LITERAL

SECTIONS = ("buck_invocation", "library_introspection")


def asked(project, *modes, **options):
    words = [word for mode in modes for word in ("--buck-option", f"mode={mode}")]
    return project.asked(*words, sections=SECTIONS, **options)


def told(ran):
    invocation = ran.invocation
    return invocation["context_fingerprint"], invocation["mode_files_digest"]


def test_an_edited_mode_file_has_another_digest(project):
    path = project.mode("mode/a", "-c", "a.b=notreal-1")
    first = asked(project, "mode/a")
    (row,) = first.invocation["mode_file_contents"]
    assert row == {
        "mode": "mode/a",
        "path": str(path),
        "digest": f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}",
    }
    again = asked(project, "mode/a")
    assert told(again) == told(first)
    project.mode("mode/a", "-c", "a.b=notreal-2")
    changed = asked(project, "mode/a")
    assert changed.invocation["context_fingerprint"] == first.invocation["context_fingerprint"]
    assert changed.invocation["mode_files_digest"] != first.invocation["mode_files_digest"]
    assert "notreal" not in first.out + changed.out


@pytest.mark.parametrize("word", ["@mode/inner", "@//mode/inner", "@root//mode/inner"])
def test_a_file_that_a_mode_file_includes(project, word):
    project.mode("mode/a", "--# remark", word)
    project.mode("mode/inner", "-c", "a.b=1")
    first = asked(project, "mode/a")
    assert [row["path"] for row in first.invocation["mode_file_contents"]] == [
        str(project.root / "mode/a"),
        str(project.root / "mode/inner"),
    ]
    project.mode("mode/inner", "-c", "a.b=2")
    changed = asked(project, "mode/a")
    assert changed.invocation["context_fingerprint"] == first.invocation["context_fingerprint"]
    assert changed.invocation["mode_files_digest"] != first.invocation["mode_files_digest"]


def test_a_cell(project):
    project.mode("mode/o", "-m", "//c:x", cell="other")
    ran = asked(project, "other//mode/o")
    assert ran.invocation["status"] == "success"
    (row,) = ran.invocation["mode_file_contents"]
    assert row["path"] == str(project.root / "other/mode/o")
    assert row["digest"].startswith("sha256:")
    assert ["audit", "cell", "--json", "other"] in [call["argv"] for call in project.calls()]
    assert project.context() == ["@other//mode/o"]


def test_the_cell_of_the_working_directory(project):
    project.mode("mode/o", "-m", "//c:x", cell="other")
    ran = asked(project, "//mode/o", target="root//app:trainer", cwd=project.root / "other")
    assert ran.invocation["status"] == "success"
    (row,) = ran.invocation["mode_file_contents"]
    assert row["path"] == str(project.root / "other/mode/o")
    assert ["root"] in [call["argv"] for call in project.calls()]


def test_cells_are_asked_for_only_where_a_mode_names_one(project):
    project.mode("mode/a", "-m", "//c:x")
    asked(project, "mode/a")
    assert {call["argv"][0] for call in project.calls()} == {"--version", "root", "cquery"}


def test_the_files_order_and_place_count(project):
    project.mode("mode/a", "-c", "a.b=1")
    project.mode("mode/b", "-c", "a.b=2")
    digests = {
        order: asked(project, *order).invocation["mode_files_digest"]
        for order in (("mode/a",), ("mode/b",), ("mode/a", "mode/b"), ("mode/b", "mode/a"))
    }
    assert len(set(digests.values())) == 4


def test_a_file_that_is_not_there(project):
    ran = asked(project, "mode/none")
    invocation = ran.invocation
    assert invocation["status"] == "failure"
    assert invocation["mode_files_digest"] is None
    assert invocation["mode_files"] == ["mode/none"]
    assert invocation["context_fingerprint"] is not None
    assert any("mode/none" in str(reason) for reason in ran.reasons("buck_invocation"))
    assert ran.libraries is None


def test_a_file_that_is_looked_for_in_the_cell_too(project):
    project.mode("mode/a", "-m", "//c:x")
    place = project.root / "app"
    place.mkdir()
    ran = asked(project, "mode/a", cwd=place)
    assert ran.invocation["status"] == "success"
    digests = [row["digest"] for row in ran.invocation["mode_file_contents"]]
    assert digests == [f"sha256:{hashlib.sha256((project.root / 'mode/a').read_bytes()).hexdigest()}"]


def test_files_that_include_one_another_in_a_circle(project):
    project.mode("mode/a", "@mode/b")
    project.mode("mode/b", "@mode/a")
    project.behave("cquery", exit=3, stdout="")
    ran = asked(project, "mode/a", limit_s=30)
    assert ran.code == 0
    assert [row["mode"] for row in ran.invocation["mode_file_contents"]][:2] == ["mode/a", "mode/b"]
    assert len(ran.invocation["mode_file_contents"]) <= 3


def test_a_file_that_may_not_be_a_file(project):
    (project.root / "mode").mkdir()
    ran = asked(project, "mode")
    assert ran.code == 0
    assert ran.invocation["mode_files_digest"] is None


def test_a_device_as_a_mode(project):
    project.script("exit 3")
    ran = asked(project, "/dev/zero", limit_s=40)
    assert ran.code == 0
    assert ran.invocation["mode_files_digest"] is None


def test_a_program_as_a_mode(project):
    path = project.mode("mode/a.py", "print('-m')", "print('//c:x')")
    ran = asked(project, "mode/a.py")
    assert ran.invocation["status"] == "success"
    assert ran.invocation["configured_root_target"].startswith("root//app:trainer (cfg:")
    (row,) = ran.invocation["mode_file_contents"]
    assert row["path"] == str(path)
    # Run by buck2, twice; not by aorta.
    assert len(project.queries()) == 2


def test_the_default_has_no_files(project):
    ran = project.asked("--buck-default-context", sections=SECTIONS)
    assert ran.invocation["mode_files"] == []
    assert ran.invocation["mode_files_digest"] is None
    assert not ran.invocation["mode_file_contents"]


def test_a_mode_of_options_with_blanks_in_their_values(project):
    project.mode("mode/a", "-c", "a.b=--target x @y @//z", "--config", "a.c=@mode/none")
    ran = asked(project, "mode/a")
    assert ran.invocation["status"] == "success"
    assert len(ran.invocation["mode_file_contents"]) == 1
    assert LITERAL in project.queries()[0]
