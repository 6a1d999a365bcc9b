"""What the process has mapped: where it comes from, what became of it, and what other sections describe instead."""

import errno
import hashlib

import pytest

from aorta.testing import FakeHost, collect, torch_report
from aorta_collectors.providers.mapped_libraries import MAPS
from tests.parts.loaded_files import elf, maps

SITE = "/v/lib/python3.12/site-packages"
TORCH = f"{SITE}/torch"
LIB = f"{TORCH}/lib"
ROCM = "/opt/rocm-7.2.0"
RCCL = f"{ROCM}/lib/librccl.so.1.0.70200"
BUNDLED = f"{LIB}/librccl.so"
MODULES = {"torch": f"{TORCH}/__init__.py"}
ROOT = {f"{ROCM}/.info/version": "7.2.0\n", RCCL: elf("librccl.so.1")}
LINKS = {"/opt/rocm": "rocm-7.2.0", f"{ROCM}/lib/librccl.so.1": "librccl.so.1.0.70200"}
INSIDE = {f"{TORCH}/version.py": "", BUNDLED: elf("librccl.so.1", runpath="$ORIGIN")}
HIP_LIBRARY = {
    f"{LIB}/libtorch_hip.so": elf("libtorch_hip.so", ["librccl.so.1", "libamdhip64.so.7", "libMIOpen.so"])
}
CONFIG = "PyTorch built with:\n  - HIP Runtime 7.2.26015\n  - MIOpen 3.5.1\n"
SAME = {"section": None, "path": None, "same_content": None, "statement": None}


def own(*mapped, files=None, links=None, modules=None, report=None, **more):
    """Return the section of a process that has mapped these itself."""
    observed = {**more.pop("observed", {}), **({} if report is None else {"torch": report})}
    host = FakeHost(
        {MAPS: maps(*mapped), **(files or {})},
        links=links or {},
        modules=modules or {},
        observed=observed,
        env=more.pop("env", {}),
        filesystems=more.pop("filesystems", {}),
        dirs=more.pop("dirs", ()),
    )
    return collect(host, "loaded_libraries", import_strategy="in_process", **more)


def by_path(result):
    return {each["path"]: each for each in result.value}


