"""Whatever a tool prints: no exception, nothing made up, and no "none" where something was said."""

import json
import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta_collectors.gpu.driver_packages import parse_dkms, parse_dpkg, parse_rpm
from aorta_collectors.gpu.gfx import decode_target_version, names_any, parse_target, parse_targets
from aorta_collectors.gpu.kernel_module import parse_modinfo
from aorta_collectors.gpu.rocminfo import parse_agents, parse_kfd_refusal
from aorta_collectors.hip import parse_flags, parse_version, parse_word
from aorta_collectors.launcher import parse_number, parse_tasks_per_node
from aorta_collectors.rccl import decode as decode_rccl
from aorta_collectors.system_health import _report
from aorta_collectors.tools.sudo import refusal
from aorta_collectors.tools.tool_json import decode
from tests.parts.hostile import Row, check_damage, check_long, check_noise, leaves

HOSTS = os.path.join(os.path.dirname(__file__), "..", "hosts")
MANY = settings(max_examples=2000, deadline=None, derandomize=True)


def printed(host, *argv):
    """Return what a command printed on a recorded host."""
    with open(os.path.join(HOSTS, f"{host}.jsonl"), encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line.get("op") == "run" and line["argv"] == list(argv):
                return line["out"]
    raise LookupError(argv)


def two_agents(host):
    """Return what rocminfo printed, up to the second GPU: the others are like it."""
    head, *blocks = re.split(r"(?m)^(?=Agent \d)", printed(host, "rocminfo"))
    return head + "".join([block for block in blocks if "GPU" in block][:2])


ROCMINFO = (
    "ROCk module version 6.8.5 is loaded\n"
    "HSA Agents\n*******\nAgent 1\n*******\n  Name:                    Intel(R) Xeon(R)\n"
    "  Device Type:             CPU\n"
    "*******\nAgent 2\n*******\n  Name:                    gfx942\n  Uuid:                    GPU-0123456789abcdef\n"
    "  Marketing Name:          AMD Instinct MI300X\n  Device Type:             GPU\n"
    "  Chip ID:                 29857(0x74a1)\n  BDFID:                   6912\n"
    "  Internal Node ID:        2\n  Compute Unit:            304\n  ISA Info:\n    ISA 1\n"
    "      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-\n*** Done ***\n"
)
GPU = "(?m)^" + re.escape(ROCMINFO[ROCMINFO.index("Agent 2") : ROCMINFO.index("  Chip")])
REFUSED = "\x1b[31mUnable to open /dev/kfd read-write: Permission denied\x1b[0m\nFailed to get user name\n"
MODINFO = (
    "filename:       /lib/modules/5.15.0-117-generic/updates/dkms/amdgpu.ko\nversion:        6.8.5\n"
    "license:        GPL and additional rights\nsrcversion:     A0B1C2D3E4F5061728394A5\n"
    "alias:          pci:v00001002d*sv*sd*bc12sc00i00*\nintree:         Y\n"
    "vermagic:       5.15.0-117-generic SMP mod_unload modversions\n"
)
DKMS = (
    "amdgpu/6.8.5-2009582.22.04, 5.15.0-117-generic, x86_64: installed (WARNING! Diff between built and"
    " installed module!) (original_module exists)\nnvidia/570.1: added\n"
    "amdgpu/6.8.5-2009582.22.04: added\namdgpu, 6.3.6-1718217.el9, 5.14.21, x86_64: built\n"
)
DPKG = (
    "ii \tamdgpu-dkms\t1:6.8.5.60200-2009582.22.04\tall\n"
    "ii \tamdgpu-dkms-firmware\t1:6.8.5.60200-2009582.22.04\tall\nrc \tamdgpu-dkms\t1:5.0-1\tall\n"
    "un \tamdgpu-dkms-headers\t\t\n"
)
RPM = "amdgpu-kmod-6.9.0_0_x13_141\t6.14.14-2193512\tx86_64\namdgpu-kmod-firmware\t6.14.14-2193512\tnoarch\n"
HEALTH = (
    'Collecting…\n[INFO] started\n{\n  "gpu_count": 8,\n  "checks": [\n    {"name": "kfd", "ok": true},\n'
    '    {"name": "x\\u00e9", "value": 1.5e3}\n  ]\n}\n+----+\n| ok |\n'
)
SUDO = (
    "sudo: a password is required\n",
    'sudo: The "no new privileges" flag is set, which prevents sudo\n',
    "user is not in the sudoers file.  This incident will be reported.\n",
    "sudo: unable to resolve host node1\nsudo: a terminal is required to read the password\n",
)
ANYWHERE = "crlf trailing ended blank before after between colour"


def flat_targets(targets):
    return [word for each in targets for word in (each.base, *each.features, *each.features.values())]


def agent_words(agents):
    return [word for agent in agents for word in leaves(agent) if not hasattr(word, "base")]


def health(text):
    answer = _report(text, "rdhc", truncated=False)
    if not answer.ok:
        raise ValueError(answer.detail)
    return answer.value


ROWS = [
    Row(
        "enumerator",
        lambda text: tuple(parse_targets(text)),
        ("gfx000\ngfx942\ngfx942\n", "gfx90a:sramecc+:xnack-\ngfx9-4-generic\ngfx1151\n"),
        ANYWHERE,
        r"(?m)^gfx942$|^gfx90a:sramecc\+:xnack-$",
        flat_targets,
    ),
    Row("enumerator names any", names_any, ("gfx000\ngfx942\n",), ANYWHERE, r"(?m)^gfx", None),
    Row(
        "target",
        parse_target,
        ("gfx942:sramecc+:xnack-", "gfx1100"),
        "trailing ended",
        r"\A(gfx942:sramecc\+:xnack-|gfx1100)\Z",
        lambda found: flat_targets([found] if found else []),
    ),
    Row(
        "rocminfo",
        parse_agents,
        (ROCMINFO, two_agents("a-mi300x-cx7-ubuntu2204-bare"), two_agents("f-wsl2-radeon7900")),
        ANYWHERE,
        GPU,
        agent_words,
    ),
    Row(
        "refusal of kfd",
        parse_kfd_refusal,
        (REFUSED,),
        ANYWHERE.replace(" between", ""),
        r"Unable to open /dev/kfd read-write: Permission denied",
        lambda found: found[1:] if found else (),
    ),
    Row("modinfo", parse_modinfo, (MODINFO,), "crlf trailing ended blank before after between twice"),
    Row(
        "dkms",
        parse_dkms,
        (DKMS,),
        "crlf trailing ended blank before after between",
        r"(?m)^amdgpu/6\.8\.5-2009582\.22\.04: added$",
    ),
    Row(
        "dkms of another",
        lambda text: parse_dkms(text, "nvidia"),
        (DKMS,),
        telling=r"(?m)^nvidia/570\.1: added$",
    ),
    Row(
        "dpkg",
        lambda text: parse_dpkg(text)[0],
        (DPKG,),
        "crlf trailing ended blank before after between",
        r"(?m)^ii \tamdgpu-dkms\t1:6\.8\.5\.60200-2009582\.22\.04\tall$",
        lambda found: [word for each in found for word in (each.name, each.version, each.arch or "")],
    ),
    Row(
        "dpkg unfinished",
        lambda text: parse_dpkg(text)[1],
        ("iU \tamdgpu-dkms\t6.1\tall\n",),
        "crlf trailing ended blank before after between",
        r"(?m)^iU \tamdgpu-dkms\t6\.1\tall$",
        None,
    ),
    Row(
        "dpkg without states",
        lambda text: parse_dpkg(text, states=False)[0],
        ("amdgpu-dkms\t1:6.8.5\namdgpu-dkms-headers\t\n",),
        "crlf trailing ended blank before after between",
        r"(?m)^amdgpu-dkms\t1:6\.8\.5$",
        lambda found: [word for each in found for word in (each.name, each.version)],
    ),
    Row(
        "rpm",
        parse_rpm,
        (RPM, "kmod-6.12-amdgpu\t6.14.14-1\tx86_64\n"),
        "crlf trailing ended blank before after between",
        r"(?m)^amdgpu-kmod-6\.9\.0_0_x13_141\t6\.14\.14-2193512\tx86_64$",
        lambda found: [word for each in found for word in (each.name, each.version, each.arch or "")],
    ),
    Row(
        "hipconfig --version",
        parse_version,
        ("6.2.41133-dd7f95766", "warning\nHIP version: 7.2.26015-fc0010cf6a\n"),
        ANYWHERE + " twice",
    ),
    Row("hipconfig --platform", parse_word, ("amd", "rocclr\n"), "crlf trailing ended blank colour twice"),
    Row(
        "hipconfig --cpp_config",
        parse_flags,
        (" -D__HIP_PLATFORM_AMD__= -I/opt/rocm-6.2.0/include -I/include\n",),
        ANYWHERE + " twice",
    ),
    Row(
        "tool's JSON",
        lambda text: decode(text)[0],
        (HEALTH, '{"a": 1}\n[1, "two", null]\n'),
        "crlf trailing ended before after",
        words=None,
    ),
    Row("health report", health, (HEALTH,), "crlf trailing ended before after", words=None),
    Row(
        "sudo's refusal",
        refusal,
        SUDO,
        "crlf trailing ended blank before after",
        r"\Asudo: a password is required",
        None,
    ),
    Row("rank", parse_number, ("0", "4294967295"), ""),
    Row("tasks per node", lambda text: parse_tasks_per_node(text, 2), ("8(x2),4", "4(x99999)"), ""),
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
        check_noise(row, number)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_no_line_takes_for_ever(row):
    check_long(row)


@MANY
@given(st.integers(-(2**70), 2**70) | st.integers(0, 1_000_000) | st.integers(-9999, 99_999))
def test_numbers_that_stand_for_versions(number):
    assert decode_rccl(number).count(".") == 2
    try:
        target = decode_target_version(number)
    except ValueError:
        return
    assert (target is None) == (number == 0)
    assert target is None or parse_target(target) is not None or number < 70_000


CUT = '{\n  "cards": [\n    {"nic": "1", "on": true, "off": null},\n    {"nic": "2\\u00e9", "on": false, "x": -1.5e3}\n  ]\n}'


@pytest.mark.parametrize("at", range(1, len(CUT)))
def test_json_that_was_cut_is_never_what_stood_inside_it(at):
    for end in ("", "\n", "\r\n"):
        with pytest.raises(ValueError, match="JSON"):
            decode(CUT[:at] + end)


@MANY
@given(st.integers(0, 2**32))
def test_what_rocm_lists_is_not_cut(number):
    """A listed target is a whole line: neither a part of a longer word nor of one that was cut."""
    text = "".join("gfx9420-\n "[number >> 3 * at & 7] if at % 3 else "gfx" for at in range(10))
    lines = {line.strip() for line in text.splitlines()}
    assert {each.text for each in parse_targets(text)} <= lines


def test_a_row_of_dkms_may_warn_of_every_module_of_the_package():
    warnings = " (WARNING! Diff between built and installed module!)" * 8
    (row,) = parse_dkms(f"amdgpu/6.8.5-1, 5.15.0, x86_64: installed{warnings}\n")
    assert row.warning == "WARNING! Diff between built and installed module!"


def test_the_first_node_has_a_number():
    (agent,) = parse_agents(ROCMINFO.replace("Internal Node ID:        2", "Internal Node ID:        0"))
    assert agent.node == 0
