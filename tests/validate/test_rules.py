"""Every rule has a pair that it passes and ways to break it."""

import json

import pytest

from aorta.validate.document import ForeignError, UnreadableError
from aorta.validate.finding import ERROR, WARNING
from aorta.validate.options import Options
from aorta.validate.program import verdict_on
from aorta.validate.rules import RULES
from tests.parts.pairs import GONE, GRAPH, REVISION, client, found, judged, save, texts, workload

#: Asked for in the passing pair, so that every rule is asked.
REQUIRED = ("hipblaslt", "pytorch")

DIGEST = "sha256:" + "0" * 64


#: A torch that says itself that it is built without HIP.
NO_HIP = {"section": "pytorch_build", "field": "hip_version", "kind": "absent", "detail": "built without HIP"}

#: Of a client that does not tell its host.
NOWHERE = {"host": None, "launcher": None, "probe_namespace": None}


def loaded(digest):
    return [{"library": "torch", "soname": "libtorch.so", "basis": "observed", "digest": digest}]


def alternates(**values):
    return [{"name": "hipblaslt", "source": "package", "revision": None, **values}]


#: Per rule the ways to break it: changes of the client, of the first workload, and options.
BREACHES = {
    "client.schema": [
        ({"schema_version": value}, {}, {})
        for value in ("1.12", "0.9", "3.0", "2", "", None, 2.0, ["2.0"], GONE, "x", "1.9", "9" * 5000)
    ],
    "client.build_system": [
        ({"build_system": value}, {}, {})
        for value in (
            {"kind": "none"},
            {"kind": None},
            {},
            None,
            "buck2",
            ["buck2"],
            {"kind": ["buck2"]},
            GONE,
        )
    ],
    "client.status": [
        ({"buck_invocation.status": value}, {}, {})
        for value in ("failure", "buck_not_detected", "not_requested", None, ["success"], {}, True, GONE)
    ],
    "client.context_source": [
        ({"buck_invocation.context_source": value}, {}, {})
        for value in ("none", "unspecified", None, "", ["explicit"], {"explicit": 1}, GONE)
    ],
    "client.context_fingerprint": [
        ({"buck_invocation.context_fingerprint": value}, {}, {})
        for value in (None, "", [], {}, "  ", "unknown", 7, ["sha256-v2:1"], GONE)
    ],
    "client.root": [
        ({"buck_invocation.configured_root_target": value}, {}, {})
        for value in (None, "", "unknown", 7, ["//job:train"], {}, GONE)
    ],
    "client.dirty": [
        ({"build_system.dirty": True}, {}, {}),
        ({"build_system.dirty": None, "build_system.revision": REVISION + "+"}, {}, {}),
        ({"build_system.dirty": GONE, "build_system.revision": REVISION[:12] + "+"}, {}, {}),
    ],
    "client.introspection": [
        ({"library_introspection": value}, {}, {"libraries": ()})
        for value in (None, [], "pytorch", [1], [{"name": 3}], GONE)
    ],
    "client.pytorch": [({"library_introspection": GRAPH[1:]}, {}, {"libraries": ()})],
    "client.library": [
        ({"library_introspection": GRAPH[:1]}, {}, {}),
        ({"library_introspection": None}, {}, {}),
        ({"library_introspection": "hipblaslt"}, {}, {}),
        ({}, {}, {"libraries": ("hipBLASLt",)}),
        ({}, {}, {"libraries": ("no-such-library",)}),
    ],
    "client.role": [
        ({"library_introspection": [{**GRAPH[0], "role": role}, *GRAPH[1:]]}, {}, {})
        for role in ("exec", "toolchain")
    ],
    "workload.schema": [
        ({}, {"schema_version": value}, {}) for value in ("3.0", "0.1", "", None, 2, GONE, "2.x", [])
    ],
    "workload.schema_old": [({}, {"schema_version": value}, {}) for value in ("1.11", "1.12")],
    "workload.structure": [({}, {section: GONE}, {}) for section in ("rccl", "rocblas", "aotriton")],
    "workload.python_version": [
        ({}, {"python_version": value}, {}) for value in (None, "", " ", "unknown", 3.11, ["3.11"], {}, GONE)
    ],
    "workload.pytorch_version": [
        ({}, {"pytorch_version": value}, {"libraries": ()}) for value in (None, "", "N/A", 2.9, [], GONE)
    ],
    "workload.git_commit": [
        ({}, {"pytorch_build.git_commit": value}, {}) for value in (None, "", "Unknown", 7, GONE)
    ]
    + [({}, {"pytorch_build": None}, {})],
    "workload.rocm": [
        ({}, {"rocm": one, "hip": one, "pytorch_build.hip_version": value}, {})
        for one, value in (
            (None, None),
            ({"version": ""}, "unknown"),
            ([], []),
            (GONE, GONE),
            ({"version": 7}, 7),
        )
    ]
    + [
        ({}, {"pytorch_version": version, "pytorch_build.hip_version": None, **more}, {})
        for version, more in (
            ("2.9.1+cpu", {}),
            ("2.9.1+cu128", {}),
            ("2.9.1+cpu", {"collection.reasons": GONE}),
            ("2.9.1", {"pytorch_build.cuda_version": "12.8"}),
            ("2.9.1", {"collection.reasons": [NO_HIP]}),
        )
    ],
    "workload.gfx_targets": [
        ({}, {"gpu_arch.gfx_targets": value}, {})
        for value in (None, [], "gfx942", [""], ["unknown"], [1], {}, GONE)
    ],
    "workload.invocation": [
        ({}, {"execution_context.probe_invocation": value}, {})
        for value in ("direct", None, "", ["buck2_run"], {"buck2_run": 1}, "buck2", GONE)
    ]
    + [({}, {"execution_context": None}, {})],
    "workload.isolation": [
        ({}, {"execution_context.probe_invocation": "buck2_action", "container_detected": value}, {})
        for value in (False, None, "true", 1, [True], {}, GONE)
    ],
    "workload.private_mounts": [
        (
            {},
            {
                "execution_context.probe_invocation": "buck2_action",
                "container_detected": True,
                "isolation.container": False,
                "isolation.private_mounts": True,
            },
            {},
        )
    ],
    "workload.library": [
        ({}, {"hipblaslt": value}, {})
        for value in (
            None,
            {},
            [],
            "1.0",
            {"package_version": ""},
            {"package_version": None},
            {"lib_hash": "unknown"},
            GONE,
        )
    ],
    "workload.libraries": [
        ({}, {"rccl": value}, {})
        for value in (None, {}, [], {"version": ""}, {"version": None}, {"version": "n/a"})
    ],
    "workload.placeholder": [
        ({}, {"rccl.version": ""}, {}),
        ({}, {"triton.package_version": "unknown"}, {}),
    ],
    "pair.tool": [
        ({"collection.tool.version": "0.0.1"}, {}, {}),
        ({"collection.tool.revision": "a" * 40}, {"collection.tool.revision": "b" * 40}, {}),
    ],
    "pair.revision": [
        ({}, {"build_system.revision": "f" * 40, "build_system.revision_source": "git"}, {}),
        ({}, {"build_system.revision": "f" * 12 + "+"}, {}),
    ],
    "pair.library": [
        ({**NOWHERE, "library_introspection_alternates": alternates(package_version="0.1")}, {}, {}),
        ({**NOWHERE, "library_introspection_alternates": alternates(lib_hash=DIGEST)}, {}, {}),
    ],
    "job.driver": [
        ({}, {"amdgpu_driver.kmd_version": "6.10"}, {}),
        ({}, {"host.kernel_release": "5.4"}, {}),
    ],
    "job.gpu": [({}, {"gpu_arch.gfx_targets": ["gfx950"]}, {})],
    "job.rocm": [({}, {"rocm.version": "6.4.0"}, {})],
    "job.python": [({}, {"python_version": "3.13"}, {})],
    "job.torch": [({}, {"pytorch_build.git_commit": "c" * 40}, {}), ({}, {"pytorch_version": "2.0"}, {})],
    "job.libraries": [({}, {"rccl.lib_hash": DIGEST}, {}), ({}, {"rocblas.package_version": "0"}, {})],
    "job.declared": [({}, {"execution_context.probe_invocation": "buck2_action"}, {})],
    "job.job": [({}, {"launcher.job_id": "8"}, {})],
    "job.loaded": [({}, {"loaded_libraries": loaded(DIGEST)}, {})],
    "job.rank": [({}, {"launcher.rank": 1}, {})],
    "file.reasons": [
        ({"partial_reasons": ["rocm: timed out"]}, {}, {}),
        ({}, {"partial_reasons": ["x: y"]}, {}),
    ],
}

