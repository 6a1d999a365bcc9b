"""The rccl section: header, library file, net plugin, built-in AI NIC support."""

import errno
import hashlib

import pytest

from aorta.collect import Entry
from aorta.model.frozen import evolve
from aorta.testing import FakeHost, collect
from aorta_collectors.rccl import decode
from aorta_collectors.tree.libraries import by_version
from aorta_collectors.tree.net_plugin import file_names

ELF = b"\x7fELF"
HEADER = '#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n#define NCCL_PATCH 7\n#define NCCL_SUFFIX ""\n\n#define NCCL_VERSION_CODE 22707\n#define NCCL_VERSION(X,Y,Z) (((X) <= 2 && (Y) <= 8) ? (X) * 1000 : (X) * 10000)\n'
ROOT = {
    "/opt/rocm/.info/version": "7.2.0\n",
    "/opt/rocm/include/rccl/rccl.h": HEADER,
    "/opt/rocm/lib/librccl.so.1.0.70200": ELF + b"one",
}
LINKS = {"/opt/rocm/lib/librccl.so": "librccl.so.1", "/opt/rocm/lib/librccl.so.1": "librccl.so.1.0.70200"}


def sha(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def rccl(files=None, *, root=True, links=None, **host):
    return collect(
        FakeHost(
            files={**(ROOT if root else {}), **(files or {})},
            links={**(LINKS if root else {}), **(links or {})},
            **host,
        ),
        "rccl",
    )


def test_normal():
    result = rccl()
    value = result.value
    assert (value["version_code"], value["version"], value["header_path"]) == (
        22707,
        "2.27.7",
        "/opt/rocm/include/rccl/rccl.h",
    )
    assert (value["lib_path"], value["lib_hash"]) == ("/opt/rocm/lib/librccl.so.1.0.70200", sha(ELF + b"one"))
    assert (value["net_plugin_mode"], value["plugin_path"], value["plugin_lib_hash"]) == (
        "internal",
        None,
        None,
    )
    assert (value["anp_lib_hash"], value["net_lib_hash"], value["builtin_anp"], value["other_libraries"]) == (
        None,
        None,
        None,
        [],
    )
    assert result.reasons == ()


def test_empty_host():
    result = rccl(root=False)
    assert result.value["net_plugin_mode"] == "internal"
    assert [result.value[name] for name in ("version_code", "version", "lib_hash", "lib_path")] == [None] * 4
    assert set(result.kinds()) == {"absent"}
    assert {"version_code", "version", "lib_hash", "lib_path", "header_path"} == {
        reason.field for reason in result.reasons
    }


def test_denied_everywhere():
    result = rccl(
        {"/opt/rocm/include": errno.EACCES, "/opt/rocm/lib": errno.EACCES},
        links={},
        root=False,
        env={"ROCM_PATH": "/opt/rocm"},
    )
    assert result.value["lib_hash"] is None
    assert {"version", "version_code", "lib_hash"} <= {
        reason.field for reason in result.reasons if reason.kind.value == "denied"
    }


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (22707, "2.27.7"),
        (21803, "2.18.3"),
        (22105, "2.21.5"),
        (2804, "2.8.4"),
        (2708, "2.7.8"),
        (20900, "2.9.0"),
    ],
)
def test_both_forms_of_the_code(code, words):
    assert decode(code) == words


def test_old_header_only_includes_the_new():
    files = {
        "/opt/rocm/include/rccl/rccl.h": '#pragma message("moved")\n#include "rccl.h"\n',
        "/opt/rocm/include/rccl.h": HEADER,
    }
    assert rccl(files).value["header_path"] == "/opt/rocm/include/rccl.h"


def test_header_without_the_code_and_without_anything():
    partly = rccl({"/opt/rocm/include/rccl/rccl.h": HEADER.replace("_CODE", "_OTHER")})
    assert (partly.value["version_code"], partly.value["version"]) == (None, "2.27.7")
    assert partly.kinds("version_code") == ["absent"]
    nothing = rccl({"/opt/rocm/include/rccl/rccl.h": "// #define NCCL_VERSION_CODE 22707\n"})
    assert (nothing.value["version_code"], nothing.value["version"]) == (None, None)
    assert nothing.kinds("version") == ["unparsed"]


