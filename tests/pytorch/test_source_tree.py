"""How torch was installed and what is checked out beside it, on made-up hosts and in real repositories."""

import errno
import os
import shutil

import pytest

from aorta.testing import Distribution, FakeHost, Module, torch_report
from aorta.testing.hosts import DenyingHost
from aorta_collectors.pytorch.source_tree import NotOwnError, parse_checkout, parse_recorded
from tests.parts.needs import need
from tests.parts.torch_sources import git, look, look_live, repository, superproject

ONE, TWO = "1" * 40, "2" * 40
BUILT_FROM = "cf30153c4c131c8164ee7798e5022d810682e2cb"
NULL = {
    "composable_kernel": None,
    "aiter": None,
    "fbgemm": None,
    "_source": None,
    "superproject": None,
    "recorded": {"composable_kernel": None, "aiter": None, "fbgemm": None},
}
EDITABLE = '{"url": "file:///src/my%20torch", "dir_info": {"editable": true}}'


def host(package="/sp/torch", metadata="/sp/torch-2.13.0.dist-info", direct_url=None, **parts):
    found = {}
    if metadata is not None:
        found["torch"] = Distribution(name="torch", version="2.13.0", path=metadata, direct_url=direct_url)
    return FakeHost(
        **{
            "modules": {"torch": f"{package}/__init__.py"},
            "distributions": found,
            "observed": {"torch": torch_report(version="2.13.0", git_version=BUILT_FROM)},
            **parts,
            "dirs": [package, *parts.get("dirs", ())],
        }
    )


def kind(result):
    return result.value["install_kind"], result.value["source_path"]


# How it was installed


def test_a_wheel_has_no_tree_and_is_not_partial():
    result = look(host())
    assert kind(result) == ("wheel", None)
    assert result.value["submodule_commits"] == NULL
    assert result.kinds("source_path") == result.kinds("submodule_commits") == ["absent"]
    assert not any(reason.partial for reason in result.reasons)
    (hint,) = [reason.detail for reason in result.reasons if reason.field == "submodule_commits"]
    assert f"third_party of commit {BUILT_FROM}" in hint


def test_a_wheel_that_does_not_say_its_commit_still_has_the_hint():
    result = look(host(observed={"torch": torch_report(version="2.13.0")}))
    (hint,) = [reason.detail for reason in result.reasons if reason.field == "submodule_commits"]
    assert "the commit that it was built from" in hint


def test_no_torch_is_one_absence_for_each_part():
    result = look(FakeHost())
    assert kind(result) == (None, None)
    assert result.value["submodule_commits"] == NULL
    assert {reason.kind.value for reason in result.reasons} == {"absent"}
    assert result.kinds("install_kind") == ["absent"]


def test_a_tree_that_the_caller_names_needs_no_torch():
    result = look(FakeHost(dirs=["/src/third_party"], env={"AORTA_PYTORCH_SRC": "/src/"}))
    assert kind(result) == ("source", "/src")


def test_a_tree_that_the_caller_names_comes_first():
    named = host(dirs=["/src/third_party"], env={"AORTA_PYTORCH_SRC": "/src"}, direct_url=EDITABLE)
    assert kind(look(named)) == ("source", "/src")


@pytest.mark.parametrize(
    ("named", "parts", "reason"),
    [
        ("/nowhere", {}, "absent"),
        ("/src", {"dirs": ["/src"]}, "absent"),
        ("/src", {"files": {"/src/third_party": "a file"}}, "absent"),
        ("relative/src", {}, "unsupported"),
    ],
)
def test_a_name_that_leads_nowhere_is_told_and_costs_nothing(named, parts, reason):
    result = look(host(env={"AORTA_PYTORCH_SRC": named}, **parts))
    assert kind(result) == ("wheel", None)
    assert result.kinds("source_path") == [reason, "absent"]
    assert named in result.reasons[0].detail
    assert not any(each.partial for each in result.reasons)


def test_an_empty_name_is_none():
    result = look(host(env={"AORTA_PYTORCH_SRC": ""}))
    assert kind(result) == ("wheel", None)
    assert result.kinds("source_path") == ["absent"]


def test_w2_a_named_tree_that_may_not_be_looked_at_blanks_nothing():
    refusing = Refusing(host(env={"AORTA_PYTORCH_SRC": "/src"}), {"/src/third_party": errno.EACCES})
    result = look(refusing)
    # It may be the source tree: that torch is a wheel would be a guess.
    assert kind(result) == ("unknown", None)
    assert result.kinds("source_path") == ["denied"]
    assert result.kinds("submodule_commits") == ["denied"]
    assert result.reasons[0].subject == "/src/third_party"


def test_a_named_tree_on_a_dead_mount_is_timed_out():
    refusing = Refusing(host(env={"AORTA_PYTORCH_SRC": "/src"}), {"/src/third_party": errno.ETIMEDOUT})
    result = look(refusing)
    assert kind(result) == ("unknown", None)
    assert result.kinds("source_path") == ["timed_out"]


def test_a_named_tree_that_is_denied_leaves_what_the_files_prove():
    within = host(
        package="/work/pytorch/torch",
        metadata="/work/pytorch/torch.egg-info",
        dirs=["/work/pytorch/third_party", "/work/pytorch/.git"],
        env={"AORTA_PYTORCH_SRC": "/src"},
    )
    result = look(Refusing(within, {"/src/third_party": errno.EACCES}))
    assert kind(result) == ("source", "/work/pytorch")
    assert result.kinds("source_path") == ["denied"]


def test_without_torch_a_denied_tree_is_the_reason():
    result = look(Refusing(FakeHost(env={"AORTA_PYTORCH_SRC": "/src"}), {"/src/third_party": errno.EACCES}))
    assert kind(result) == (None, None)
    assert result.kinds("install_kind") == result.kinds("source_path") == ["denied"]


