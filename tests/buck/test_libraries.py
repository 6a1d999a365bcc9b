"""Which targets are libraries, and how they come into the graph."""

import re

import pytest

from tests.parts.buck import EXECUTION, LITERAL, PLATFORM, TARGET

NAMES = {
    "pytorch": ["torch", "pytorch", "torch_hip", "torch_rocm", "libtorch", "_torch"],
    "hipblaslt": ["hipblaslt", "hipblaslt_lib", "hipblaslt-lib"],
    "rocblas": ["rocblas"],
    "miopen": ["miopen", "MIOpen"],
    "rccl": ["rccl", "rccl_lib", "rccl-static"],
    "ainic": ["rccl-anp", "rccl_anp", "rccl-net", "rccl_net"],
    "rccl_net_plugin": ["aws-ofi-rccl", "aws_ofi_nccl"],
    "rocm": ["hip_runtime", "rocm_runtime", "amdhip64"],
    "triton": ["triton"],
    "fbgemm": ["fbgemm", "fbgemm_gpu"],
    "aiter": ["aiter"],
    "composable_kernel": ["composable_kernel"],
}
NONE = [
    "torch_utils_test",
    "not_rccl",
    "my-torch",
    "torchvision",
    "rccl-tests",
    "hip",
    "pytorch_lightning",
    "rocblas_bench",
    "tritonclient",
    "rccl.conf",
]


def graph(*labels, **root):
    return {TARGET: {"deps": list(labels), **root}, **{label: {} for label in labels}}


@pytest.mark.parametrize(("name", "targets"), NAMES.items())
def test_each_known_library(project, name, targets):
    labels = [f"root//third_party/x:{target}" for target in targets]
    project.describe(targets=graph(*labels))
    ran = project.asked("--buck-default-context")
    assert {entry["target"]: entry["name"] for entry in ran.libraries} == dict.fromkeys(labels, name)
    assert {entry["role"] for entry in ran.libraries} == {"target"}


def test_what_is_no_library(project):
    project.describe(targets=graph(*(f"root//x:{name}" for name in NONE if name != "hip")))
    assert project.asked("--buck-default-context").libraries == []


def test_the_root_itself_may_be_one(project):
    ran = project.asked("--buck-default-context", target="//third_party/rccl:rccl")
    assert [(entry["name"], entry["role"]) for entry in ran.libraries] == [("rccl", "target")]


def test_roles(project):
    project.describe(
        targets={
            TARGET: {
                "deps": ["root//t:torch"],
                "exec_deps": ["root//t:rccl"],
                "toolchain_deps": ["toolchains//:triton"],
                "configuration_deps": ["root//constraints:rocm_runtime"],
            },
            **{label: {} for label in ("root//t:torch", "root//t:rccl", "toolchains//:triton")},
            "root//constraints:rocm_runtime": {},
        }
    )
    ran = project.asked("--buck-default-context")
    found = {entry["name"]: entry["role"] for entry in ran.libraries}
    # What a select() asks for is no library.
    assert {name: role for name, role in found.items() if name != "rocm"} == {
        "pytorch": "target",
        "rccl": "exec",
        "triton": "toolchain",
    }
    assert found.get("rocm", "other") == "other"
    toolchain = next(entry for entry in ran.libraries if entry["role"] == "toolchain")
    assert toolchain["target"] == "toolchains//:triton"
    assert re.fullmatch(r"toolchains//:triton \([^()]+\) \([^()]+\)", toolchain["configured_target"])


def test_one_library_in_two_roles(project):
    ran = project.asked("--buck-default-context")
    rows = [entry for entry in ran.libraries if entry["name"] == "hipblaslt"]
    assert sorted(entry["role"] for entry in rows) == ["exec", "target"]
    assert {entry["target"] for entry in rows} == {"root//third_party/hipblaslt:hipblaslt"}
    configured = {entry["role"]: entry["configured_target"] for entry in rows}
    assert f"({PLATFORM}#" in configured["target"]
    assert f"({EXECUTION}#" in configured["exec"]


