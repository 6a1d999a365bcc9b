"""``--as 1.17``: what a reader of the 1.x line gets is exactly what it knows, and claims nothing."""

import copy
import errno
from functools import partial
from pathlib import Path

import pytest

from aorta.host.replay import open_recording
from aorta.instrumentation import capture
from aorta.model.codec import dump, parse_json, to_json
from aorta.model.downgrade import COUNTED, WORDS, as_1_17
from aorta.model.fieldpath import look_up
from aorta.model.upgrade.keys import ANY, KEYS, NULLABLE
from aorta.model.vocabulary import PARTIAL_KINDS, ReasonKind
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost
from aorta.testing.hosts import DenyingHost
from tests.parts.old_documents import VERSIONS, codec, facts, invented, leaves, old

CODEC = codec()
REGISTRY = discover(outside=False)


def node():
    """Return a machine on which much is seen, some of it in words that 1.x does not have."""
    return FakeHost(
        {
            "/opt/rocm-7.2.0/.info/version": "7.2.0-93\n",
            "/opt/rocm-7.2.0/include/rccl/rccl.h": "#define NCCL_VERSION_CODE 22707\n",
            "/sys/module/amdgpu/version": "6.16.13\n",
            "/proc/self/mountinfo": "1 0 0:9 / / rw - overlay overlay rw,lowerdir=/var/lib/x\n",
            "/proc/self/cgroup": "0::/kubepods.slice/cri-containerd-" + "a" * 64 + ".scope\n",
            "/sys/module/amdgpu/srcversion": errno.EACCES,
        },
        env={"AORTA_DOCKER_IMAGE": "img:1", "HSA_XNACK": "1", "NCCL_DEBUG": "INFO"},
    )


def captured(host, **options):
    return dump(capture(registry=REGISTRY, host=host() if host else None, **options))


RECORDED = sorted((Path(__file__).resolve().parents[1] / "hosts").glob("*.jsonl"))
HOSTS = {
    "empty": FakeHost,
    "denying": DenyingHost,
    "live": None,
    "node": node,
    **{path.stem: partial(open_recording, str(path)) for path in RECORDED},
}


@pytest.fixture(params=HOSTS)
def current(request):
    assert len(RECORDED) == 12
    return captured(HOSTS[request.param], detail="full")


def shaped(value, keys, path=""):
    """Yield where a value has not exactly the keys of 1.17, in their order."""
    if isinstance(keys, dict):
        if value is None and NULLABLE in keys:
            return
        names = [name for name in keys if name != NULLABLE]
        if path in ("nics.ainic", "nics.broadcom", "nics.cx7") and value.get("present") is not True:
            names = ["present"]
        if path == "build_system" and value["kind"] != "buck2":
            names = ["kind"]
        if list(value) != names:
            yield f"{path}: {list(value)}"
        for name in [name for name in names if name in value]:
            yield from shaped(value[name], keys[name], f"{path}.{name}" if path else name)
    elif isinstance(keys, list):
        if value is not None and not isinstance(value, list):
            yield f"{path}: no list"
        for member in value or ():
            yield from shaped(member, keys[0] if keys else None, f"{path}[]")
    elif keys is not ANY and isinstance(value, (dict, list)):
        yield f"{path}: no scalar"


def test_exactly_the_keys_and_words_of_1_17(current):
    made = as_1_17(current)
    assert list(made) == list(old("1.17"))
    assert list(shaped(made, KEYS)) == []
    assert made["schema_version"] == "1.17"
    for path, words in WORDS.items():
        assert look_up(made, path) in {None, *(word for word, old_word in words.items() if old_word == "")}
    assert parse_json(to_json(made)) == made


def test_the_check_of_the_keys_can_fail():
    made = as_1_17(captured(FakeHost))
    assert list(shaped({**made, "rocm": {**made["rocm"], "x": 1}}, KEYS))
    assert list(shaped({**made, "nics": {**made["nics"], "cx7": {"present": True}}}, KEYS))
    assert list(shaped({**made, "triton": {"package_version": [], "commit": None}}, KEYS))


def test_there_and_back_nothing_is_invented_and_what_is_lost_is_named(current):
    made = as_1_17(current)
    again = dump(CODEC.load(made))
    changed = set(invented(current, again))
    assert {path for path in changed if path not in WORDS and not path.endswith(".dt_tags")} == set()
    assert all(look_up(current, path) in (None, "absent") for path in changed - {"rocm.layout"})
    known = {path for path, _ in leaves(made)}
    lost = {
        path for path in facts(current) if path in known and facts(current)[path] != facts(again).get(path)
    }
    told = made["partial_reasons"]
    assert [path for path in lost if not any(_speaks(line, path) for line in told)] == []


def _speaks(line, path):
    where = line.partition(": ")[0]
    return path == where or path.startswith((f"{where}.", f"{where}[")) or where.startswith(f"{path}.")


