"""What is checked out in a source tree of torch, on made-up hosts and in real repositories."""

import errno
import os
import shutil

import pytest

from aorta.testing import FakeHost
from aorta_collectors.pytorch.submodules import NotOwnError, parse_checkout, parse_recorded
from tests.parts.needs import need
from tests.parts.torch_sources import NULL, Refusing, git, look, look_live, repository, superproject

ONE, TWO = "1" * 40, "2" * 40


@pytest.mark.parametrize("commit", [ONE, "a" * 64])
def test_a_commit_at_the_top(commit):
    assert parse_checkout(f"\n{commit}\n") == commit


@pytest.mark.parametrize(
    "text",
    ["", "\n", f"{ONE}\n", "\nHEAD\n", f"\n{ONE[:39]}\n", f"\n{ONE.replace('1', 'G')}\n", f"\n{ONE}\nx\n"],
)
def test_what_is_no_commit(text):
    with pytest.raises(ValueError, match="no commit"):
        parse_checkout(text)


def test_a_commit_of_another():
    with pytest.raises(NotOwnError, match="third_party/aiter/"):
        parse_checkout(f"third_party/aiter/\n{ONE}\n")


def test_recorded_commits():
    text = (
        f"160000 commit {ONE}\tthird_party/aiter\n040000 tree {TWO}\tthird_party/fbgemm\n"
        f"160000 commit {TWO}x\tthird_party/x\nnoise\n160000 commit {TWO}\tcomposable_kernel"
    )
    assert parse_recorded(text) == {"aiter": ONE, "composable_kernel": TWO}


# What git says, on made-up hosts

GIT = ("git", "-C", "/src")


def ask(name):
    return ("git", "-C", f"/src/third_party/{name}", "rev-parse", "--show-prefix", "HEAD")


OWN = ("git", "-C", "/src", "rev-parse", "--show-prefix", "HEAD")
TREE = (*GIT, "ls-tree", "HEAD", "third_party/composable_kernel", "third_party/aiter", "third_party/fbgemm")


def commits(commands, names=("aiter",), **env):
    dirs = ["/src/third_party", *(f"/src/third_party/{name}" for name in names)]
    return look(FakeHost(dirs=dirs, commands=commands, env={"AORTA_PYTORCH_SRC": "/src", **env}))


def test_without_git_there_is_nobody_to_ask():
    result = commits({})
    assert result.value["submodule_commits"] == NULL
    assert result.kinds("submodule_commits.aiter") == ["no_tool"]
    assert result.kinds("submodule_commits.fbgemm") == ["absent"]
    assert not any(reason.partial for reason in result.reasons)


def test_git_that_hangs_is_timed_out():
    late = {"outcome": "timed_out"}
    result = commits({OWN: late, TREE: late, ask("aiter"): late})
    assert result.kinds("submodule_commits.aiter") == ["timed_out"]
    assert result.kinds("submodule_commits.recorded") == ["timed_out"]
    assert result.value["submodule_commits"] == NULL


@pytest.mark.parametrize(
    ("stderr", "reason", "words"),
    [
        (
            "fatal: detected dubious ownership in repository at '/src'\nTo add an exception, call:\n\n\tgit config\n",
            "denied",
            "safe.directory /src",
        ),
        (
            "fatal: unsafe repository ('/src/third_party/aiter' is owned by someone else)\n",
            "denied",
            "safe.directory /src/third_party/aiter",
        ),
        ("fatal: detected dubious ownership\n", "denied", "safe.directory /src/third_party/aiter"),
        (
            "fatal: not a git repository (or any of the parent directories): .git\n",
            "absent",
            "no git repository",
        ),
        (
            "fatal: cannot change to '/src/third_party/aiter': Permission denied\n",
            "denied",
            "Permission denied",
        ),
        ("fatal: ambiguous argument 'HEAD': unknown revision\n", "failed", "unknown revision"),
        ("", "failed", "exit status 128"),
    ],
)
def test_what_git_refuses(stderr, reason, words):
    result = commits({ask("aiter"): {"exit": 128, "stdout": "\nHEAD\n", "stderr": stderr}})
    assert result.value["submodule_commits"]["aiter"] is None
    assert result.kinds("submodule_commits.aiter") == [reason]
    (detail,) = [each.detail for each in result.reasons if each.field == "submodule_commits.aiter"]
    assert words in detail


def test_what_is_no_commit_is_unparsed():
    result = commits({ask("aiter"): "\nHEAD\n"})
    assert result.kinds("submodule_commits.aiter") == ["unparsed"]


def test_a_directory_that_may_not_be_looked_at():
    refusing = Refusing(
        FakeHost(dirs=["/src/third_party"], env={"AORTA_PYTORCH_SRC": "/src"}),
        {"/src/third_party/aiter": errno.EACCES},
    )
    result = look(refusing)
    assert result.kinds("submodule_commits.aiter") == ["denied"]