#: These need files, or documents in the wrong place: their breaches are below.
OF_FILES = {"file.readable", "file.snapshot", "file.place", "file.twice"}


def ask(client_changes=(), workload_changes=(), **options):
    same = {"loaded_libraries": loaded("sha256:" + "1" * 64)}
    first = workload({**same, **dict(workload_changes)})
    others = [workload(same, rank=number) for number in (1, 2, 3)]
    return judged(client(client_changes), first, *others, **{"libraries": REQUIRED, **options})


@pytest.fixture(scope="module")
def clean():
    return ask()


def test_the_table_and_its_tests_name_the_same_rules():
    assert set(BREACHES) | OF_FILES == set(RULES)
    assert not set(BREACHES) & OF_FILES


@pytest.mark.parametrize("name", RULES)
def test_a_rule_passes_what_is_right(clean, name):
    assert name in clean.asked
    assert texts(clean, name) == []


def test_what_is_right_is_silent(clean):
    assert (clean.findings, clean.passed) == ([], True)
    assert ask(strict=True).passed


@pytest.mark.parametrize(
    ("name", "breach"),
    [
        pytest.param(name, one, id=f"{name}-{number}")
        for name, all_ in BREACHES.items()
        for number, one in enumerate(all_)
    ],
)
def test_a_rule_finds_its_breach(name, breach):
    client_changes, workload_changes, options = breach
    verdict = ask(client_changes, workload_changes, **options)
    said = [finding for finding in verdict.findings if finding.rule == name]
    assert said
    assert {finding.severity for finding in said} == {RULES[name].severity}
    assert verdict.passed == (not verdict.count(ERROR))
    if RULES[name].severity == WARNING:
        assert not ask(client_changes, workload_changes, **{**options, "strict": True}).passed
    else:
        assert not verdict.passed


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("file.readable", ""),
        ("file.readable", "[]"),
        ("file.readable", "{"),
        ("file.readable", '{"schema_version": NaN}'),
        ("file.readable", '{"schema_version": "2.0", "schema_version": "2.0"}'),
        ("file.readable", b"\xff\xfe"),
        ("file.snapshot", '{"recording": 1}\n{"op": "env"}\n'),
        ("file.snapshot", '{"recording": 1}'),
        ("file.snapshot", '{"name": "package.json"}'),
        ("file.snapshot", b"\x1f\x8b\x08\x00"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_snapshot(tmp_path, name, content, place):
    files = save(tmp_path, client=client(), workload=workload(), other=content)
    files = [str(file) for file in ((files[2], files[1]), (files[0], files[2]))[place]]
    verdict = verdict_on(files, Options())
    assert found(verdict) == {name}
    assert [finding.files for finding in verdict.findings] == [(str(files[place]),)]
    assert not verdict.passed
    family = ("client", "workload")[place]
    assert f"{family}.schema" not in verdict.asked, "a rule that could not be asked has not passed"
    assert "pair.tool" not in verdict.asked


def test_places():
    one, other = client(), workload()
    swapped = judged(other, one)
    [finding] = swapped.findings
    assert (finding.rule, finding.severity, finding.files) == ("file.place", ERROR, ("client.json",))
    assert "swapped" in finding.text and "w0.json" in finding.text
    assert texts(judged(other, workload(rank=1)), "file.place")[0].startswith(
        "ERROR: client.json: a workload's"
    )
    verdict = judged(one, one, workload(rank=1))
    assert [finding.files for finding in verdict.findings if finding.rule == "file.place"] == [("w0.json",)]
    assert found(judged(client({"buck_invocation.status": "failure"}), other)) == {"client.status"}
    # Asked inside of a workload the graph is refused: a workload all the same.
    assert found(judged(one, workload({"buck_invocation.status": "failure"}))) == set()


def test_a_file_given_twice(tmp_path):
    one, other, copy = map(str, save(tmp_path, client=client(), w=workload(), copy=workload()))
    (tmp_path / "link.json").symlink_to("w.json")
    for again in (other, copy, str(tmp_path / "link.json"), f"{tmp_path}/./w.json"):
        verdict = verdict_on([one, other, again], Options())
        [line] = texts(verdict, "file.twice")
        which = "" if again == other else f": {other} and {again} "
        assert line.startswith(f"WARNING: {again}: given twice{which}")
        assert line.endswith("the same" if again == copy else "the same file" if which else "given twice")
        assert found(verdict) == {"file.twice"}, "it is no second workload that could agree"
        assert verdict.passed
    assert found(verdict_on([one, one], Options())) == {"file.place", "file.twice"}


def test_the_words_of_each_error_class():
    assert issubclass(ForeignError, UnreadableError)
    verdict = judged(UnreadableError("one", "way"), ForeignError("two"))
    assert [finding.line for finding in verdict.findings] == [
        "ERROR: client.json: one; way",
        "ERROR: w0.json: two",
    ]


def test_every_rule_says_what_it_asks():
    for name, rule in RULES.items():
        assert rule.id == name
        assert rule.family in ("file", "client", "workload", "pair", "job")
        assert rule.severity in (ERROR, WARNING)
        assert len(rule.asks) > 15
    assert len({rule.asks for rule in RULES.values()}) == len(RULES)
    assert json.dumps([rule.asks for rule in RULES.values()])
