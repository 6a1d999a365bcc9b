"""Where ROCm is found, on every kind of host."""

import errno

import pytest

from aorta.model.vocabulary import Coverage, ReasonKind
from aorta.testing import Distribution, FakeHost, Module, provide
from aorta_collectors.providers import RocmRoots

SITE = "/venv/lib/python3.12/site-packages"
CORE = f"{SITE}/_rocm_sdk_core"


def find(**host):
    env = host.pop("overlay", None)
    return provide(FakeHost(**host), RocmRoots, **({"env": env} if env is not None else {}))


def roots(**host):
    return find(**host).typed


def wheels(*packages, core=True, files=None, **host):
    made = {f"{SITE}/{package}/lib/x.so": "x" for package in packages}
    if core:
        made[f"{CORE}/.info/version"] = "7.14.0\n"
        host.setdefault("modules", {"_rocm_sdk_core": f"{CORE}/__init__.py"})
    return FakeHost(files={**made, **(files or {})}, **host)


def test_nothing_there():
    found = find()
    assert found.typed == RocmRoots()
    assert (found.typed.root, found.typed.root_source, found.typed.layout) == ("/opt/rocm", "none", "none")
    assert not found.typed.found
    assert found.coverage["rocm"] is Coverage.ABSENT


def test_classic_through_alternatives():
    got = find(
        files={"/opt/rocm-6.2.0/.info/version": "6.2.0-66\n", "/opt/rocm-6.2.0/lib/libamdhip64.so.6": "x"},
        links={"/opt/rocm": "/etc/alternatives/rocm", "/etc/alternatives/rocm": "/opt/rocm-6.2.0"},
    )
    tree = got.typed
    assert (tree.root, tree.resolved, tree.root_source, tree.layout) == (
        "/opt/rocm",
        "/opt/rocm-6.2.0",
        "opt_rocm",
        "classic",
    )
    assert tree.opt_rocm_target == "/opt/rocm-6.2.0"
    assert (tree.bin_dirs, tree.lib_dirs) == (("/opt/rocm/bin",), ("/opt/rocm/lib",))
    assert [(stack.root, stack.version, stack.via) for stack in tree.candidates] == [
        ("/opt/rocm", "6.2.0-66", "opt_rocm")
    ]
    assert got.coverage["rocm"] is Coverage.SEEN


@pytest.mark.parametrize(
    "files",
    [
        {"/opt/rocm/bin/hipcc": "x"},
        {"/opt/rocm/.info/version": ""},
        {"/opt/rocm/.info/version": "  \n"},
        {"/opt/rocm/.info/version": b"\xff\xfe"},
        {"/opt/rocm/.info/version": "garbage\n"},
    ],
)
def test_a_leftover_does_not_outrank_a_wheel(files):
    tree = provide(wheels("_rocm_sdk_libraries", files=files), RocmRoots).typed
    assert tree.root == CORE
    assert tree.root_source == "import:_rocm_sdk_core"


@pytest.mark.parametrize("marker", ["version", "version-dev"])
def test_a_version_alone_makes_a_root(marker):
    assert roots(files={f"/opt/rocm/.info/{marker}": "7.2.0-43\n"}).root_source == "opt_rocm"


def test_an_explicit_root_is_accepted_loosely():
    tree = roots(
        files={"/soft/rocm/bin/hipcc": "x", "/opt/rocm/.info/version": "6.2.0\n"},
        env={"ROCM_PATH": "/soft/rocm/"},
    )
    assert (tree.root, tree.root_source) == ("/soft/rocm", "ROCM_PATH")
    assert [stack.root for stack in tree.candidates] == ["/soft/rocm", "/opt/rocm"]


def test_rocm_home_and_empty_variables():
    tree = roots(files={"/soft/rocm/lib/x": ""}, env={"ROCM_PATH": "", "ROCM_HOME": "/soft/rocm"})
    assert tree.root_source == "ROCM_HOME"
    assert tree.troubles == ()