def test_partial_is_what_1_x_calls_partial(current):
    made = as_1_17(current)
    assert made["partial"] is bool(made["partial_reasons"])
    assert all(
        line.partition(": ")[0].split(".")[0] in {*KEYS, "collection"} for line in made["partial_reasons"]
    )
    # A laptop is complete in 2.0; in 1.x what it lacks makes it partial.
    for path in COUNTED:
        section = path.split(".")[0]
        value = made
        for name in path.split("."):
            value = value.get(name, "nothing there") if isinstance(value, dict) else "nothing there"
        if value is None:
            assert any(_speaks(line, path) for line in made["partial_reasons"]), (section, path)


def test_a_null_that_1_x_never_had_stays_null_with_a_line():
    made = as_1_17(captured(DenyingHost))
    for path in ("container_detected", "runtime_context.type", "rocm.root", "amdgpu_driver.status"):
        section, _, name = path.partition(".")
        assert (made[section][name] if name else made[section]) is None
        assert any(_speaks(line, path) for line in made["partial_reasons"]), path


def test_words_of_2_0_in_1_x():
    made = as_1_17(captured(node))
    assert made["rocm"]["root"] == "/opt/rocm-7.2.0"
    assert made["rocm"]["root_source"] is None
    assert made["runtime_context"]["type"] == "baremetal"
    assert made["docker"] is None
    assert made["env_vars"]["HSA_XNACK"] == "1"
    assert "NCCL_DEBUG" not in made["env_vars"]
    lines = made["partial_reasons"]
    assert "rocm.root_source: 'opt_rocm_versioned' is no word of schema 1.17, left out" in lines
    [docker] = [line for line in lines if line.startswith("docker: schema")]
    assert "image img:1" in docker and "a" * 64 in docker


@pytest.mark.parametrize(
    ("layout", "old_word", "told"),
    [
        ("classic", "classic", False),
        ("wheel", "wheel", False),
        ("native", "classic", True),
        ("distribution", "classic", True),
        ("none", "classic", False),
        ("unknown", None, True),
        (None, None, False),
    ],
)
def test_the_layout(layout, old_word, told):
    current = captured(FakeHost)
    current["rocm"]["layout"] = layout
    made = as_1_17(current)
    assert made["rocm"]["layout"] == old_word
    assert any("is no word of" in line for line in made["partial_reasons"] if "rocm.layout" in line) == told


CATALOGS = [path for path in WORDS if "_catalog" in path and "rocfft" not in path]


def test_a_catalog_that_is_not_installed_is_partial():
    made = as_1_17(captured(FakeHost))
    assert len(CATALOGS) == 5
    lines = made["partial_reasons"]
    for path in CATALOGS:
        assert look_up(made, path) == "partial"
        assert f"{path}: 'absent' is no word of schema 1.17, written as partial" in lines
    where = "tensile_catalog.rocblas.menu.combined_content_hash"
    assert f"{where}: /opt/rocm/lib/rocblas/library: no such directory" in lines
    assert made["rocfft_catalog"]["status"] == "absent"


@pytest.mark.parametrize(
    ("tags", "effective", "made"),
    [(None, "unknown", []), (None, None, None), (["rpath"], "rpath", ["rpath"]), ([], "none", [])],
)
def test_a_library_that_could_not_be_read_has_no_tags_in_1_x(tags, effective, made):
    current = captured(FakeHost)
    library = {"name": "librccl.so", "scope": "rocm", "dt_tags": tags, "effective_tag": effective}
    current["library_linkage"]["libraries"] = [library]
    [shown] = as_1_17(current)["library_linkage"]["libraries"]
    assert (shown["dt_tags"], shown["effective_tag"]) == (made, effective)


@pytest.mark.parametrize(
    ("section", "field", "known"),
    [
        ("library_linkage", "libraries[].search_path", False),
        ("library_linkage", "libraries[2].soname", False),
        ("library_linkage", "libraries[name=x.so].build_id", False),
        ("library_linkage", "libraries[0].dt_tags", True),
        ("library_linkage", "libraries", True),
        ("library_linkage", "census.dirs[0]", True),
        ("library_introspection", "[0].configured_target", True),
        ("library_introspection", "[0].novel", False),
        ("tensile_catalog", "rocblas.menu.files[].identity", False),
        ("tensile_catalog", "rocblas.menu.files[7].sha256", True),
        ("nics", "cx7.links[0].rate", False),
        ("nics", "cx7.links[0].state", True),
        ("therock", "submodules[0].branch", False),
        ("therock", "submodules[0].patches[0].name", True),
        ("docker", "?", False),
        ("env_vars", "HSA_XNACK", True),
        ("pytorch_build", 'binary_introspection.torch_lib_bundled["libaotriton_v2.so"]', True),
        ("pytorch_build", 'binary_introspection.torch_lib_bundled["libx.so"]', False),
    ],
)
def test_a_line_is_about_a_key_of_1_17(section, field, known):
    current = captured(FakeHost)
    reason = {"section": section, "field": field, "kind": "denied", "detail": "not to be read"}
    current["collection"]["reasons"] = [reason]
    told = [line for line in as_1_17(current)["partial_reasons"] if "not to be read" in line]
    assert told == ([f"{section}.{field}: not to be read"] if known else [])


