"""Whatever a file of the kernel, of a package or of a ROCm tree holds: no exception, no wrong "none"."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta.host.mountinfo import MountTable, parse_mountinfo
from aorta.host.packages import _headers
from aorta.host.search_path import parse_slow_points
from aorta_collectors import host_files as files
from aorta_collectors.container.cgroup_paths import container_of, in_a_machines_unit, parse_cgroup
from aorta_collectors.container.root_mount import judge_root, laid_files, private_tmp
from aorta_collectors.gpu import sysfs
from aorta_collectors.gpu.evidence import _hex
from aorta_collectors.gpu.kernel_module import _parameter, module_version, srcversion
from aorta_collectors.gpu.numbers import parse_hex
from aorta_collectors.hip import parse_header, parse_version_file
from aorta_collectors.providers.kfd_topology import _properties, parse_properties
from aorta_collectors.providers.nic_inventory import _network
from aorta_collectors.rocm import _of_header
from aorta_collectors.tree.headers import parse_defines
from aorta_collectors.tree.manifest import parse_manifest
from aorta_collectors.tree.versions import (
    parse_assignments,
    parse_rocm_version,
    parse_torch_version,
    release_numbers,
    split_build,
)
from tests.parts.hostile import Row, check_damage, check_long, check_noise

MANY = settings(max_examples=2000, deadline=None, derandomize=True)
CPUINFO = "".join(
    f"processor\t: {at}\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\n"
    f"physical id\t: {at // 2}\ncore id\t\t: {at % 2}\nflags\t\t: fpu vme de\n\n"
    for at in range(4)
)
MEMINFO = "MemTotal:       2113412096 kB\nMemFree:        1900000000 kB\nHugePages_Total:       8\nHugepagesize:       2048 kB\n"
NODE = "Node 0 MemTotal:       1056706048 kB\nNode 0 HugePages_Total:     0\n"
STATUS = "Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t0-63,128-191\nMems_allowed_list:\t0-1\n"
OS_RELEASE = 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\nNAME=Ubuntu\nVERSION_ID="22.04"\nID=ubuntu\n# a remark\nHOME_URL=\'https://x\'\n'
CMDLINE = 'BOOT_IMAGE=/boot/vmlinuz-5.15 root=UUID=0 ro pci=realloc=off dyndbg="file a.c +p" iommu=pt\n'
HEADER = (
    "#ifndef A_H\n#define A_H\n/* a\n comment #define HIP_VERSION_MAJOR 9 */\n#define HIP_VERSION_MAJOR 6\n"
    '#define HIP_VERSION_MINOR 2 // two\n#  define HIP_VERSION_PATCH (41133u)\n#define NAME "a \\" /* b"\n'
    "#if 0\n#define HIP_VERSION_MINOR 3\n#endif\n#define HIP_VERSION_GITHASH dd7f95766\n#endif\n"
)
ROCM_HEADER = "#define ROCM_VERSION_MAJOR 7\n#define ROCM_VERSION_MINOR 2\n#define ROCM_VERSION_PATCH 0\n"
VERSION_FILE = "# Auto-generated\nHIP_VERSION_MAJOR=6\nHIP_VERSION_MINOR=2\nHIP_VERSION_PATCH=41133\nHIP_VERSION_GITHASH=dd7f95766\n"
VERSION_PY = (
    "from typing import Optional\n__version__ = '2.8.0+rocm7.0.1.git54d0a7ad'\ndebug = False\n"
    "hip: Optional[str] = '7.0.51831'\ncuda: Optional[str] = None\nrocm = \"7.0.1\"  # it\n"
)
MANIFEST = json.dumps(
    {
        "the_rock_commit": "a" * 40,
        "rocm_version": "10.1.0",
        "github_run_id": 123,
        "submodules": [
            {"submodule_name": "rocm-libraries", "pin_sha": "b" * 40, "patches": []},
            {"submodule_name": "half", "pin_sha": None},
        ],
    },
    indent=1,
)
KFD = "cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90402\nlocation_id 6912\nunique_id 17665493294577839217\n"
MOUNTINFO = (
    "22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro\n"
    "23 22 0:21 / /proc rw,nosuid shared:2 - proc proc rw\n"
    "24 22 0:48 / /mnt/a\\040b rw master:3 propagate_from:2 - nfs4 server:/x rw,vers=4.2\n"
)
CGROUP = (
    f"12:devices:/docker/{'ab' * 32}\n1:name=systemd:/user.slice\n0::/system.slice/docker-{'cd' * 32}.scope\n"
)
METADATA = "Metadata-Version: 2.1\nName: torch\nVersion: 2.8.0+rocm7.0.1\nSummary: Tensors\n and more\nClassifier: A\nClassifier: B\n\nName: not this\n"
LINES = "crlf trailing ended blank before after between"
ONE = "crlf trailing ended"


def lists(found):
    return [word for value in found.values() for word in value.split(",")]


def observed(read):
    """Read a JSON value as a recording would bring it in place of an observation."""

    def reading(text):
        try:
            value = json.loads(text)
        except RecursionError:
            raise ValueError("nested") from None
        return read(value)

    return reading


def hip_header(text):
    return parse_header(parse_defines(text))


def mounted(text):
    """Use the whole of a mount table as the host and the judgements on containers do."""
    mounts = parse_mountinfo(text)
    table = MountTable(mounts)
    for path in ("/", "/proc/self", "/mnt/a b/c", "relative", ""):
        table.slow_holder(path)
        table.holder(path)
    judge_root(mounts)
    laid_files(mounts)
    private_tmp(mounts)
    return [mount.mount_point for mount in mounts]


def grouped(text):
    in_a_machines_unit(text)
    place = container_of(text)
    return None if place is None else (place.path, place.container_id)


ROWS = [
    Row("cpuinfo", files.parse_cpuinfo, (CPUINFO,), LINES, words=lambda found: [found.model or ""]),
    Row(
        "meminfo",
        files.parse_meminfo,
        (MEMINFO, NODE),
        LINES + " twice",
        words=None,
    ),
    Row("status", files.parse_status, (STATUS,), LINES + " twice", words=lists),
    Row("os-release", files.parse_os_release, (OS_RELEASE,), LINES + " twice", r"(?m)^ID=ubuntu$", None),
    Row("glibc", files.parse_glibc, ("glibc 2.35", "2.35-0ubuntu3"), ONE),
    Row("glibc observed", observed(files.parse_glibc), ('"glibc 2.35"',), ONE),
    Row("boot id", files.parse_boot_id, ("01234567-89ab-cdef-0123-456789abcdef\n",), ONE),
    Row("machine digest", observed(files.parse_digest), ('"0123456789abcdef"',), ONE),
    Row("choice", files.chosen, ("always [madvise] never\n", "[always] x\n"), ONE),
    Row("small number", files.parse_small_number, ("1\n", "0"), ONE, none=lambda value: False),
    Row("command line", files.parse_cmdline, (CMDLINE,), ONE),
    Row("cpulist", files.parse_cpulist, ("0-63,128-191\n", "0\n"), ONE),
    Row("governor", files.parse_governor, ("performance\n",), ONE),
    Row(
        "limits", observed(files.parse_limits), ('{"memlock": [null, 1024], "as": [1, 2]}',), ONE, words=None
    ),
    Row("number of sysfs", sysfs.number, ("206141652992\n", "0x1002\n"), ONE, none=lambda value: False),
    Row("line of sysfs", sysfs.normal, ("32.0 GT/s PCIe\n", "113-M3000100-102\n"), ONE),
    Row("partition", sysfs.partition, ("SPX\n", "NPS4"), ONE),
    Row("ras", sysfs.parse_ras, ("ue: 0\nce: 12\nde: 3\n", "ue: 1\n"), LINES + " twice"),
    Row(
        "id of sysfs",
        sysfs._padded(4),
        ("0x1002\n", "02\n"),
        ONE,
        words=lambda value: [value[2:].lstrip("0")],
    ),
    Row("NUMA node", sysfs._numa, ("-1\n", "1\n"), ONE, none=lambda value: False),
    Row("firmware", sysfs._firmware_version, ("0x00530201\n", "12\n"), ONE),
    Row("power cap", sysfs._watts, ("750000000\n",), ONE, words=None),
    Row("hexadecimal", parse_hex, ("0x1002\n", "0x120000"), ONE, r"\A0x1002\Z"),
    Row("module version", module_version, ("6.8.5\n", "6.10.5-2084815.22.04"), ONE),
    Row("srcversion", srcversion, ("A0B1C2D3E4F5061728394A5\n",), ONE),
    Row("parameter", _parameter, ("-1\n", "(null)\n", "0\n"), ONE),
    Row("KFD properties", parse_properties, (KFD,), LINES + " twice", r"(?m)^simd_count 1216$"),
    Row("KFD node", _properties, (KFD,), LINES + " twice"),
    Row("PCI class", _hex, ("0x120000\n",), ONE),
    Row("PCI network class", _network, ("0x020000\n",), ONE, r"\A0x020000\s*\Z", None),
    Row("ROCm's header", lambda text: _of_header(parse_defines(text)), (ROCM_HEADER,), LINES, words=None),
    Row(
        "version file",
        parse_version_file,
        (VERSION_FILE,),
        LINES + " twice",
        words=lambda value: re.split(r"[.-]", value),
    ),
    Row(
        "header",
        parse_defines,
        (HEADER,),
        "crlf ended blank",
        r"\A(?:[^/\"\\#]*\n)?#define HIP_VERSION_PATCH \d+\n\Z",
        None,
    ),
    Row("HIP's header", hip_header, (HEADER,), "crlf trailing ended blank", words=None),
    Row(
        "version.py",
        parse_assignments,
        (VERSION_PY,),
        "crlf trailing ended blank before after twice",
        r"(?m)^hip: Optional\[str\] = '7\.0\.51831'$",
    ),
    Row(
        "ROCm's version",
        parse_rocm_version,
        ("6.2.0-66\n", "10.1.0a20260811\n", "7.2.0"),
        "crlf trailing ended blank",
    ),
    Row(
        "torch's version",
        parse_torch_version,
        ("2.8.0+rocm7.0.1.lw.git54d0a7ad", "2.13.0+rocm10.1.0a20260811"),
        ONE,
    ),
    Row("split build", split_build, ("6.2.0-66", "7.2.0"), ""),
    Row("release", release_numbers, ("6.2.0-66", "7.2.0"), ""),
    Row("manifest", parse_manifest, (MANIFEST,), "crlf trailing ended", words=None),
    Row(
        "mountinfo",
        mounted,
        (MOUNTINFO,),
        LINES,
        r"(?m)^23 22 0:21 / /proc rw,nosuid shared:2 - proc proc rw$",
        None,
    ),
    Row(
        "slow mounts",
        parse_slow_points,
        (MOUNTINFO,),
        LINES + " twice",
        r"(?m)^24 22 0:48 / /mnt/a\\040b rw master:3 propagate_from:2 - nfs4 server:/x",
        None,
    ),
    Row(
        "cgroup",
        parse_cgroup,
        (CGROUP,),
        "crlf ended blank before after between",
        r"(?m)^1:name=systemd:/user\.slice$",
    ),
    Row(
        "container of cgroup",
        grouped,
        (CGROUP,),
        "crlf ended blank before after between",
        rf"(?m)^12:devices:/docker/{'ab' * 32}$",
    ),
    Row(
        "metadata",
        _headers,
        (METADATA,),
        "crlf trailing ended twice",
        r"\AMetadata-Version: 2\.1\nName: torch\n",
    ),
]


@MANY
@given(number=st.integers(0, 2**32), text=st.text(max_size=30))
def test_damage_brings_no_exception_and_no_wrong_none(number, text):
    for row in ROWS:
        check_damage(row, number, text)


@MANY
@given(number=st.integers(0, 2**32))
def test_noise_changes_nothing(number):
    for row in ROWS:
        if row.noise:
            check_noise(row, number)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_no_line_takes_for_ever(row):
    check_long(row)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (sysfs.parse_ras, "queue: 5\ndevice: 3\n", ValueError),
        (sysfs.parse_ras, f"ue: {'1' * 25}\n", ValueError),
        (files.parse_cpulist, "-,-", ValueError),
        (files.parse_cpulist, "\n", ""),
        (release_numbers, "6.2.0" + "9" * 20, (6, 2)),
        (lambda text: parse_manifest(text).rocm_version, '{"rocm_version": 7.10}', "7.10"),
        (lambda text: parse_defines(text).get("B"), '#define A "open /* x\n#define B 1\n', "1"),
        (parse_mountinfo, f"{'9' * 5000} 1 0:1 / / rw - ext4 x rw\n", []),
        (parse_slow_points, "a - nfs\n", frozenset()),
    ],
)
def test_what_once_was_read_wrong(read, text, value):
    if value is ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - each has its own words
            read(text)
    else:
        assert read(text) == value