def test_an_override_that_names_nothing_is_told():
    tree = roots(files={"/opt/rocm/.info/version": "6.2.0\n"}, env={"ROCM_PATH": "/gone/rocm"})
    assert tree.root_source == "opt_rocm"
    assert [(t.kind, "/gone/rocm" in t.text) for t in tree.troubles] == [(ReasonKind.EXPECTED, True)]


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EACCES, ReasonKind.DENIED), (errno.ETIMEDOUT, ReasonKind.TIMED_OUT)]
)
def test_an_unreadable_override_stays_the_root(number, kind):
    got = find(
        files={"/nfs/rocm": number, "/opt/rocm/.info/version": "6.2.0\n", "/opt/rocm/lib/x": ""},
        env={"ROCM_PATH": "/nfs/rocm"},
    )
    tree = got.typed
    assert (tree.root, tree.root_source, tree.resolved) == ("/nfs/rocm", "ROCM_PATH", "/nfs/rocm")
    assert tree.troubles[0].kind is kind
    assert [(stack.root, stack.version) for stack in tree.candidates] == [
        ("/nfs/rocm", None),
        ("/opt/rocm", "6.2.0"),
    ]


def test_an_unreadable_wheel_override_keeps_its_layout():
    tree = roots(files={f"{SITE}": errno.EACCES}, env={"ROCM_PATH": CORE})
    assert (tree.root, tree.layout) == (CORE, "wheel")
    assert tree.troubles[0].kind is ReasonKind.DENIED


def test_relative_override_counts_from_the_working_directory():
    tree = roots(
        files={"/srv/rocm/lib/x": ""}, links={"/proc/self/cwd": "/srv/sub"}, env={"ROCM_PATH": "../rocm"}
    )
    assert tree.root == "/srv/rocm"


def test_relative_override_in_a_deleted_directory_is_skipped():
    tree = roots(links={"/proc/self/cwd": "/work (deleted)"}, env={"ROCM_PATH": "rocm"})
    assert tree.root_source == "none"
    assert tree.troubles[0].kind is ReasonKind.ABSENT


def test_w31_the_environment_asked_about_decides():
    host = FakeHost(files={"/a/lib/x": "", "/b/lib/x": ""}, env={"ROCM_PATH": "/a"})
    assert provide(host, RocmRoots).typed.root == "/a"
    assert provide(host, RocmRoots, env={"ROCM_PATH": "/b"}).typed.root == "/b"


def test_unreadable_opt_rocm_is_unknown_not_absent():
    got = find(files={"/opt/rocm": errno.EACCES})
    assert (got.typed.root_source, got.typed.layout, got.typed.found) == ("unknown", "unknown", False)
    assert got.typed.unseen.kind is ReasonKind.DENIED
    assert got.typed.troubles[0].kind is ReasonKind.DENIED
    assert got.coverage["rocm"] is Coverage.UNKNOWN


@pytest.mark.parametrize(
    "host",
    [
        {"files": {"/a": errno.EIO}, "env": {"PATH": "/a/bin"}},
        {
            "files": {"/a/bin/hipcc": "", "/b": errno.EIO},
            "links": {"/a/bin/rocminfo": "/b/x"},
            "env": {"PATH": "/a/bin"},
        },
        {"files": {"/a/bin/hipcc": "", "/a/.info": errno.EIO}, "env": {"PATH": "/a/bin"}},
        {"files": {"/usr/share": errno.EIO}},
        {"files": {"/opt": errno.EIO}},
        {"files": {f"{SITE}/torch/lib": errno.EIO}, "modules": {"torch": f"{SITE}/torch/__init__.py"}},
        {"env": {"ROCM_PATH": "not/absolute"}},
    ],
)
def test_each_place_of_the_search_that_cannot_be_seen_is_told(host):
    got = find(**host)
    assert got.typed.unseen is not None
    assert got.typed.root_source == "unknown"
    assert got.coverage["rocm"] is Coverage.UNKNOWN


