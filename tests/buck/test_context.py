"""The options of the caller: what buck2 is given, what of it is told, what its fingerprint tells."""

import itertools
import re

import pytest

from tests.parts.buck import EXECUTION, LITERAL, PLATFORM, REMOTE, TARGET

FINGERPRINT = re.compile(r"sha256-v2:[0-9a-f]{64}")


@pytest.fixture(autouse=True)
def _modes(project):
    for name in ("mode/a", "mode/b"):
        project.mode(name, "--# nothing")


def options(*texts):
    return [word for text in texts for word in ("--buck-option", text)]


def fingerprint(project, *words):
    return project.asked(*words, sections=("buck_invocation",)).invocation["context_fingerprint"]


def test_all_that_a_client_file_tells(project):
    project.mode("mode/opt", "-c", "a.mode=1")
    ran = project.asked(
        *options("mode=mode/opt", "config=rocm.version=7.1-notreal", "modifier=//c:mi350"),
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran["build_system"]["kind"] == "buck2"
    assert ran["build_system"]["buck2_version"] == "2026-08-15-13baa8a1d181428b17e1873fcb129793fa36d463"
    assert ran["build_system"]["repo_root"] == str(project.root)
    invocation = ran.invocation
    assert invocation["status"] == "success"
    assert invocation["target"] == LITERAL
    assert invocation["context_source"] == "explicit"
    assert invocation["mode_files"] == ["mode/opt"]
    assert invocation["config_keys"] == ["rocm.version"]
    assert invocation["modifiers"] == ["//c:mi350"]
    assert invocation["option_order"] == ["mode", "config", "modifier"]
    assert FINGERPRINT.fullmatch(invocation["context_fingerprint"])
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", invocation["mode_files_digest"])
    (content,) = invocation["mode_file_contents"]
    assert (content["mode"], content["path"]) == ("mode/opt", str(project.root / "mode/opt"))
    assert content["digest"].startswith("sha256:")
    assert re.fullmatch(rf"{TARGET} \(cfg:mi350-opt#[0-9a-f]{{16}}\)", invocation["configured_root_target"])
    (configuration,) = invocation["root_configurations"]
    assert configuration.startswith("cfg:mi350-opt")
    assert invocation["dependency_count"] in (8, 9)
    assert invocation["comparison"] == "not_compared"
    assert {entry["name"] for entry in ran.libraries} == {"pytorch", "rccl", "hipblaslt"}
    assert ran["execution_context"]["likely_execution_platform"] == REMOTE
    assert ran["execution_context"]["likely_execution_platform_source"] == "cquery:buck.execution_platform"
    assert not ran.reasons("buck_invocation")
    assert "7.1-notreal" not in ran.out


def test_exactly_what_buck2_is_asked(project):
    project.asked(*options("modifier=//c:x", "mode=mode/a", "config=a.b=1 2", "mode=@mode/b", "config=a.c="))
    context = ["-m", "//c:x", "@mode/a", "-c", "a.b=1 2", "@mode/b", "-c", "a.c="]
    assert sorted(call["argv"] for call in project.calls()) == sorted(
        [
            ["--version"],
            ["root", "--kind", "project"],
            ["cquery", "--console", "none", *context, "deps(%s)", LITERAL, "--json"],
            ["cquery", "--console", "none", *context, "-a", r"^buck\.execution_platform$", LITERAL],
        ]
    )
    assert {call["cwd"] for call in project.calls()} == {str(project.root)}
    assert {call["stdin"] for call in project.calls()} == {"/dev/null"}


@pytest.mark.parametrize(
    "order", [*itertools.permutations(["mode=mode/a", "config=a.b=1", "modifier=//c:x", "mode=mode/b"])][::3]
)
def test_the_order_is_the_callers(project, order):
    ran = project.asked(*options(*order), sections=("buck_invocation",))
    words = {
        "mode=mode/a": ["@mode/a"],
        "mode=mode/b": ["@mode/b"],
        "config=a.b=1": ["-c", "a.b=1"],
        "modifier=//c:x": ["-m", "//c:x"],
    }
    assert project.context() == [word for each in order for word in words[each]]
    assert ran.invocation["option_order"] == [each.partition("=")[0] for each in order]


def test_grouped_options(project):
    ran = project.asked(
        *("--buck-modifier", "//c:x", "--buck-config", "a.b=1", "--buck-mode-file", "mode/a"),
        *("--buck-config", "a.c=2", "--buck-mode-file", "@mode/b", "--buck-modifier", "//c:y"),
    )
    assert project.context() == [
        "@mode/a",
        "@mode/b",
        "-c",
        "a.b=1",
        "-c",
        "a.c=2",
        "-m",
        "//c:x",
        "-m",
        "//c:y",
    ]
    invocation = ran.invocation
    assert invocation["mode_files"] == ["mode/a", "mode/b"]
    assert invocation["config_keys"] == ["a.b", "a.c"]
    assert invocation["option_order"] == ["mode", "mode", "config", "config", "modifier", "modifier"]
    ordered = (
        "mode=mode/a",
        "mode=mode/b",
        "config=a.b=1",
        "config=a.c=2",
        "modifier=//c:x",
        "modifier=//c:y",
    )
    assert fingerprint(project, *options(*ordered)) == invocation["context_fingerprint"]


def test_fingerprints(project):
    contexts = [
        options("mode=mode/a"),
        options("mode=mode/b"),
        options("mode=mode/a", "mode=mode/b"),
        options("mode=mode/b", "mode=mode/a"),
        options("config=a.b=1"),
        options("config=a.b=2"),
        options("config=a.b="),
        options("config=a.b=1", "config=a.b=2"),
        options("config=a.b=2", "config=a.b=1"),
        options("config=a.b=1", "mode=mode/a"),
        options("mode=mode/a", "config=a.b=1"),
        options("modifier=//c:x"),
        options("modifier=//c:x", "modifier=//c:x"),
        ["--buck-default-context"],
    ]
    found = [fingerprint(project, *words) for words in contexts]
    assert all(FINGERPRINT.fullmatch(each) for each in found)
    assert len(set(found)) == len(contexts)
    assert fingerprint(project, *contexts[3]) == found[3]


def test_the_fingerprint_is_of_the_options_alone(project):
    first = fingerprint(project, *options("mode=mode/a"))
    project.describe(version="x", platform="root//p:other")
    assert fingerprint(project, *options("mode=mode/a")) == first
    ran = project.asked(*options("mode=mode/a"), target="//third_party/torch:torch")
    assert ran.invocation["context_fingerprint"] == first


def test_nobody_said_how_it_is_built(project):
    ran = project.asked()
    assert project.context() == []
    assert ran.invocation["status"] == "success"
    assert ran.invocation["context_source"] == "unspecified"
    assert ran.invocation["context_fingerprint"] is None
    assert ran.reasons("buck_invocation", "unspecified")
    assert ran.document["partial"] is True


def test_the_default_is_confirmed(project):
    ran = project.asked("--buck-default-context")
    assert project.context() == []
    assert ran.invocation["context_source"] == "default_confirmed"
    assert FINGERPRINT.fullmatch(ran.invocation["context_fingerprint"])
    assert ran.invocation["option_order"] == []
    assert not ran.reasons("buck_invocation")


def test_nothing_is_asked_without_a_target(project):
    ran = project.probe()
    assert ran.code == 0
    invocation = ran.invocation
    assert (invocation["status"], invocation["context_source"], invocation["target"]) == (
        "not_requested",
        "none",
        None,
    )
    assert invocation["context_fingerprint"] is None
    assert invocation["comparison"] == "not_compared"
    assert ran["library_introspection"] is None
    assert ran["library_introspection_alternates"] is None
    assert ran["execution_context"]["likely_execution_platform"] is None
    assert ran["build_system"]["kind"] == "buck2"
    assert project.queries() == []


def test_it_is_asked_where_the_caller_stands(project):
    place = project.root / "third_party" / "torch"
    place.mkdir(parents=True)
    ran = project.asked("--buck-default-context", target=":torch", cwd=place)
    assert ran.invocation["status"] == "success"
    assert ran.invocation["target"] == ":torch"
    assert ran.invocation["configured_root_target"].startswith("root//third_party/torch:torch (")
    assert ran["build_system"]["repo_root"] == str(project.root)
    assert {call["cwd"] for call in project.calls()} == {str(place)}


@pytest.mark.parametrize("literal", [LITERAL, "root//app:trainer", "app//app:trainer", "@root//app:trainer"])
def test_the_root_is_found_by_its_label(project, literal):
    # What is asked for is also a dependency's tail: prefix//app:trainer must not be taken for it.
    targets = {**project.description["targets"], "other//app:trainer": {}, "root//x/app:trainer": {}}
    targets[TARGET] = {
        **targets[TARGET],
        "deps": [*targets[TARGET]["deps"], "other//app:trainer", "root//x/app:trainer"],
    }
    project.describe(targets=targets)
    ran = project.asked("--buck-default-context", target=literal)
    assert ran.invocation["status"] == "success"
    assert re.fullmatch(rf"{TARGET} \({PLATFORM}#\w+\)", ran.invocation["configured_root_target"])
    assert len(ran.invocation["root_configurations"]) == 1


def test_the_last_part_of_a_label_may_be_left_out(project):
    ran = project.asked("--buck-default-context", target="//third_party/torch")
    assert ran.invocation["configured_root_target"].startswith("root//third_party/torch:torch (")


def test_the_order_of_rows_means_nothing(project):
    first = f"{TARGET} ({PLATFORM}#0123456789abcdef)"
    rows = [
        first,
        f"root//t:torch ({PLATFORM}#0123456789abcdef)",
        f"root//t:rccl ({EXECUTION}#0123456789abcdee)",
    ]
    for order in itertools.permutations(rows):
        text = str(list(order)).replace("'", '"')
        project.behave("cquery", stdout=f'{{"{LITERAL}": {text}}}')
        ran = project.asked("--buck-default-context", sections=("buck_invocation", "library_introspection"))
        assert ran.invocation["configured_root_target"] == first
        assert {entry["name"]: entry["role"] for entry in ran.libraries} == {
            "pytorch": "target",
            "rccl": "exec",
        }


def test_patterns_have_no_single_root(project):
    ran = project.asked("--buck-default-context", target="//third_party/...")
    assert ran.invocation["status"] == "success"
    assert ran.invocation["configured_root_target"] is None
    assert {entry["name"] for entry in ran.libraries} == {"pytorch", "rccl", "hipblaslt"}
    assert ran["execution_context"]["likely_execution_platform"] is None