def test_runtime_install_has_no_unversioned_link():
    host = {"/opt/rocm/lib/librccl.so.1.0.60400": ELF, "/opt/rocm/.info/version": "6.4.0-47"}
    value = rccl(host, root=False, links={"/opt/rocm/lib/librccl.so.1": "librccl.so.1.0.60400"}).value
    assert (value["lib_path"], value["lib_hash"]) == ("/opt/rocm/lib/librccl.so.1.0.60400", sha(ELF))


def test_sonames_are_numbers():
    names = [
        "librccl.so.1.9",
        "librccl.so.1.10",
        "librccl.so.1.5.60200",
        "librccl.so.1",
        "librccl.so.old",
        "librccl.so",
        "librccl.sox",
        "x",
        "librccl.so.2-rc",
    ]
    listing = [Entry(name=name, kind="file") for name in sorted([*names, "librccl.s", "librccl.so.d"])]
    listing = [evolve(entry, kind="dir") if entry.name.endswith(".d") else entry for entry in listing]
    assert by_version(listing, "librccl.so") == [
        "librccl.so",
        "librccl.so.1.10",
        "librccl.so.1.9",
        "librccl.so.1.5.60200",
        "librccl.so.1",
        "librccl.so.old",
        "librccl.so.2-rc",
    ]


def test_dangling_links_and_linker_scripts_are_passed_over():
    files = {
        "/opt/rocm/.info/version": "7.2.0",
        "/opt/rocm/lib/librccl.so.1": "/* GNU ld script */\nINPUT(librccl.so.0)\n",
        "/opt/rocm/lib/librccl.so.0.9": ELF,
    }
    value = rccl(files, root=False, links={"/opt/rocm/lib/librccl.so": "librccl.so.7"}).value
    assert value["lib_path"] == "/opt/rocm/lib/librccl.so.0.9"


def test_an_unreadable_library_is_not_replaced_by_its_sibling():
    result = rccl({"/opt/rocm/lib/librccl.so.1.0.70200": errno.EACCES, "/opt/rocm/lib/librccl.so.0.9": ELF})
    assert (result.value["lib_path"], result.value["lib_hash"]) == (None, None)
    assert result.kinds("lib_hash") == ["denied"]


def test_wheel_has_its_library_in_another_package_and_no_header():
    site = "/venv/lib/python3.12/site-packages"
    files = {
        f"{site}/_rocm_sdk_core/.info/version": "10.1.0",
        f"{site}/_rocm_sdk_libraries/lib/librccl.so.1": ELF,
    }
    result = rccl(files, root=False, modules={"_rocm_sdk_core": f"{site}/_rocm_sdk_core/__init__.py"})
    assert (result.value["version"], result.value["lib_hash"]) == (None, sha(ELF))
    assert not any(reason.partial for reason in result.reasons)


def test_nccl_is_not_rccl():
    site = "/venv/lib/python3.10/site-packages"
    value = rccl(
        {f"{site}/nvidia/nccl/lib/libnccl.so.2": ELF},
        root=False,
        modules={"torch": f"{site}/torch/__init__.py"},
    ).value
    assert (value["version"], value["lib_hash"], value["other_libraries"]) == (None, None, [])


@pytest.mark.parametrize("word", ["none", "NONE", " none "])
def test_none_asks_for_no_plugin(word):
    result = rccl({"/opt/rocm/lib/librccl-net.so": ELF}, env={"NCCL_NET_PLUGIN": word})
    assert (result.value["net_plugin_mode"], result.value["plugin_path"]) == ("internal", None)
    assert result.value["net_lib_hash"] == sha(ELF)
    assert result.kinds("net_plugin_mode") == []