def test_a_directory_of_path_that_may_not_be_searched_hides_no_tool():
    got = find(
        files={"/root": errno.EACCES, "/b": errno.EACCES},
        links={"/c/hipcc": "/b/x"},
        env={"PATH": "/root/bin:/c"},
    )
    assert (got.typed.troubles, got.typed.root_source) == ((), "none")
    assert got.coverage["rocm"] is Coverage.ABSENT


def test_a_part_of_path_that_cannot_be_seen_is_told_once_and_costs_no_root():
    tree = roots(files={"/opt/rocm/lib/x": "", "/a": errno.EIO}, env={"PATH": "/a"})
    assert (tree.root_source, len(tree.troubles), tree.unseen) == ("opt_rocm", 1, None)
    assert tree.hidden.subject == "/a/hipcc"


def test_where_a_link_leads_is_not_where_following_it_failed():
    links = {"/opt/rocm": "/etc/alternatives/rocm"}
    assert roots(files={"/etc": errno.EACCES}, links=links).opt_rocm_target is None
    assert roots(links=links, dirs=["/etc"]).opt_rocm_target == "/etc/alternatives"


@pytest.mark.parametrize("error", [errno.EACCES, errno.EIO])
def test_the_only_tree_beside_a_place_that_cannot_be_seen_is_not_the_root(error):
    tree = roots(files={"/opt/rocm": error, "/opt/rocm-6.2.0/lib/x": ""})
    assert tree.root_source == "unknown"
    assert [stack.root for stack in tree.candidates] == ["/opt/rocm-6.2.0"]


def test_a_part_of_the_tree_that_cannot_be_seen_is_no_absent_part():
    tree = roots(files={"/opt/rocm/lib/x": "", "/opt/rocm/core": errno.EIO})
    assert (tree.layout, tree.prefixes) == ("unknown", ("/opt/rocm", "/opt/rocm/core"))
    tree = roots(files={"/opt/rocm/.info/version": "7.1.0", "/opt/rocm/lib": errno.EIO})
    assert (tree.layout, tree.lib_dirs) == ("classic", ("/opt/rocm/lib",))


@pytest.mark.parametrize("said", [None, "text", [1], 7, {"machine": 3, "prefix": []}])
def test_observations_of_any_form(said):
    files = {"/usr/share/hip/version": "HIP_VERSION_MAJOR=6", f"{CORE}/.info/version": "7.1.0"}
    observed = {"uname": said, "interpreter": said}
    assert roots(files=files, observed=observed).layout == "distribution"
    assert (
        roots(files=files, modules={"_rocm_sdk_core": f"{CORE}/__init__.py"}, observed=observed).layout
        == "wheel"
    )


def test_denied_everywhere():
    got = find(files={"/opt": errno.EACCES, "/usr/share/hip": errno.EACCES})
    assert got.coverage["rocm"] is Coverage.UNKNOWN


def test_native_packages_with_only_a_core_link():
    tree = roots(
        files={
            "/opt/rocm/core-7.13/.info/version": "7.13.0\n",
            "/opt/rocm/core-7.13/lib/libamdhip64.so.7": "x",
        },
        links={"/opt/rocm/core": "/etc/alternatives/core", "/etc/alternatives/core": "/opt/rocm/core-7.13"},
    )
    assert (tree.root, tree.layout, tree.lib_root, tree.include_root) == (
        "/opt/rocm",
        "native",
        "/opt/rocm/core",
        "/opt/rocm/core",
    )
    assert tree.bin_dirs == ("/opt/rocm/bin", "/opt/rocm/core/bin")
    assert tree.lib_dirs == ("/opt/rocm/core/lib",)
    assert len(tree.candidates) == 1