def test_everything_denied_claims_nothing():
    result = look(DenyingHost())
    assert kind(result) == (None, None)
    assert set(result.kinds()) == {"denied"}


@pytest.mark.parametrize("third_party", [[], ["/src/my torch/third_party"]])
def test_an_editable_install(third_party):
    editable = host(package="/src/my torch/torch", direct_url=EDITABLE, dirs=third_party)
    assert kind(look(editable)) == ("editable", "/src/my torch")


def test_an_editable_install_by_another_path():
    linked = FakeHost(
        modules={"torch": "/home/me/torch/__init__.py"},
        distributions={
            "torch": Distribution(name="torch", path="/sp/torch-2.dist-info", direct_url=EDITABLE)
        },
        dirs=["/data/my torch/torch"],
        links={"/src": "/data", "/home/me": "/data/my torch"},
    )
    assert kind(look(linked)) == ("editable", "/src/my torch")


def test_metadata_of_an_editable_install_that_this_copy_is_not():
    stale = host(package="/sp/torch", direct_url=EDITABLE, dirs=["/src/my torch/torch"])
    result = look(stale)
    assert kind(result) == ("unknown", None)
    assert "/src/my torch" in result.reasons[0].detail


@pytest.mark.parametrize(
    ("package", "git_is"),
    [("/work/pytorch/torch", "dir"), ("/work/pytorch/torch", "file"), ("/work/pytorch/build/torch", "dir")],
)
def test_a_package_inside_a_source_tree(package, git_is):
    parts = {"dirs": ["/work/pytorch/third_party"]}
    if git_is == "dir":
        parts["dirs"].append("/work/pytorch/.git")
    else:
        parts["files"] = {"/work/pytorch/.git": "gitdir: /main/.git/worktrees/pytorch\n"}
    assert kind(look(host(package=package, metadata=None, **parts))) == ("source", "/work/pytorch")


def test_a_tree_without_git_is_not_known_as_one():
    result = look(host(package="/work/pytorch/torch", metadata=None, dirs=["/work/pytorch/third_party"]))
    assert kind(result) == ("unknown", None)


def test_a_wheel_unpacked_into_somebody_elses_repository_is_a_wheel():
    unpacked = host(
        package="/project/libs/torch",
        metadata="/project/libs/torch-2.13.0.dist-info",
        dirs=["/project/third_party", "/project/.git"],
    )
    assert kind(look(unpacked)) == ("wheel", None)


def test_metadata_of_a_system_package_are_egg_info():
    assert kind(look(host(metadata="/sp/torch-2.13.0.egg-info"))) == ("wheel", None)


def test_metadata_by_another_path_of_the_same_directory():
    linked = FakeHost(
        modules={"torch": "/env/lib64/torch/__init__.py"},
        distributions={"torch": Distribution(name="torch", path="/env/lib/torch-2.dist-info")},
        dirs=["/env/lib/torch"],
        links={"/env/lib64": "lib"},
    )
    assert kind(look(linked)) == ("wheel", None)


@pytest.mark.parametrize("metadata", [None, "/elsewhere/torch-1.0.dist-info"])
def test_a_copy_without_metadata_of_its_own_is_no_wheel(metadata):
    result = look(host(package="/out/app#link-tree/torch", metadata=metadata, dirs=["/elsewhere"]))
    assert kind(result) == ("unknown", None)
    assert result.kinds("install_kind") == result.kinds("submodule_commits") == ["unsupported"]
    assert not any(reason.partial for reason in result.reasons)


def test_what_is_denied_on_the_way_keeps_the_kind_unknown():
    refusing = Refusing(host(package="/work/x/torch", metadata=None), {"/work/x/third_party": errno.EACCES})
    result = look(refusing)
    assert kind(result) == ("unknown", None)
    assert result.kinds("source_path") == ["denied"]


def test_a_repository_that_may_not_be_looked_at():
    within = host(package="/work/x/torch", metadata=None, dirs=["/work/x/third_party"])
    result = look(Refusing(within, {"/work/x/.git": errno.EACCES}))
    assert kind(result) == ("unknown", None)
    assert result.kinds("source_path") == ["denied"]


def test_a_package_in_an_archive():
    inside = FakeHost(
        files={"/x/app.par": b"PK"},
        modules={
            "torch": Module(
                name="torch", origin="/x/app.par/torch/__init__.py", locations=("/x/app.par/torch",)
            )
        },
    )
    assert kind(look(inside)) == ("unknown", None)


# What git says, as text


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
    assert kind(result) == ("source", str(top))
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


def test_a_package_in_its_source_tree(tmp_path, monkeypatch):
    top = superproject(tmp_path, "aiter")
    (top / "torch").mkdir()
    (top / "torch/__init__.py").write_text("raise SystemExit('not to be imported')\n")
    (top / "torch/version.py").write_text(f"__version__ = '2.13.0a0'\ngit_version = '{BUILT_FROM}'\n")
    monkeypatch.syspath_prepend(str(top))
    result = look_live("")
    assert kind(result) == ("source", str(top))
    assert result.value["submodule_commits"]["aiter"] == git(top / "third_party/aiter", "rev-parse", "HEAD")


class Refusing:
    """A host whose ``stat`` of some paths fails."""

    def __init__(self, host, refused):
        self._host, self._refused = host, refused

    def __getattr__(self, name):
        return getattr(self._host, name)

    def stat(self, path, *, timeout=None, follow=True):
        if path in self._refused:
            number = self._refused[path]
            raise OSError(number, os.strerror(number), path)
        return self._host.stat(path, timeout=timeout, follow=follow)
