"""Tier 3: lines of the kernel log that say that the hardware or its driver failed."""

import functools
import re

from aorta.sweep.command.catalogue import WARN, fired
from aorta.sweep.outcome import Finding

_ROWS: tuple[tuple[str, str], ...] = (
    (
        "amdgpu_reset",
        (
            r"amdgpu.*\bGPU (?:mode\d |BACO )?reset(?:\(\d+\))?[ !.]*(?:begin|succeeded|failed|end)"
            r"|amdgpu.*\b(?:MODE[0-3]|BACO) reset\b"
        ),
    ),
    ("sdma_timeout", r"\bring sdma[\w.]* timeout"),
    (
        "gpu_hang",
        (
            r"\bring (?:gfx|comp|vcn|jpeg|uvd|vce|mes|kiq|compute)[\w.]* timeout"
            r"|\bqcm fence wait loop timeout"
            r"|unrecoverable state due to an unsuccessful queues? preemption"
            r"|\bMES\S* (?:\w+ )?failed to respon(?:d to|se) msg"
            r"|\b(?:Failed|failed) to remove (?:hardware )?queue\b.*\bMES|\bGPU HANG\b|amdgpu.*\bHW hang\b"
        ),
    ),
    (
        "vm_l2_fault",
        (
            r"\bVM_L2_PROTECTION_FAULT_STATUS\w*:0x0*[1-9a-fA-F]|\[(?:gfx|mm)hub[\w.]*\].*\bpage fault\b"
            r"|\bVM_CONTEXT1_PROTECTION_FAULT_STATUS\s+0x0*[1-9a-fA-F]"
        ),
    ),
    (
        "xgmi_link_error",
        (
            r"(?i)\b(?!0\b)\d+ uncorrectable hardware errors? detected in (?:total in )?\w*xgmi"
            r"|\bxgmi\b[^\n]{0,60}?(?:\blink (?:error|down|fail)|\bpcs\b.{0,40}\berror|\bfailed\b|\bfatal\b)"
        ),
    ),
    ("pcie_aer_fatal", r"\bUncorrect(?:ed|able) \(Fatal\)"),
    (
        "oom_kill",
        r"(?i:out of memory): Kill(?:ed)? process \d+|\boom-kill:constraint=",
    ),
    (
        "thermal_throttle",
        (
            r"temperature above threshold|amdgpu.*\bGPU (?:is throttled\b.*\bthermal|thermal throttling)"
            r"|amdgpu.*\bover temperature range"
        ),
    ),
)


@functools.cache
def _compiled() -> "tuple[tuple[str, re.Pattern[str]], ...]":
    return tuple((f"tier3:{name}", re.compile(regex)) for name, regex in _ROWS)


def kernel_findings(messages: list[str], *, clean: bool) -> list[Finding]:
    """Return what messages of the kernel tell, the first of each kind.

    They are of the whole machine: after a ``clean`` end it was another's process that was killed.
    """
    found: dict[str, Finding] = {}
    for message in messages:
        for id_, regex in _compiled():
            if id_ not in found and regex.search(message):
                effect = WARN if clean and id_ == "tier3:oom_kill" else None
                found[id_] = fired(id_, message, "kernel log", effect=effect)
    return list(found.values())
