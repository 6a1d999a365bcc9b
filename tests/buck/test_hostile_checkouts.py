"""Checkouts whose own configuration names programs, and a caller whose variables name another checkout."""

import os

import pytest

from tests.parts.checkouts import git, git_checkout, hg_checkout


def build_system(project, **options):
    ran = project.probe(sections=("build_system",), **options)
    assert (ran.code, ran.err) == (0, "")
    return ran["build_system"], ran


@pytest.fixture
def trap(project):
    """Return a program that leaves a file when it is run, and a function that tells whether it was."""
    program, mark = project.folder / "trap", project.folder / "sprung"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {mark}\ncat\n')
    program.chmod(0o755)
    return program, mark.exists


def settings(project, text):
    path = project.root / ".git" / "config"
    path.write_text(f"{path.read_text()}\n{text}\n")


@pytest.mark.parametrize("key", ["clean", "process"])
@pytest.mark.parametrize("included", [False, True])
def test_filters_of_the_checkout_are_not_run(project, trap, key, included):
    program, sprung = trap
    (project.root / ".gitattributes").write_text("* filter=x\n")
    commit = git_checkout(project.root)
    text = f'[filter "x"]\n {key} = {program}\n required = true'
    if included:
        (project.root / "more").write_text(text)
        text = f"[include]\n path = {project.root}/more"
    settings(project, text)
    # Only what has another date than git remembers would be filtered.
    os.utime(project.root / ".buckconfig", (1, 1))
    found, ran = build_system(project)
    assert not sprung()
    assert (found["revision"], found["dirty"]) == (commit, None)
    (reason,) = [each for each in ran.reasons("build_system") if each["field"] == "dirty"]
    assert f"filter.x.{key}" in reason["detail"]
    assert ran.document["partial"] is False


def test_filters_of_the_user_are_run(project, trap):
    program, sprung = trap
    (project.root / ".gitattributes").write_text("* filter=x\n")
    git_checkout(project.root)
    user = project.folder / "user"
    user.write_text(f'[filter "x"]\n clean = {program}\n')
    os.utime(project.root / ".buckconfig", (1, 1))
    found, _ = build_system(project, env={"GIT_CONFIG_GLOBAL": str(user)})
    assert (found["dirty"], sprung()) == (False, True)
    # The checkout puts its own in the place of the user's.
    settings(project, f'[filter "x"]\n clean = {program} own')
    assert build_system(project, env={"GIT_CONFIG_GLOBAL": str(user)})[0]["dirty"] is None


def test_other_programs_of_the_checkout_are_not_run(project, trap):
    program, sprung = trap
    commit = git_checkout(project.root)
    hooks = project.folder / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        (hooks / name).symlink_to(program)
    settings(
        project,
        f"[core]\n fsmonitor = {program}\n hooksPath = {hooks}\n sshCommand = {program}\n pager = {program}\n"
        f"[pager]\n status = true\n[alias]\n status = !{program}\n rev-parse = !{program}\n"
        f"[status]\n submoduleSummary = true\n[diff]\n external = {program}",
    )
    os.utime(project.root / ".buckconfig", (1, 1))
    found, _ = build_system(project)
    assert (found["revision"], found["dirty"], sprung()) == (commit, False, False)


def test_git_is_not_run_in_submodules(project, trap):
    program, sprung = trap
    inner = project.root / "inner"
    inner.mkdir()
    (inner / ".gitattributes").write_text("* filter=x\n")
    (inner / "file").write_text("x")
    git_checkout(inner)
    commit = git_checkout(project.root)
    config = inner / ".git" / "config"
    config.write_text(f'{config.read_text()}[filter "x"]\n clean = {program}\n')
    os.utime(inner / "file", (1, 1))
    found, _ = build_system(project)
    assert (found["revision"], found["dirty"], sprung()) == (commit, False, False)
    # Another commit in it is a change of this checkout.
    git(inner, "commit", "-q", "--allow-empty", "-m", "more")
    assert build_system(project)[0]["dirty"] is True


def test_a_partial_clone_fetches_nothing(project, trap):
    program, sprung = trap
    commit = git_checkout(project.root)
    tree = git(project.root, "rev-parse", "HEAD^{tree}")
    (project.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    settings(
        project,
        f'[extensions]\n partialClone = o\n[core]\n repositoryFormatVersion = 1\n[remote "o"]\n promisor = true\n'
        f' url = ext::{program}\n[protocol "ext"]\n allow = always',
    )
    found, ran = build_system(project)
    assert (found["revision"], sprung()) == (commit, False)
    assert found["dirty"] in (None, True)


@pytest.mark.parametrize("which", ["extensions", "hooks", "alias"])
def test_mercurial_does_not_read_the_settings_of_the_checkout(project, trap, which):
    program, sprung = trap
    changeset = hg_checkout(project.root)
    extension = project.folder / "extension.py"
    extension.write_text(f"import subprocess\nsubprocess.run([{str(program)!r}], stdin=subprocess.DEVNULL)\n")
    line = {
        "extensions": f"x = {extension}",
        "hooks": f"pre-identify = {program}",
        "alias": f"id = !{program}",
    }
    (project.root / ".hg" / "hgrc").write_text(f"[{which}]\n{line[which]}\n")
    found, _ = build_system(project)
    assert (found["revision"], found["dirty"], sprung()) == (changeset, False, False)


@pytest.mark.parametrize("line", ["[hooks]", "[extensions]", "%include /else", "[ALIAS]"])
def test_sapling_is_not_asked_where_the_checkout_may_name_programs(project, trap, line):
    program, sprung = trap
    (project.root / ".sl").mkdir()
    (project.bin / "sl").symlink_to(program)
    (project.root / ".sl" / "config").write_text(f"[paths]\ndefault = x\n{line}\nx = y\n")
    found, ran = build_system(project)
    assert (found["revision"], found["revision_source"], sprung()) == (None, "sl", False)
    (reason,) = [each for each in ran.reasons("build_system") if each["field"] == "revision"]
    assert line.split()[0] in reason["detail"]


@pytest.mark.parametrize("has", [False, True])
def test_sapling_is_asked_elsewhere(project, has):
    (project.root / ".sl").mkdir()
    if has:
        (project.root / ".sl" / "config").write_text("[paths]\ndefault = x\n")
    (project.bin / "sl").write_text('#!/bin/sh\necho "0123456789ab+ $*" | sed "s/ .*//"\n')
    (project.bin / "sl").chmod(0o755)
    found, _ = build_system(project)
    assert (found["revision"], found["revision_source"], found["dirty"]) == ("0123456789ab+", "sl", True)


@pytest.mark.parametrize("names", [("GIT_DIR",), ("GIT_DIR", "GIT_WORK_TREE"), ("GIT_INDEX_FILE",)])
def test_variables_of_the_caller_do_not_name_another_checkout(project, names):
    commit = git_checkout(project.root)
    other = project.folder / "other"
    other.mkdir()
    (other / "file").write_text("x")
    git_checkout(other)
    values = {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": "/nowhere"}
    found, _ = build_system(project, env={name: str(values[name]) for name in names})
    assert (found["revision"], found["dirty"]) == (commit, False)
