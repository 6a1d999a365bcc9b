"""git that refuses a checkout of another user: the revision has a reason with git's own words, and no setting changes."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.buck import Project
from tests.parts.checkouts import belongs_to_another, git_checkout

CASE = "buck-revision-dubious-ownership"

SAID = (
    "fatal: detected dubious ownership in repository at '/src/repo'\nTo add an exception for this directory,"
    " call:\n\n\tgit config --global --add safe.directory /src/repo\n"
)


def test_what_git_said():
    git = ("git", "-C", "/src/repo", "rev-parse", "HEAD")
    status = (
        "git -c core.fsmonitor=false --no-optional-locks -C /src/repo status --porcelain --untracked-files=no"
    )
    refused = {"exit": 128, "stdout": "", "stderr": SAID}
    host = FakeHost(
        files={"/src/repo/.buckconfig": ""},
        dirs=["/src/repo/.git"],
        observed={"cwd": "/src/repo"},
        commands={
            "buck2 --version": "buck2 2026-08-15-abc\n",
            "buck2 root --kind project": "/src/repo\n",
            git: refused,
            status: refused,
        },
    )
    result = collect(host, "build_system")
    assert result.value["kind"] == "buck2"
    assert result.value["revision"] is None
    assert result.value["dirty"] is None
    (reason,) = [each for each in result.reasons if each.field == "revision"]
    assert "detected dubious ownership in repository at '/src/repo'" in reason.detail
    assert "\n" not in reason.detail
    assert reason.partial


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_a_real_one(project):
    commit = git_checkout(project.root)
    ran = project.probe(sections=("build_system",))
    assert ran["build_system"]["revision"] == commit
    belongs_to_another(project.root)
    ran = project.probe(sections=("build_system",))
    assert ran["build_system"]["revision"] is None
    (reason,) = [each for each in ran.reasons("build_system") if each["field"] == "revision"]
    assert "dubious ownership" in reason["detail"]
    assert ran.document["partial"] is True
    assert not (project.home / ".gitconfig").exists()
