import pytest

from aorta.cli.plain import LIMIT, clean
from aorta.cli.render import plain_lines
from aorta.cli.summary import summarize
from aorta.model.sections import ORDER

ABSENT = {"coverage": {"gpu": "absent"}}


def reason(section, kind, field="", detail="", subject=None):
    return {"section": section, "kind": kind, "field": field, "detail": detail, "subject": subject}


NO_RCCL = [reason("rccl", "absent", "lib_path"), reason("rccl", "absent", "header_path")]
UNBUILT = [reason("pytorch_version", "not_requested", detail="no collector in this version")]


def document(**members):
    records = {name: {"status": "ok"} for name in ("gpus", "docker", "host", "launcher")}
    collection = {
        "collectors": records,
        "coverage": {"gpu": "seen"},
        "reasons": [],
        **members.pop("collection", {}),
    }
    return {
        **dict.fromkeys(ORDER),
        "schema_version": "2.0",
        "partial": False,
        "partial_reasons": [],
        **members,
        "collection": collection,
    }


def unusual(**members):
    return summarize(document(**members)).unusual


def rows(**members):
    return dict(summarize(document(**members)).rows)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (
            {"collection": ABSENT, "launcher": {"kind": "none"}},
            "no AMD GPU and no job: is this a login node?",
        ),
        ({"collection": ABSENT, "launcher": {"kind": "slurm"}}, "no AMD GPU was seen in this job (slurm)"),
        (
            {"collection": ABSENT, "launcher": {"kind": "none", "job_id": "7"}},
            "no AMD GPU was seen in this job (7)",
        ),
        ({"collection": ABSENT, "launcher": {"kind": None}}, "no AMD GPU was seen"),
        ({"collection": {"coverage": {"gpu": "unknown"}}}, "whether there is an AMD GPU could not be seen"),
        (
            {"isolation": {"container": True, "runtime": "podman"}, "docker": {"image": None}},
            "container (podman) of unknown image",
        ),
        (
            {
                "amdgpu_driver": {
                    "kfd_device_present": True,
                    "kfd_device_accessible": False,
                    "kfd_open_error": "EACCES",
                }
            },
            "/dev/kfd is there and cannot be opened (EACCES)",
        ),
        (
            {
                "amdgpu_driver": {
                    "loaded_matches_disk": False,
                    "loaded_version": "6.8",
                    "module_version": "6.10",
                }
            },
            "the loaded amdgpu (6.8) is not the installed one (6.10)",
        ),
        ({"env_vars": {"HSA_OVERRIDE_GFX_VERSION": "9.4.2"}}, "HSA_OVERRIDE_GFX_VERSION=9.4.2"),
        ({"env_vars": {"LD_PRELOAD": "/x.so"}}, "LD_PRELOAD=/x.so"),
        (
            {"hip": {"version": "6.2.1"}, "pytorch_build": {"hip_version": "6.1.9"}},
            "HIP 6.2.1 is installed, torch was built",
        ),
        ({"gpu_arch": {"enumerator_agrees": False}}, "rocm_agent_enumerator and the kernel"),
        ({"gpu_arch": {"runtime_agrees": False}}, "the HSA runtime and the kernel"),
        (
            {
                "hip": {"platform": "nvidia"},
                "rocm": {"root": "/opt/rocm"},
                "collection": {"coverage": {"rocm": "seen"}},
            },
            "HIP's platform is nvidia, and there is an AMD ROCm at /opt/rocm",
        ),
    ],
)
def test_each_unusual_thing_has_its_line(members, text):
    lines = unusual(**members)
    assert len(lines) == 1
    assert text in lines[0]


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"isolation": {"container": True}, "docker": {"image": "rocm/x:1"}},
        {"isolation": {"container": None}},
        {"hip": {"version": "6.2.1"}, "pytorch_build": {"hip_version": "6.2.0-x"}},
        {
            "amdgpu_driver": {
                "loaded_matches_disk": True,
                "kfd_device_present": True,
                "kfd_device_accessible": None,
            }
        },
        {"env_vars": {"HSA_OVERRIDE_GFX_VERSION": ""}},
        {"hip": {"platform": "nvidia"}, "collection": {"coverage": {"rocm": "absent"}}},
        {"collection": {"coverage": {"gpu": "unknown"}, "collectors": {"gpus": {"status": "not_requested"}}}},
    ],
)
def test_what_is_usual_has_none(members):
    assert unusual(**members) == []
    assert plain_lines(summarize(document(**members)))[:2] == ["partial: no", "nothing unusual was seen"]


