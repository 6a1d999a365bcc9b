import errno

import pytest

from aorta.model.vocabulary import Coverage
from aorta.testing import FakeHost, collect
from aorta_collectors.gpu.kfd import address, infer_mode
from aorta_collectors.providers.kfd_topology import KfdNode, KfdTopology, Unread
from tests.parts.gpu_hosts import CPU, MI300X, NODES, PARTITION, PCI, agent, device, kfd, rocminfo

FILES = {
    "subsystem_vendor": "0x1002\n",
    "subsystem_device": "0x74a1\n",
    "revision": "0x00\n",
    "vbios_version": "113-M3000100-102\n",
    "mem_info_vram_total": "206141652992\n",
    "current_compute_partition": "SPX\n",
    "current_memory_partition": "NPS1\n",
    "numa_node": "1\n",
    "current_link_speed": "32.0 GT/s PCIe\n",
    "current_link_width": "16\n",
    "max_link_speed": "32.0 GT/s PCIe\n",
    "max_link_width": "16\n",
    "fw_version__mec_fw_version": "0x000000a6\n",
    "fw_version__vcn_fw_version": "0x09118016\n",
    "fw_version__uvd_fw_version": "0x00000000\n",
    "ras__umc_err_count": "ue: 0\nce: 3\n",
    "ras__gfx_err_count": "ue: 1\nce: 0\nde: 2\n",
    "ras__features": "feature mask: 0x5\n",
    "hwmon__hwmon7__power1_cap": "750000000\n",
}
LINKS = {
    f"{PCI}/0000:1b:00.0/driver": "../../../bus/pci/drivers/amdgpu",
    "/sys/class/drm/card1/device": "../../../0000:1b:00.0",
    "/sys/class/drm/renderD128/device": "../../../0000:1b:00.0",
}


def gpus(expect=(), **host):
    return collect(FakeHost(**host), "gpus", expect=expect)


def whole(**changes):
    host = {
        "files": {**kfd(CPU, MI300X), **device(**FILES)},
        "links": LINKS,
        "nodes": {"/dev/kfd": "c"},
        "commands": {"rocminfo": rocminfo(agent(1))},
    }
    return {**host, **changes}


def test_a_whole_gpu():
    result = gpus(**whole())
    assert result.value == [
        {
            "source": "kfd",
            "gfx_target": "gfx942",
            "marketing_name": "AMD Instinct MI300X",
            "bdf": "0000:1b:00.0",
            "pci_device": "0000:1b:00.0",
            "vendor_id": "0x1002",
            "device_id": "0x74a1",
            "subsystem_vendor_id": "0x1002",
            "subsystem_device_id": "0x74a1",
            "revision": "0x00",
            "unique_id": "0x0de0b6b3a7640066",
            "uuid": "GPU-a000000000000000",
            "kfd_node": 1,
            "kfd_gpu_id": 28001,
            "drm_render_minor": 128,
            "drm_card": "card1",
            "driver": "amdgpu",
            "numa_node": 1,
            "compute_units": 304,
            "simd_count": 1216,
            "num_xcc": 8,
            "max_engine_clock_mhz": 2100,
            "vram_bytes": 206141652992,
            "vbios_version": "113-M3000100-102",
            "compute_partition": "SPX",
            "compute_partition_source": "sysfs",
            "partition_id": None,
            "memory_partition": "NPS1",
            "xgmi_hive_id": "0x0de0b6b3a7640001",
            "pcie_link": {
                "speed": "32.0 GT/s PCIe",
                "width": 16,
                "max_speed": "32.0 GT/s PCIe",
                "max_width": 16,
            },
            "power_cap_w": 750.0,
            "firmware_versions": {"mec": "0x000000a6", "vcn": "0x09118016"},
            "kfd_firmware_version": 166,
            "kfd_sdma_firmware_version": 22,
            "ras": {
                "gfx": {"uncorrectable": 1, "correctable": 0, "deferred": 2},
                "umc": {"uncorrectable": 0, "correctable": 3, "deferred": None},
            },
        }
    ]
    assert result.reasons == ()
    assert result.coverage["gpu"] is Coverage.SEEN


def test_empty_host_claims_nothing():
    result = gpus()
    assert result.value is None
    assert result.kinds() == ["unsupported"]
    assert result.coverage["gpu"] is Coverage.UNKNOWN


