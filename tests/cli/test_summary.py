import pytest

from aorta.cli.plain import LIMIT, clean
from aorta.cli.render import plain_lines
from aorta.cli.summary import summarize
from aorta.model.sections import ORDER

ABSENT = {"coverage": {"gpu": "absent"}}


def reason(section, kind, field="", detail="", subject=None):
    return {"section": section, "kind": kind, "field": field, "detail": detail, "subject": subject}


NO_RCCL = [reason("rccl", "absent", "lib_path"), reason("rccl", "absent", "header_path")]
UNBUILT = [reason("pytorch_version", "not_requested", detail="no collector of it is registered")]


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
    few = [reason("a", "denied", f"x{number}", f"no {number}") for number in range(3)]
    assert partial(*few) == [f"denied: a.x{number}: no {number}" for number in range(3)]
    many = [reason("a", "denied", f"x{number}", f"no {number}") for number in range(9)]
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
    assert clean("a\x1b[31mb\nc\u202e") == "a\\x1b[31mb\\nc\\u202e"
    assert len(clean("x" * 5000)) == LIMIT + 1
    lines = unusual(env_vars={"LD_PRELOAD": "\x1b]0;owned\x07"})
    assert "\x1b" not in lines[0]


def nic(number, **members):
    return {
        "rdma_device": f"mlx5_{number}",
        "model": "ConnectX-7",
        "vendor_id": "0x15b3",
        "device_id": "0x1021",
        "driver": "mlx5_core",
        "driver_version": "24.10",
        "firmware": "28.43",
        "usable": True,
        "problems": [],
        **members,
    }


ONBOARD = {"driver": "iwlwifi", "netdev": "wlan0", "bdf": "0000:00:14.3"}


@pytest.mark.parametrize(
    ("nics", "text"),
    [
        (
            [nic(0), nic(1), ONBOARD],
            "2 x ConnectX-7 mlx5_core 24.10 firmware 28.43, RDMA usable 2 of 2",
        ),
        ([nic(0), nic(1, usable=None)], "RDMA usable 1 of 2, 1 not known"),
        ([nic(0, usable=None)], "whether the 1 RDMA device can be used is not known"),
        ([nic(0), nic(1, firmware="28.40")], "2 x ConnectX-7 mlx5_core 24.10 2 versions of firmware"),
        ([nic(0, firmware=None, driver_version=None, model=None)], "1 x mlx5_core, RDMA usable 1 of 1"),
        ([nic(0, rdma_device=None)], "1 x ConnectX-7 mlx5_core 24.10 firmware 28.43"),
    ],
)
def test_the_nics_have_a_row(nics, text):
    assert text in rows(nic_devices=nics)["NICs"]


def test_no_fabric_nic_no_row_and_an_unseen_one_has_a_dash():
    assert "NICs" not in rows(nic_devices=[ONBOARD])
    assert "NICs" not in rows(nic_devices=[])
    assert "NICs" not in rows(nic_devices=None)
    assert rows(collection={"collectors": {"nic_devices": {"status": "ok"}}})["NICs"] == "-"


def test_the_cards_of_a_document_without_a_list_of_devices():
    card = {"present": True, "driver_version": "24.10", "firmware": "28.43", "firmware_mixed": True}
    old = document(nics={"cx7": card, "ainic": {"present": True}, "broadcom": {"present": False}})
    del old["nic_devices"]
    summary = summarize(old)
    assert dict(summary.rows)["NICs"] == "AI NIC, ConnectX-7 24.10 firmware 28.43"
    assert "the firmware of the ConnectX-7 NICs differs" in summary.unusual


def test_nics_of_one_model_with_several_firmwares():
    lines = unusual(
        nic_devices=[nic(0), nic(1), nic(2, firmware="28.40"), nic(3, device_id="0x1", firmware="1")]
    )
    assert lines == [
        "the firmware of the ConnectX-7 mlx5_core NICs differs: 28.43 on 2, 28.40 on mlx5_2",
    ]


def test_rdma_devices_that_are_not_usable():
    dead = {"usable": False, "problems": ["no_uverbs", "not_listed"]}
    lines = unusual(nic_devices=[nic(0, **dead), nic(1, **dead), nic(2, usable=False, problems=None), nic(3)])
    assert lines == [
        "2 of 4 RDMA devices are not usable (no_uverbs, not_listed): mlx5_0, mlx5_1",
        "1 of 4 RDMA devices is not usable: mlx5_2",
    ]


MENU = {
    "status": "ok",
    "file_count": 2,
    "gfx_arch_coverage": ["gfx90a", "gfx942"],
    "digests": "full",
    "combined_content_hash": "content-sha256:0123456789abcdef",
}
LIBRARY = {"package_version": "1.2.1", "lib_hash": "sha256:fedcba9876543210", "lib_path": "/opt/rocm/lib/x"}


@pytest.mark.parametrize(
    ("library", "menu", "text"),
    [
        (LIBRARY, MENU, "1.2.1, library fedcba987654, 2 kernel files (gfx90a, gfx942) content 0123456789ab"),
        (
            {**LIBRARY, "package_version": None},
            {**MENU, "digests": "identity", "file_count": 1, "gfx_arch_coverage": []},
            "version unknown, library fedcba987654, 1 kernel file content 0123456789ab by identity",
        ),
        ({**LIBRARY, "lib_hash": None}, {}, "1.2.1, library not hashed"),
        ({"package_version": "1.2.1"}, {"status": "partial"}, "1.2.1, no library, kernel files not seen"),
        (
            {},
            {**MENU, "combined_content_hash": None},
            "no library, 2 kernel files (gfx90a, gfx942) not hashed",
        ),
    ],
)
@pytest.mark.parametrize(
    ("section", "name", "catalog"),
    [
        ("hipblaslt", "hipBLASLt", lambda menu: {"tensile_catalog": {"hipblaslt": {"menu": menu}}}),
        ("rocblas", "rocBLAS", lambda menu: {"tensile_catalog": {"rocblas": {"menu": menu}}}),
        ("miopen", "MIOpen", lambda menu: {"miopen_catalog": {"menu": menu}}),
    ],
)
def test_each_math_library_has_a_row(section, name, catalog, library, menu, text):
    assert rows(**{section: library}, **catalog(menu))[name] == text