def sha256(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_w13_the_loaded_library_is_told_not_the_installed_one():
    """torch brings its own librccl, the ROCm root has another: both are told, each with its digest."""
    result = own(
        BUNDLED, files={**ROOT, **INSIDE}, links=LINKS, modules=MODULES, report=torch_report(how="in_process")
    )
    (entry,) = result.value
    assert (entry["path"], entry["digest"], entry["origin"]) == (
        BUNDLED,
        sha256(INSIDE[BUNDLED]),
        "torch_bundled",
    )
    assert entry["differs_from"] == {
        "section": "rccl",
        "path": RCCL,
        "same_content": False,
        "statement": f"this process has mapped {BUNDLED}; the rccl of the ROCm root is {RCCL},"
        " which has another content",
    }
    assert entry["other_copies"] == [{"path": RCCL, "origin": "rocm_root"}]
    host = FakeHost({**ROOT, **INSIDE}, links=LINKS, modules=MODULES)
    rccl = collect(host, "rccl").value
    assert (rccl["lib_path"], rccl["lib_hash"]) == (RCCL, sha256(ROOT[RCCL]))


def test_one_entry_whole():
    (entry,) = own(RCCL, files=ROOT, links=LINKS).value
    assert entry == {
        "library": "rccl",
        "path": RCCL,
        "soname": "librccl.so.1",
        "build_id": None,
        "digest": sha256(ROOT[RCCL]),
        "version": "1.0.70200",
        "version_source": "file_name",
        "origin": "rocm_root",
        "deleted": False,
        "replaced": None,
        "basis": "observed",
        "process": "self",
        "other_copies": [],
        "differs_from": SAME,
        "banners": None,
    }


def test_each_origin_sorted_by_library_and_path():
    tree = "/repo/buck-out/v2/x#link-tree/runtime/lib/libtorch.so"
    paths = {
        RCCL: "rocm_root",
        f"{ROCM}/lib/libamdhip64.so.7.2.70200": "rocm_root",
        f"{LIB}/libtorch_cpu.so": "torch_bundled",
        f"{SITE}/nvidia/nccl/lib/libnccl.so.2": "wheel",
        "/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14": "other",
        tree: "buck_link_tree",
    }
    files = {**ROOT, f"{TORCH}/version.py": "", **{path: elf() for path in paths}}
    result = own(*paths, files=files, links=LINKS, modules=MODULES, report=torch_report(how="in_process"))
    assert {each["path"]: each["origin"] for each in result.value} == paths
    order = [(each["library"], each["path"]) for each in result.value]
    assert order == sorted(order)
    assert [library for library, _ in order] == ["hip", "ibverbs", "nccl", "rccl", "torch", "torch"]
    assert result.record.status == "ok"


def test_libraries_of_no_interest_and_none_at_all():
    assert own("/usr/lib/libc.so.6", "/usr/bin/python3").value == []
    assert own().value == []


def test_a_network_plugin():
    (entry,) = own("/opt/ofi/lib/librccl-net-ofi.so", files={"/opt/ofi/lib/librccl-net-ofi.so": elf()}).value
    assert (entry["library"], entry["origin"], entry["differs_from"]) == ("rccl_net_plugin", "other", SAME)


@pytest.mark.parametrize(
    ("there", "replaced", "words"),
    [
        ({}, False, "no file is there now"),
        ({BUNDLED: elf("librccl.so.1")}, True, "another file is there now"),
    ],
)
def test_a_file_that_was_removed_or_replaced_since(there, replaced, words):
    result = own(f"{BUNDLED} (deleted)", files=there, modules=MODULES, report=torch_report(how="in_process"))
    (entry,) = result.value
    assert (entry["path"], entry["deleted"], entry["replaced"]) == (BUNDLED, True, replaced)
    assert (entry["digest"], entry["build_id"], entry["soname"]) == (None, None, None)
    for field in ("digest", "build_id", "soname"):
        (reason,) = [each for each in result.reasons if each.field == field]
        assert (reason.kind, reason.subject) == ("absent", BUNDLED)
        assert reason.detail.endswith(words)


def test_what_took_the_place_of_a_removed_file_cannot_be_seen():
    result = own(f"{BUNDLED} (deleted)", files={"/v/lib": errno.EACCES})
    assert (result.value[0]["replaced"], result.kinds("replaced")) == (None, ["denied"])
    assert "cannot be seen what is there now" in result.reasons[0].detail


def test_the_root_s_own_library_was_replaced_while_mapped():
    (entry,) = own(f"{RCCL} (deleted)", files=ROOT, links=LINKS).value
    assert entry["differs_from"] == {
        "section": "rccl",
        "path": RCCL,
        "same_content": None,
        "statement": f"this process has mapped {RCCL}, which was removed or replaced since;"
        " rccl describes the file that is there now",
    }


def test_two_copies_and_one_of_them_deleted_are_three_entries():
    mapped = (RCCL, BUNDLED, f"{BUNDLED} (deleted)")
    result = own(*mapped, files={**ROOT, **INSIDE}, links=LINKS, modules=MODULES)
    told = [(each["path"], each["deleted"], each["differs_from"]["path"]) for each in result.value]
    assert sorted(told, key=str) == sorted(
        [(RCCL, False, None), (BUNDLED, False, RCCL), (BUNDLED, True, RCCL)], key=str
    )


def test_another_path_of_the_same_file_is_no_difference():
    links = {**LINKS, "/data/rocm": ROCM}
    assert (
        own("/data/rocm/lib/librccl.so.1.0.70200", files=ROOT, links=links).value[0]["differs_from"] == SAME
    )


def test_a_library_of_torch_from_elsewhere_is_not_torch_s_own():
    """LD_LIBRARY_PATH has a c10 of its own: torch runs on what nobody describes."""
    own_c10, other, name = f"{LIB}/libc10.so", "/llp/libc10.so", "libc10.so"
    files = {f"{TORCH}/version.py": "", own_c10: elf(name), other: elf(name, ["libm.so.6"])}
    report = torch_report(how="in_process", version="2.9.1")
    (entry,) = own(other, files=files, modules=MODULES, report=report).value
    assert entry["differs_from"] == {
        "section": "pytorch_build",
        "path": own_c10,
        "same_content": False,
        "statement": f"this process has mapped {other}, not torch's own {own_c10}, which has another content",
    }
    (entry,) = own(own_c10, files=files, modules=MODULES, report=report).value
    assert entry["differs_from"] == SAME
    (entry,) = own("/llp/libshm.so", files=files, modules=MODULES, report=report).value
    assert entry["differs_from"] == SAME
    linked = {f"{LIB}/libshm.so": "/llp/libshm.so"}
    files = {**files, "/llp/libshm.so": elf("libshm.so")}
    (entry,) = own("/llp/libshm.so", files=files, links=linked, modules=MODULES, report=report).value
    assert entry["differs_from"] == SAME


def test_equal_content_is_said_as_such():
    files = {**ROOT, "/mine/librccl.so.1": ROOT[RCCL]}
    differs = own("/mine/librccl.so.1", files=files, links=LINKS).value[0]["differs_from"]
    assert (differs["path"], differs["same_content"]) == (RCCL, True)
    assert differs["statement"].endswith(f"{RCCL}, a copy with equal content")


def test_without_digests_content_is_not_spoken_of():
    other = elf("librccl.so.2")
    files = {**ROOT, "/mine/librccl.so.1": ROOT[RCCL], "/yours/librccl.so.1": other}
    result = own("/mine/librccl.so.1", "/yours/librccl.so.1", files=files, links=LINKS, digests="none")
    assert [each["digest"] for each in result.value] == [None, None]
    assert [each["differs_from"]["same_content"] for each in result.value] == [None, None]
    assert result.value[0]["differs_from"]["statement"].endswith(RCCL)
    assert result.kinds("digest") == ["not_requested"]
    assert result.record.status == "ok"


@pytest.mark.parametrize(
    ("library", "file"),
    [
        ("hip", "libamdhip64.so.7.2.70200"),
        ("hipblaslt", "libhipblaslt.so.1.2.70200"),
        ("rocblas", "librocblas.so.5.2.70200"),
        ("miopen", "libMIOpen.so.1.0.70200"),
    ],
)
def test_each_section_about_an_installed_library(library, file):
    installed, inside = f"{ROCM}/lib/{file}", f"{LIB}/{file.partition('.so')[0]}.so"
    files = {f"{ROCM}/.info/version": "7.2.0\n", installed: elf("a"), inside: elf("bb")}
    (entry,) = own(inside, files=files, links={"/opt/rocm": "rocm-7.2.0"}, modules=MODULES).value
    assert entry["library"] == entry["differs_from"]["section"] == library
    assert entry["differs_from"]["path"] == installed


def test_no_root_nothing_to_differ_from():
    result = own(BUNDLED, files=INSIDE, modules=MODULES)
    assert (result.value[0]["differs_from"], result.kinds("differs_from")) == (SAME, [])


def test_a_root_that_cannot_be_seen():
    result = own(BUNDLED, files={**INSIDE, "/opt": errno.EACCES}, modules=MODULES)
    assert (result.value[0]["differs_from"], result.kinds("differs_from")) == (SAME, ["denied"])


def test_torch_s_word_on_what_it_is_linked_with():
    report = torch_report(how="in_process", nccl="2.27.7", config=CONFIG)
    names = ("libtorch_hip.so", "libamdhip64.so", "libMIOpen.so", "librccl.so")
    files = {
        **HIP_LIBRARY,
        f"{LIB}/libamdhip64.so": elf("libamdhip64.so.7"),
        f"{LIB}/libMIOpen.so": elf("libMIOpen.so.1"),
        f"{LIB}/librccl.so": elf("librccl.so.1"),
    }
    result = own(*(f"{LIB}/{name}" for name in names), files=files, modules=MODULES, report=report)
    told = {each["library"]: (each["version"], each["version_source"]) for each in result.value}
    assert told == {
        "hip": ("7.2.26015", "torch_config"),
        "miopen": ("3.5.1", "torch_config"),
        "rccl": ("2.27.7", "torch"),
        "torch": (None, None),
    }


def test_miopen_of_the_root_is_not_the_one_torch_was_built_with():
    installed = f"{ROCM}/lib/libMIOpen.so.1.0.70200"
    files = {**HIP_LIBRARY, f"{ROCM}/.info/version": "7.2.0\n", installed: elf("libMIOpen.so")}
    report = torch_report(how="in_process", config=CONFIG)
    mapped = (f"{LIB}/libtorch_hip.so", installed)
    result = own(*mapped, files=files, links={"/opt/rocm": "rocm-7.2.0"}, modules=MODULES, report=report)
    assert by_path(result)[installed]["version"] == "1.0.70200"


def test_torch_s_rocm_beside_an_older_one_of_the_system():
    """A torch of ROCm 7.0 with its own libraries, and ROCm 6.4.1 in /opt: which one is used is told of each."""
    names = ("libamdhip64.so", "librccl.so", "libhipblaslt.so")
    files = {f"{LIB}/{name}": elf(name) for name in names}
    files |= {f"/opt/rocm/lib/{name}": elf(f"{name}.1") for name in names}
    files |= {"/opt/rocm/.info/version": "6.4.1-83\n", f"{TORCH}/version.py": "hip = '7.0.51831-a3e329ad8'\n"}
    report = torch_report(how="in_process", version="2.9.0a0+gitb425573", hip="7.0.51831-a3e329ad8")
    result = own(*(f"{LIB}/{name}" for name in names), files=files, modules=MODULES, report=report)
    for entry, name in zip(
        result.value, sorted(names, key=lambda each: each[3:].removeprefix("amd")), strict=True
    ):
        assert (entry["path"], entry["origin"]) == (f"{LIB}/{name}", "torch_bundled")
        assert entry["differs_from"]["path"] == f"/opt/rocm/lib/{name}"
        assert entry["other_copies"] == [{"path": f"/opt/rocm/lib/{name}", "origin": "rocm_root"}]


def test_two_copies_or_an_unlinked_one_have_no_word_of_torch_s():
    report = torch_report(how="in_process", nccl="2.27.7")
    files = {**ROOT, **INSIDE, **HIP_LIBRARY}
    linked = f"{LIB}/libtorch_hip.so"
    result = own(linked, RCCL, BUNDLED, files=files, links=LINKS, modules=MODULES, report=report)
    assert by_path(result)[BUNDLED]["version"] is None
    assert by_path(result)[RCCL]["version"] == "1.0.70200"
    alone = own(BUNDLED, files=files, links=LINKS, modules=MODULES, report=report)
    assert (alone.value[0]["version"], alone.value[0]["version_source"]) == (None, None)


def test_the_child_that_imported_torch():
    report = torch_report(mapped=maps(BUNDLED, f"{LIB}/libtorch_hip.so").splitlines())
    files = {**INSIDE, **HIP_LIBRARY, MAPS: maps("/other/librccl.so")}
    host = FakeHost(files, modules=MODULES, observed={"torch": report})
    result = collect(host, "loaded_libraries", import_strategy="child")
    assert [each["path"] for each in result.value] == [BUNDLED, f"{LIB}/libtorch_hip.so"]
    assert {each["process"] for each in result.value} == {"torch_child"}


def failed(**end):
    return {**torch_report(), "parts": {}, "done": False, "imported": None, **end}


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        (failed(imported=False, error="OSError: libmpi.so.40: cannot open"), "failed"),
        (failed(hung=True, ended="it did not end in time"), "timed_out"),
        (failed(how="static"), "not_requested"),
        (torch_report(), "unsupported"),
    ],
)
def test_what_would_be_mapped_where_nothing_could_be_observed(report, kind):
    files = {**ROOT, **HIP_LIBRARY, f"{TORCH}/version.py": "", "/etc/ld.so.conf": f"{ROCM}/lib\n"}
    host = FakeHost(files, links=LINKS, modules=MODULES, observed={"torch": report})
    result = collect(host, "loaded_libraries", import_strategy="child")
    assert [(each["path"], each["basis"], each["process"]) for each in result.value] == [
        (RCCL, "predicted", None),
        (f"{LIB}/libtorch_hip.so", "predicted", None),
    ]
    assert result.value[0]["deleted"] is False
    assert result.kinds("process") == [kind]
    missing = [(each.kind, each.subject) for each in result.reasons if each.field == ""]
    assert missing == [("absent", "libamdhip64.so.7"), ("absent", "libMIOpen.so")]