def test_native_packages_with_top_level_links():
    tree = roots(
        files={f"/opt/rocm/core-10.0/{name}": "10.0.0\n" for name in (".info/version", "lib/x", "include/y")},
        links={
            "/opt/rocm/core": "core-10.0",
            "/opt/rocm/lib": "core/lib",
            "/opt/rocm/include": "core/include",
        },
    )
    assert (tree.lib_root, tree.include_root) == ("/opt/rocm", "/opt/rocm")


def test_native_core_without_a_version_has_its_libraries():
    assert roots(files={"/opt/rocm/core/lib/x": ""}).layout == "native"
    assert roots(files={"/opt/rocm/core/share/x": ""}).root_source == "none"


def test_a_core_directory_named_by_the_variable_is_native():
    tree = roots(files={"/opt/rocm/core-7.13/lib/x": ""}, env={"ROCM_PATH": "/opt/rocm/core-7.13"})
    assert (tree.root, tree.layout) == ("/opt/rocm/core-7.13", "native")


def test_lib64_is_looked_at():
    assert roots(files={"/opt/rocm/lib64/x": ""}).lib_dirs == ("/opt/rocm/lib", "/opt/rocm/lib64")


def test_wheel():
    host = wheels("_rocm_sdk_libraries", "_rocm_sdk_devel", observed={"interpreter": {"prefix": "/venv"}})
    tree = provide(host, RocmRoots).typed
    assert (tree.root, tree.layout, tree.root_source) == (CORE, "wheel", "import:_rocm_sdk_core")
    assert (tree.lib_root, tree.include_root) == (f"{SITE}/_rocm_sdk_libraries", f"{SITE}/_rocm_sdk_devel")
    assert tree.bin_dirs == (f"{CORE}/bin", f"{SITE}/_rocm_sdk_devel/bin", "/venv/bin")
    assert tree.lib_dirs == (f"{SITE}/_rocm_sdk_libraries/lib", f"{CORE}/lib")


def test_w22_library_wheel_of_one_family():
    tree = provide(
        wheels("_rocm_sdk_libraries_gfx94X_dcgpu", "rocm_sdk_libraries", "rocm_sdk"), RocmRoots
    ).typed
    assert tree.lib_root == f"{SITE}/_rocm_sdk_libraries_gfx94X_dcgpu"
    assert tree.lib_roots == (tree.lib_root,)


def test_w22_several_families_are_all_told_the_wanted_one_first():
    packages = [
        "_rocm_sdk_libraries_gfx1151",
        "_rocm_sdk_libraries_gfx94X_dcgpu",
        "_rocm_sdk_libraries_gfx950_dcgpu",
    ]
    tree = provide(wheels(*packages, env={"ROCM_SDK_TARGET_FAMILY": "gfx950-dcgpu"}), RocmRoots).typed
    assert tree.lib_roots == tuple(f"{SITE}/{name}" for name in (packages[2], packages[0], packages[1]))
    plain = provide(wheels(*packages, "_rocm_sdk_libraries"), RocmRoots).typed
    assert plain.lib_root == f"{SITE}/_rocm_sdk_libraries"


def test_lone_core_stands_for_all():
    tree = provide(wheels(), RocmRoots).typed
    assert (tree.lib_root, tree.include_root) == (CORE, CORE)


def test_namespace_form_of_the_core():
    host = wheels(
        modules={
            "_rocm_sdk_core": Module(name="_rocm_sdk_core", locations=(f"{SITE}/gone/_rocm_sdk_core", CORE))
        }
    )
    assert provide(host, RocmRoots).typed.root == CORE


def test_core_as_a_plain_module():
    host = wheels(modules={"_rocm_sdk_core": Module(name="_rocm_sdk_core", origin=f"{CORE}/__init__.py")})
    assert provide(host, RocmRoots).typed.root == CORE