def test_no_gpu_is_null_in_1_x():
    current = captured(FakeHost)
    current["gpu_arch"] |= {"agent_count": 0, "gfx_targets": [], "agent_arch_counts": {}}
    made = as_1_17(current)
    assert set(made["gpu_arch"].values()) == {None}
    assert "gpu_arch: no GPU targets" in made["partial_reasons"]


@pytest.mark.parametrize("kind", ReasonKind)
def test_which_reasons_become_lines(kind):
    current = captured(FakeHost)
    reasons = [
        {"section": "rocm", "field": "version", "kind": kind, "subject": "/x", "detail": "a"},
        {"section": "rocm", "field": "candidates", "kind": kind, "detail": "b"},
        {"section": "therock", "field": "", "kind": kind, "detail": "c"},
        {"section": "fbgemm", "field": "commit", "kind": kind, "detail": "d"},
        {"section": "triton", "field": "", "kind": kind, "detail": ""},
        {"section": "gpus", "field": "", "kind": kind, "detail": "e"},
        {"section": "collection", "field": "", "kind": kind, "detail": "f"},
    ]
    current["therock"]["status"] = "absent"
    current["collection"]["reasons"] = reasons
    lines = as_1_17(current)["partial_reasons"]
    counts = kind in PARTIAL_KINDS
    assert "rocm.version: a (/x)" in lines
    assert f"triton: {kind.value}" in lines
    assert ("therock: c" in lines) == ("fbgemm.commit: d" in lines) == counts
    assert not any(line.startswith(("gpus", "rocm.candidates")) for line in lines)
    assert ("collection: f" in lines) == (counts and kind is not ReasonKind.NOT_RECORDED)


@pytest.mark.parametrize("version", VERSIONS)
def test_old_documents_come_back(version):
    before = old(version)
    made = as_1_17(dump(CODEC.load(copy.deepcopy(before))))
    assert list(shaped(made, KEYS)) == []
    lines = set(made.pop("partial_reasons"))
    assert set(before["partial_reasons"]) <= lines
    assert [line for line in lines if "since schema 2" in line] == []
    if before["schema_version"] == "1.17":
        bundled = before["composable_kernel"]["pytorch_bundled"]
        bundled["present"] = bundled["present"] or None
        before.pop("partial_reasons")
        assert made == before
    else:
        assert {path for path in invented(before, made) if path != "rocm.layout"} == set()
        assert "therock: recorded since schema 1.16; the document is of " + version in lines


@pytest.mark.parametrize(
    "change",
    [
        {"collection": None},
        {"collection": {"reasons": [5, {"section": 5}, {"section": "rocm", "kind": [], "field": {}}]}},
        {"rocm": "text"},
        {"nics": {"cx7": [1], "ainic": {"present": True, "links": [5, {"device": {"a": 1}}]}, "x": []}},
        {"gpu_arch": {"agent_count": "0", "gfx_targets": "gfx942"}},
        {"runtime_context": {"type": ["docker"], "python_env": {}}},
        {"env_vars": None, "docker": [], "build_system": {"kind": True}},
        {"therock": {"submodules": [{"name": []}], "status": "odd"}},
    ],
)
def test_any_form_of_a_document(change):
    made = as_1_17({**captured(FakeHost), **change})
    assert list(shaped(made, KEYS)) == []
    assert made["partial"] is True
    for section in change:
        if section != "collection":
            assert any(line.startswith(section) for line in made["partial_reasons"])


def test_nothing_at_all():
    made = as_1_17({})
    assert list(shaped(made, KEYS)) == []
    assert facts(made) == {}
    for path in ("rocm.version", "pytorch_version", "system_health"):
        assert f"{path}: null, and the document does not say why" in made["partial_reasons"]


def test_a_newer_minor_loses_nothing_but_what_1_x_does_not_have():
    current = captured(node)
    newer = {**current, "schema_version": "2.7", "brand_new": {"a": 1}}
    newer["collection"]["reasons"].append(
        {"section": "rocm", "field": "root", "kind": "novel", "detail": "x"}
    )
    made = as_1_17(dump(CODEC.load(newer)))
    assert "rocm.root: x" in made["partial_reasons"]
    assert made["rocm"] == as_1_17(current)["rocm"]


def test_one_library_of_a_buck_graph_is_one_row_in_1_17():
    """A list has every target in 2.0; readers of 1.x take the first of a name, which is what is loaded."""
    row = {
        "name": "rccl",
        "source": "buck",
        "revision": None,
        "target": "a//x:rccl",
        "configured_target": None,
    }
    tool = {**row, "target": "a//tools:rccl"}
    made = as_1_17({"library_introspection": [{**row, "role": "target"}, {**tool, "role": "exec"}]})
    assert made["library_introspection"] == [row]
    assert as_1_17({})["library_introspection"] is None
    assert as_1_17({"buck_invocation": {"status": "failure"}})["library_introspection"] == []