def partial(*reasons):
    texts = []
    for one in reasons:
        where = f"{one['section']}.{one['field']}" if one["field"] else one["section"]
        texts.append(f"{where}: {one['detail'] or one['kind']}")
    return unusual(collection={"reasons": list(reasons)}, partial_reasons=texts)


def test_contradictions_stand_in_full():
    assert partial(reason("gpus", "expected", detail="a device is there")) == ["gpus: a device is there"]


def test_few_reasons_stand_in_full_many_are_grouped():
    few = [reason("a", "denied", f"x{number}", "no") for number in range(3)]
    assert partial(*few) == [f"denied: a.x{number}: no" for number in range(3)]
    many = [reason("a", "denied", f"x{number}", "no") for number in range(9)]
    assert partial(*many) == ["denied: 9 reasons: a.x0, a.x1, a.x2, a.x3 and 5 more"]


def test_a_dead_mount_is_said_once():
    text = "the file system at /nfs did not answer; nothing on it was read"
    lines = partial(reason("collection", "timed_out", detail=text, subject="/nfs"))
    assert lines == [text]


def test_reasons_of_1_x_have_no_kind():
    assert summarize(
        {"schema_version": "1.13", "host": None, "partial_reasons": ["a.b: why", "odd"]}
    ).unusual == [
        "partial: a.b: why",
        "partial: odd",
    ]


def test_overview():
    shown = rows(
        captured_at="2026-01-01T00:00:00Z",
        host={
            "machine": "x86_64",
            "memory_bytes": 64 << 30,
            "cpu": {"model": "EPYC", "logical": 8},
            "glibc_version": "2.36",
        },
        python_version="3.11.7",
        runtime_context={"python_env": "venv", "venv_path": "/v"},
        isolation={"container": True, "runtime": "docker", "orchestrator": "kubernetes"},
        docker={"image": "rocm/x:1"},
        rocm={"version": "6.2", "root": "/opt/rocm", "layout": "classic"},
        hip={"version": "6.2.4", "platform": "amd"},
        amdgpu_driver={"loaded_version": "6.8.5", "package_full_name": "amdgpu-dkms=1"},
        gpus=[{"marketing_name": "MI300X", "gfx_target": "gfx942"}] * 8,
        rccl={"version": "2.20.5", "net_plugin_mode": "internal"},
        launcher={"kind": "torchrun", "rank": 3, "world_size": 8, "job_id": "7"},
        pytorch_version="2.5",
        collection={
            "tool": {"version": "1"},
            "elapsed_s": 0.5,
            "collectors": {"nics": {"status": "not_requested"}, "host": {"status": "ok"}},
        },
    )
    assert shown == {
        "captured": "2026-01-01T00:00:00Z, schema 2.0, aorta 1 in 0.50 s",
        "host": "x86_64, EPYC, 8 CPUs, 64 GiB",
        "OS": "glibc 2.36",
        "kernel": "-",
        "python": "3.11.7, venv /v",
        "isolation": "docker, kubernetes, rocm/x:1",
        "ROCm": "6.2, /opt/rocm, classic",
        "HIP": "6.2.4, amd",
        "driver": "amdgpu 6.8.5, amdgpu-dkms=1",
        "GPUs": "8 x MI300X gfx942",
        "RCCL": "2.20.5, net plugin internal",
        "torch": "2.5",
        "launcher": "torchrun, rank 3 of 8, job 7",
        "not collected": "nics",
    }