def test_override_at_a_wheel_component_takes_its_siblings():
    host = wheels(
        "_rocm_sdk_libraries_gfx950_dcgpu", "_rocm_sdk_devel", env={"ROCM_PATH": f"{SITE}/_rocm_sdk_devel"}
    )
    tree = provide(host, RocmRoots).typed
    assert (tree.root, tree.root_source, tree.layout) == (CORE, "ROCM_PATH", "wheel")
    assert tree.lib_dirs[-1] == f"{SITE}/_rocm_sdk_devel/lib"
    assert len(tree.candidates) == 1


def test_override_at_a_lone_devel():
    devel = f"{SITE}/_rocm_sdk_devel"
    tree = roots(files={f"{devel}/lib/x": ""}, env={"ROCM_PATH": devel})
    assert (tree.root, tree.lib_root, tree.include_root) == (devel, devel, devel)


def test_a_site_that_cannot_be_listed_still_has_its_core():
    class Unlisted(FakeHost):
        def scan(self, path, *, timeout=None):
            if path == SITE:
                raise PermissionError(errno.EACCES, "denied", path)
            return super().scan(path)

    host = Unlisted(files={f"{CORE}/.info/version": "7.14.0"}, env={"ROCM_PATH": CORE})
    assert provide(host, RocmRoots).typed.root == CORE


def test_a_broken_finder_is_told():
    class Broken(FakeHost):
        def module(self, name):
            raise OSError(errno.EIO, "stale", name)

    assert provide(Broken(), RocmRoots).typed.troubles[0].kind is ReasonKind.FAILED


def test_an_unreadable_wheel_is_told():
    tree = roots(files={SITE: errno.EACCES}, modules={"_rocm_sdk_core": f"{CORE}/__init__.py"})
    assert tree.root_source == "unknown"
    assert tree.troubles[0].kind is ReasonKind.DENIED


def test_wheel_with_a_build_suffix_is_found_beside_its_metadata():
    package = f"{SITE}/_rocm_sdk_core_20260811"
    core = Distribution(name="rocm-sdk-core", version="10.1.0", path=f"{SITE}/rocm_sdk_core-10.1.0.dist-info")
    tree = roots(files={f"{package}/.info/version": "10.1.0\n"}, distributions={"rocm-sdk-core": core})
    assert (tree.root, tree.root_source) == (package, "pip:rocm-sdk-core")


def test_wheel_and_classic_are_both_told():
    host = wheels("_rocm_sdk_libraries", files={"/opt/rocm/.info/version": "6.4.1-83\n"})
    tree = provide(host, RocmRoots).typed
    assert [(stack.root, stack.version, stack.via) for stack in tree.candidates] == [
        ("/opt/rocm", "6.4.1-83", "opt_rocm"),
        (CORE, "7.14.0", "import:_rocm_sdk_core"),
    ]


def test_a_console_script_in_a_venv_is_no_root():
    tree = roots(
        files={"/venv/bin/hipconfig": "#!python", "/venv/lib/python3.12/x": ""},
        env={"PATH": ":bin:/venv/bin"},
    )
    assert tree.root_source == "none"
    assert tree.candidates == ()


@pytest.mark.parametrize("inner", ["bin/hipcc", "hip/bin/hipcc"])
def test_the_tree_behind_a_tool(inner):
    tree = roots(
        files={f"/soft/rocm-5.7.1/{inner}": "x", "/soft/rocm-5.7.1/.info/version": "5.7.1-98\n"},
        links={"/usr/bin/hipcc": f"/soft/rocm-5.7.1/{inner}"},
        env={"PATH": "/usr/bin"},
    )
    assert (tree.root, tree.root_source) == ("/soft/rocm-5.7.1", "tool:hipcc")


def test_a_wheel_behind_a_tool():
    host = wheels(
        links={"/usr/bin/hipconfig": f"{CORE}/bin/hipconfig"},
        env={"PATH": "/usr/bin"},
        files={f"{CORE}/bin/hipconfig": "x"},
        modules={},
    )
    assert provide(host, RocmRoots).typed.root == CORE


