"""ROCm reached only through /usr/bin/hipcc, and a wheel beside it."""

from aorta.testing import Distribution, FakeHost, Module, collect

CASE = "rocm-root-from-hipcc-alternatives"
SITE = "/opt/venv/lib/python3.12/site-packages"
HOST = {
    "files": {
        "/opt/rocm-7.2.0/.info/version": "7.2.0-43\n",
        "/opt/rocm-7.2.0/bin/hipcc": "x",
        "/opt/rocm-7.2.0/bin/hipconfig": "x",
    },
    "links": {
        "/usr/bin/hipcc": "/etc/alternatives/hipcc",
        "/etc/alternatives/hipcc": "/opt/rocm-7.2.0/bin/hipcc",
    },
    "env": {"PATH": "/usr/bin:/opt/venv/bin"},
    "commands": {("/opt/rocm-7.2.0/bin/hipconfig", "--version"): "7.2.26015-fc0010cf6a"},
}


def test_links_are_resolved_and_both_stacks_told():
    value = collect(FakeHost(**HOST, distributions={"rocm-sdk-core": "7.14.0"}), "rocm").value
    assert (value["root"], value["root_source"], value["version"]) == (
        "/opt/rocm-7.2.0",
        "tool:hipcc",
        "7.2.0-43",
    )
    assert value["candidates"] == [
        {"root": "/opt/rocm-7.2.0", "version": "7.2.0-43", "via": "hipcc"},
        {"root": None, "version": "7.14.0", "via": "pip:rocm-sdk-core"},
    ]


def test_a_wheel_of_this_interpreter_comes_before_a_tool_on_path():
    host = {**HOST, "files": {**HOST["files"], f"{SITE}/_rocm_sdk_core/.info/version": "7.14.0\n"}}
    core = Distribution(name="rocm-sdk-core", version="7.14.0", path=f"{SITE}/rocm_sdk_core-7.14.0.dist-info")
    module = Module(name="_rocm_sdk_core", locations=(f"{SITE}/_rocm_sdk_core",))
    value = collect(
        FakeHost(**host, distributions={"rocm-sdk-core": core}, modules={"_rocm_sdk_core": module}), "rocm"
    ).value
    assert [(each["root"], each["version"]) for each in value["candidates"]] == [
        (f"{SITE}/_rocm_sdk_core", "7.14.0"),
        ("/opt/rocm-7.2.0", "7.2.0-43"),
    ]
    assert value["root_source"] == "import:_rocm_sdk_core"


def test_tools_are_looked_for_where_the_link_leads():
    assert collect(FakeHost(**HOST), "hip").value["version"] == "7.2.26015-fc0010cf6a"


def test_usr_is_no_root_by_an_unresolved_path():
    value = collect(
        FakeHost(
            links={"/usr/bin/hipcc": "/etc/alternatives/hipcc"}, env={"PATH": "/usr/bin"}, dirs=["/usr/lib"]
        ),
        "rocm",
    ).value
    assert (value["root_source"], value["candidates"]) == ("none", [])