def test_two_targets_of_one_library(project):
    labels = ["root//a:rccl", "root//b:rccl"]
    project.describe(targets=graph(*labels))
    assert sorted(entry["target"] for entry in project.asked("--buck-default-context").libraries) == labels


def test_a_dependency_behind_a_transition(project):
    edge = {"to": "root//t:torch", "transition": "root//platforms:other"}
    project.describe(
        targets={TARGET: {"deps": [edge, "root//t:rccl"]}, "root//t:torch": {}, "root//t:rccl": {}}
    )
    ran = project.asked("--buck-default-context")
    rows = {entry["name"]: entry for entry in ran.libraries}
    assert rows["rccl"]["role"] == "target"
    assert "(root//platforms:other#" in rows["pytorch"]["configured_target"]
    assert rows["pytorch"]["role"] != "target"


def test_a_root_behind_a_transition(project):
    project.describe(
        targets={
            TARGET: {"incoming_transition": "root//platforms:fast", "deps": ["root//t:torch"]},
            "root//t:torch": {},
        }
    )
    ran = project.asked("--buck-default-context")
    invocation = ran.invocation
    assert invocation["status"] == "success"
    assert len(invocation["root_configurations"]) == 2
    assert {entry["name"]: entry["role"] for entry in ran.libraries} == {"pytorch": "target"}
    # Neither of the two is the one that was asked for.
    assert invocation["configured_root_target"] is None
    [reason] = ran.reasons("buck_invocation")
    assert (reason["kind"], reason["field"]) == ("unsupported", "configured_root_target")


def test_without_platforms(project):
    project.describe(platform=None, execution_platform=None, execution_platforms={})
    ran = project.asked("--buck-default-context")
    assert ran.invocation["configured_root_target"] == f"{TARGET} (<unspecified>)"
    rows = {(entry["name"], entry["role"]) for entry in ran.libraries}
    assert {("pytorch", "target"), ("rccl", "target"), ("hipblaslt", "target"), ("hipblaslt", "exec")} <= rows


def test_own_patterns(project):
    project.describe(targets=graph("root//our:fastmath", "root//our:rccl", "root//our:slowmath"))
    ran = project.asked(
        "--buck-default-context",
        "--buck-library",
        "math=:(fast|slow)math$",
        "--buck-library",
        "ours=^root//our:rccl$",
    )
    # What is known of itself stays what it is.
    assert {(entry["target"], entry["name"]) for entry in ran.libraries} == {
        ("root//our:fastmath", "math"),
        ("root//our:slowmath", "math"),
        ("root//our:rccl", "ours"),
        ("root//our:rccl", "rccl"),
    }


PLUGIN = """
from aorta.plugin import buck_libraries

@buck_libraries
def libraries():
    {body}
"""


def plugged(project, body, *words):
    (project.folder / "our_plugin.py").write_text(PLUGIN.format(body=body))
    project.describe(targets=graph("root//our:fastmath", "root//t:torch"))
    search = project.environ()["PYTHONPATH"]
    env = {"PYTHONPATH": f"{search}:{project.folder}", "AORTA_PLUGINS": "our_plugin"}
    return project.asked("--buck-default-context", *words, env=env)


def test_patterns_of_a_plugin(project):
    ran = plugged(project, 'return {"math": r":fastmath$"}')
    assert {entry["name"] for entry in ran.libraries} == {"math", "pytorch"}


@pytest.mark.parametrize(
    "body", ["raise RuntimeError('x')", "return {'a': '('}", "return 3", "return {1: 2}"]
)
def test_a_plugin_that_fails_costs_its_own_patterns(project, body):
    ran = plugged(project, body)
    assert ran.code == 0
    assert [entry["name"] for entry in ran.libraries] == ["pytorch"]
    assert ran.invocation["status"] == "success"
    assert any("our_plugin" in str(reason) for reason in ran.reasons())


def test_a_label_typed_as_it_is_in_the_graph(project):
    assert project.asked("--buck-default-context", target=TARGET).libraries == (
        project.asked("--buck-default-context", target=LITERAL).libraries
    )