def test_a_dangling_tool_leads_nowhere():
    assert (
        roots(links={"/usr/bin/hipcc": "/opt/rocm-1/bin/hipcc"}, env={"PATH": "/usr/bin"}).root_source
        == "none"
    )


@pytest.mark.parametrize("env", [{}, {"PATH": "/usr/bin"}])
def test_distribution_packages_in_usr(env):
    tree = roots(
        files={
            "/usr/share/hip/version": "HIP_VERSION_MAJOR=5\n",
            "/usr/bin/hipconfig": "x",
            "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5": "x",
        },
        dirs=["/usr/lib64"],
        env=env,
    )
    assert (tree.root, tree.layout) == ("/usr", "distribution")
    assert tree.root_source == ("tool:hipconfig" if env else "distribution")
    assert tree.lib_dirs == ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
    assert tree.bin_dirs == ()


def test_the_only_versioned_tree_is_the_root():
    tree = roots(files={"/opt/rocm-7.1.0/.info/version": "7.1.0\n"})
    assert (tree.root, tree.root_source) == ("/opt/rocm-7.1.0", "opt_rocm_versioned")


def test_of_several_versioned_trees_none_is_guessed():
    got = find(
        files={f"/opt/rocm-{v}/.info/version": f"{v}\n" for v in ("6.2.0", "7.1.0")},
        dirs=["/opt/rocm-extras"],
    )
    assert got.typed.root_source == "none"
    assert [stack.version for stack in got.typed.candidates] == ["6.2.0", "7.1.0"]
    assert got.coverage["rocm"] is Coverage.SEEN


def test_rocm_inside_a_torch_wheel_is_a_stack():
    tree = roots(
        files={
            f"{SITE}/torch/lib/libamdhip64.so": "x",
            f"{SITE}/torch/version.py": "__version__ = '2.5.1+rocm6.2'\n",
        },
        modules={"torch": f"{SITE}/torch/__init__.py"},
    )
    assert [(stack.root, stack.version, stack.via) for stack in tree.candidates] == [
        (f"{SITE}/torch/lib", "6.2", "torch")
    ]
    assert tree.root_source == "none"


def test_a_loop_of_links_ends():
    tree = roots(links={"/opt/rocm": "/opt/other", "/opt/other": "/opt/rocm"})
    assert tree.root_source == "unknown"
    assert tree.troubles[0].kind is ReasonKind.FAILED


@pytest.mark.parametrize("place", ["/opt/rocm-6.2.0/.info", "/opt/rocm-6.2.0/.info/version"])
def test_a_versioned_tree_that_may_not_be_read_is_told(place):
    tree = roots(files={"/opt/rocm/.info/version": "7.1.0\n", place: errno.EACCES})
    assert (tree.root, len(tree.candidates)) == ("/opt/rocm", 1)
    assert [trouble.kind for trouble in tree.troubles] == [ReasonKind.DENIED]


@pytest.mark.parametrize(
    ("content", "kind"),
    [("garbage\n", ReasonKind.UNPARSED), ("", ReasonKind.UNPARSED), (errno.EACCES, ReasonKind.DENIED)],
)
def test_a_marker_that_is_no_version_makes_no_root_and_is_told(content, kind):
    got = find(files={"/opt/rocm/.info/version": content})
    assert got.typed.root_source == ("unknown" if kind is ReasonKind.DENIED else "none")
    assert [trouble.kind for trouble in got.typed.troubles] == [kind]
    assert got.coverage["rocm"] is Coverage.UNKNOWN


def test_relative_links_with_dots_are_followed():
    tree = roots(
        files={"/soft/rocm/.info/version": "7.1.0\n"},
        links={"/opt/rocm": "../opt/./here", "/opt/here": "/soft/x/../rocm"},
        dirs=["/soft/x"],
    )
    assert tree.resolved == "/soft/rocm"