@pytest.mark.parametrize("variable", [None, "", " "])
def test_the_file_that_rccl_looks_for_by_itself(variable):
    env = {} if variable is None else {"NCCL_NET_PLUGIN": variable}
    files = {"/opt/rocm/lib/librccl-net.so": ELF + b"net", "/opt/rocm/lib/librccl-anp.so": ELF}
    value = rccl(files, env=env).value
    assert (value["net_plugin_mode"], value["plugin_path"], value["plugin_lib_hash"]) == (
        "external",
        "/opt/rocm/lib/librccl-net.so",
        sha(ELF + b"net"),
    )
    assert rccl({"/opt/rocm/lib/librccl-anp.so": ELF}, env=env).value["net_plugin_mode"] == "internal"


def test_plugin_through_the_loaders_path():
    files = {"/opt/amd-anp/build/librccl-anp.so": ELF + b"anp", "/opt/rocm/lib/librccl-anp.so": ELF}
    value = rccl(
        files,
        env={
            "NCCL_NET_PLUGIN": "librccl-anp.so",
            "LD_LIBRARY_PATH": "::rel:/opt/amd-anp/build:/opt/rocm/lib",
        },
    ).value
    assert (value["net_plugin_mode"], value["plugin_path"]) == (
        "external",
        "/opt/amd-anp/build/librccl-anp.so",
    )
    assert (value["plugin_lib_hash"], value["anp_lib_hash"]) == (sha(ELF + b"anp"), sha(ELF))


@pytest.mark.parametrize(
    "name",
    ["anp", "libanp.so", "anp.so", "libanp", "librccl-net-anp.so", "libnccl-net-anp.so", "librccl-anp.so"],
)
def test_a_short_name(name):
    value = rccl(
        {f"/opt/plugins/{name}": ELF}, env={"NCCL_NET_PLUGIN": "anp", "LD_LIBRARY_PATH": "/opt/plugins"}
    ).value
    assert (value["net_plugin_mode"], value["plugin_path"]) == ("external", f"/opt/plugins/{name}")


def test_names_are_tried_verbatim_first():
    assert file_names("librccl-net.so")[:2] == ["librccl-net.so", "rccl-net.so"]
    assert file_names("anp")[:3] == ["anp", "libanp.so", "anp.so"]


@pytest.mark.parametrize(
    ("value", "cwd"), [("/opt/p/net.so", None), ("./net.so", "/opt/p"), ("../p/net.so", "/opt/q")]
)
def test_a_path_is_taken_as_it_is(value, cwd):
    links = {"/proc/self/cwd": cwd} if cwd else {}
    assert (
        rccl({"/opt/p/net.so": ELF}, links=links, env={"NCCL_NET_PLUGIN": value}).value["plugin_path"]
        == "/opt/p/net.so"
    )


def test_a_list_of_plugins_takes_the_first_that_is_there():
    value = rccl(
        {"/opt/p/b.so": ELF}, env={"NCCL_NET_PLUGIN": "a.so, b.so", "LD_LIBRARY_PATH": "/opt/p"}
    ).value
    assert value["plugin_path"] == "/opt/p/b.so"


@pytest.mark.parametrize(
    ("value", "kind"),
    [("librccl-net.so", "expected"), ("/nowhere/net.so", "expected"), ("./x.so", "blocked")],
)
def test_a_named_plugin_that_is_nowhere(value, kind):
    result = rccl(env={"NCCL_NET_PLUGIN": value})
    assert (result.value["net_plugin_mode"], result.value["plugin_path"]) == ("unknown", None)
    assert result.kinds("net_plugin_mode") == [kind]


@pytest.mark.parametrize("env", [{}, {"NCCL_NET_PLUGIN": "anp"}])
def test_where_rocm_cannot_be_seen_nothing_of_it_is_absent(env):
    result = collect(FakeHost({"/opt": errno.EIO}, env=env), "rccl")
    assert result.value["net_plugin_mode"] == "unknown"
    for field in ("version", "lib_path", "lib_hash", "net_plugin_mode", "anp_lib_hash"):
        assert result.kinds(field) == ["failed"]
    said_none = collect(FakeHost({"/opt": errno.EIO}, env={"NCCL_NET_PLUGIN": "none"}), "rccl")
    assert said_none.value["net_plugin_mode"] == "internal"


