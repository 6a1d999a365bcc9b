"""Mutated pairs of real documents: always a verdict, never a traceback."""

import contextlib
import functools
import io
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aorta.validate.options import Options
from aorta.validate.program import misuse, run
from tests.parts.pairs import captured, client, hosts, old_client, old_workload, workload

GARBAGE = st.one_of(
    st.sampled_from(
        [
            None, True, False, 0, -1, 10**400, 1.5, "", " ", "unknown", "\x1b[31m\n", "\ud800", "x" * 5000, [], {}, [[]],
            ["pytorch"], [None], [{}], {"a": {}}, "buck2_action", "buck2_run", "success", "explicit", "2.0", "1.13", "mnt:1",
        ]
    ),
    st.text(max_size=20),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
        max_leaves=8,
    ),
)  # fmt: skip

#: What the rules read; the rest of a document is mutated less often.
PATHS = (
    "schema_version captured_at build_system build_system.kind build_system.revision buck_invocation"
    " buck_invocation.status buck_invocation.context_source buck_invocation.context_fingerprint library_introspection"
    " library_introspection.0 library_introspection.0.name library_introspection.0.role library_introspection_alternates"
    " library_introspection_alternates.0.lib_hash python_version pytorch_version pytorch_build pytorch_build.git_commit rocm"
    " rocm.version hip gpu_arch gpu_arch.gfx_targets execution_context execution_context.probe_invocation container_detected"
    " isolation isolation.container partial_reasons partial_reasons.0 probe_namespace host host.boot_id host.kernel_release"
    " launcher launcher.rank launcher.node launcher.job_id loaded_libraries loaded_libraries.0 loaded_libraries.0.digest"
    " loaded_libraries.0.soname rccl rccl.version hipblaslt hipblaslt.lib_hash amdgpu_driver collection collection.tool"
    " collection.tool.version gpus gpus.0 gpus.0.unique_id composable_kernel composable_kernel.system"
).split()

ALTERNATES = {"library_introspection_alternates": [{"name": "hipblaslt", "lib_hash": "sha256:1"}]}


@functools.cache
def pairs():
    clients = [client(ALTERNATES), old_client("1.13"), old_client("1.17")]
    workloads = [workload(base=captured(host)) for host in hosts()] + [
        old_workload("1.13"),
        old_workload("1.17-node"),
    ]
    return [json.dumps(one) for one in clients], [json.dumps(one) for one in workloads]


def mutated(document, steps):
    for path, garbage in steps:
        *above, name = path.split(".")
        place = document
        for step in above:
            if isinstance(place, dict) and step in place:
                place = place[step]
            elif isinstance(place, list) and step.isdigit() and int(step) < len(place):
                place = place[int(step)]
            else:
                place = None
        if isinstance(place, dict):
            if garbage == "gone":
                place.pop(name, None)
            else:
                place[name] = garbage
        elif isinstance(place, list) and name.isdigit() and int(name) < len(place):
            place[int(name)] = garbage
    return document


STEPS = st.lists(st.tuples(st.sampled_from(PATHS), st.one_of(GARBAGE, st.just("gone"))), max_size=6)
TEXTS = st.one_of(
    st.none(),
    st.tuples(st.integers(0, 200_000), st.sampled_from([b"", b"\xff", b"{", b'"', b"\0", b"NaN", b"]"])),
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_pairs(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("pair")
    clients, workloads = pairs()
    count = data.draw(st.integers(1, 3))
    bases = [
        data.draw(st.sampled_from(clients)),
        *(data.draw(st.sampled_from(workloads)) for _ in range(count)),
    ]
    if data.draw(st.integers(0, 9)) == 0:
        bases.reverse()
    files = []
    for number, base in enumerate(bases):
        text = json.dumps(mutated(json.loads(base), data.draw(STEPS))).encode()
        cut = data.draw(TEXTS)
        if cut is not None and data.draw(st.integers(0, 4)) == 0:
            text = text[: cut[0]] + cut[1] + text[cut[0] + 1 :] if cut[1] else text[: cut[0]]
        (folder / f"{number}.json").write_bytes(text)
        files.append(str(folder / f"{number}.json"))
    options = Options(
        tuple(
            data.draw(st.lists(st.sampled_from(["rccl", "pytorch", "hipblaslt", "x", "\ud800"]), max_size=2))
        ),
        data.draw(st.booleans()),
        data.draw(st.booleans()),
    )
    assert misuse(files, options) == ""
    for as_json in (False, True):
        out, errors = [], io.StringIO()
        with contextlib.redirect_stderr(errors):
            status = run(files, options, out.append, json=as_json, junit_file=str(folder / "report.xml"))
        assert status in (0, 1)
        text = "".join(out)
        if as_json:
            assert errors.getvalue() == ""
            assert json.loads(text)["verdict"] == ("pass" if status == 0 else "fail")
        else:
            assert text.startswith("FAIL: " if status else "PASS: ") and text.count("\n") == 1
            assert all(line.isprintable() and len(line) < 5000 for line in errors.getvalue().splitlines())
            assert bool(status) == (
                "ERROR: " in errors.getvalue() or (options.strict and bool(errors.getvalue()))
            )