def test_a_prediction_differs_too():
    files = {**ROOT, **INSIDE, **HIP_LIBRARY, f"{LIB}/librccl.so.1": elf("librccl.so.1")}
    host = FakeHost(
        files, links=LINKS, modules=MODULES, observed={"torch": failed()}, env={"LD_LIBRARY_PATH": LIB}
    )
    result = collect(host, "loaded_libraries", import_strategy="child")
    told = by_path(result)[f"{LIB}/librccl.so.1"]["differs_from"]["statement"]
    assert told.startswith(
        f"a process that imports torch would map {LIB}/librccl.so.1; the rccl of the ROCm root is"
    )


def test_a_process_whose_torch_failed_tells_what_it_has_and_what_torch_would_add():
    files = {**ROOT, **HIP_LIBRARY, f"{TORCH}/version.py": ""}
    result = own(
        RCCL,
        files=files,
        links=LINKS,
        modules=MODULES,
        report=failed(how="in_process", imported=False, error="E: x"),
    )
    assert {each["path"]: each["basis"] for each in result.value} == {
        RCCL: "observed",
        f"{LIB}/libtorch_hip.so": "predicted",
    }
    assert result.kinds("process") == []


def test_an_import_that_was_only_rehearsed():
    """An application whose process torch's import would harm: its own libraries, and the rehearsal's."""
    lines = [*maps(BUNDLED, f"{LIB}/libtorch_hip.so").splitlines(), 7]
    report = torch_report(how="child", mapped=lines, nccl="2.27.7")
    result = own(
        RCCL, BUNDLED, files={**ROOT, **INSIDE, **HIP_LIBRARY}, links=LINKS, modules=MODULES, report=report
    )
    assert [(each["path"], each["process"], each["version"]) for each in result.value] == [
        (RCCL, "self", "1.0.70200"),
        (BUNDLED, "self", None),
        (BUNDLED, "torch_child", "2.27.7"),
        (f"{LIB}/libtorch_hip.so", "torch_child", None),
    ]
    assert result.value[2]["differs_from"]["statement"].startswith("a process that imports torch maps")


