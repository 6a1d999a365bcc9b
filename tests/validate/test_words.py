"""What findings say: the document's own reason, the way out, and one error of one cause."""

import pytest

from aorta.validate.client import meant
from aorta.validate.options import Options
from aorta.validate.program import misuse
from tests.parts.pairs import captured, client, found, judged, old_client, texts, workload

NOWHERE = {"host": None, "launcher": None, "probe_namespace": None}


def reason(section, field, detail, kind="failed", subject=None):
    return {"section": section, "field": field, "kind": kind, "subject": subject, "detail": detail}


def lines(*reasons):
    """Return the changes of a document with these reasons, as a capture has them."""
    told = [
        f"{one['section']}{'.' * bool(one['field'])}{one['field']}: {one['detail']}"
        for one in reasons
        if one["kind"] not in ("absent", "no_tool", "not_requested", "unsupported")
    ]
    return {"collection.reasons": list(reasons), "partial_reasons": told, "partial": bool(told)}


NOT_COLLECTED = {"collectors": {"build_system": {"status": "not_requested"}}}

WITHOUT_BUCK = {
    "build_system": {"kind": "none"},
    "buck_invocation.status": "buck_not_detected",
    "buck_invocation.configured_root_target": None,
    "library_introspection": None,
    "library_introspection_alternates": None,
    **lines(
        reason("build_system", "repo_root", "not on PATH", "no_tool", "buck2 root"),
        reason("buck_invocation", "status", "//job:train was not asked about: not on PATH"),
        reason(
            "execution_context", "likely_execution_platform", "//job:train was not asked about: not on PATH"
        ),
        reason("library_introspection", "", "no answer of buck2: see buck_invocation.status", "blocked"),
        reason("library_introspection_alternates", "", "no answer of buck2", "blocked"),
    ),
}


def test_a_missing_buck2_is_one_error():
    verdict = judged(client(WITHOUT_BUCK), workload(), libraries=("pytorch", "rccl"))
    [finding] = verdict.findings
    assert (finding.rule, finding.severity) == ("client.build_system", "error")
    assert (
        finding.text
        == 'no Buck project was found here (build_system.kind is "none"): not on PATH (buck2 root)'
    )
    folded = {"client.status", "client.library", "client.introspection", "file.reasons"}
    assert not folded & verdict.asked, "what was not asked has not passed"


def test_other_reasons_are_repeated_all_the_same():
    changes = {**WITHOUT_BUCK, "partial_reasons": [*WITHOUT_BUCK["partial_reasons"], "rccl: timed out"]}
    verdict = judged(client(changes), workload({"partial_reasons": ["buck_invocation.status: x"]}))
    assert texts(verdict, "file.reasons") == [
        "WARNING: client.json: rccl: timed out",
        "WARNING: w0.json: buck_invocation.status: x",
    ]


def test_a_failed_query_says_why_once():
    changes = {
        "buck_invocation.status": "failure",
        "library_introspection": None,
        **lines(reason("buck_invocation", "status", "exit status 3: no such target")),
    }
    [finding] = judged(client(changes), workload()).findings
    assert finding.text == 'buck_invocation.status is "failure", not "success": exit status 3: no such target'
    assert finding.way_out == ""
    [finding] = judged(
        client({"buck_invocation.status": "failure", "collection.reasons": []}), workload()
    ).findings
    assert "partial_reasons says why" in finding.way_out


def test_a_client_that_named_no_target_has_one_error():
    invocation = {"status": "not_requested", "context_source": "none", "context_fingerprint": None}
    changes = {
        "buck_invocation": invocation,
        "library_introspection": None,
        **lines(reason("buck_invocation", "", "no Buck target was named", "not_requested")),
    }
    [finding] = judged(client(changes), workload()).findings
    assert finding.rule == "client.status"
    assert "no Buck target was named" in finding.text and "--buck-target" in finding.way_out


def test_an_unspecified_context_is_one_error():
    changes = {"context_source": "unspecified", "context_fingerprint": None}
    verdict = judged(
        client({f"buck_invocation.{name}": value for name, value in changes.items()}), workload()
    )
    assert found(verdict) == {"client.context_source"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {
                "build_system.kind": None,
                **lines(reason("build_system", "kind", "no answer in 10 s", "timed_out")),
            },
            'is null, not "buck2": no answer in 10 s',
        ),
        (
            {"build_system": None, "collection": NOT_COLLECTED},
            'is missing, not "buck2": the section was not collected: not_requested',
        ),
        ({"build_system": {"kind": "none"}, "collection": None}, '(build_system.kind is "none")'),
        (
            {"build_system.kind": None, "collection": None, "partial_reasons": ["build_system.kind: of 1.x"]},
            'is null, not "buck2": of 1.x',
        ),
        (
            {"build_system.kind": None, "collection": {"reasons": [7, {}, {"section": []}]}},
            'is null, not "buck2"',
        ),
    ],
)
def test_the_kind_has_the_documents_reason(changes, says):
    [line] = texts(judged(client(changes), workload()), "client.build_system")
    assert line.endswith(f"{says}; capture inside of the checkout, with buck2 on PATH")