@pytest.mark.parametrize(
    ("members", "label", "text"),
    [
        ({"gpu_arch": {"agent_count": 2, "gfx_targets": ["gfx90a"]}}, "GPUs", "2 x gfx90a"),
        ({"collection": ABSENT}, "GPUs", "none (AMD)"),
        (
            {"rccl": {"lib_path": "/l", "net_plugin_mode": "internal"}},
            "RCCL",
            "version unknown, net plugin internal",
        ),
        ({"rccl": {"lib_path": None, "net_plugin_mode": "internal"}}, "RCCL", "-"),
        ({"collection": {"reasons": NO_RCCL}}, "RCCL", "none"),
        ({"collection": {"reasons": [NO_RCCL[0], reason("rccl", "denied", "header_path")]}}, "RCCL", "-"),
        ({"collection": {"coverage": {"torch": "absent"}}}, "torch", "none"),
        (
            {"collection": {"coverage": {"torch": "unknown"}, "reasons": UNBUILT}},
            "torch",
            "not collected in this version",
        ),
        (
            {"collection": {"coverage": {"torch": "seen"}, "reasons": UNBUILT}},
            "torch",
            "installed, not collected in this version",
        ),
        ({"collection": {"coverage": {"torch": "seen"}}}, "torch", "installed"),
        (
            {
                "collection": {
                    "collectors": {
                        "a.x": {"status": "ok"},
                        "a.y": {"status": "failed"},
                        "gpus": {"status": "ok"},
                    }
                }
            },
            "extensions",
            "a.x ok, a.y failed",
        ),
        ({"gpus": []}, "GPUs", "-"),
        ({"gpus": [{"bdf": "x"}]}, "GPUs", "1 x GPU"),
        ({"container_detected": False}, "isolation", "none seen"),
        ({"container_detected": True, "runtime_context": {"type": "baremetal"}}, "isolation", "container"),
        ({"rocm": {"root": "/opt/rocm", "root_source": "opt_rocm"}}, "ROCm", "version unknown, /opt/rocm"),
        ({"rocm": {"root": None, "root_source": "none"}}, "ROCm", "-"),
        ({"amdgpu_driver": {"status": "absent"}}, "driver", "absent"),
    ],
)
def test_rows(members, label, text):
    assert rows(**members)[label] == text


@pytest.mark.parametrize("odd", [None, 3, "text", [], [1], {"a": 1}, True, -1.5])
def test_any_document_can_be_summarized(odd):
    names = (
        "host",
        "rocm",
        "gpus",
        "isolation",
        "launcher",
        "collection",
        "env_vars",
        "partial_reasons",
        "docker",
        "gpu_arch",
        "amdgpu_driver",
        "hip",
        "rccl",
        "pytorch_version",
        "partial",
        "extensions",
    )
    summarize(dict.fromkeys(names, odd))
    summarize({"collection": dict.fromkeys(("collectors", "reasons", "plugins", "coverage", "tool"), odd)})
    summarize(
        {
            "collection": {"collectors": {"x": odd}, "reasons": [odd], "plugins": [odd]},
            "partial_reasons": [odd],
        }
    )
    names = ("pcie_link", "ras", "firmware_versions", "vbios_version", "device_id", "pci_device", "bdf")
    summarize({"gpus": [dict.fromkeys(names, odd), {"ras": {"umc": odd}}]})
    summarize(
        {"gpu_arch": dict.fromkeys(("agent_count", "physical_count", "denied_nodes", "overrides"), odd)}
    )
    summarize({})


@pytest.mark.parametrize(
    ("members", "head"),
    [
        ({"partial": False}, "partial: no"),
        ({"partial": False, "collection": {"host_kind": "replay"}}, "partial: no, replay of a recording"),
        ({"partial": True, "partial_reasons": ["a: b"]}, "PARTIAL: 1 reason"),
        ({"partial": True, "partial_reasons": ["a: b", "c: d"]}, "PARTIAL: 2 reasons"),
        ({"partial_reasons": ["a: b"]}, "PARTIAL: 1 reason"),
        ({}, "partial: not said"),
    ],
)
def test_the_first_line_says_whether_it_is_partial(members, head):
    assert plain_lines(summarize(members))[0] == head


def test_nothing_of_a_machine_controls_the_terminal():
    assert clean("a\x1b[31mb\nc\u202e") == "a\\x1b[31mb\\x0ac\\x202e"
    assert len(clean("x" * 5000)) == LIMIT + 1
    lines = unusual(env_vars={"LD_PRELOAD": "\x1b]0;owned\x07"})
    assert "\x1b" not in lines[0]