def test_a_machine_without_amd_gpu():
    intel = device("0000:00:02.0", vendor="0x8086", device_class="0x030000")
    result = gpus(files=intel, links={f"{PCI}/0000:00:02.0/driver": "../../drivers/i915"})
    assert result.value == []
    assert result.reasons == ()
    assert result.coverage["gpu"] is Coverage.ABSENT


@pytest.mark.parametrize(
    ("host", "word"),
    [
        ({"nodes": {"/dev/kfd": "c"}}, "/dev/kfd is there"),
        ({"files": device()}, "0000:1b:00.0 (driver none)"),
        (
            {"files": device(device_class="0x030000"), "links": {f"{PCI}/0000:1b:00.0/driver": "x/vfio-pci"}},
            "vfio-pci",
        ),
        ({"dirs": ["/sys/class"], "env": {"SLURM_JOB_GPUS": "0,1"}}, "SLURM_JOB_GPUS=0,1"),
        ({"dirs": ["/sys/class"], "env": {"SLURM_GPUS_ON_NODE": "8"}}, "SLURM_GPUS_ON_NODE=8"),
        ({"files": {"/sys/class/drm/card1/device/vendor": "0x1002\n"}}, "AMD card card1"),
        ({"files": kfd(CPU), "nodes": {"/dev/kfd": "c"}}, "/dev/kfd is there"),
    ],
)
def test_other_evidence_contradicts_the_absence(host, word):
    result = gpus(**host)
    assert result.value is None
    assert result.kinds() == ["expected"]
    assert word in result.reasons[0].detail
    assert result.coverage["gpu"] is Coverage.UNKNOWN


@pytest.mark.parametrize(
    "host",
    [
        {"dirs": ["/sys/class"], "env": {"SLURM_GPUS_ON_NODE": "0", "SLURM_JOB_GPUS": ""}},
        {"dirs": ["/sys/module/nvidia"], "env": {"SLURM_JOB_GPUS": "0,1"}},
        {"files": device(vendor="0x10de", device_class="0x030200"), "env": {"SLURM_JOB_GPUS": "0,1"}},
        {"files": device(vendor="0x1dd8")},
        {"files": device(device_class="0x040300")},
        {"files": device(device_class="0x030000"), "links": {f"{PCI}/0000:1b:00.0/driver": "x/radeon"}},
        {"files": {f"{PCI}/0000:1b:00.0/class": "0x120000\n"}},
    ],
)
def test_what_is_no_evidence(host):
    result = gpus(**host)
    assert (result.value, result.reasons) == ([], ())


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({f"{PCI}/0000:1b:00.0/class": "odd\n"}, "unparsed"),
        ({f"{PCI}/0000:1b:00.0/class": errno.EIO}, "failed"),
        ({**device(), f"{PCI}/0000:1b:00.0/vendor": errno.EACCES}, "denied"),
        ({"/sys/class/drm": errno.EIO}, "failed"),
        ({"/sys/class/x": "", "/dev": errno.EACCES}, "denied"),
        ({"/sys/class/drm/card0/device/vendor": errno.EACCES}, "denied"),
    ],
)
def test_a_device_that_cannot_be_told_is_not_none(files, kind):
    result = gpus(files=files)
    assert (result.value, result.kinds()) == (None, [kind])
    assert result.coverage["gpu"] is Coverage.UNKNOWN


@pytest.mark.parametrize(("error", "kind"), [(errno.EACCES, "denied"), (errno.EIO, "failed")])
def test_a_bus_that_cannot_be_seen(error, kind):
    result = gpus(files={PCI: error}, dirs=["/sys/class"])
    assert (result.value, result.kinds()) == (None, [kind])


def test_denied_everywhere():
    result = gpus(files=kfd(CPU, refused={1: errno.EPERM, 2: errno.EPERM}))
    assert result.value is None
    assert result.kinds() == ["denied"]
    assert result.reasons[0].detail.startswith("2 KFD nodes cannot be read")
    assert result.coverage["gpu"] is Coverage.UNKNOWN


def test_hidden_nodes_do_not_make_the_readable_ones_partial():
    result = gpus(**whole(files={**whole()["files"], **kfd(CPU, MI300X, refused={2: errno.EPERM})}))
    assert len(result.value) == 1
    assert not any(reason.partial for reason in result.reasons)