def test_a_pattern_has_no_single_target():
    detail = "//app/... names several targets, so no single one of them is the root"
    changes = {
        "buck_invocation.configured_root_target": None,
        "collection.reasons": [reason("buck_invocation", "configured_root_target", detail, "unsupported")],
    }
    [line] = texts(judged(client(changes), workload()), "client.root")
    assert f"is null: {detail}: which configured target was built is not known" in line
    assert found(judged(old_client("1.13"), workload())) == set()


def test_a_target_behind_a_transition_is_known_by_its_configurations():
    changes = {
        "buck_invocation.configured_root_target": None,
        "buck_invocation.root_configurations": ["root//p:x#0123456789abcdef", "root//p:y#0123456789abcdef"],
    }
    assert found(judged(client(changes), workload())) == set()
    changes["buck_invocation.root_configurations"] = []
    assert found(judged(client(changes), workload())) == {"client.root"}


@pytest.mark.parametrize(
    ("changes", "finds"),
    [
        ({"build_system.dirty": None}, set()),
        ({"build_system.dirty": False, "build_system.revision": "0123456789ab+"}, set()),
        ({"build_system.dirty": True}, {"client.dirty"}),
        ({"build_system.dirty": "true"}, set()),
    ],
)
def test_a_changed_checkout(changes, finds):
    assert found(judged(client(changes), workload())) == finds


@pytest.mark.parametrize("host", ["g-cpu-laptop", "i-nvidia-h100-only"])
def test_a_torch_without_rocm_is_told_whatever_is_installed(host):
    other = workload({"rocm.version": "7.0.0"}, base=captured(host))
    [line] = texts(judged(client(), other), "workload.rocm")
    assert "torch is no ROCm build (pytorch_version is " in line


def test_a_torch_that_says_nothing_of_rocm_is_no_breach():
    for changes in (
        {"pytorch_version": "2.9.1"},
        {"pytorch_version": "2.9.1+gitcafe"},
        {"pytorch_version": None},
    ):
        verdict = judged(client(), workload({"pytorch_build.hip_version": None, **changes}))
        assert "workload.rocm" not in found(verdict)


def test_a_word_that_is_no_context_is_quoted():
    detail = "'buck2run' is none of direct, buck2_run, buck2_action: recorded as direct"
    changes = {
        "execution_context.probe_invocation": "direct",
        **lines(reason("execution_context", "probe_invocation", detail, "unparsed")),
    }
    [finding] = judged(client(), workload(changes)).findings
    assert (finding.rule, detail in finding.text) == ("workload.invocation", True)
    assert all(
        way in finding.way_out
        for way in ("--execution-context", "AORTA_PROBE_INVOCATION", "probe_invocation=", "buck2_run")
    )


def test_libraries_without_any_identity_are_one_short_line():
    nothing = dict.fromkeys(("package_version", "lib_hash", "rocm_release_tweak", "version"))
    changes = {"hipblaslt": nothing, "rccl": nothing, "miopen": {**nothing, "lib_hash": ""}}
    [line] = texts(judged(client(), workload(changes)), "workload.libraries")
    assert line.startswith(
        "WARNING: w0.json: no identity of hipblaslt, rccl: all that identifies them is null; miopen: "
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("RCCL", "rccl"),
        ("torch", "pytorch"),
        ("PyTorch", "pytorch"),
        ("rcll", "rccl"),
        ("hip", "rocm"),
        ("rccl-anp", "ainic"),
        ("composable-kernel", "composable_kernel"),
        ("My_Lib", "my_lib"),
        ("zzz", ""),
        ("rccl", ""),
        ("\ud800" * 5000, ""),
    ],
)
def test_the_name_that_was_meant(name, expected):
    assert meant(name, ["my_lib"]) == expected


def test_a_required_library_is_suggested():
    [line] = texts(judged(client(), workload(), libraries=("RCCL",)), "client.library")
    assert line.endswith("; did you mean rccl?")
    assert misuse(["a", "b"], Options(("torch, RCCL",))).endswith(
        "one name per option: --require-library pytorch --require-library rccl"
    )
    assert misuse(["a", "b"], Options((",",))) == "--require-library: one name per option"


def test_packages_beside_a_client_on_another_host_say_nothing():
    rows = {"library_introspection_alternates": [{"name": "hipblaslt", "package_version": "0.1"}]}
    verdict = judged(client(rows), workload(), strict=True)
    assert (verdict.passed, verdict.findings, verdict.standings[0].host.word) == (True, [], "different")
    [row] = [one for one in verdict.compared if one.library == "hipblaslt"]
    assert row.relation == "different" and row.basis.endswith("it is another host's, so nothing follows")
    assert found(judged(client({**rows, **NOWHERE}), workload())) == {"pair.library"}