def test_without_torch_a_child_says_nothing():
    result = collect(FakeHost({MAPS: maps(RCCL)}), "loaded_libraries", import_strategy="child")
    assert (result.value, result.kinds()) == (None, ["absent"])
    assert result.record.status == "ok"


def test_without_torch_a_process_tells_its_own():
    assert [each["path"] for each in own(RCCL, files=ROOT, links=LINKS).value] == [RCCL]


def test_a_torch_without_libraries_is_no_empty_list():
    host = FakeHost({f"{TORCH}/__init__.py": ""}, modules=MODULES, observed={"torch": failed()})
    result = collect(host, "loaded_libraries", import_strategy="child")
    assert (result.value, result.kinds("")) == (None, ["failed"])


def test_maps_that_are_denied():
    result = collect(FakeHost({MAPS: errno.EACCES}), "loaded_libraries", import_strategy="in_process")
    assert (result.value, result.kinds()) == (None, ["denied"])


def test_denied_files():
    result = own(RCCL, files={**ROOT, RCCL: errno.EACCES}, links=LINKS)
    (entry,) = result.value
    assert (entry["path"], entry["digest"], entry["soname"]) == (RCCL, None, None)
    assert result.kinds("digest") == result.kinds("soname") == result.kinds("build_id") == ["denied"]