def test_a_broken_node_is_noted():
    result = gpus(**whole(files={**whole()["files"], **kfd(CPU, MI300X, refused={2: errno.EIO})}))
    assert result.kinds("") == ["failed"]


def test_an_accelerator_that_fell_off():
    files = {**whole()["files"], **device("0000:3d:00.0")}
    result = gpus(**whole(files=files))
    assert result.kinds("") == ["expected"]
    assert "0000:3d:00.0" in result.reasons[0].detail
    passed_on = gpus(**whole(files=files, links={**LINKS, f"{PCI}/0000:3d:00.0/driver": "x/vfio-pci"}))
    assert passed_on.kinds("") == []


def test_names_are_never_joined_by_position():
    second = {**MI300X, "location_id": 11008}
    text = rocminfo(
        agent(2, BDFID="11008", **{"Marketing Name": "Second"}), agent(1, **{"Marketing Name": ""})
    )
    value = gpus(files=kfd(CPU, MI300X, second), commands={"rocminfo": text}).value
    assert [gpu["marketing_name"] for gpu in value] == [None, "Second"]


def test_the_runtime_numbers_its_nodes_anew_in_a_container():
    nodes = [CPU, *[{**MI300X, "location_id": 4096 * n} for n in range(1, 5)]]
    text = rocminfo(agent(1, BDFID="16384", **{"Marketing Name": "Fourth"}))
    value = gpus(files=kfd(*nodes), commands={"rocminfo": text}).value
    assert [gpu["marketing_name"] for gpu in value] == [None, None, None, "Fourth"]


def test_two_domains_share_an_address():
    text = rocminfo(agent(1, **{"Marketing Name": "A"}), agent(2, **{"Marketing Name": "B"}))
    value = gpus(files=kfd(CPU, MI300X, {**MI300X, "domain": 1}), commands={"rocminfo": text}).value
    assert [gpu["marketing_name"] for gpu in value] == ["A", "B"]


def test_an_agent_of_another_chip_is_none():
    value = gpus(
        files=kfd(CPU, MI300X), commands={"rocminfo": rocminfo(agent(1, **{"Chip ID": "29861(0x74a5)"}))}
    ).value
    assert value[0]["marketing_name"] is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "no_tool"),
        ({"exit": 1, "stdout": "\x1b[31mROCk module is NOT loaded\x1b[0m\n"}, "failed"),
        ({"exit": 1, "stdout": "Unable to open /dev/kfd read-write: Operation not permitted\n"}, "denied"),
        ({"outcome": "timed_out"}, "timed_out"),
        ({"outcome": "abandoned"}, "timed_out"),
    ],
)
def test_rocminfo_fails(answer, kind):
    result = gpus(files=kfd(CPU, MI300X), commands={} if answer is None else {"rocminfo": answer})
    assert result.value[0]["marketing_name"] is None
    assert result.value[0]["gfx_target"] == "gfx942"
    assert result.kinds("marketing_name") == [kind]
    assert "\x1b" not in "".join(reason.detail for reason in result.reasons)


def test_partitions_of_one_socket():
    nodes = [{**PARTITION, "location_id": 1280 + n, "drm_render_minor": 128 + n} for n in range(8)]
    links = {f"/sys/class/drm/renderD{128 + n}/device": f"../../amdgpu_xcp_{n}" for n in range(1, 8)}
    links |= {f"/sys/class/drm/card{n}/device": f"../../amdgpu_xcp_{n}" for n in range(1, 8)}
    links |= {f"/sys/class/drm/{name}/device": "../../0000:05:00.0" for name in ("card0", "renderD128")}
    files = {**kfd(CPU, *nodes), **device("0000:05:00.0", **{**FILES, "current_compute_partition": "CPX\n"})}
    value = gpus(files=files, links=links).value
    assert [gpu["bdf"] for gpu in value] == [f"0000:05:00.{n}" for n in range(8)]
    assert {gpu["pci_device"] for gpu in value} == {"0000:05:00.0"}
    assert [gpu["partition_id"] for gpu in value] == list(range(8))
    assert {gpu["unique_id"] for gpu in value} == {"0x0de0b6b3a7640065"}
    assert [gpu["drm_card"] for gpu in value] == [f"card{n}" for n in range(8)]
    assert {(gpu["compute_partition"], gpu["memory_partition"], gpu["vram_bytes"]) for gpu in value} == {
        ("CPX", "NPS1", 206141652992)
    }


