"""The revision of the project: real checkouts of git and mercurial."""

import pytest

from tests.parts.checkouts import belongs_to_another, git, git_checkout, hg, hg_checkout, worktree


def build_system(project, **options):
    ran = project.probe(sections=("build_system",), **options)
    assert (ran.code, ran.err) == (0, "")
    return ran["build_system"], ran


def told(project, **options):
    found = build_system(project, **options)[0]
    return found["revision"], found["revision_source"], found["dirty"]


def test_git(project):
    commit = git_checkout(project.root)
    assert told(project) == (commit, "git", False)
    (project.root / ".buckconfig").write_text("[cells]\n  root = .\n# changed\n")
    assert told(project) == (commit, "git", True)


def test_files_that_git_does_not_know_change_nothing(project):
    commit = git_checkout(project.root)
    (project.root / "new").write_text("x")
    assert told(project) == (commit, "git", False)


def test_what_is_only_staged_is_a_change(project):
    commit = git_checkout(project.root)
    (project.root / "new").write_text("x")
    git(project.root, "add", "new")
    assert told(project) == (commit, "git", True)


def test_a_detached_head(project):
    first = git_checkout(project.root)
    git(project.root, "commit", "-q", "--allow-empty", "-m", "more")
    git(project.root, "checkout", "-q", first)
    assert told(project) == (first, "git", False)


def test_a_project_below_the_top_of_the_checkout(project):
    commit = git_checkout(project.folder)
    assert told(project)[:2] == (commit, "git")


def test_from_below_the_project(project):
    commit = git_checkout(project.root)
    place = project.root / "a" / "b"
    place.mkdir(parents=True)
    found = build_system(project, cwd=place)[0]
    assert (found["revision"], found["repo_root"]) == (commit, str(project.root))


def test_a_worktree(project):
    git_checkout(project.root)
    place = project.folder / "second"
    commit = worktree(project.root, place)
    assert told(project, cwd=place) == (commit, "git", False)
    assert build_system(project, cwd=place)[0]["repo_root"] == str(place)


def test_no_commit_yet(project):
    git(project.root, "init", "-q")
    revision, source, _ = told(project)
    assert revision is None
    found, ran = build_system(project)
    assert source in (None, "git")
    assert [reason for reason in ran.reasons("build_system") if "revision" in reason["field"]]
    assert found["kind"] == "buck2"


def test_no_checkout(project):
    found, ran = build_system(project)
    assert (found["revision"], found["revision_source"], found["dirty"]) == (None, None, None)
    assert found["kind"] == "buck2"
    assert ran.document["partial"] is False


def test_a_checkout_of_another_user(project):
    git_checkout(project.root)
    belongs_to_another(project.root)
    found, ran = build_system(project)
    assert (found["revision"], found["dirty"]) == (None, None)
    (reason,) = [each for each in ran.reasons("build_system") if each["field"] == "revision"]
    assert "dubious ownership" in reason["detail"]
    assert ran.document["partial"] is True
    assert not (project.home / ".gitconfig").exists()


def test_git_is_not_installed(project):
    git_checkout(project.root)
    path = project.path_without("git")
    found, ran = build_system(project, env={"PATH": path})
    assert found["kind"] == "buck2"
    assert found["revision"] is None
    assert any("git" in reason["detail"] + str(reason["subject"]) for reason in ran.reasons("build_system"))


def test_mercurial(project):
    changeset = hg_checkout(project.root)
    assert told(project) == (changeset, "hg", False)
    (project.root / ".buckconfig").write_text("[cells]\n  root = .\n# changed\n")
    revision, source, dirty = told(project)
    assert (revision.rstrip("+"), source, dirty) == (changeset, "hg", True)


def test_mercurial_without_a_commit(project):
    hg(project.root, "init")
    revision, _, _ = told(project)
    assert revision is None or set(revision) <= {"0", "+"}
    assert revision is None, "an empty repository has no changeset"


def test_the_revision_stands_beside_the_libraries(project):
    commit = git_checkout(project.root)
    ran = project.asked("--buck-default-context")
    assert {entry["revision"] for entry in ran.libraries} == {commit}


def test_git_that_hangs(project):
    git_checkout(project.root)
    (project.bin / "git").write_text("#!/bin/sh\nsleep 600\n")
    (project.bin / "git").chmod(0o755)
    found, ran = build_system(project)
    assert (found["kind"], found["revision"], found["dirty"]) == ("buck2", None, None)
    assert ran.reasons("build_system", "timed_out")
    assert ran.elapsed_s < 30


@pytest.mark.parametrize("printed", ["", "not a commit", "HEAD", "x" * 5000, "0123"])
def test_git_that_prints_something_else(project, printed):
    git_checkout(project.root)
    (project.bin / "git").write_text(f"#!/bin/sh\necho '{printed}'\n")
    (project.bin / "git").chmod(0o755)
    found, ran = build_system(project)
    assert found["revision"] is None
    assert [reason for reason in ran.reasons("build_system") if reason["field"].startswith("revision")]


def test_git_is_left_as_it_is(project):
    git_checkout(project.root)
    index = project.root / ".git" / "index"
    (project.root / ".buckconfig").touch()
    before = index.read_bytes()
    listed = sorted(path.name for path in (project.root / ".git").iterdir())
    told(project)
    assert index.read_bytes() == before
    assert sorted(path.name for path in (project.root / ".git").iterdir()) == listed


def test_no_file_system_monitor_is_started(project):
    git_checkout(project.root)
    hook = project.folder / "monitor"
    hook.write_text(f"#!/bin/sh\ntouch {project.folder}/ran\n")
    hook.chmod(0o755)
    git(project.root, "config", "core.fsmonitor", str(hook))
    told(project)
    assert not (project.folder / "ran").exists()