def test_a_file_in_the_place_of_a_submodule():
    odd = FakeHost(
        files={"/src/third_party/aiter": ""}, dirs=["/src/third_party"], env={"AORTA_PYTORCH_SRC": "/src"}
    )
    assert look(odd).kinds("submodule_commits.aiter") == ["absent"]


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_COMMON_DIR"])
def test_an_environment_that_sends_git_elsewhere(name):
    result = commits({ask("aiter"): f"\n{ONE}\n"}, **{name: "/other/.git"})
    assert result.value["submodule_commits"] == NULL
    assert result.kinds("submodule_commits") == ["unsupported"]


# Real repositories


def test_submodules_that_are_checked_out(tmp_path):
    top = superproject(tmp_path, "composable_kernel", "aiter", "fbgemm")
    expected = {
        name: git(top / "third_party" / name, "rev-parse", "HEAD")
        for name in ("composable_kernel", "aiter", "fbgemm")
    }
    assert len(set(expected.values())) == len(expected)
    result = look_live(top)
    assert result.value["source_path"] == str(top)
    assert result.value["submodule_commits"] == {
        **expected,
        "_source": "git",
        "superproject": git(top, "rev-parse", "HEAD"),
        "recorded": expected,
    }
    assert not [reason for reason in result.reasons if reason.field.startswith("submodule_commits")]


def test_what_is_checked_out_is_not_what_was_recorded(tmp_path):
    top = superproject(tmp_path, "aiter")
    recorded = git(top / "third_party/aiter", "rev-parse", "HEAD")
    git(top / "third_party/aiter", "commit", "-q", "--allow-empty", "-m", "a change of one's own")
    git(top / "third_party/aiter", "checkout", "-q", "--detach")
    now = git(top / "third_party/aiter", "rev-parse", "HEAD")
    commits = look_live(top).value["submodule_commits"]
    assert now != recorded
    assert (commits["aiter"], commits["recorded"]["aiter"]) == (now, recorded)


def test_a_submodule_that_is_not_initialised_does_not_answer_with_its_parent(tmp_path):
    origin = superproject(tmp_path / "a", "aiter")
    git(tmp_path, "clone", "-q", str(origin), "pytorch")
    clone = tmp_path / "pytorch"
    assert (clone / "third_party/aiter").is_dir()
    # What git itself says there, which is the trap:
    assert git(clone / "third_party/aiter", "rev-parse", "HEAD") == git(clone, "rev-parse", "HEAD")
    result = look_live(clone)
    commits = result.value["submodule_commits"]
    assert commits["aiter"] is None
    assert commits["_source"] is None
    assert commits["recorded"]["aiter"] == git(origin / "third_party/aiter", "rev-parse", "HEAD")
    assert result.kinds("submodule_commits.aiter") == ["absent"]
    (detail,) = [each.detail for each in result.reasons if each.field == "submodule_commits.aiter"]
    assert "not initialised" in detail


def test_a_worktree_and_a_link_to_it(tmp_path):
    top = superproject(tmp_path, "aiter")
    git(top, "worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    (tmp_path / "link").symlink_to(tmp_path / "other")
    shutil.rmtree(tmp_path / "other/third_party/aiter")
    repository(tmp_path / "other/third_party/aiter", "another")
    commits = look_live(tmp_path / "link").value["submodule_commits"]
    assert commits["superproject"] == git(top, "rev-parse", "HEAD")
    assert commits["aiter"] == git(tmp_path / "other/third_party/aiter", "rev-parse", "HEAD")


def test_a_repository_without_a_commit(tmp_path):
    (tmp_path / "third_party/aiter").mkdir(parents=True)
    git(tmp_path / "third_party/aiter", "init", "-q")
    result = look_live(tmp_path)
    assert result.value["submodule_commits"]["aiter"] is None
    assert result.kinds("submodule_commits.aiter") == ["failed"]


def test_a_tree_without_git(tmp_path):
    (tmp_path / "third_party/aiter").mkdir(parents=True)
    result = look_live(tmp_path)
    assert result.value["submodule_commits"] == NULL
    assert result.kinds("submodule_commits.aiter") == result.kinds("submodule_commits.recorded") == ["absent"]


def test_somebody_elses_repository_is_refused_in_gits_own_words(tmp_path, monkeypatch):
    need(os.geteuid() == 0, "only root may give a directory to another user")
    # Neither the tests' user nor the machine may have allowed all directories.
    monkeypatch.setenv("HOME", str(tmp_path))
    environ = {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    top = superproject(tmp_path, "aiter")
    for place, _, _ in os.walk(top):
        os.chown(place, 12345, 12345)
    result = look_live(top, environ)
    assert result.value["submodule_commits"] == NULL
    assert result.kinds("submodule_commits.aiter") == ["denied"]
    assert result.kinds("submodule_commits.recorded") == ["denied"]
    (detail,) = [each.detail for each in result.reasons if each.field == "submodule_commits.aiter"]
    assert "dubious ownership" in detail
    assert f"safe.directory {top}/third_party/aiter" in detail
    (tmp_path / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    assert look_live(top, environ).value["submodule_commits"]["_source"] == "git"