def test_no_library_no_row_and_an_unseen_one_has_a_dash():
    ran = {"collectors": {"miopen": {"status": "ok"}}}
    assert "MIOpen" not in rows()
    assert "MIOpen" not in rows(collection={**ran, "reasons": [reason("miopen", "absent", "lib_path")]})
    assert rows(collection={**ran, "reasons": [reason("miopen", "denied", "lib_path")]})["MIOpen"] == "-"


def test_a_kernel_cache_of_rocfft_has_a_row():
    cache = {"present": True, "sha256": "sha256:0123456789abcdef"}
    assert rows(rocfft_catalog={"kernel_cache": cache})["rocFFT"] == "kernel cache 0123456789ab"
    assert rows(rocfft_catalog={"kernel_cache": {"present": True}})["rocFFT"] == "kernel cache not hashed"
    assert "rocFFT" not in rows(rocfft_catalog={"kernel_cache": {"present": False}})


@pytest.mark.parametrize(
    ("section", "name", "empty_counts"),
    [
        ("tensile_catalog", "HIPBLASLT_TENSILE_LIBPATH", True),
        ("tensile_catalog", "ROCBLAS_TENSILE_LIBPATH", True),
        ("miopen_catalog", "MIOPEN_SYSTEM_DB_PATH", False),
        ("rocfft_catalog", "ROCFFT_RTC_SYS_CACHE_PATH", False),
    ],
)
def test_a_variable_that_names_other_kernels_is_said(section, name, empty_counts):
    start = "set, and deciding which kernel files are read"
    assert unusual(**{section: {"env_overrides": {name: "/k"}}}) == [f"{start}: {name}=/k"]
    assert unusual(env_vars={name: "/k"}) == [f"{start}: {name}=/k"]
    assert unusual(**{section: {"env_overrides": {name: None}}}) == []
    said = [f"{start}: {name}=(empty)"] if empty_counts else []
    assert unusual(**{section: {"env_overrides": {name: ""}}}) == said


@pytest.mark.parametrize(
    ("searched", "said"),
    [
        ("/mine", True),
        ("/mine:/opt/rocm/lib", True),
        ("/elsewhere", True),
        ("/opt/rocm/lib:/mine/", False),
        ("/opt/rocm-7.2.0/lib:/mine", False),
    ],
)
def test_a_copy_in_front_of_the_roots_library(searched, said):
    copies = [
        {"path": "/mine/librccl.so", "origin": "LD_LIBRARY_PATH"},
        {"path": "/x/librccl.so", "origin": "torch"},
    ]
    lines = unusual(
        env_vars={"LD_LIBRARY_PATH": searched},
        rocm={"root": "/opt/rocm"},
        rccl={"lib_path": "/opt/rocm-7.2.0/lib/librccl.so.1", "other_libraries": copies},
    )
    text = "LD_LIBRARY_PATH puts another copy in front: RCCL /mine/librccl.so"
    assert lines == ([text] if said else [])


def test_an_rpath_matters_where_the_variable_is_set():
    linkage = {"rocm_rpath": True, "census": {"rpath": 3, "scanned": 7}}
    variable = {"LD_LIBRARY_PATH": "/x"}
    text = "have an RPATH, which goes before LD_LIBRARY_PATH"
    assert unusual(library_linkage=linkage) == []
    assert unusual(library_linkage=linkage, env_vars=variable) == [f"3 of 7 ROCm libraries {text}"]
    assert unusual(library_linkage={"rocm_rpath": True}, env_vars=variable) == [f"ROCm libraries {text}"]
    assert unusual(library_linkage={**linkage, "rocm_rpath": False}, env_vars=variable) == []


def test_gpus_without_kernels_are_said_once():
    both = {"uncovered_gpu_archs": ["gfx1201"]}
    assert unusual(tensile_catalog={"hipblaslt": both, "rocblas": both}) == [
        "no kernel file for gfx1201, which this machine's GPUs are: hipBLASLt, rocBLAS"
    ]
    assert unusual(tensile_catalog={"hipblaslt": {"uncovered_gpu_archs": []}}) == []


@pytest.mark.parametrize("kind", ["expected", "denied"])
def test_one_cause_is_said_once_with_all_its_places(kind):
    fields = ["a.menu", "a.revision", "combined"]
    given = [reason("tensile_catalog", kind, field, "X names /n, not there", "/n") for field in fields]
    other = reason("tensile_catalog", kind, "b", "another", "/m")
    lines = [f"tensile_catalog.{field}: X names /n, not there" for field in fields]
    said = unusual(
        partial=True,
        partial_reasons=[*lines, "tensile_catalog.b: another (/m)"],
        collection={"reasons": [*given, other]},
    )
    start = "" if kind == "expected" else f"{kind}: "
    places = "tensile_catalog.a.menu, tensile_catalog.a.revision, tensile_catalog.combined"
    assert said == [f"{start}{places}: X names /n, not there", f"{start}tensile_catalog.b: another (/m)"]