def test_a_single_visible_partition_uses_the_shared_function():
    files = {
        **kfd(CPU, {**PARTITION, "location_id": 1283}),
        **device("0000:05:00.0", **{**FILES, "current_compute_partition": "CPX\n"}),
    }
    (only,) = gpus(files=files).value
    assert (only["bdf"], only["pci_device"], only["partition_id"]) == ("0000:05:00.3", "0000:05:00.0", 3)
    assert only["vbios_version"] == "113-M3000100-102"


def test_a_virtual_function_is_its_own_device():
    (only,) = gpus(
        files={**kfd(CPU, {**MI300X, "location_id": 6914}), **device("0000:1b:00.2", **FILES)}
    ).value
    assert (only["bdf"], only["pci_device"], only["partition_id"]) == ("0000:1b:00.2", "0000:1b:00.2", None)


def gpu_node(number, **changes):
    return KfdNode(number=number, properties={**MI300X, **changes})


HIDDEN = Unread(number=9, kind="denied", subject="", detail="")


@pytest.mark.parametrize(
    ("nodes", "unread", "mode"),
    [
        ([{}], (), "SPX"),
        ([{}], (HIDDEN,), None),
        ([{"num_xcc": 4}] * 2, (), "DPX"),
        ([{"num_xcc": 2}] * 4, (), "QPX"),
        ([{"num_xcc": 1}] * 2, (HIDDEN,), "CPX"),
        ([{"num_xcc": 1}], (), None),
        ([{"num_xcc": 0}], (), None),
        ([{"unique_id": 0}], (), None),
        ([{}, {"location_id": 4096}], (), "SPX"),
        ([{"num_xcc": 2}] * 6, (), None),
    ],
)
def test_the_mode_is_counted_only_where_it_shows(nodes, unread, mode):
    made = tuple(gpu_node(number, **changes) for number, changes in enumerate(nodes))
    assert infer_mode(made[0], KfdTopology(present=True, nodes=made, unread=unread)) == mode


@pytest.mark.parametrize(
    ("domain", "location", "text"),
    [
        (0, 6912, "0000:1b:00.0"),
        (0, 1287, "0000:05:00.7"),
        (0x10001, 0x8028, "10001:80:05.0"),
        (0, 0xC4F8, "0000:c4:1f.0"),
    ],
)
def test_addresses(domain, location, text):
    assert address(domain, location) == text


@pytest.mark.parametrize("said", ["N/A", "Not Supported", "", "Unknown", "4294967295", "0xffffffff"])
def test_ways_of_saying_nothing_are_null(said):
    changed = {"vbios_version": said if not said[:1].isdigit() else "", "mem_info_vram_total": said}
    result = gpus(**whole(files={**kfd(CPU, MI300X), **device(**{**FILES, **changed})}))
    assert result.value[0]["vbios_version"] is None
    assert result.value[0]["vram_bytes"] is None


@pytest.mark.parametrize(
    ("file", "text", "field", "kind"),
    [
        ("mem_info_vram_total", "lots\n", "vram_bytes", "unparsed"),
        ("current_compute_partition", "SPX mode, set by x\n", "compute_partition", "unparsed"),
        ("revision", "first\n", "revision", "unparsed"),
        ("ras__umc_err_count", "query failed\n", "ras", "unparsed"),
        ("ras__umc_err_count", errno.EACCES, "ras", "denied"),
        ("fw_version__mec_fw_version", errno.EIO, "firmware_versions", "failed"),
        ("vbios_version", errno.EACCES, "vbios_version", "denied"),
        ("current_link_speed", errno.EIO, "pcie_link.speed", "failed"),
        ("hwmon__hwmon7__power1_cap", errno.EACCES, "power_cap_w", "denied"),
    ],
)
def test_one_file_that_cannot_be_read(file, text, field, kind):
    result = gpus(**whole(files={**kfd(CPU, MI300X), **device(**{**FILES, file: text})}))
    assert result.kinds(field) == [kind]
    assert result.value[0]["gfx_target"] == "gfx942"


