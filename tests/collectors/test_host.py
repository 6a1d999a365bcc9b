"""Section ``host``: what the kernel and the distribution say, and what is missing."""

import errno
import os
import re
import subprocess
import time

import pytest

from aorta.host import observe
from aorta.host.live import LiveHost
from aorta.model.vocabulary import PARTIAL_KINDS
from aorta.testing import FakeHost, collect
from aorta_collectors.host_files import (
    chosen,
    parse_cmdline,
    parse_cpuinfo,
    parse_glibc,
    parse_limits,
    parse_meminfo,
    parse_os_release,
    parse_small_number,
    parse_status,
)

CPU = """processor\t: {0}
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC 9654 96-Core Processor
physical id\t: {1}
siblings\t: 4
core id\t\t: {2}
cpu cores\t: 2
flags\t\t: fpu vme de pse

"""
CPUINFO = "".join(CPU.format(n, n // 4, n % 2) for n in range(8))
MEMINFO = """MemTotal:       1584745896 kB
MemFree:        1500000000 kB
SwapTotal:       8388604 kB
HugePages_Total:      16
Hugepagesize:       2048 kB
Hugetlb:         1081344 kB
"""
NODE = "/sys/devices/system/node"
FILES = {
    "/proc/cpuinfo": CPUINFO,
    "/proc/meminfo": MEMINFO,
    "/proc/self/status": "Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0-1\n",
    "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=1-2 amd_iommu=on iommu=pt numa_balancing=disable\n",
    "/proc/sys/kernel/numa_balancing": "0\n",
    "/proc/sys/kernel/random/boot_id": "6a1f0c5e-0000-4000-8000-000000000001\n",
    "/etc/os-release": 'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nVERSION_ID="22.04"\nID=ubuntu\nHOME_URL="https://x/"\n',
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise [madvise] never\n",
    f"{NODE}/node0/cpulist": "0-3\n",
    f"{NODE}/node0/meminfo": "Node 0 MemTotal:       792372948 kB\nNode 0 MemFree: 1 kB\n",
    f"{NODE}/node1/cpulist": "4-7\n",
    f"{NODE}/node1/meminfo": "Node 1 MemTotal:       792372948 kB\n",
    f"{NODE}/node10/cpulist": "\n",
    f"{NODE}/node10/meminfo": "Node 10 MemTotal:       1024 kB\n",
    f"{NODE}/online": "0-1,10\n",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance\n",
    "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "powersave\n",
    "/sys/devices/system/cpu/cpufreq/boost": "1\n",
}
LIMITS = {
    "memlock": [None, None],
    "nofile": [1024, 524288],
    "nproc": [100, 100],
    "stack": [8388608, None],
    "core": [0, None],
    "as": [None, None],
}
OBSERVED = {
    "machine_digest": "3d6eec412a9ed64c",
    "uname": {"release": "6.8.0-79-generic", "version": "#79-Ubuntu SMP", "machine": "x86_64"},
    "glibc": "glibc 2.39",
    "ulimits": LIMITS,
}
DIRS = ["/sys/kernel/iommu_groups/0", "/sys/kernel/iommu_groups/1"]


def host(files=None, observed=None, **more):
    merged = {**FILES, **(files or {})}
    kept = {path: text for path, text in merged.items() if text is not None}
    return FakeHost(files=kept, dirs=DIRS, observed={**OBSERVED, **(observed or {})}, **more)


def partial(result):
    return [reason.text for reason in result.reasons if reason.kind in PARTIAL_KINDS]


def test_a_server():
    result = collect(host(), "host")
    assert result.value == {
        "kernel_release": "6.8.0-79-generic",
        "kernel_version": "#79-Ubuntu SMP",
        "machine": "x86_64",
        "glibc_version": "2.39",
        "distribution": {"id": "ubuntu", "version_id": "22.04", "pretty_name": "Ubuntu 22.04.4 LTS"},
        "cpu": {
            "model": "AMD EPYC 9654 96-Core Processor",
            "sockets": 2,
            "cores": 4,
            "logical": 8,
            "allowed": "0-3",
            "governors": ["performance", "powersave"],
        },
        "memory_bytes": 1584745896 * 1024,
        "swap_bytes": 8388604 * 1024,
        "numa": {
            "node_count": 3,
            "balancing": 0,
            "allowed": "0-1",
            "nodes": [
                {"node": 0, "cpus": "0-3", "memory_bytes": 792372948 * 1024},
                {"node": 1, "cpus": "4-7", "memory_bytes": 792372948 * 1024},
                {"node": 10, "cpus": "", "memory_bytes": 1024 * 1024},
            ],
        },
        "hugepages": {
            "transparent": "madvise",
            "defrag": "madvise",
            "total": 16,
            "size_bytes": 2097152,
            "reserved_bytes": 1081344 * 1024,
        },
        "kernel_command_line": "BOOT_IMAGE=/vmlinuz root=UUID=1-2 amd_iommu=on iommu=pt numa_balancing=disable",
        "iommu": {"parameters": ["amd_iommu=on", "iommu=pt"], "groups": 2},
        "ulimits": {
            "memlock": {"soft": "unlimited", "hard": "unlimited"},
            "nofile": {"soft": 1024, "hard": 524288},
            "nproc": {"soft": 100, "hard": 100},
            "stack": {"soft": 8388608, "hard": "unlimited"},
            "core": {"soft": 0, "hard": "unlimited"},
            "address_space": {"soft": "unlimited", "hard": "unlimited"},
        },
        "boot_id": "6a1f0c5e-0000-4000-8000-000000000001",
        "machine_digest": "3d6eec412a9ed64c",
    }
    assert result.reasons == ()


def leaves(value, path=""):
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    else:
        yield path, value


def test_nothing_there_is_null_with_reasons_that_make_nothing_partial():
    result = collect(FakeHost(observed={"uname": None, "glibc": None}), "host")
    empty = dict(leaves(result.value))
    assert set(empty.values()) == {None}
    assert partial(result) == []
    noted = {reason.field for reason in result.reasons}
    for path in empty:
        assert any(path == field or path.startswith(f"{field}.") for field in noted), path


def test_denied_everywhere_is_visible():
    refused = dict.fromkeys(FILES, errno.EACCES)
    result = collect(host(refused), "host")
    for field in (
        "memory_bytes",
        "hugepages.total",
        "cpu.model",
        "cpu.allowed",
        "kernel_command_line",
        "iommu.parameters",
        "distribution",
        "numa.nodes[0].cpus",
        "cpu.governors",
        "boot_id",
        "numa.balancing",
    ):
        assert "denied" in result.kinds(field), field
    assert result.value["memory_bytes"] is None
    assert result.value["cpu"]["governors"] is None
    assert result.value["numa"]["node_count"] == 3


def test_musl_has_no_glibc_and_that_is_said():
    result = collect(host(observed={"glibc": None}), "host")
    assert result.value["glibc_version"] is None
    [reason] = result.reasons
    assert (reason.field, reason.kind) == ("glibc_version", "unsupported")
    assert "musl" in reason.detail


@pytest.mark.parametrize("told", ["", "musl 1.2", 5, "glibc"])
def test_strange_glibc_is_unparsed(told):
    assert collect(host(observed={"glibc": told}), "host").kinds("glibc_version") == ["unparsed"]


def test_uname_that_tells_half():
    result = collect(host(observed={"uname": {"release": "6.1", "version": 5}}), "host")
    assert result.value["kernel_release"] == "6.1"
    assert result.value["machine"] is result.value["kernel_version"] is None
    assert result.kinds("machine") == result.kinds("kernel_version") == ["unsupported"]


def test_os_release_of_usr_lib_and_rolling():
    files = {
        "/etc/os-release": None,
        "/usr/lib/os-release": "NAME='Arch Linux'\nID=arch\nPRETTY_NAME='Arch Linux'\n",
    }
    result = collect(host(files), "host")
    assert result.value["distribution"] == {"id": "arch", "version_id": None, "pretty_name": "Arch Linux"}
    assert result.kinds("distribution.version_id") == ["absent"]


@pytest.mark.parametrize(
    ("path", "text", "field"),
    [
        ("/proc/meminfo", "nothing\n", "memory_bytes"),
        ("/proc/cpuinfo", "\x1b[0mno\n", "cpu.logical"),
        ("/proc/self/status", "Name:\tx\n", "cpu.allowed"),
        ("/etc/os-release", "\n# only a comment\n", "distribution"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise never\n", "hugepages.transparent"),
        ("/proc/sys/kernel/numa_balancing", "9" * 5000, "numa.balancing"),
        ("/proc/cmdline", b"quiet \xff\n", "kernel_command_line"),
        (f"{NODE}/node0/meminfo", "Node 0 nothing\n", "numa.nodes[0].memory_bytes"),
    ],
)
def test_unreadable_content_is_unparsed(path, text, field):
    assert "unparsed" in collect(host({path: text}), "host").kinds(field)


@pytest.mark.parametrize(
    "told",
    [
        5,
        {"memlock": 5},
        {"memlock": [1]},
        {"memlock": [1, "x"]},
        {"memlock": [-1, 2]},
        {"memlock": [True, 1]},
    ],
)
def test_strange_limits_are_unparsed(told):
    result = collect(host(observed={"ulimits": told}), "host")
    assert "unparsed" in result.kinds("ulimits")
    assert result.value["ulimits"]["memlock"] == {"soft": None, "hard": None}


def test_limits_that_are_not_told_are_not_zero():
    result = collect(host(observed={"ulimits": {"memlock": [65536, None]}}), "host")
    assert result.value["ulimits"]["memlock"] == {"soft": 65536, "hard": "unlimited"}
    assert result.value["ulimits"]["nofile"] == {"soft": None, "hard": None}
    assert result.kinds("ulimits.nofile") == ["unsupported"]


def test_old_kernel_without_hugetlb_amount():
    result = collect(host({"/proc/meminfo": MEMINFO.replace("Hugetlb", "Other")}), "host")
    assert result.value["hugepages"]["reserved_bytes"] is None
    assert result.kinds("hugepages.reserved_bytes") == ["unsupported"]


def test_virtual_machine_without_frequency_policies():
    files = dict.fromkeys([path for path in FILES if "cpufreq/policy" in path])
    result = collect(host(files), "host")
    assert result.value["cpu"]["governors"] is None
    assert result.kinds("cpu.governors") == ["unsupported"]


def test_kernel_without_numa_nodes():
    files = {path: None for path in FILES if path.startswith(f"{NODE}/node")}
    result = collect(host(files), "host")
    assert result.value["numa"]["nodes"] is result.value["numa"]["node_count"] is None
    assert result.kinds("numa.node_count") == ["unsupported"]
    assert result.value["numa"]["balancing"] == 0


def test_iommu_that_is_off_is_zero_and_no_parameter_is_an_empty_list():
    bare = FakeHost(
        files={**FILES, "/proc/cmdline": "quiet\n"}, dirs=["/sys/kernel/iommu_groups"], observed=OBSERVED
    )
    assert collect(bare, "host").value["iommu"] == {"parameters": [], "groups": 0}


def test_kernel_command_line_gives_no_secret_name_or_address():
    line = (
        "quiet ip=10.0.0.7::10.0.0.1:255.255.255.0:node07:eth0:off BOOTIF=01-aa-bb-cc-dd-ee-ff systemd.hostname=node07 "
        'rd.iscsi.password=hunter2 netroot=iscsi:user:pass@10.0.0.1::: dyndbg="file x +p" url=http://u:p@h/x iommu=pt\n'
    )
    result = collect(host({"/proc/cmdline": line}), "host")
    shown = result.value["kernel_command_line"]
    for hidden in ("10.0.0.", "node07", "aa-bb", "hunter2", "u:p@"):
        assert hidden not in shown
    assert shown.startswith("quiet ip=[redacted] BOOTIF=[redacted]")
    assert 'dyndbg="file x +p"' in shown
    assert result.value["iommu"]["parameters"] == ["iommu=pt"]
    assert "host.kernel_command_line" in result.redacted


def test_no_host_name_anywhere():
    files = {"/etc/hostname": "node07\n", "/proc/sys/kernel/hostname": "node07\n"}
    result = collect(host(files, env={"HOSTNAME": "node07"}), "host")
    assert "node07" not in str(result.value)


def test_governors_are_sampled_on_a_large_machine():
    base = "/sys/devices/system/cpu/cpufreq"
    many = {f"{base}/policy{n}/scaling_governor": "performance\n" for n in range(384)}

    class Counting(FakeHost):
        reads = 0

        def read_bytes(self, path, *args, **kw):
            type(self).reads += path.startswith(base)
            return super().read_bytes(path, *args, **kw)

    assert collect(Counting(files={**FILES, **many}, observed=OBSERVED), "host").value["cpu"][
        "governors"
    ] == ["performance"]
    assert 32 <= Counting.reads <= 64


def test_384_processors_are_parsed_quickly():
    text = "".join(CPU.format(n, n // 192, n % 96) + "flags\t\t: " + "avx " * 300 + "\n" for n in range(384))
    start = time.perf_counter()
    found = parse_cpuinfo(text)
    assert (found.sockets, found.cores, found.logical) == (2, 192, 384)
    assert time.perf_counter() - start < 1


def test_architecture_that_tells_only_numbers():
    found = parse_cpuinfo(
        "processor\t: 0\nCPU implementer\t: 0x41\n\nprocessor\t: 1\nCPU implementer\t: 0x41\n"
    )
    assert (found.model, found.sockets, found.cores, found.logical) == (None, None, None, 2)
    result = collect(host({"/proc/cpuinfo": "processor : 0\n"}), "host")
    assert result.value["cpu"]["logical"] == 1
    assert result.kinds("cpu.cores") == ["unsupported"]


def test_parsers_take_crlf_noise_and_no_final_newline():
    assert (
        parse_meminfo("noise\r\nMemTotal:  5 kB\r\nHugePages_Total: 3").items()
        >= {"MemTotal": 5120, "HugePages_Total": 3}.items()
    )
    assert parse_status("Cpus_allowed_list:\t0-3\r\n") == {"Cpus_allowed_list": "0-3"}
    assert parse_os_release('ID="ubuntu"\r\nX=\n  VERSION_ID=1\nPRETTY_NAME="a \\"b\\" \\$c"') == {
        "ID": "ubuntu",
        "VERSION_ID": "1",
        "PRETTY_NAME": 'a "b" $c',
    }
    assert chosen("[always] madvise never") == "always"
    assert parse_small_number(" 2\n") == 2
    assert parse_glibc("glibc 2.31") == parse_glibc("2.31") == "2.31"
    assert parse_cmdline('a  b="c d" e="open f') == ["a", 'b="c d"', 'e="open f']
    assert parse_limits({"memlock": [1, None], "other": 5}) == {"memlock": (1, "unlimited")}


def test_case_collect_env_localised_tool_labels_needs_no_tool():
    """Host facts come from files in the kernel's own words, under any locale."""
    result = collect(host(env={"LANG": "cs_CZ.UTF-8"}), "host")
    assert result.record.commands == ()
    assert result.value["distribution"]["id"] == "ubuntu"


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_this_machine():
    live = LiveHost()
    try:
        value = collect(live, "host").value
    finally:
        live.close()
    assert value["kernel_release"] == run("uname", "-r")
    assert value["kernel_version"] == run("uname", "-v")
    assert value["machine"] == run("uname", "-m")
    assert f"glibc {value['glibc_version']}" == run("getconf", "GNU_LIBC_VERSION")
    assert value["cpu"]["logical"] == int(run("getconf", "_NPROCESSORS_ONLN"))
    with open("/proc/meminfo") as file:
        assert value["memory_bytes"] == 1024 * int(re.search(r"MemTotal:\s+(\d+)", file.read())[1])
    soft = run("sh", "-c", "ulimit -Sl")
    assert value["ulimits"]["memlock"]["soft"] == ("unlimited" if soft == "unlimited" else int(soft) * 1024)
    allowed = sum(
        int(b or a) - int(a) + 1 for a, b in re.findall(r"(\d+)(?:-(\d+))?", value["cpu"]["allowed"])
    )
    assert allowed == len(os.sched_getaffinity(0))
    with open("/etc/os-release") as file:
        assert f"{value['distribution']['id']}" in file.read()


def test_two_machines_are_told_apart_without_naming_them():
    value = collect(FakeHost(observed={"machine_digest": "0f1e2d3c4b5a6978"}), "host").value
    assert value["machine_digest"] == "0f1e2d3c4b5a6978"
    assert collect(FakeHost(), "host").kinds("machine_digest") == ["absent"]


def test_the_digest_of_this_machine_is_not_its_id():
    with open("/etc/machine-id") as stream:
        number = stream.read().strip()
    digest = observe.machine_digest()
    assert re.fullmatch("[0-9a-f]{16}", digest)
    assert digest not in number


@pytest.mark.parametrize("said", ["text", [1], 7, {"release": 1, "version": [], "machine": {}}])
def test_observations_of_another_form_are_told(said):
    observed = {"uname": said, "glibc": [said], "ulimits": said, "machine_digest": said}
    result = collect(FakeHost(observed=observed), "host")
    assert (
        result.value["kernel_release"],
        result.value["glibc_version"],
        result.value["machine_digest"],
    ) == (
        None,
        None,
        None,
    )
    assert result.record.status != "failed"
    assert result.kinds("kernel_release") == ["unsupported" if isinstance(said, dict) else "unparsed"]
    assert result.kinds("glibc_version") == result.kinds("machine_digest") == ["unparsed"]


def test_a_boot_id_is_a_uuid():
    result = collect(FakeHost({"/proc/sys/kernel/random/boot_id": "garbage"}), "host")
    assert (result.value["boot_id"], result.kinds("boot_id")) == (None, ["unparsed"])
