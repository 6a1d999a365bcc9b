"""All detectors: what each looks for, and what it means when it fires."""

from types import MappingProxyType

from aorta.sweep.outcome import ERROR, FAIL, Finding

WARN, INFO = ("warn", "info")
#: What a detector may mean, the strongest first.
EFFECTS = (FAIL, ERROR, WARN, INFO)
#: The most characters of a finding's text.
TEXT_CHARACTERS = 300

_TABLE: tuple[tuple[str, str, str], ...] = (
    ("tier1:exit_nonzero", FAIL, "the command ended with an exit status other than 0"),
    ("tier1:sigsegv", FAIL, "the command was ended by SIGSEGV, an access to memory that is not there"),
    ("tier1:sigabrt", FAIL, "the command was ended by SIGABRT, as by abort() or an assertion"),
    ("tier1:sigbus", FAIL, "the command was ended by SIGBUS, a memory access that failed"),
    (
        "tier1:sigill",
        FAIL,
        "the command was ended by SIGILL, an instruction that the processor does not know",
    ),
    ("tier1:sigfpe", FAIL, "the command was ended by SIGFPE, an impossible computation"),
    ("tier1:sigkill", ERROR, "the command was killed, by the kernel for want of memory or from outside"),
    ("tier1:sigterm", ERROR, "somebody else ended the command, by SIGTERM, SIGINT, SIGHUP or SIGQUIT"),
    ("tier1:timeout", ERROR, "the command took longer than it may, and was ended"),
    ("tier1:exec_failed", ERROR, "the command, or the script that it names, could not be executed"),
    ("tier1:coredump", WARN, "a core dump was written"),
    (
        "tier2:hang",
        FAIL,
        "for a while the command did nothing that could be seen, and it did not end by itself",
    ),
    ("tier3:amdgpu_reset", FAIL, "the kernel reset a GPU"),
    ("tier3:sdma_timeout", FAIL, "the kernel gave up waiting for a copy engine of a GPU"),
    ("tier3:vm_l2_fault", FAIL, "a GPU touched memory that is not mapped"),
    ("tier3:xgmi_link_error", FAIL, "a link between GPUs failed"),
    ("tier3:pcie_aer_fatal", FAIL, "the PCI Express bus reported a fatal error"),
    ("tier3:gpu_hang", FAIL, "the kernel gave up waiting for a GPU"),
    ("tier3:oom_kill", ERROR, "the kernel killed a process for want of memory"),
    ("tier3:thermal_throttle", WARN, "a GPU or processor was slowed down because it was hot"),
    ("tier3:vram_growth", WARN, "256 MiB or more of a GPU's memory were not given back"),
    ("tier4:python_traceback", FAIL, "a Python program printed a traceback"),
    ("tier4:import_error", ERROR, "a Python program ended because a module could not be imported"),
    ("tier4:hip_error", FAIL, "a HIP call failed"),
    ("tier4:cuda_error", FAIL, "a CUDA call failed"),
    ("tier4:hsa_error", FAIL, "the HSA runtime reported an error, or a GPU's access to memory failed"),
    ("tier4:rocm_error", FAIL, "a ROCm library reported an error code other than 0"),
    ("tier4:nccl_rccl_error", FAIL, "RCCL or NCCL reported an error; its warnings only warn"),
    ("tier4:collective_timeout", FAIL, "a collective operation took longer than it may"),
    ("tier4:nan_signature", FAIL, "a loss or the norm of a gradient is not a number, or infinite"),
    ("tier4:out_of_memory", ERROR, "memory, of the GPU or the host, was not enough"),
    ("tier4:oom_kill", ERROR, "the output tells that the kernel killed a process for want of memory"),
    ("meta:missing_pass_signal", FAIL, "a pattern that a passing trial has to show was not seen"),
    ("meta:env_file_validation_failed", ERROR, "a variable cannot be written to the file of variables"),
)

#: What a detector means when it fires, and what it looks for, by its id.
EFFECT = MappingProxyType({id_: effect for id_, effect, _ in _TABLE})
MEANING = MappingProxyType({id_: meaning for id_, _, meaning in _TABLE})

#: What is only said of a trial when nothing better is, the last last.
TELLS_LESS = MappingProxyType(
    {"tier4:python_traceback": 1, "tier1:sigabrt": 2, "tier1:exit_nonzero": 3, "meta:missing_pass_signal": 4}
)

#: Those that can be disabled by their id; the tiers by theirs.
DETECTORS = frozenset(id_ for id_ in EFFECT if id_.startswith("tier"))
TIERS = ("tier1", "tier2", "tier3", "tier4", "tier5")


def fired(
    id_: str,
    text: str,
    where: str | None = None,
    *,
    effect: str | None = None,
    traceback: str | None = None,
) -> Finding:
    """Return that a detector fired, as the catalogue has it; its text is cut off where it is long."""
    return Finding(
        id=id_,
        effect=effect or EFFECT[id_],
        where=where,
        text=text[:TEXT_CHARACTERS],
        traceback=traceback,
    )


class Enabled:
    """Which detectors a recipe leaves on."""

    def __init__(self, disabled: tuple[str, ...], tiers: tuple[str, ...]) -> None:
        self._disabled, self._tiers = frozenset(disabled), frozenset(tiers)

    def __call__(self, id_: str) -> bool:
        """Tell whether a detector is on."""
        return id_ not in self._disabled and self.tier(id_.partition(":")[0].replace("custom", "tier5"))

    def tier(self, tier: str) -> bool:
        """Tell whether a tier is on."""
        return tier not in self._tiers