def test_firmware_that_is_not_offered_is_left_out():
    files = device(**{**FILES, "fw_version__uvd_fw_version": errno.EOPNOTSUPP})
    result = gpus(**whole(files={**kfd(CPU, MI300X), **files}))
    assert result.value[0]["firmware_versions"] == {"mec": "0x000000a6", "vcn": "0x09118016"}
    assert result.reasons == ()


def test_a_driver_that_offers_little_gives_one_reason_a_field():
    few = {"revision": "c0\n", "numa_node": "-1\n"}
    second = {**MI300X, "location_id": 11008}
    files = {**kfd(CPU, MI300X, second), **device(**few), **device("0000:2b:00.0", **few)}
    result = gpus(files=files, links=LINKS, commands={"rocminfo": rocminfo(agent(1))})
    assert result.value[0]["revision"] == "0xc0"
    assert result.value[0]["numa_node"] is None
    assert result.kinds("ras") == ["unsupported"]
    assert "2 of 2 GPUs" in next(reason.detail for reason in result.reasons if reason.field == "ras")
    assert not any(reason.partial for reason in result.reasons)


def test_no_pci_in_sysfs_is_one_reason():
    links = {path: target for path, target in LINKS.items() if "/drm/" in path}
    result = gpus(files=kfd(CPU, MI300X), links=links, commands={"rocminfo": rocminfo(agent(1))})
    assert [(reason.field, reason.kind.value) for reason in result.reasons] == [("", "unsupported")]
    assert result.value[0]["vbios_version"] is None
    assert set(result.value[0]["pcie_link"].values()) == {None}


def test_a_node_without_an_address():
    bare = {"simd_count": 256, "gfx_target_version": 90000}
    (only,) = gpus(files=kfd(CPU, bare), commands={"rocminfo": rocminfo(agent(1))}).value
    assert (only["bdf"], only["vendor_id"], only["device_id"], only["unique_id"]) == (None, None, None, None)
    assert only["compute_units"] is None


WSL = rocminfo(agent(1, "gfx1100", BDFID=None, Uuid=None, isa="gfx1100"), first="WSL environment detected.")


def test_wsl_has_only_the_runtimes_word():
    result = gpus(nodes={"/dev/dxg": "c"}, dirs=["/sys/devices"], commands={"rocminfo": WSL})
    (only,) = result.value
    assert (only["source"], only["gfx_target"], only["bdf"]) == ("rocminfo", "gfx1100", None)
    assert (only["device_id"], only["compute_units"]) == ("0x74a1", 304)
    assert result.coverage["gpu"] is Coverage.SEEN
    assert not any(reason.partial for reason in result.reasons)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "no_tool"),
        ({"exit": 8, "stdout": "hsa api call failure\n"}, "failed"),
        ("WSL environment detected.\n", "expected"),
    ],
)
def test_wsl_where_rocminfo_names_no_gpu(answer, kind):
    result = gpus(nodes={"/dev/dxg": "c"}, commands={} if answer is None else {"rocminfo": answer})
    assert (result.value, result.kinds()) == (None, [kind])
    assert "HSA_ENABLE_DXG_DETECTION" in result.reasons[0].detail
    assert result.coverage["gpu"] is Coverage.UNKNOWN


def test_expect_gpu_on_a_machine_without():
    result = gpus(expect=["gpu"], dirs=["/sys/class"])
    assert result.value == []
    assert result.coverage["gpu"] is Coverage.ABSENT


def test_old_kernel_node_files_only():
    files = {f"{NODES}/1/properties": "simd_count 256\nvendor_id 4098\n"}
    result = gpus(files=files)
    assert result.value[0]["gfx_target"] is None
    assert result.kinds("gfx_target") == ["unsupported"]


def test_the_reason_names_the_file_that_is_missing():
    host = {"files": kfd(CPU, MI300X)}
    place = f"{PCI}/{gpus(**host).value[0]['pci_device']}"
    whole = gpus(**host)
    assert "directory in sysfs (VBIOS, VRAM" in next(each for each in whole.reasons if not each.field).detail
    host["files"] |= {f"{place}/vbios_version": errno.EACCES, f"{place}/revision": "0x00"}
    told = {reason.field: reason.detail for reason in gpus(**host).reasons}
    assert told["vram_bytes"].startswith("1 of 1 GPUs: mem_info_vram_total is not there: /sys/")
    assert told["vbios_version"].startswith("1 of 1 GPUs: vbios_version cannot be read: /sys/")