@pytest.mark.parametrize("place", ["/etc/ld.so.conf", "/etc/ld.so.conf.d"])
def test_a_loader_whose_settings_cannot_be_seen(place):
    result = rccl({place: errno.EIO})
    assert (result.value["net_plugin_mode"], result.value["other_libraries"]) == ("unknown", None)
    assert result.kinds("net_plugin_mode") == result.kinds("other_libraries") == ["failed"]


def test_a_directory_is_no_plugin():
    assert (
        rccl(dirs=["/opt/p/net.so"], env={"NCCL_NET_PLUGIN": "/opt/p/net.so"}).value["net_plugin_mode"]
        == "unknown"
    )


def test_w2_an_unreadable_search_directory_costs_only_what_is_in_it():
    result = rccl(
        {"/secret": errno.EACCES}, env={"NCCL_NET_PLUGIN": "x.so", "LD_LIBRARY_PATH": "/secret/lib"}
    )
    assert (result.value["net_plugin_mode"], result.value["version"]) == ("unknown", "2.27.7")
    assert result.kinds("net_plugin_mode") == ["denied"]
    found = rccl(
        {"/secret": errno.EACCES, "/opt/rocm/lib/x.so": ELF},
        env={"NCCL_NET_PLUGIN": "x.so", "LD_LIBRARY_PATH": "/secret/lib"},
    )
    assert found.value["net_plugin_mode"] == "external"
    unasked = rccl({"/secret": errno.EACCES}, env={"LD_LIBRARY_PATH": "/secret/lib"})
    assert (unasked.value["net_plugin_mode"], unasked.value["other_libraries"]) == ("internal", None)
    assert unasked.kinds("other_libraries") == ["denied"]


def test_a_dead_search_directory_leaves_the_mode_open():
    result = rccl({"/nfs": errno.ETIMEDOUT}, env={"LD_LIBRARY_PATH": "/nfs/sw/lib"})
    assert result.value["net_plugin_mode"] == "unknown"
    assert result.kinds("net_plugin_mode") == ["timed_out"]
    assert result.value["lib_hash"] == sha(ELF + b"one")


def test_an_unhashable_plugin():
    result = rccl({"/opt/p/net.so": errno.EACCES}, env={"NCCL_NET_PLUGIN": "/opt/p/net.so"})
    assert (result.value["net_plugin_mode"], result.value["plugin_lib_hash"]) == ("external", None)
    assert result.kinds("plugin_lib_hash") == ["denied"]


def test_copies_that_a_loader_could_take():
    site = "/venv/lib/python3.10/site-packages"
    files = {
        "/opt/rccl-build/lib/librccl.so.1.0": ELF,
        f"{site}/torch/lib/librccl.so": ELF,
        "/usr/lib/x86_64-linux-gnu/librccl.so.1": ELF,
        "/etc/ld.so.conf": "include /etc/ld.so.conf.d/*.conf\n",
        "/etc/ld.so.conf.d/00-rccl.conf": "# ours\n/opt/rccl-build/lib  # built\nrelative\n",
        "/etc/ld.so.conf.d/README": "/nowhere\n",
    }
    result = rccl(
        files, modules={"torch": f"{site}/torch/__init__.py"}, env={"LD_LIBRARY_PATH": "/opt/rocm/lib"}
    )
    assert result.value["other_libraries"] == [
        {"path": f"{site}/torch/lib/librccl.so", "origin": "torch"},
        {"path": "/opt/rccl-build/lib/librccl.so.1.0", "origin": "ld.so.conf"},
        {"path": "/usr/lib/x86_64-linux-gnu/librccl.so.1", "origin": "ld.so.conf"},
    ]
    assert result.value["lib_path"] == "/opt/rocm/lib/librccl.so.1.0.70200"


def test_a_configured_directory_that_may_not_be_read_is_no_news():
    result = rccl({"/etc/ld.so.conf.d/x.conf": "/root/lib\n", "/root": errno.EACCES})
    assert result.value["other_libraries"] == []
    assert result.reasons == ()


def test_builtin_anp_without_a_known_release():
    result = rccl({"/opt/rocm/lib/x": ""}, root=False, env={"RCCL_AINIC_ROCE": "1"})
    assert result.value["builtin_anp"] is None
    assert result.kinds("builtin_anp") == ["unsupported"]