def test_a_file_that_is_no_library():
    result = own(RCCL, files={**ROOT, RCCL: "junk"}, links=LINKS)
    assert (result.value[0]["digest"], result.kinds("soname")) == (sha256(b"junk"), ["unparsed"])


def test_other_copies_of_every_place():
    files = {
        **ROOT,
        **INSIDE,
        "/mine/librccl.so.1": elf(),
        f"{SITE}/_rocm_sdk_libraries_gfx94X/lib/librccl.so.1": elf(),
        "/usr/lib/librccl.so": "INPUT ( librccl.so.1 )",
        "/usr/lib64/librccl.so.1": elf(),
    }
    result = own(
        BUNDLED, files=files, links=LINKS, modules=MODULES, env={"LD_LIBRARY_PATH": f"/mine:{ROCM}/lib"}
    )
    assert [(each["path"], each["origin"]) for each in result.value[0]["other_copies"]] == [
        ("/mine/librccl.so.1", "other"),
        (RCCL, "rocm_root"),
        (f"{SITE}/_rocm_sdk_libraries_gfx94X/lib/librccl.so.1", "wheel"),
        ("/usr/lib64/librccl.so.1", "other"),
    ]


def test_copies_that_cannot_be_seen():
    result = own(RCCL, files={**ROOT, "/mine": errno.EACCES}, links=LINKS, env={"LD_LIBRARY_PATH": "/mine"})
    assert (result.value[0]["other_copies"], result.kinds("other_copies")) == (None, ["denied"])
    result = own(RCCL, files={**ROOT, "/usr/lib64": errno.EACCES}, links=LINKS)
    assert (result.value[0]["other_copies"], result.kinds("other_copies")) == ([], [])
    result = own(RCCL, files={**ROOT, "/etc/ld.so.conf": errno.EIO}, links=LINKS)
    assert (result.value[0]["other_copies"], result.kinds("other_copies")) == (None, ["failed"])


