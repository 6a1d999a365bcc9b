"""How torch was installed, on made-up hosts and in a real repository."""

import errno

import pytest

from aorta.testing import Distribution, FakeHost, Module, torch_report
from aorta.testing.hosts import DenyingHost
from tests.parts.torch_sources import NULL, Refusing, git, look, look_live, superproject

ONE, TWO = "1" * 40, "2" * 40
BUILT_FROM = "cf30153c4c131c8164ee7798e5022d810682e2cb"
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
        package="/data/pytorch/torch",
        metadata="/data/pytorch/torch.egg-info",
        dirs=["/data/pytorch/third_party", "/data/pytorch/.git"],
        env={"AORTA_PYTORCH_SRC": "/src"},
    )
    result = look(Refusing(within, {"/src/third_party": errno.EACCES}))
    assert kind(result) == ("source", "/data/pytorch")
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
    [("/data/pytorch/torch", "dir"), ("/data/pytorch/torch", "file"), ("/data/pytorch/build/torch", "dir")],
)
def test_a_package_inside_a_source_tree(package, git_is):
    parts = {"dirs": ["/data/pytorch/third_party"]}
    if git_is == "dir":
        parts["dirs"].append("/data/pytorch/.git")
    else:
        parts["files"] = {"/data/pytorch/.git": "gitdir: /main/.git/worktrees/pytorch\n"}
    assert kind(look(host(package=package, metadata=None, **parts))) == ("source", "/data/pytorch")


def test_a_tree_without_git_is_not_known_as_one():
    result = look(host(package="/data/pytorch/torch", metadata=None, dirs=["/data/pytorch/third_party"]))
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
    refusing = Refusing(host(package="/data/x/torch", metadata=None), {"/data/x/third_party": errno.EACCES})
    result = look(refusing)
    assert kind(result) == ("unknown", None)
    assert result.kinds("source_path") == ["denied"]


def test_a_repository_that_may_not_be_looked_at():
    within = host(package="/data/x/torch", metadata=None, dirs=["/data/x/third_party"])
    result = look(Refusing(within, {"/data/x/.git": errno.EACCES}))
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


def test_a_package_in_its_source_tree(tmp_path, monkeypatch):
    top = superproject(tmp_path, "aiter")
    (top / "torch").mkdir()
    (top / "torch/__init__.py").write_text("raise SystemExit('not to be imported')\n")
    (top / "torch/version.py").write_text(f"__version__ = '2.13.0a0'\ngit_version = '{BUILT_FROM}'\n")
    monkeypatch.syspath_prepend(str(top))
    result = look_live("")
    assert kind(result) == ("source", str(top))
    assert result.value["submodule_commits"]["aiter"] == git(top / "third_party/aiter", "rev-parse", "HEAD")