def test_on_a_network_file_system_only_identities_unless_asked_for():
    networks = {"filesystems": {"/v": "nfs4"}, "modules": MODULES, "files": INSIDE}
    assert own(BUNDLED, **networks).value[0]["digest"].startswith("identity:")
    assert own(BUNDLED, **networks, digests="full").value[0]["digest"] == sha256(INSIDE[BUNDLED])


def test_addresses_are_nowhere():
    assert "7f00" not in repr(own(RCCL, files=ROOT, links=LINKS).value)


BANNER = f"""node-a:1:1 [0] NCCL INFO NET/Plugin: Using internal network plugin.
RCCL version : 2.21.5-main:a29a210+
HIP version  : 6.2.41134-
ROCm version : 6.2.4.0-139
Hostname     : node-a
Librccl path : {ROCM}/lib/librccl.so.1
"""


def logged(name, log, *, observed=None, strategy="in_process", **files):
    host = FakeHost(
        {MAPS: maps(RCCL), **ROOT, **({} if log is None else {"/logs/rccl.log": log}), **files},
        links=LINKS,
        env={"NCCL_DEBUG_FILE": name},
        observed=observed or {},
        nodes={"/logs/pipe": "fifo"},
    )
    return collect(host, "loaded_libraries", import_strategy=strategy)


def test_what_rccl_wrote_about_the_file():
    result = logged("/logs/rccl.log", BANNER)
    assert result.value[0]["banners"] == [
        {
            "version": "2.21.5",
            "branch": "main",
            "commit": "a29a210",
            "dirty": True,
            "hip_version": "6.2.41134-",
            "rocm_version": "6.2.4.0-139",
            "lib_path": f"{ROCM}/lib/librccl.so.1",
        }
    ]
    assert "node-a" not in repr(result.value)


@pytest.mark.parametrize(
    ("name", "log", "kind", "words"),
    [
        ("/logs/rccl.log", "nothing\n", "absent", "has written no banner"),
        ("/logs/rccl.log", BANNER.replace(ROCM, "/elsewhere"), "absent", "name /elsewhere/lib/librccl.so.1"),
        ("/logs/rccl.log", BANNER.replace("Librccl", "x"), "absent", "name no library"),
        ("/logs/rccl.log", None, "absent", "No such file"),
        ("/logs/rccl.log", errno.EACCES, "denied", "Permission"),
        ("/logs/%h.log", BANNER, "unsupported", "not known here"),
        ("/logs/pipe", BANNER, "unsupported", "a fifo"),
        ("logs/rccl.log", BANNER, "blocked", "relative"),
    ],
)
def test_no_banner(name, log, kind, words):
    result = logged(name, log)
    (reason,) = [each for each in result.reasons if each.field == "banners"]
    assert (result.value[0]["banners"], reason.kind) == (None, kind)
    assert words in reason.detail


def test_the_log_of_this_process():
    files = {"/logs/n.7.log": BANNER, "/logs/50%.log": BANNER}
    told = logged("/logs/n.%p.log", None, observed={"process": {"pid": 7}}, **files)
    assert told.value[0]["banners"][0]["commit"] == "a29a210"
    assert logged("/logs/50%%.log", None, **files).value[0]["banners"]
    assert logged("/logs/n.%p.log", None, **files).kinds("banners") == ["unsupported"]
    for pid in (True, "7", None):
        told = logged("/logs/n.%p.log", None, observed={"process": {"pid": pid}}, **files)
        assert told.kinds("banners") == ["unsupported"]


def test_no_variable_no_question():
    result = own(RCCL, files=ROOT, links=LINKS)
    assert (result.value[0]["banners"], result.kinds("banners")) == (None, [])
